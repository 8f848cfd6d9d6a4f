// Both libraries at work, and each copy of the runtime catches its own panics.
#include "dramalloc.hpp"

#include <cstdint>
#include <cstdio>
#include <stdexcept>

extern "C" std::uint32_t other_thousands(std::uint32_t n);

int main() {
  const std::uint32_t fits = other_thousands(8);
  const std::uint32_t panics = other_thousands(4'294'968);
  auto context = dram::Context::create(dram::linked());
  auto program = context->new_program("two runtimes");
  auto main = program->add_module("core0", 0)->add_function("main");
  auto a = main->add_memloc(dram::MemLoc("a", fits)).value();
  (void)main->add_instruction({"make", {}, {dram::whole(a)}}).value();
  // C++ unwinds too, through a callback and out of the library's call.
  dram::Control control;
  control.shared = [](std::uint32_t, std::string_view, std::uint32_t, std::uint64_t) -> bool {
    throw std::runtime_error("no");
  };
  bool thrown = false;
  try {
    (void)program->plan({}, control);
  } catch (const std::runtime_error &) {
    thrown = true;
  }
  const auto peak = program->plan()->info().value().peak;
  std::printf("peak %llu, other %u and %u\n", static_cast<unsigned long long>(peak), fits, panics);
  return peak == 8192 && panics == 0 && thrown ? 0 : 1;
}
