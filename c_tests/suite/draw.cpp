// Pictures of plans: pages, pictures and maps, one plan or two, and what is refused.
#include "api.hpp"

#include <string>

using suite::Fixture;

namespace {

std::string drawn(const dram::Program &program, const dram::Plan &plan,
                  const dram::DrawOptions &options = {}) {
  std::string text;
  const dram::Status status = program.draw(
      plan, [&](std::string_view piece) { return text.append(piece), true; }, options);
  EXPECT_TRUE(status.ok()) << status.message();
  return text;
}

}  // namespace

TEST(Draw, APlanIsAPageAPictureAndAMap) {
  Fixture f;
  (void)suite::written_and_read(f.main, "</script>", 4096);
  auto plan = f.program.plan().value();
  const std::string page = drawn(f.program, plan);
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0u);
  EXPECT_NE(page.find("\"\\u003c/script\\u003e\""), std::string::npos);
  dram::DrawOptions options;
  options.format = DRAM_DRAW_FORMAT_SVG;
  options.title = dram::str("a < b");
  EXPECT_NE(drawn(f.program, plan, options).find("a &lt; b"), std::string::npos);
  options.format = DRAM_DRAW_FORMAT_ASCII;
  options.width = 60;
  options.height = 4;
  EXPECT_NE(drawn(f.program, plan, options).find("a </script>: internal, 4 KiB at 0"),
            std::string::npos);
}

TEST(Draw, TwoPlansStandBesideEachOther) {
  Fixture f;
  (void)suite::written_and_read(f.main, "a", 4096);
  auto before = f.program.plan().value();
  Fixture g;
  (void)suite::written_and_read(g.main, "a", 8192);
  auto after = g.program.plan().value();
  dram::DrawOptions options;
  options.format = DRAM_DRAW_FORMAT_ASCII;
  options.title = dram::str("before");
  options.beside_plan = after.get();
  options.beside_program = g.program.get();
  options.beside_title = dram::str("after");
  const std::string map = drawn(f.program, before, options);
  EXPECT_NE(map.find("before: core 0"), std::string::npos) << map;
  EXPECT_NE(map.find("after: core 0"), std::string::npos) << map;
  EXPECT_NE(map.find(", grown\n"), std::string::npos) << map;
}

TEST(Draw, WhatCannotBeDrawnIsRefused) {
  Fixture f;
  (void)suite::written_and_read(f.main, "a", 4096);
  auto plan = f.program.plan().value();
  const auto keep = [](std::string_view) { return true; };
  const auto refused = [&](const dram::DrawOptions &options) {
    return f.program.draw(plan, keep, options).code();
  };
  dram::DrawOptions options;
  options.format = 3;
  EXPECT_EQ(refused(options), DRAM_STATUS_INVALID_ARGUMENT);
  options = {};
  options.height = 20001;
  EXPECT_EQ(refused(options), DRAM_STATUS_INVALID_ARGUMENT);
  options = {};
  options.beside_program = f.program.get();  // Without a plan of it.
  EXPECT_EQ(refused(options), DRAM_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(f.program.draw(plan, [](std::string_view) { return false; }).code(),
            DRAM_STATUS_CANCELLED);
  (void)suite::written_and_read(f.main, "later", 4096);
  EXPECT_EQ(refused({}), DRAM_STATUS_FAILED_PRECONDITION);
  plan.reset();
  EXPECT_EQ(refused({}), DRAM_STATUS_INVALID_ARGUMENT);
}
