// The pipeline: which passes there are, what a run says, how it fails.
#include "two_cores.hpp"

#include <cstring>
#include <string>
#include <vector>

using suite::TwoCores;

namespace {

std::vector<std::string> names(const dram::PipelineOptions &options) {
  auto pipeline = dram::Pipeline::create(api(), options);
  std::vector<std::string> all;
  for (std::uint32_t i = 0; i < pipeline->pass_count().value(); ++i) {
    all.emplace_back(pipeline->pass_name(i).value());
  }
  EXPECT_EQ(pipeline->pass_name(99).status().code(), DRAM_STATUS_OUT_OF_RANGE);
  return all;
}

}  // namespace

TEST(Pipeline, TheSwitchesDecideWhichPassesThereAre) {
  EXPECT_EQ(names({}),
            (std::vector<std::string>{
                "coloring_allocator_dram", "dynamic_dma_cleanup", "build_fdeps",
                "anti_dependency_analyzer_post_dram", "coloring_allocator_dram_shared",
                "memory_analysis_after_coloring_allocator_dram_shared", "sync_shared_allocations",
                "anti_dependency_analyzer_post_shared_dram", "lnc_verifier", "hbm_usage",
                "coloring_allocator_dram_debug"}));
  dram::PipelineOptions options;
  options.dram_rotation = 1;
  EXPECT_EQ(names(options)[1], "address_rotation_dram");
  options.disable_dram_rotation = 1;
  EXPECT_EQ(names(options)[1], "dynamic_dma_cleanup");
  options.disable_dram_allocation = 1;
  EXPECT_EQ(names(options)[0], "coloring_allocator_dram_shared");
  options = {};
  options.post_link = 1;
  EXPECT_EQ(names(options)[4], "coloring_allocator_dram_shared_post_lnk");
  options = {};
  options.cores = 2;
  EXPECT_EQ(names(options)[0], "lnc_splitter");
  options = {};
  options.dram_rotation_size = 9;
  EXPECT_EQ(dram::Pipeline::create(api(), options).status().code(), DRAM_STATUS_INVALID_ARGUMENT);
}

TEST(Pipeline, ARunGivesBothCoresOneAddressAndAPlan) {
  TwoCores two;
  dram::PipelineOptions options;
  options.verify_each = 1;
  options.verify_deep = 1;
  auto pipeline = dram::Pipeline::create(api(), options);
  std::vector<std::string> phases;
  dram::Control control;
  control.progress = [&](const dram_progress &p) {
    const std::string phase(dram::view(p.phase));
    if (phases.empty() || phases.back() != phase) phases.push_back(phase);
  };
  auto run = pipeline->run(two.programs[0], {}, control);
  DRAM_OK(run.status());
  EXPECT_EQ(phases.front(), "coloring_allocator_dram");
  EXPECT_EQ(two.mains[0].address(two.exchange).value(), two.mains[1].address(two.exchange).value());
  EXPECT_EQ(two.mains[1].memloc(two.exchange)->bank, 2u);
  const auto info = run->info().value();
  EXPECT_EQ(info.pass_count, 11u);
  EXPECT_EQ(info.rotated, 0u);
  for (std::uint32_t i = 0; i < info.pass_count; ++i) {
    EXPECT_EQ(run->pass(i)->verified, 1u);
    EXPECT_EQ(run->pass(i)->note_count, 0u);
    EXPECT_FALSE(run->note(i, 0).ok());
  }
  auto plan = run->plan();
  DRAM_OK(plan.status());
  EXPECT_EQ(two.programs[0].verify(*plan)->count().value(), 0u);
  const auto bulk = plan->dependences(two.mains[0]).value();
  ASSERT_EQ(bulk.size(), 1u) << "what one engine writes and the other sends";
  ASSERT_EQ(plan->edge_count().value(), 2 * bulk.size()) << "both cores have the same edges";
  EXPECT_EQ(plan->edge(1)->from_core, 1u);
  EXPECT_EQ(plan->edge(1)->to, bulk[0].to);
  EXPECT_EQ(plan->edge(bulk.size() * 2).status().code(), DRAM_STATUS_OUT_OF_RANGE);
  EXPECT_EQ(two.programs[0].plan()->edge_count().status().code(), DRAM_STATUS_FAILED_PRECONDITION);
}

