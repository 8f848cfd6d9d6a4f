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
