// Several cores: each mode of the allocator alone, sync, digests, the core verifier, who holds
// memory; in one program and in two.
#include "two_cores.hpp"

#include <cstring>
#include <thread>

using suite::TwoCores;

TEST(Cores, EachModeAloneThenSyncAgrees) {
  for (bool apart : {false, true}) {
    TwoCores two(apart);
    const dram::Cores cores(api(), two.modules);
    DRAM_OK(cores.allocate(DRAM_SPACE_LOCAL).status());
    EXPECT_EQ(two.mains[0].address(two.own).value(), 0u);
    EXPECT_FALSE(two.mains[0].address(two.exchange).ok());
    auto plan = cores.allocate(DRAM_SPACE_SHARED);
    DRAM_OK(plan.status());
    EXPECT_EQ(plan->info()->module_count, 2u);
    EXPECT_TRUE(two.mains[0].address(two.exchange).ok());
    EXPECT_FALSE(two.mains[1].address(two.exchange).ok()) << "a follower waits for sync";
    EXPECT_EQ(dram::check_digests(api(), cores.digests().value()).code(),
              DRAM_STATUS_FAILED_PRECONDITION);
    auto synced = cores.sync_shared_allocations();
    DRAM_OK(synced.status());
    EXPECT_EQ(synced->groups, 1u);
    EXPECT_EQ(synced->assigned, 1u);
    EXPECT_EQ(std::strlen(synced->digest), 32u);
    const auto there = two.mains[1].memloc(two.exchange).value();
    EXPECT_EQ(there.address, two.mains[0].address(two.exchange).value());
    EXPECT_EQ(there.partition, 1u);
    EXPECT_EQ(there.bank, 2u);
    EXPECT_EQ(there.is_shared_post_dram_alloc, 1u);
    DRAM_OK(dram::check_digests(api(), cores.digests().value()));
    EXPECT_STREQ(cores.digests().value()[1].text, synced->digest);
    EXPECT_EQ(cores.lnc_verify()->count().value(), 0u);
    EXPECT_EQ(cores.sync_shared_allocations()->assigned, 0u) << "a second time changes nothing";
  }
}

TEST(Cores, SyncNamesBothSidesAndWritesNothing) {
  for (bool apart : {false, true}) {
    TwoCores two(apart, 65537);
    const dram::Cores cores(api(), two.modules);
    auto synced = cores.sync_shared_allocations();
    ASSERT_EQ(synced.status().code(), DRAM_STATUS_INVALID_ARGUMENT);
    const auto info = synced.status().info();
    EXPECT_EQ(info.core, 1u);
    EXPECT_EQ(dram::view(info.function), "main");
    EXPECT_EQ(dram::view(info.location), "exchange");
    EXPECT_EQ(info.other_core, 0u);
    EXPECT_EQ(dram::view(info.other_function), "main");
    EXPECT_EQ(dram::view(info.other_location), "exchange");
    EXPECT_FALSE(two.mains[1].address(two.exchange).ok());
  }
}

TEST(Cores, DigestsOfOtherProcessesAreChecked) {
  dram_digest digest{};
  digest.core = 3;
  EXPECT_EQ(dram::check_digests(api(), {digest}).code(), DRAM_STATUS_INVALID_ARGUMENT);
  std::memset(digest.text, 'a', 32);
  DRAM_OK(dram::check_digests(api(), {digest}));
  auto other = digest;
  other.core = 5;
  other.text[31] = 'b';
  const auto status = dram::check_digests(api(), {digest, other});
  EXPECT_EQ(status.code(), DRAM_STATUS_FAILED_PRECONDITION);
  EXPECT_NE(status.message().find("on 3"), std::string_view::npos) << status.message();
  EXPECT_NE(status.message().find("on 5"), std::string_view::npos) << status.message();
}