TEST(Pipeline, AFailureNamesThePassAndChangesNothing) {
  TwoCores two;
  auto pipeline = dram::Pipeline::create(api());
  dram::Options options;
  options.capacity = 4096 + 65535;
  auto run = pipeline->run(two.programs[0], options);
  ASSERT_EQ(run.status().code(), DRAM_STATUS_RESOURCE_EXHAUSTED);
  EXPECT_EQ(dram::view(run.status().info().pass), "coloring_allocator_dram_shared");
  EXPECT_TRUE(run.status().no_room().has_value());
  EXPECT_FALSE(two.mains[0].address(two.own).ok()) << "what an earlier pass placed is not written";
}

TEST(Pipeline, UnplacedCandidatesAreNotesOfTheCoreVerifier) {
  TwoCores two;
  dram::PipelineOptions options;
  options.disable_dram_allocation = 1;
  auto run = dram::Pipeline::create(api(), options)->run(two.programs[0]);
  DRAM_OK(run.status());
  std::uint32_t notes = 0;
  for (std::uint32_t i = 0; i < run->info()->pass_count; ++i) {
    const auto pass = run->pass(i).value();
    notes += pass.note_count;
    if (pass.note_count > 0) {
      EXPECT_EQ(dram::view(pass.name), "lnc_verifier");
      EXPECT_NE(run->note(i, 0)->find("own"), std::string_view::npos);
    }
  }
  EXPECT_EQ(notes, 2u) << "one per core";
}

TEST(Pipeline, ElidedCopiesAreMarkedInTheProgram) {
  suite::Fixture f;
  const auto a = f.main.add_memloc(dram::MemLoc("a", 4096)).value();
  const auto b = f.main.add_memloc(dram::MemLoc("b", 4096)).value();
  (void)f.main.add_instruction({"write", {}, {dram::whole(a)}}).value();
  dram::Instruction copy{"copy"};
  const dram_operand from[] = {dram::whole(a)}, to[] = {dram::whole(b)};
  const dram_in_place pair[] = {{a, b}};
  copy.kind = DRAM_KIND_DMA_COPY;
  copy.uses = {from, 1};
  copy.defs = {to, 1};
  copy.in_place = {pair, 1};
  (void)f.main.add_instruction(copy).value();
  (void)f.main.add_instruction({"read", {dram::whole(b)}}).value();
  auto run = dram::Pipeline::create(api())->run(f.program);
  DRAM_OK(run.status());
  EXPECT_EQ(run->info()->copies_elided, 1u);
  EXPECT_EQ(f.main.elided().value(), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(f.module.metric(32).value(), 8192u);
}

TEST(Pipeline, HandlesThatMeanNothingAreRefused) {
  suite::Fixture f;
  auto *wrong = reinterpret_cast<dram_pipeline *>(f.program.get());
  std::uint32_t count = 1;
  for (dram_pipeline *bad : {static_cast<dram_pipeline *>(nullptr), wrong}) {
    EXPECT_EQ(api()->pipeline_pass_count(bad, &count, nullptr), DRAM_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(count, 0u);
    dram_run *run = nullptr;
    EXPECT_EQ(api()->pipeline_run(bad, f.program.get(), nullptr, nullptr, &run, nullptr), DRAM_STATUS_INVALID_ARGUMENT);
  }
  dram_pipeline *pipeline = nullptr;
  ASSERT_EQ(api()->pipeline_new(nullptr, &pipeline, nullptr), DRAM_STATUS_OK);
  EXPECT_EQ(api()->pipeline_run(pipeline, f.program.get(), nullptr, nullptr, nullptr, nullptr), DRAM_STATUS_OK) << "nobody has to take the report";
  EXPECT_EQ(api()->pipeline_free(pipeline), DRAM_STATUS_OK);
  EXPECT_EQ(api()->pipeline_free(pipeline), DRAM_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(api()->pipeline_run(pipeline, f.program.get(), nullptr, nullptr, nullptr, nullptr), DRAM_STATUS_INVALID_ARGUMENT);
  auto info = dram::sized<dram_run_info>();
  EXPECT_EQ(api()->run_get(reinterpret_cast<dram_run *>(pipeline), &info, nullptr), DRAM_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(api()->run_free(nullptr), DRAM_STATUS_OK);
}

#if defined(__cpp_exceptions)
TEST(Pipeline, WhatACallbackThrowsComesBack) {
  TwoCores two;
  dram::Control control;
  control.progress = [](const dram_progress &) { throw std::string("stop"); };
  auto pipeline = dram::Pipeline::create(api());
  EXPECT_THROW((void)pipeline->run(two.programs[0], {}, control), std::string);
  EXPECT_FALSE(two.mains[0].address(two.own).ok()) << "a run that was stopped has written nothing";
}
#endif
