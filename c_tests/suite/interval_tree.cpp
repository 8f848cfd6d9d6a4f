// The interval tree by itself, against brute force.
#include "api.hpp"

#include <random>
#include <vector>

TEST(IntervalTree, AgreesWithBruteForce) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 50; ++round) {
    std::vector<std::uint32_t> lo, hi;
    for (std::uint32_t i = 0, n = below(60); i < n; ++i) {
      lo.push_back(below(100));
      hi.push_back(lo.back() + below(20));
    }
    auto tree = dram::IntervalTree::create(api(), lo, hi);
    DRAM_OK(tree.status());
    const std::uint32_t first = below(100), last = first + below(10);
    std::vector<std::uint32_t> want;
    for (std::uint32_t i = 0; i < lo.size(); ++i) {
      if (lo[i] <= last && first <= hi[i]) want.push_back(i);
    }
    EXPECT_EQ(tree->overlaps(first, last).value(), want);
    for (std::uint32_t i = 0; i < lo.size(); ++i) {
      std::vector<std::uint32_t> others;
      for (std::uint32_t j = 0; j < lo.size(); ++j) {
        if (j != i && lo[j] <= hi[i] && lo[i] <= hi[j]) others.push_back(j);
      }
      EXPECT_EQ(tree->overlaps(i).value(), others);
    }
  }
}

TEST(IntervalTree, InvertedIntervalsAndUnknownNumbersAreRefused) {
  EXPECT_EQ(dram::IntervalTree::create(api(), {3}, {2}).status().code(), DRAM_STATUS_INVALID_ARGUMENT);
  auto tree = dram::IntervalTree::create(api(), {1}, {2});
  DRAM_OK(tree.status());
  EXPECT_EQ(tree->overlaps(1).status().code(), DRAM_STATUS_OUT_OF_RANGE);
}
