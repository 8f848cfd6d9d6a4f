// Two cores exchange halves of a shared buffer: the pipeline gives both one address, and the order
// that each core's engines must keep.
#include "dramalloc.hpp"

#include <iostream>

int main() {
  const dram::Api api = dram::linked();
  auto context = dram::Context::create(api);
  auto program = context->new_program("exchange");
  std::uint32_t shared[2];
  for (std::uint32_t core = 0; core < 2; ++core) {
    auto main = program->add_module("core" + std::to_string(core), core)->add_function("main");
    dram::MemLoc buffer("exchange", 65536);
    buffer.space = DRAM_SPACE_SHARED;
    if (core > 0) buffer.follow(0, "exchange");
    shared[core] = main->add_memloc(buffer).value();
    auto own = main->add_memloc(dram::MemLoc("half", 32768)).value();
    auto half = dram::part(shared[core], core * 32768u, 32768);
    (void)main->add_instruction({"compute", {}, {dram::whole(own)}}).value();
    (void)main->add_instruction({"write_half", {dram::whole(own)}, {half}, /*engine=*/1}).value();
    dram::Instruction barrier{"barrier"};
    barrier.kind = DRAM_KIND_BARRIER;
    (void)main->add_instruction(barrier).value();
    (void)main->add_instruction({"read_all", {dram::whole(shared[core])}}).value();
  }

  dram::PipelineOptions passes;
  passes.verify_each = 1;
  auto pipeline = dram::Pipeline::create(api, passes);
  dram::Options options;
  options.preset = DRAM_PRESET_TRN2;
  auto run = pipeline->run(*program, options);
  if (!run) return std::cerr << run.status().message() << '\n', 1;
  for (std::uint32_t i = 0; i < run->info()->pass_count; ++i) {
    std::cout << dram::view(run->pass(i)->name) << '\n';
  }

  const dram::Cores cores(api, program->modules().value());
  dram::check_digests(api, cores.digests().value()).check();
  for (std::uint32_t core = 0; core < 2; ++core) {
    auto main = program->find_module(core)->find_function("main");
    std::cout << "core " << core << ": exchange at " << main->address(shared[core]).value() << ", "
              << run->plan()->dependences(*main)->size() << " dependence\n";
  }
  if (cores.lnc_verify()->count().value() != 0) return 1;
  std::cout << "agreed\n";
}
