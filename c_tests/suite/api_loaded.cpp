#include "api.hpp"

#include "dramalloc_loader.hpp"

#include <cstdio>
#include <cstdlib>

dram::Api api() {
  static const dram::Library library = dram::load();  // What DRAMALLOC_LIBRARY says.
  if (!library) {
    std::fprintf(stderr, "%s\n", library.error().c_str());
    std::abort();
  }
  return library.api();
}
