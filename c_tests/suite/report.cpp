// Why a plan is as high as it is, and what is different between two.
#include "api.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

using suite::Fixture;

namespace {

/// A function of two locations that live at once, the first with so many bytes.
dram::Plan planned(Fixture &f, std::uint64_t bytes) {
  const std::uint32_t a = f.main.add_memloc(dram::MemLoc("a", bytes)).value();
  const std::uint32_t b = f.main.add_memloc(dram::MemLoc("b", 100)).value();
  (void)f.main.add_instruction({"write", {}, {dram::whole(a), dram::whole(b)}}).value();
  (void)f.main.add_instruction({"read", {dram::whole(a), dram::whole(b)}}).value();
  return f.program.plan().value();
}

bool contains(const std::string &text, std::string_view what) {
  return text.find(what) != std::string::npos;
}

}  // namespace

TEST(Report, APlanIsExplainedAsText) {
  Fixture f;
  const dram::Plan plan = planned(f, 5000);
  auto text = f.program.explain(plan);
  DRAM_OK(text.status());
  EXPECT_TRUE(contains(*text, "local, core 0: peak 12,288 bytes")) << *text;
  EXPECT_TRUE(contains(*text, "declared")) << *text;
}

TEST(Report, APlanIsExplainedAsJson) {
  Fixture f;
  const dram::Plan plan = planned(f, 5000);
  dram::ExplainOptions options;
  options.format = DRAM_REPORT_FORMAT_JSON;
  options.top = 1;
  std::string pieces;
  DRAM_OK(f.program.explain(
      plan,
      [&](std::string_view piece) {
        pieces += piece;
        return true;
      },
      options));
  EXPECT_EQ(pieces, f.program.explain(plan, options).value());
  EXPECT_TRUE(contains(pieces, "\"format\":\"dramalloc-explanation\"")) << pieces;
  EXPECT_TRUE(contains(pieces, "\"declared\":5100")) << pieces;
}

TEST(Report, TwoPlansAreCompared) {
  Fixture f;
  Fixture g;
  const dram::Plan small = planned(f, 5000);
  const dram::Plan large = planned(g, 20000);
  auto text = f.program.diff(small, g.program, large);
  DRAM_OK(text.status());
  EXPECT_TRUE(contains(*text, "grown: 1 location,")) << *text;
  dram::DiffOptions options;
  options.format = DRAM_REPORT_FORMAT_JSON;
  const std::string json = f.program.diff(small, g.program, large, options).value();
  EXPECT_TRUE(contains(json, "\"peak_change\":12288")) << json;
}

TEST(Report, MisuseIsAStatus) {
  Fixture f;
  Fixture g;
  const dram::Plan plan = planned(f, 5000);
  const dram::Plan foreign = planned(g, 20000);
  EXPECT_EQ(f.program.explain(foreign).status().code(), DRAM_STATUS_FAILED_PRECONDITION);
  EXPECT_EQ(f.program.diff(plan, f.program, foreign).status().code(),
            DRAM_STATUS_FAILED_PRECONDITION);
  dram::ExplainOptions unknown;
  unknown.format = 99;
  EXPECT_EQ(f.program.explain(plan, unknown).status().code(), DRAM_STATUS_INVALID_ARGUMENT);
  dram::DiffOptions reserved;
  reserved.reserved = 1;
  EXPECT_EQ(f.program.diff(plan, f.program, plan, reserved).status().code(),
            DRAM_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(f.program.explain(plan, [](std::string_view) { return false; }).code(),
            DRAM_STATUS_CANCELLED);
  EXPECT_EQ(api()->plan_explain(f.program.get(), plan.get(), nullptr, nullptr, nullptr, nullptr),
            DRAM_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(api()->plan_diff(f.program.get(), plan.get(), nullptr, plan.get(), nullptr, nullptr,
                             nullptr, nullptr),
            DRAM_STATUS_INVALID_ARGUMENT);
}

TEST(Report, AThrowingSinkIsRethrown) {
  Fixture f;
  const dram::Plan plan = planned(f, 5000);
  EXPECT_THROW((void)f.program.explain(
                   plan, [](std::string_view) -> bool { throw std::runtime_error("full"); }),
               std::runtime_error);
}
