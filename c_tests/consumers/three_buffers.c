/* Three buffers, two of which share bytes, from plain C; and every way of asking for the version gives
 * the same. PACKAGE_VERSION is what the package says of itself. */
#include "dramalloc.h"

#include <stdio.h>
#include <string.h>

static int versions_agree(void) {
  char numbers[64];
  snprintf(numbers, sizeof numbers, "%d.%d.%d", DRAM_VERSION_MAJOR, DRAM_VERSION_MINOR, DRAM_VERSION_PATCH);
  return strcmp(numbers, PACKAGE_VERSION) == 0 && strcmp(DRAM_VERSION_STRING, PACKAGE_VERSION) == 0 &&
         strcmp(dram_version(), PACKAGE_VERSION) == 0 &&
         dram_abi_version() == ((uint32_t)DRAM_ABI_MAJOR << 16 | DRAM_ABI_MINOR);
}

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
  return result.peak == 96 && offset[0] == offset[2] && versions_agree() ? 0 : 1;
}
