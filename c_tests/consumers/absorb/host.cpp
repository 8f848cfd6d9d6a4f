// Uses the library itself and through a shared object that has a copy of its own.
#include "dramalloc.h"

#include <cstdint>
#include <cstdio>

extern "C" std::uint64_t absorbed_peak(const dram_context *of_another_copy);

int main() {
  dram_context *context = nullptr;
  if (dram_context_new(&context, nullptr) != DRAM_STATUS_OK) return 1;
  const std::uint64_t peak = absorbed_peak(context);
  std::printf("peak %llu\n", static_cast<unsigned long long>(peak));
  return dram_context_free(context) == DRAM_STATUS_OK && peak == 64 ? 0 : 1;
}
