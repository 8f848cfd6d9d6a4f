// Raw problems: arrays in, offsets out.
#include "api.hpp"

#include <vector>

TEST(Problem, TheSimplestForm) {
  auto solved = dram::solve(api(), {0, 0, 2}, {2, 4, 4}, {64, 32, 64});
  DRAM_OK(solved.status());
  EXPECT_EQ(solved->result.peak, 96u);
  EXPECT_EQ(solved->result.bound, 96u);
  EXPECT_EQ(solved->offsets[0], solved->offsets[2]);
}

TEST(Problem, HalfOpenLivesThatTouchDoNotMeet) {
  auto solved = dram::solve(api(), {0, 5}, {5, 9}, {10, 10});
  DRAM_OK(solved.status());
  EXPECT_EQ(solved->offsets, (std::vector<std::uint64_t>{0, 0}));
}

TEST(Problem, InvertedLivesAndLengthsThatDifferAreRefused) {
  EXPECT_EQ(dram::solve(api(), {5}, {4}, {1}).status().code(), DRAM_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(dram::solve(api(), {5, 6}, {4}, {1}).status().code(), DRAM_STATUS_INVALID_ARGUMENT);
}

TEST(Problem, ACapacityBelowTheBoundIsProvedImpossible) {
  auto solved = dram::solve(api(), {0, 0}, {2, 2}, {64, 64}, 127);
  ASSERT_EQ(solved.status().code(), DRAM_STATUS_RESOURCE_EXHAUSTED);
  ASSERT_TRUE(solved.status().no_room().has_value());
  EXPECT_EQ(solved.status().no_room()->proved, 1u);
  EXPECT_TRUE(dram::solve(api(), {0, 0}, {2, 2}, {64, 64}, 128).ok());
}

TEST(Problem, LargeTimesAndSizesAreExact) {
  const std::int64_t far = INT64_MAX - 10;
  auto solved = dram::solve(api(), {far, far + 1, -far}, {far + 2, far + 3, far + 3},
                            {std::uint64_t{1} << 40, std::uint64_t{1} << 41, 1});
  DRAM_OK(solved.status());
  EXPECT_EQ(solved->result.peak, (std::uint64_t{3} << 40) + 1);
}

TEST(Problem, HintsAreAWarmStartAndNotTrusted) {
  const std::vector<dram_interval> intervals{{0, 4}, {0, 4}, {0, 4}};
  const std::vector<std::uint64_t> sizes{8, 4, 2};
  auto problem = dram_problem{};
  problem.struct_size = sizeof problem;
  problem.count = sizes.size();
  problem.intervals = intervals.data();
  problem.sizes = sizes.data();
  const std::vector<std::uint64_t> good{6, 2, 0};
  problem.hints = good.data();
  auto solved = dram::solve(api(), problem);
  DRAM_OK(solved.status());
  EXPECT_EQ(solved->offsets, good);
  EXPECT_EQ(solved->result.kept, 3u);
  EXPECT_EQ(solved->result.kept_bytes, 14u);
  EXPECT_EQ(solved->result.moved, 0u);
  const std::vector<std::uint64_t> bad{UINT64_MAX - 1, 0, DRAM_NO_ADDRESS};
  problem.hints = bad.data();
  solved = dram::solve(api(), problem);
  DRAM_OK(solved.status());
  EXPECT_EQ(solved->result.peak, 14u);
  EXPECT_EQ(solved->result.kept, 1u);
  EXPECT_EQ(solved->result.moved, 1u);
}
