// What a piece of C++ in the guide stands in: a program of two small locations.
#include "dramalloc.hpp"

#include <fstream>
#include <iostream>

int main() {
  auto context = dram::Context::create(dram::linked());
  auto program = context->new_program("piece");
  auto main = program->add_module("core0", 0)->add_function("main");
  auto x = main->add_memloc(dram::MemLoc("x", 65536)).value();
  auto y = main->add_memloc(dram::MemLoc("y", 65536)).value();
  (void)main->add_instruction({"load", {}, {dram::whole(x)}}).value();
  (void)main->add_instruction({"relu", {dram::whole(x)}, {dram::whole(y)}}).value();
  (void)main->add_instruction({"store", {dram::whole(y)}}).value();
  @block@
}
