// Describing a program: what is stored is found again, what is refused leaves nothing behind.
#include "api.hpp"

#include <vector>

using suite::Fixture;

TEST(Building, NamesCookiesAndNumbersLeadBack) {
  Fixture f;
  dram::MemLoc described("a", 8192);
  described.cookie = 77;
  const auto a = f.main.add_memloc(described).value();
  const auto v = f.main.add_memloc(dram::MemLoc::view("v", a, 4096)).value();
  EXPECT_EQ(f.main.find_memloc("a").value(), a);
  EXPECT_EQ(f.main.find_memloc("v").value(), v);
  EXPECT_EQ(f.main.memloc_name(v).value(), "v");
  EXPECT_EQ(f.main.cookies().value(), (std::vector<std::uint64_t>{77, 0}));
  const auto info = f.main.memloc(v).value();
  EXPECT_EQ(info.bytes, 4096u);
  EXPECT_EQ(info.root, a);
  EXPECT_EQ(info.root_offset, 4096u);
  EXPECT_EQ(f.main.find_memloc("b").status().code(), DRAM_STATUS_NOT_FOUND);
}

TEST(Building, ABulkCallIsAllOrNothing) {
  Fixture f;
  const std::vector<dram_memloc_desc> twice = {dram::MemLoc("a", 1), dram::MemLoc("a", 1)};
  auto refused = f.main.add_memlocs(twice);
  EXPECT_EQ(refused.status().code(), DRAM_STATUS_ALREADY_EXISTS);
  EXPECT_NE(refused.status().message().find("a"), std::string_view::npos);
  EXPECT_EQ(f.main.info().value().memloc_count, 0u);
  const std::vector<dram_memloc_desc> once = {dram::MemLoc("a", 1), dram::MemLoc("b", 1)};
  EXPECT_EQ(f.main.add_memlocs(once).value(), 0u);
  EXPECT_EQ(f.main.info().value().memloc_count, 2u);
}

TEST(Building, SizesAreChecked) {
  Fixture f;
  dram::MemLoc product("p", 0);
  product.element_count = std::uint64_t{1} << 62;
  product.element_size = 8;
  EXPECT_EQ(f.main.add_memloc(product).status().code(), DRAM_STATUS_OUT_OF_RANGE);
  EXPECT_FALSE(f.main.add_memloc(dram::MemLoc("top", 8192).pin(UINT64_MAX - 4096)).ok());
  const auto a = f.main.add_memloc(dram::MemLoc("a", 64)).value();
  EXPECT_FALSE(f.main.add_memloc(dram::MemLoc::view("v", a, 60, 8)).ok());
  EXPECT_FALSE(f.main.add_instruction({"read", {dram::part(a, 60, 8)}}).ok());
  EXPECT_FALSE(f.main.add_instruction({"read", {dram::whole(a + 1)}}).ok());
  EXPECT_EQ(f.main.info().value().instruction_count, 0u);
}

TEST(Building, BlocksAndSuccessors) {
  Fixture f;
  const auto entry = f.main.add_block("entry").value();
  const auto exit = f.main.add_block("exit").value();
  DRAM_OK(f.main.set_successors(entry, {exit}));
  EXPECT_FALSE(f.main.set_successors(entry, {exit + 1}).ok());
  EXPECT_EQ(f.main.info().value().block_count, 2u);
}

TEST(Building, JsonOutAndInAgainIsTheSameText) {
  Fixture f;
  suite::written_and_read(f.main, "a", 100);
  const auto text = [](const dram::Program &program) {
    std::string all;
    const dram::Status status = program.write_json([&](std::string_view piece) {
      all += piece;
      return true;
    });
    EXPECT_TRUE(status.ok()) << status.message();
    return all;
  };
  const std::string first = text(f.program);
  EXPECT_NE(first.find("dramalloc-program"), std::string::npos);
  auto again = f.context.program_from_json(first);
  DRAM_OK(again.status());
  EXPECT_EQ(text(*again), first);
  auto broken = f.context.program_from_json(first.substr(0, first.size() / 2));
  EXPECT_EQ(broken.status().code(), DRAM_STATUS_INVALID_ARGUMENT);
  EXPECT_FALSE(broken.status().message().empty());
}

TEST(Building, ASinkThatStopsEndsTheCall) {
  Fixture f;
  int pieces = 0;
  const dram::Status status = f.program.write_json([&](std::string_view) {
    pieces += 1;
    return false;
  });
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(pieces, 1);
}

#if defined(__cpp_exceptions)
TEST(Building, WhatASinkThrowsComesBack) {
  Fixture f;
  EXPECT_THROW((void)f.program.write_json([](std::string_view) -> bool { throw 7; }), int);
  EXPECT_TRUE(f.program.write_json([](std::string_view) { return true; }).ok());
}
#endif
