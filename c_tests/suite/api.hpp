// Where the suite gets the library from: linked in one build, loaded in the other.
#pragma once

#include "dramalloc.hpp"

#include <gtest/gtest.h>

#include <string>

/// The table under test; never null.
dram::Api api();

/// Fails the test with what the library says.
#define DRAM_OK(expression)                                       \
  do {                                                            \
    const auto &status_of_call = (expression);                    \
    ASSERT_TRUE(status_of_call.ok()) << status_of_call.message(); \
  } while (0)

namespace suite {

/// A context with a program, a module for core 0 and a function in it.
struct Fixture {
  dram::Context context = dram::Context::create(api()).value();
  dram::Program program = context.new_program("p").value();
  dram::Module module = program.add_module("m0", 0).value();
  dram::Function main = module.add_function("main").value();
};

/// A location that instruction 0 of its own writes and a later one reads.
inline std::uint32_t written_and_read(const dram::Function &f, std::string_view name,
                                      std::uint64_t bytes) {
  const std::uint32_t loc = f.add_memloc(dram::MemLoc(name, bytes)).value();
  (void)f.add_instruction({"write", {}, {dram::whole(loc)}}).value();
  (void)f.add_instruction({"read", {dram::whole(loc)}}).value();
  return loc;
}

}  // namespace suite
