// Two cores exchange halves of a shared buffer: one agreed address, proven.
#include "dramalloc.hpp"

#include <iostream>

int main() {
  auto context = dram::Context::create(dram::linked());
  auto program = context->new_program("exchange");
  dram::Options options;
  options.preset = DRAM_PRESET_TRN2;
  std::uint32_t shared[2];
  for (std::uint32_t core = 0; core < 2; ++core) {
    auto main = program->add_module("core", core)->add_function("main");
    dram::MemLoc buffer("exchange", 65536);
    buffer.space = DRAM_SPACE_SHARED;
    if (core > 0) buffer.follow(0, "exchange");
    shared[core] = main->add_memloc(buffer).value();
    auto half = dram::part(shared[core], core * 32768u, 32768);
    (void)main->add_instruction({"write_half", {}, {half}}).value();
    dram::Instruction barrier{"barrier"};
    barrier.kind = DRAM_KIND_BARRIER;
    (void)main->add_instruction(barrier).value();
    (void)main->add_instruction({"read_all", {dram::whole(shared[core])}}).value();
  }
  auto plan = program->plan(options);
  if (!plan) return std::cerr << plan.status().message() << '\n', 1;
  program->apply(*plan).check();
  if (program->verify(*plan)->count().value() != 0) return 1;
  for (std::uint32_t core = 0; core < 2; ++core) {
    auto main = program->find_module(core)->find_function("main");
    std::cout << "core " << core << ": " << main->address(shared[core]).value() << '\n';
  }
  std::cout << "agreed\n";
}
