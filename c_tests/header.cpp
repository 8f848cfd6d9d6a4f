// The C header twice, by itself, as C++11 sees it.
#include "dramalloc.h"
#include "dramalloc.h"

int dram_header_is_usable() {
  dram_options options = dram_options();
  options.struct_size = sizeof options;
  const dram_str text = {"x", 1};
  return text.len == 1 && options.capacity == 0;
}
