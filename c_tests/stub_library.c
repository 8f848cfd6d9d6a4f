/* A library of another major version: it serves no table. */
#include "dramalloc.h"

uint32_t dram_abi_version(void) { return 7u << 16; }

const dram_api *dram_get_api(uint32_t abi_major) {
  (void)abi_major;
  return NULL;
}
