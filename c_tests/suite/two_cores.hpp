// A program for two cores, in one dram_program or each in its own.
#pragma once

#include "api.hpp"

#include <vector>

namespace suite {

/// `exchange` is one buffer on both cores, `own` is private. Each core writes its half on one
/// engine, sends `own` on another, meets the other core at a barrier, reads all.
struct TwoCores {
  dram::Context context = dram::Context::create(api()).value();
  std::vector<dram::Program> programs;
  std::vector<dram::Module> modules;
  std::vector<dram::Function> mains;
  std::uint32_t exchange = 0;
  std::uint32_t own = 0;

  /// `bytes`: the size of core 1's copy.
  explicit TwoCores(bool apart = false, std::uint64_t bytes = 65536) {
    for (std::uint32_t core = 0; core < 2; ++core) {
      if (core == 0 || apart) programs.push_back(context.new_program("two").value());
      modules.push_back(programs.back().add_module("m" + std::to_string(core), core).value());
      auto main = modules.back().add_function("main").value();
      dram::MemLoc buffer("exchange", core == 0 ? 65536 : bytes);
      buffer.space = DRAM_SPACE_SHARED;
      if (core == 0) buffer.lie_in(1, 2);
      if (core == 1) buffer.follow(0, "exchange");
      exchange = main.add_memloc(buffer).value();
      own = main.add_memloc(dram::MemLoc("own", 4096)).value();
      const auto half = dram::part(exchange, core * 32768u, 32768);
      (void)main.add_instruction({"write", {}, {half, dram::whole(own)}}).value();
      (void)main.add_instruction({"send", {dram::whole(own)}, {}, 1}).value();
      dram::Instruction barrier{"sync"};
      barrier.kind = DRAM_KIND_BARRIER;
      (void)main.add_instruction(barrier).value();
      (void)main.add_instruction({"read", {dram::whole(exchange), dram::whole(own)}, {}, 1}).value();
      mains.push_back(main);
    }
  }
};

}  // namespace suite
