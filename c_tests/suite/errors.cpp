// Errors: a code, a sentence, a place; and the report of a placement that was not found.
#include "api.hpp"

using suite::Fixture;

TEST(Errors, SayWhere) {
  Fixture f;
  auto refused = f.main.add_memloc(dram::MemLoc("a", 8).pin(UINT64_MAX - 2));
  ASSERT_FALSE(refused.ok());
  const auto info = refused.status().info();
  EXPECT_EQ(dram::view(info.function), "main");
  EXPECT_EQ(dram::view(info.location), "a");
  EXPECT_EQ(info.status, DRAM_STATUS_OUT_OF_RANGE);
}

TEST(Errors, NoRoomSaysWhatIsInTheWay) {
  Fixture f;
  const auto big = f.main.add_memloc(dram::MemLoc("big", 8192)).value();
  const auto small = f.main.add_memloc(dram::MemLoc("small", 4096)).value();
  (void)f.main.add_instruction({"write", {}, {dram::whole(big), dram::whole(small)}}).value();
  (void)f.main.add_instruction({"read", {dram::whole(big), dram::whole(small)}}).value();
  dram::Options options;
  options.capacity = 8192;
  auto plan = f.program.plan(options);
  ASSERT_EQ(plan.status().code(), DRAM_STATUS_RESOURCE_EXHAUSTED);
  const auto report = plan.status().no_room();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->capacity, 8192u);
  EXPECT_EQ(report->bound, 12288u);
  EXPECT_EQ(report->proved, 1u);
  ASSERT_GE(report->holder_count, 1u);
  EXPECT_TRUE(plan.status().holder(0).has_value());
  EXPECT_FALSE(plan.status().holder(report->holder_count).has_value());
  ASSERT_EQ(report->conflict_count, 2u);
  EXPECT_EQ(report->conflict_minimal, 1u);
  EXPECT_EQ(report->conflict_deficit, 4096u);
  EXPECT_EQ(dram::view(plan.status().conflict(0)->location), "big");
  EXPECT_EQ(dram::view(plan.status().conflict(1)->location), "small");
  EXPECT_EQ(plan.status().conflict(1)->bytes, 4096u);
  EXPECT_FALSE(plan.status().conflict(2).has_value());
  // A failed call changes nothing: the same program is placed where there is room.
  options.capacity = 12288;
  EXPECT_TRUE(f.program.plan(options).ok());
}

TEST(Errors, ThePointerForThemIsOptional) {
  dram_context *context = nullptr;
  ASSERT_EQ(api()->context_new(&context, nullptr), DRAM_STATUS_OK);
  EXPECT_EQ(api()->context_set_log(nullptr, nullptr, nullptr, 0, nullptr),
            DRAM_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(api()->context_free(context), DRAM_STATUS_OK);
}

TEST(Errors, AnOldErrorIsStale) {
  dram_error *error = nullptr;
  dram_context *none = nullptr;
  EXPECT_NE(api()->context_set_log(none, nullptr, nullptr, 0, &error), DRAM_STATUS_OK);
  ASSERT_NE(error, nullptr);
  EXPECT_NE(std::string(api()->error_message(error)), "");
  EXPECT_EQ(api()->error_free(error), DRAM_STATUS_OK);
  EXPECT_EQ(api()->error_free(error), DRAM_STATUS_INVALID_ARGUMENT);
  EXPECT_NE(std::string(api()->error_message(error)), "");
}
