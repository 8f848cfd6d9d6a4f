// Distinct handles are independent; calls that only read run together.
#include "api.hpp"

#include <atomic>
#include <thread>
#include <vector>

using suite::Fixture;

TEST(Threads, EachWithItsOwnContextGetsTheSameAddresses) {
  std::vector<std::vector<std::uint64_t>> addresses(4);
  std::vector<std::thread> threads;
  for (auto &mine : addresses) {
    threads.emplace_back([&mine] {
      Fixture f;
      for (int i = 0; i < 200; ++i) {
        suite::written_and_read(f.main, "a" + std::to_string(i), 4096u * (1 + i % 7));
      }
      auto plan = f.program.plan();
      if (plan.ok() && f.program.apply(*plan).ok()) mine = f.main.addresses().value();
    });
  }
  for (auto &thread : threads) thread.join();
  ASSERT_EQ(addresses[0].size(), 200u);
  for (const auto &other : addresses) EXPECT_EQ(other, addresses[0]);
}

TEST(Threads, OneProgramIsPlannedByManyAtOnce) {
  Fixture f;
  for (int i = 0; i < 200; ++i) suite::written_and_read(f.main, "a" + std::to_string(i), 4096);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) {
        auto plan = f.program.plan();
        if (plan.ok() && plan->info().value().peak == 4096) right += 1;
      }
    });
  }
  for (auto &thread : threads) thread.join();
  EXPECT_EQ(right, 20);
}

TEST(Threads, AFlagSetElsewhereStopsARun) {
  Fixture f;
  for (int i = 0; i < 100; ++i) suite::written_and_read(f.main, "a" + std::to_string(i), 4096);
  dram::Cancel cancel = dram::Cancel::create(api()).value();
  std::thread([&] { (void)cancel.set(); }).join();
  dram::Control control;
  control.cancel = &cancel;
  EXPECT_EQ(f.program.plan({}, control).status().code(), DRAM_STATUS_CANCELLED);
}
