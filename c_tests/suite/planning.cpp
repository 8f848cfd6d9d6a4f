// From a program to addresses: one core, several cores, what a plan says, verification.
#include "api.hpp"

#include <vector>

using suite::Fixture;

TEST(Planning, LocationsThatNeverLiveTogetherShareBytes) {
  Fixture f;
  const auto a = suite::written_and_read(f.main, "a", 8192);
  const auto b = suite::written_and_read(f.main, "b", 4096);
  auto plan = f.program.plan();
  DRAM_OK(plan.status());
  EXPECT_FALSE(f.main.address(a).ok()) << "planning changes nothing";
  DRAM_OK(f.program.apply(*plan));
  EXPECT_EQ(f.main.address(a).value(), 0u);
  EXPECT_EQ(f.main.address(b).value(), 0u);
  EXPECT_EQ(f.main.addresses().value(), (std::vector<std::uint64_t>{0, 0}));
  EXPECT_EQ(plan->info().value().peak, 8192u);
  EXPECT_EQ(plan->info().value().status, DRAM_PLAN_STATUS_OPTIMAL);
  EXPECT_EQ(f.program.verify(*plan)->count().value(), 0u);
}

TEST(Planning, PinsStayAndSetTheFloor) {
  Fixture f;
  dram::MemLoc weight("w", 5000);
  weight.usage = DRAM_USAGE_WEIGHT;
  const auto w = f.main.add_memloc(weight.pin(4096)).value();
  const auto a = suite::written_and_read(f.main, "a", 100);
  auto plan = f.module.allocate();
  DRAM_OK(plan.status());
  EXPECT_EQ(f.main.address(w).value(), 4096u);
  EXPECT_EQ(f.main.address(a).value(), 12288u);
  EXPECT_EQ(f.module.attribute(11).value(), 1u);
  EXPECT_EQ(f.module.metric(31).value(), 12288u);
  EXPECT_EQ(f.module.metric(32).value(), 100u);
  EXPECT_EQ(f.module.metric("reserved_space").value(), 12288u);
  DRAM_OK(f.module.clear_placement());
  EXPECT_FALSE(f.main.address(a).ok());
  EXPECT_EQ(f.main.address(w).value(), 4096u);
}

TEST(Planning, APlanSurvivesItsFile) {
  Fixture f;
  suite::written_and_read(f.main, "a", 8192);
  auto plan = f.program.plan();
  DRAM_OK(plan.status());
  std::string text;
  DRAM_OK(plan->write_json([&](std::string_view piece) {
    text += piece;
    return true;
  }));
  dram_plan *read = nullptr;
  ASSERT_EQ(api()->plan_from_json(reinterpret_cast<const std::uint8_t *>(text.data()), text.size(), &read, nullptr), DRAM_STATUS_OK);
  const dram::Plan again(api(), read);
  EXPECT_EQ(again.info().value().peak, 8192u);
  EXPECT_EQ(f.program.verify(again)->count().value(), 0u);
}

TEST(Planning, AWrongPlanIsFoundOut) {
  Fixture f;
  const auto a = f.main.add_memloc(dram::MemLoc("a", 4096)).value();
  const auto b = f.main.add_memloc(dram::MemLoc("b", 4096)).value();
  (void)f.main.add_instruction({"write", {}, {dram::whole(a), dram::whole(b)}}).value();
  (void)f.main.add_instruction({"read", {dram::whole(a), dram::whole(b)}}).value();
  auto plan = f.program.plan();
  DRAM_OK(plan.status());
  std::string text;
  DRAM_OK(plan->write_json([&](std::string_view piece) {
    text += piece;
    return true;
  }));
  const auto second = text.find("\"address\":4096");
  ASSERT_NE(second, std::string::npos);
  text.replace(second, 14, "\"address\":0");
  dram_plan *read = nullptr;
  ASSERT_EQ(api()->plan_from_json(reinterpret_cast<const std::uint8_t *>(text.data()), text.size(), &read, nullptr), DRAM_STATUS_OK);
  const dram::Plan wrong(api(), read);
  auto report = f.program.verify(wrong);
  DRAM_OK(report.status());
  ASSERT_GT(report->count().value(), 0u);
  EXPECT_FALSE(dram::view(report->violation(0).value().message).empty());

  // Run on its plan, the program finds the second value where it left the first.
  dram::VerifyOptions deep;
  deep.deep = 1;
  auto run = f.program.verify(wrong, deep);
  DRAM_OK(run.status());
  EXPECT_GT(run->count().value(), report->count().value());
  auto right = f.program.verify(*plan, deep);
  DRAM_OK(right.status());
  EXPECT_EQ(right->count().value(), 0u);
  std::uint32_t notes = 0;
  while (right->note(notes)) ++notes;
  EXPECT_EQ(right->note(notes).status().code(), DRAM_STATUS_OUT_OF_RANGE);

  // A host that watches it may stop it.
  auto cancel = dram::Cancel::create(api());
  DRAM_OK(cancel.status());
  dram::Control control;
  control.cancel = &*cancel;
  auto watched = f.program.verify(*plan, deep, control);
  DRAM_OK(watched.status());
  EXPECT_EQ(watched->count().value(), 0u);
  DRAM_OK(cancel->set());
  EXPECT_EQ(f.program.verify(*plan, deep, control).status().code(), DRAM_STATUS_CANCELLED);
}