TEST(Cores, OneModuleBecomesOnePerCore) {
  suite::Fixture f;
  dram::MemLoc shared("s", 8192);
  shared.space = DRAM_SPACE_SHARED;
  const auto s = f.main.add_memloc(shared).value();
  (void)f.main.add_instruction({"x", {}, {dram::whole(s)}}).value();
  DRAM_OK(f.module.lnc_split(4));
  const auto modules = f.program.modules().value();
  ASSERT_EQ(modules.size(), 4u);
  const dram::Cores cores(api(), modules);
  DRAM_OK(cores.allocate(DRAM_SPACE_SHARED).status());
  DRAM_OK(cores.sync_shared_allocations().status());
  for (const auto &module : modules) {
    EXPECT_EQ(module.find_function("main")->address(s).value(), 0u);
  }
  EXPECT_EQ(f.main.address(s).value(), 0u) << "the first handle means core 0";
  EXPECT_EQ(f.module.lnc_split(2).code(), DRAM_STATUS_INVALID_ARGUMENT) << "it is split already";
}

TEST(Cores, MemoryByCategoryPerInstructionCoreAndDevice) {
  TwoCores two;
  const auto &program = two.programs[0];
  auto plan = program.plan();
  DRAM_OK(plan.status());
  const auto live = plan->live(two.mains[1], 100).value();
  const auto device = plan->device_live(two.mains[1], 100).value();
  ASSERT_EQ(live.size(), 4u);
  ASSERT_EQ(device.size(), 4u);
  for (std::size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(live[t].private_bytes, 4096u);
    EXPECT_EQ(live[t].shared, 65536u);
    EXPECT_EQ(live[t].extra, 100u);
    EXPECT_EQ(device[t].private_bytes, 8192u);
    EXPECT_EQ(device[t].shared, 65536u) << "shared bytes are there once";
    EXPECT_EQ(device[t].extra, 200u);
  }
  const auto core = program.pressure(*plan, 1).value();
  EXPECT_EQ(core.live.private_bytes, 4096u);
  EXPECT_EQ(core.instruction, 0u);
  EXPECT_EQ(program.pressure(*plan, DRAM_UNKNOWN)->live.shared, 65536u);
  EXPECT_EQ(program.hbm_usage(*plan, 1)->shared, 65536u);
  EXPECT_EQ(program.races(*plan)->count().value(), 0u);
}

TEST(Cores, AForeignOrStaleModuleInTheListIsRefused) {
  TwoCores two;
  auto *program = reinterpret_cast<dram_module *>(two.programs[0].get());
  dram_module *gone = nullptr;
  {
    suite::Fixture f;
    gone = f.module.get();
  }
  auto *first = two.modules[0].get();
  for (dram_module *bad : {program, gone, first, static_cast<dram_module *>(nullptr)}) {
    dram_module *list[] = {first, bad};
    dram_plan *plan = nullptr;
    EXPECT_EQ(api()->modules_allocate(list, 2, 0, nullptr, nullptr, &plan, nullptr), DRAM_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(plan, nullptr);
    EXPECT_EQ(api()->modules_sync_shared_allocations(list, 2, nullptr, nullptr, nullptr, nullptr), DRAM_STATUS_INVALID_ARGUMENT);
  }
}

TEST(Cores, ThePredicateOfTheHostSharesWhatIsNotDeclared) {
  TwoCores two;
  const dram::Cores cores(api(), two.modules);
  dram::Control control;
  control.shared = [&](std::uint32_t, std::string_view, std::uint32_t loc, std::uint64_t) {
    return loc == two.own;
  };
  DRAM_OK(cores.allocate(DRAM_SPACE_SHARED, {}, control).status());
  DRAM_OK(cores.sync_shared_allocations({}, control).status());
  EXPECT_EQ(two.mains[0].address(two.own).value(), two.mains[1].address(two.own).value());
  EXPECT_EQ(cores.lnc_verify({}, control)->count().value(), 0u);
}

TEST(Cores, ThreadsWithOneListInTwoOrdersFinish) {
  TwoCores two(true);
  const dram::Cores cores(api(), two.modules);
  DRAM_OK(cores.allocate(DRAM_SPACE_LOCAL).status());
  DRAM_OK(cores.allocate(DRAM_SPACE_SHARED).status());
  const std::vector<dram::Module> backwards(two.modules.rbegin(), two.modules.rend());
  const dram::Cores turned(api(), backwards);
  const auto work = [](const dram::Cores &list) {
    for (int i = 0; i < 100; ++i) (void)list.sync_shared_allocations();
  };
  std::thread other(work, std::cref(turned));
  work(cores);
  other.join();
  EXPECT_EQ(cores.lnc_verify()->count().value(), 0u);
}
