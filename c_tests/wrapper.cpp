// The wrapper and the loader twice, in every standard of C++ and without exceptions and RTTI.
#include "dramalloc.hpp"
#include "dramalloc.hpp"
#include "dramalloc_loader.hpp"
#include "dramalloc_loader.hpp"

bool dram_wrapper_is_usable();

bool dram_wrapper_is_usable() {
  dram::Library library = dram::load();
  auto context = dram::Context::create(library.api());
  return context.ok();
}
