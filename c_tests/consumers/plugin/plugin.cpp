// A plugin that uses the loader header and nothing else of dramalloc.
#include "dramalloc_loader.hpp"

#include <cstdint>
#include <cstdio>

extern "C" void plugin_run(const char *path);

extern "C" void plugin_run(const char *path) {
  const dram::Library library = dram::load(path);
  if (!library) {
    std::printf("without a library: %s\n", library.error().c_str());
    return;
  }
  const dram_api *api = library.api();
  const std::int64_t lower[] = {0, 2};
  const std::int64_t upper[] = {2, 4};
  const std::uint64_t size[] = {64, 64};
  std::uint64_t offset[2];
  dram_problem_result result{};
  result.struct_size = sizeof result;
  const dram_status status = api->problem_solve_simple(lower, upper, size, 2, 0, offset, &result, nullptr);
  if (status != DRAM_STATUS_OK) {
    std::printf("status %d\n", static_cast<int>(status));
    return;
  }
  // What came after the first version is asked for before it is used.
  const bool pressure = DRAM_API_HAS(api, program_pressure);
  std::printf("peak %llu, pressure %s\n", static_cast<unsigned long long>(result.peak),
              pressure ? "known" : "not known");
}
