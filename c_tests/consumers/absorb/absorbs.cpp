// One function of our own over the C ABI; the rest of this library is the archive.
#include "dramalloc.h"

#include <cstdint>

extern "C" std::uint64_t absorbed_peak(const dram_context *of_another_copy);

extern "C" std::uint64_t absorbed_peak(const dram_context *of_another_copy) {
  // A handle that another copy of the library made is not ours: an error, no crash.
  dram_program *program = nullptr;
  if (dram_program_new(const_cast<dram_context *>(of_another_copy), {"p", 1}, &program, nullptr) !=
      DRAM_STATUS_INVALID_ARGUMENT) {
    return 0;
  }
  const std::int64_t lower[] = {0, 2};
  const std::int64_t upper[] = {2, 4};
  const std::uint64_t size[] = {64, 64};
  std::uint64_t offset[2];
  dram_problem_result result{};
  result.struct_size = sizeof result;
  const dram_status status =
      dram_problem_solve_simple(lower, upper, size, 2, 0, offset, &result, nullptr);
  return status == DRAM_STATUS_OK ? result.peak : 0;
}
