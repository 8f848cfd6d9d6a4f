// Handles that are null, garbage, stale, freed twice or of another type: a status, never a crash.
// The Rust tests walk through every entry of the table; here the same border is met from C++.
#include "api.hpp"

#include <cstring>

using suite::Fixture;

namespace {

template <class H>
H *handle(std::uintptr_t bits) {
  H *value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Every call that needs a program, with this one.
void every_program_call_refuses(dram_program *program) {
  dram_module *module = nullptr;
  dram_plan *plan = nullptr;
  std::uint32_t count = 1;
  EXPECT_EQ(api()->program_add_module(program, dram::str("m"), 0, &module, nullptr), DRAM_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(api()->program_module_count(program, &count, nullptr), DRAM_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(count, 0u) << "outputs are written on failure too";
  EXPECT_EQ(api()->program_module(program, 0, &module, nullptr), DRAM_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(api()->program_find_module(program, 0, &module, nullptr), DRAM_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(api()->program_plan(program, nullptr, nullptr, &plan, nullptr), DRAM_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(module, nullptr);
  EXPECT_EQ(plan, nullptr);
}

}  // namespace

TEST(Misuse, NullAndGarbage) {
  for (std::uintptr_t bits : {std::uintptr_t{0}, std::uintptr_t{1}, std::uintptr_t{0xdeadbeef},
                              ~std::uintptr_t{0}, std::uintptr_t{0x7fff12345678}}) {
    every_program_call_refuses(handle<dram_program>(bits));
    if (bits != 0) {
      EXPECT_EQ(api()->program_free(handle<dram_program>(bits)), DRAM_STATUS_INVALID_ARGUMENT);
    }
  }
  EXPECT_EQ(api()->program_free(nullptr), DRAM_STATUS_OK) << "freeing nothing is fine";
}

TEST(Misuse, FreedTwiceAndUsedAfter) {
  dram_context *context = nullptr;
  dram_program *program = nullptr;
  ASSERT_EQ(api()->context_new(&context, nullptr), DRAM_STATUS_OK);
  ASSERT_EQ(api()->program_new(context, dram::str("p"), &program, nullptr), DRAM_STATUS_OK);
  EXPECT_EQ(api()->program_free(program), DRAM_STATUS_OK);
  EXPECT_EQ(api()->program_free(program), DRAM_STATUS_INVALID_ARGUMENT);
  every_program_call_refuses(program);
  // A new object in the same place is not the old one.
  dram_program *other = nullptr;
  ASSERT_EQ(api()->program_new(context, dram::str("q"), &other, nullptr), DRAM_STATUS_OK);
  EXPECT_NE(other, program);
  every_program_call_refuses(program);
  EXPECT_EQ(api()->context_free(context), DRAM_STATUS_OK);
}

TEST(Misuse, ChildrenDieWithTheirParents) {
  dram_context *context = nullptr;
  dram_program *program = nullptr;
  dram_module *module = nullptr;
  dram_function *function = nullptr;
  ASSERT_EQ(api()->context_new(&context, nullptr), DRAM_STATUS_OK);
  ASSERT_EQ(api()->program_new(context, dram::str("p"), &program, nullptr), DRAM_STATUS_OK);
  ASSERT_EQ(api()->program_add_module(program, dram::str("m"), 0, &module, nullptr), DRAM_STATUS_OK);
  ASSERT_EQ(api()->module_add_function(module, dram::str("f"), &function, nullptr), DRAM_STATUS_OK);
  EXPECT_EQ(api()->context_free(context), DRAM_STATUS_OK);
  every_program_call_refuses(program);
  auto info = dram::sized<dram_function_info>();
  EXPECT_EQ(api()->function_get(function, &info, nullptr), DRAM_STATUS_INVALID_ARGUMENT);
  std::uint64_t value = 1;
  EXPECT_EQ(api()->module_metric(module, 31, &value, nullptr), DRAM_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(value, 0u);
}

TEST(Misuse, AHandleOfAnotherTypeIsRefused) {
  Fixture f;
  every_program_call_refuses(reinterpret_cast<dram_program *>(f.context.get()));
  every_program_call_refuses(reinterpret_cast<dram_program *>(f.module.get()));
  every_program_call_refuses(reinterpret_cast<dram_program *>(f.main.get()));
}

TEST(Misuse, StructsOfTheWrongSizeAndUnknownTails) {
  Fixture f;
  dram_plan *plan = nullptr;
  dram_options options{};  // struct_size 0
  EXPECT_EQ(api()->program_plan(f.program.get(), &options, nullptr, &plan, nullptr), DRAM_STATUS_INVALID_ARGUMENT);
  struct Newer {
    dram_options options;
    std::uint64_t unknown;
  } newer{};
  newer.options.struct_size = sizeof newer;
  ASSERT_EQ(api()->program_plan(f.program.get(), &newer.options, nullptr, &plan, nullptr), DRAM_STATUS_OK)
      << "a newer caller that asks for nothing new is served";
  EXPECT_EQ(api()->plan_free(plan), DRAM_STATUS_OK);
  newer.unknown = 1;
  EXPECT_EQ(api()->program_plan(f.program.get(), &newer.options, nullptr, &plan, nullptr), DRAM_STATUS_INVALID_ARGUMENT);
  dram::Options strange;
  strange.strategy = 99;
  EXPECT_EQ(f.program.plan(strange).status().code(), DRAM_STATUS_INVALID_ARGUMENT);
}

TEST(Misuse, TextThatIsNotUtf8OrHasNoBytesIsRefused) {
  Fixture f;
  EXPECT_EQ(f.module.add_function("\xff\xfe").status().code(), DRAM_STATUS_INVALID_ARGUMENT);
  dram_function *function = nullptr;
  EXPECT_EQ(api()->module_add_function(f.module.get(), dram_str{nullptr, 3}, &function, nullptr), DRAM_STATUS_INVALID_ARGUMENT);
}

TEST(Misuse, AnotherMajorVersionIsNotServed) {
  EXPECT_EQ(api()->abi_major, DRAM_ABI_MAJOR);
  EXPECT_GE(api()->struct_size, sizeof(dram_api));
}