TEST(Planning, SharedLocationsHaveOneAddressOnAllCores) {
  dram::Context context = dram::Context::create(api()).value();
  dram::Program program = context.new_program("two").value();
  std::vector<dram::Function> mains;
  std::vector<std::uint32_t> shared;
  for (std::uint32_t core = 0; core < 2; ++core) {
    auto main = program.add_module("m" + std::to_string(core), core)->add_function("main").value();
    dram::MemLoc s(core == 0 ? "s" : "t", 65536);
    s.space = DRAM_SPACE_SHARED;
    if (core == 1) s.follow(0, "s");
    shared.push_back(main.add_memloc(s).value());
    const auto own = main.add_memloc(dram::MemLoc("own", 4096)).value();
    (void)main.add_instruction({"write", {}, {dram::part(shared[core], core * 32768u, 32768), dram::whole(own)}}).value();
    dram::Instruction barrier{"sync"};
    barrier.kind = DRAM_KIND_BARRIER;
    barrier.id = 0;
    (void)main.add_instruction(barrier).value();
    (void)main.add_instruction({"read", {dram::whole(shared[core]), dram::whole(own)}}).value();
    mains.push_back(main);
  }
  auto plan = program.plan();
  DRAM_OK(plan.status());
  DRAM_OK(program.apply(*plan));
  EXPECT_EQ(mains[0].address(shared[0]).value(), mains[1].address(shared[1]).value());
  EXPECT_EQ(mains[1].memloc(shared[1]).value().is_shared_post_dram_alloc, 1u);
  EXPECT_EQ(program.verify(*plan)->count().value(), 0u);
}

TEST(Planning, InUnifiedGeometryASharedLocationIsFreeOnTheCoresItReaches) {
  dram::Context context = dram::Context::create(api()).value();
  dram::Program program = context.new_program("reach").value();
  std::vector<dram::Function> mains;
  std::vector<std::uint32_t> first;
  const std::vector<std::uint32_t> reach{1};
  for (std::uint32_t core = 0; core < 3; ++core) {
    auto main = program.add_module("m" + std::to_string(core), core)->add_function("main").value();
    dram::MemLoc loc(core == 0 ? "s" : "own", core == 0 ? 65536 : 4096);
    if (core == 0) {
      loc.space = DRAM_SPACE_SHARED;
      loc.reached_by(reach);
    }
    first.push_back(main.add_memloc(loc).value());
    (void)main.add_instruction({"write", {}, {dram::whole(first[core])}}).value();
    (void)main.add_instruction({"read", {dram::whole(first[core])}}).value();
    mains.push_back(main);
  }
  dram::Options options;
  options.geometry = DRAM_GEOMETRY_UNIFIED;
  auto plan = program.plan(options);
  DRAM_OK(plan.status());
  EXPECT_EQ(program.verify(*plan)->count().value(), 0u);
  DRAM_OK(program.apply(*plan));
  EXPECT_EQ(mains[0].address(first[0]).value(), 0u);
  EXPECT_EQ(mains[1].address(first[1]).value(), 65536u);
  EXPECT_EQ(mains[2].address(first[2]).value(), 0u);
}

TEST(Planning, ProgressIsToldAndCancelIsSticky) {
  Fixture f;
  for (int i = 0; i < 50; ++i) suite::written_and_read(f.main, "a" + std::to_string(i), 4096);
  int told = 0;
  dram::Control control;
  dram_progress last{};
  std::string phase;
  control.progress = [&](const dram_progress &progress) {
    told += 1;
    EXPECT_GE(progress.elapsed_us, last.elapsed_us);
    last = progress;
    phase = dram::view(progress.phase);
  };
  DRAM_OK(f.program.plan({}, control).status());
  EXPECT_GT(told, 0);
  EXPECT_EQ(phase, "search");
  EXPECT_EQ(last.bound, 4096u);
  EXPECT_EQ(last.incumbent, 4096u);
  auto cancel = dram::Cancel::create(api());
  DRAM_OK(cancel.status());
  dram::Cancel flag = std::move(const_cast<dram::Result<dram::Cancel> &>(cancel)).value();
  DRAM_OK(flag.set());
  control.cancel = &flag;
  EXPECT_EQ(f.program.plan({}, control).status().code(), DRAM_STATUS_CANCELLED);
  EXPECT_EQ(f.program.plan({}, control).status().code(), DRAM_STATUS_CANCELLED);
}

