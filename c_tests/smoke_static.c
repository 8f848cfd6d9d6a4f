/* Three buffers, two of which share bytes: the archive links and works from plain C. */
#include "dramalloc.h"

#include <stdio.h>

int main(void) {
  const int64_t lower[] = {0, 0, 2};
  const int64_t upper[] = {2, 4, 4};
  const uint64_t size[] = {64, 32, 64};
  uint64_t offset[3];
  dram_problem_result result = {0};
  result.struct_size = sizeof result;
  dram_error *error = NULL;
  dram_status status =
      dram_problem_solve_simple(lower, upper, size, 3, 0, offset, &result, &error);
  if (status != DRAM_STATUS_OK) {
    fprintf(stderr, "%s\n", dram_error_message(error));
    return 1;
  }
  printf("peak %llu, version %s\n", (unsigned long long)result.peak, dram_version());
  return result.peak == 96 && offset[0] == offset[2] ? 0 : 1;
}
