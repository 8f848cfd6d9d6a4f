/* The C header twice, by itself, in every standard of C. */
#include "dramalloc.h"
#include "dramalloc.h"

int dram_header_is_usable(void);

int dram_header_is_usable(void) {
  dram_options options = {0};
  options.struct_size = sizeof options;
  return dram_text("x").len == 1 && options.capacity == 0;
}
