// The loader says why it has no library, for everything that is none.
//
// Usage: loader_refuses TEXT-FILE LIBRARY-WITHOUT-US LIBRARY-OF-ANOTHER-MAJOR
#include "dramalloc.hpp"
#include "dramalloc_loader.hpp"

#include <cstdio>
#include <string>

static int failures = 0;

static void refuses(const char *path, const std::string &because) {
  dram::Library library = dram::load(path);
  if (!library && library.api() == nullptr && library.error().find(because) != std::string::npos) {
    return;
  }
  std::fprintf(stderr, "%s: %s (wanted: %s)\n", path, library.error().c_str(), because.c_str());
  failures += 1;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  refuses("/nowhere/libdramalloc.so", "/nowhere/libdramalloc.so");
  refuses(argv[1], argv[1]);
  refuses(argv[2], "has no dram_get_api");
  refuses(argv[3], "does not serve version");
  // Everything on top of a missing library is an error, not a crash.
  auto context = dram::Context::create(dram::Library::failed("none").api());
  if (context.ok() || context.status().code() != DRAM_STATUS_FAILED_PRECONDITION) failures += 1;
  return failures;
}
