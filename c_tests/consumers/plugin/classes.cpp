// The classes of the wrapper on a library of any age: what it lacks is UNIMPLEMENTED, never a jump into
// nothing.
//
// Usage: classes LIBRARY today|older
#include "dramalloc.hpp"
#include "dramalloc_loader.hpp"

#include <cstdio>
#include <string_view>

static int failures = 0;

static void expect(bool is, const char *what) {
  if (is) return;
  std::fprintf(stderr, "not so: %s\n", what);
  failures += 1;
}

/// What came after the first version works today, and is said to be missing before.
static void expect_newer(const dram::Status &status, bool older, const char *what) {
  expect(status.code() == (older ? DRAM_STATUS_UNIMPLEMENTED : DRAM_STATUS_OK), what);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const bool older = std::string_view(argv[2]) == "older";
  const dram::Library library = dram::load(argv[1]);
  if (!library) return std::fprintf(stderr, "%s\n", library.error().c_str()), 1;

  auto context = dram::Context::create(library.api());
  auto program = context->new_program("any age");
  auto main = program->add_module("core0", 0)->add_function("main");
  auto a = main->add_memloc(dram::MemLoc("a", 8192)).value();
  auto b = main->add_memloc(dram::MemLoc("b", 4096)).value();
  (void)main->add_instruction({"make", {}, {dram::whole(a)}}).value();
  (void)main->add_instruction({"turn", {dram::whole(a)}, {dram::whole(b)}}).value();

  // Structs of today, of which nothing new is asked, are served.
  auto plan = program->plan();
  expect(plan.ok() && plan->info().value().peak == 12288, "a plan of 12288 bytes");
  expect(program->verify(*plan)->count().value() == 0, "a right plan");
  // What is asked for in a field that the library does not know is refused, not ignored.
  dram::Options keep;
  keep.keep = 1;
  const auto kept = program->plan(keep);
  expect(kept.status().code() == (older ? DRAM_STATUS_INVALID_ARGUMENT : DRAM_STATUS_OK), "the option keep");

  expect_newer(program->pressure(*plan, 0).status(), older, "pressure");
  expect_newer(program->races(*plan).status(), older, "races");
  expect_newer(dram::Pipeline::create(library.api()).status(), older, "a pipeline");
  dram_verify_options deep = dram::sized<dram_verify_options>();
  deep.deep = 1;
  expect_newer(program->verify(*plan, deep).status(), older, "verification by running");

  // An error of an older library says what it knows.
  dram::Options small;
  small.capacity = 8192;
  const auto full = program->plan(small);
  expect(full.status().code() == DRAM_STATUS_RESOURCE_EXHAUSTED, "no room in 8192 bytes");
  expect(full.status().no_room().has_value(), "what did not fit");
  expect(full.status().conflict(0).has_value() == !older, "locations that cannot all be placed");
  return failures;
}
