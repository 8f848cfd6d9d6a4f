// A program of two instructions through the wrapper: planned, applied, verified.
#include "dramalloc.hpp"

#include <iostream>

int main() {
  auto context = dram::Context::create(dram::linked());
  auto program = context->new_program("consumer");
  auto main = program->add_module("core0", 0)->add_function("main");
  auto a = main->add_memloc(dram::MemLoc("a", 8192)).value();
  auto b = main->add_memloc(dram::MemLoc("b", 4096)).value();
  (void)main->add_instruction({"make", {}, {dram::whole(a)}}).value();
  (void)main->add_instruction({"turn", {dram::whole(a)}, {dram::whole(b)}}).value();
  auto plan = program->plan();
  program->apply(*plan).check();
  const auto peak = plan->info().value().peak;
  std::cout << "b at " << main->address(b).value() << ", peak " << peak << '\n';
  return peak == 12288 && program->verify(*plan)->count().value() == 0 ? 0 : 1;
}
