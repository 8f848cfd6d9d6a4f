#include "dramalloc.hpp"

#include <iostream>

int main() {
  auto context = dram::Context::create(dram::linked());
  auto program = context->new_program("two layers");
  auto main = program->add_module("core0", 0)->add_function("main");

  dram::MemLoc weight("weight", 1 << 20);
  weight.usage = DRAM_USAGE_WEIGHT;
  auto w = main->add_memloc(weight.pin(0)).value();
  auto x = main->add_memloc(dram::MemLoc("x", 65536)).value();
  auto y = main->add_memloc(dram::MemLoc("y", 65536)).value();
  auto z = main->add_memloc(dram::MemLoc("z", 65536)).value();
  (void)main->add_instruction({"load", {}, {dram::whole(x)}}).value();
  (void)main->add_instruction({"matmul", {dram::whole(x), dram::whole(w)}, {dram::whole(y)}}).value();
  (void)main->add_instruction({"matmul", {dram::whole(y), dram::whole(w)}, {dram::whole(z)}}).value();
  (void)main->add_instruction({"store", {dram::whole(z)}}).value();

  auto plan = program->plan();
  if (!plan) return std::cerr << plan.status().message() << '\n', 1;
  program->apply(*plan).check();
  std::cout << "z at " << main->address(z).value() << ", peak " << plan->info().value().peak << " bytes\n";
  return program->verify(*plan)->count().value() == 0 ? 0 : 1;
}