#if defined(__cpp_exceptions)
TEST(Planning, WhatAProgressCallbackThrowsComesBack) {
  Fixture f;
  suite::written_and_read(f.main, "a", 4096);
  dram::Control control;
  control.progress = [](const dram_progress &) { throw std::string("stop"); };
  EXPECT_THROW((void)f.program.plan({}, control), std::string);
}
#endif

TEST(Planning, NotesGoToTheContextsLog) {
  Fixture f;
  std::vector<std::string> lines;
  DRAM_OK(f.context.set_log([&](std::uint32_t, std::string_view line) { lines.emplace_back(line); },
                            DRAM_LOG_LEVEL_WARNING));
  const auto a = f.main.add_memloc(dram::MemLoc("never_written", 4096)).value();
  (void)f.main.add_instruction({"read", {dram::whole(a)}}).value();
  DRAM_OK(f.program.plan().status());
  bool named = false;
  for (const auto &line : lines) named |= line.find("never_written") != std::string::npos;
  EXPECT_TRUE(named) << "a use of bytes that nothing has written is worth a note";
}

TEST(Planning, TheLoadOfAFunctionIsToldPerInstruction) {
  Fixture f;
  suite::written_and_read(f.main, "a", 4096);
  suite::written_and_read(f.main, "b", 8192);
  auto plan = f.program.plan();
  DRAM_OK(plan.status());
  EXPECT_EQ(plan->load(f.main).value(), (std::vector<std::uint64_t>{4096, 4096, 8192, 8192}));
}

TEST(Planning, AHintKeepsWhatHasNotChanged) {
  Fixture before;
  const auto a = suite::written_and_read(before.main, "a", 4096);
  const auto b = suite::written_and_read(before.main, "b", 8192);
  auto hint = before.program.plan();
  DRAM_OK(hint.status());
  EXPECT_FALSE(hint->metric("hint_kept").ok()) << "it had no hint itself";
  Fixture after;
  EXPECT_EQ(suite::written_and_read(after.main, "b", 8192), a);
  EXPECT_EQ(suite::written_and_read(after.main, "a", 8192), b);
  dram::Control control;
  control.hint = &*hint;
  auto plan = after.program.plan({}, control);
  DRAM_OK(plan.status());
  EXPECT_EQ(plan->metric("hint_kept").value(), 1u) << "a has grown";
  EXPECT_EQ(plan->metric("hint_kept_bytes").value(), 8192u);
  EXPECT_EQ(plan->metric("hint_moved").value(), 0u);
  EXPECT_EQ(after.program.verify(*plan)->count().value(), 0u);
  hint->reset();
  EXPECT_EQ(after.program.plan({}, control).status().code(), DRAM_STATUS_OK) << "none is fine";
}

TEST(Planning, WhatStraddlesARuntimePageIsListed) {
  Fixture f;
  const std::uint64_t bytes = 3u << 18;
  const auto a = f.main.add_memloc(dram::MemLoc("a", bytes)).value();
  const auto b = f.main.add_memloc(dram::MemLoc("b", bytes)).value();
  (void)f.main.add_instruction({"write", {}, {dram::whole(a), dram::whole(b)}}).value();
  (void)f.main.add_instruction({"read", {dram::whole(a), dram::whole(b)}}).value();
  dram::Options options;
  options.runtime_page = 1;
  auto roomy = f.program.plan(options);
  DRAM_OK(roomy.status());
  EXPECT_EQ(roomy->metric("runtime_private_bytes").value(), 0u);
  EXPECT_EQ(roomy->straddler(0).status().code(), DRAM_STATUS_OUT_OF_RANGE);
  options.capacity = 2 * bytes;
  auto tight = f.program.plan(options);
  DRAM_OK(tight.status());
  EXPECT_EQ(tight->metric("runtime_pages").value(), 2u);
  EXPECT_EQ(tight->metric("runtime_private_bytes").value(), bytes);
  EXPECT_EQ(tight->straddler(0).value().bytes, bytes);
  EXPECT_EQ(dram::view(tight->straddler(0).value().function), "main");
  EXPECT_EQ(f.program.hbm_usage(*tight, 0).value().copies, bytes);
  EXPECT_EQ(f.program.verify(*tight)->count().value(), 0u);
}
