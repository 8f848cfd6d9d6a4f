// Loads dramalloc at run time: nothing to link, no crash when it is missing, too old or too new.
//
//   dram::Library library = dram::load();
//   if (!library) return fail(library.error());
//   auto context = dram::Context::create(library.api());
//
// The library stays loaded for good; there is nothing to close.

#ifndef DRAMALLOC_LOADER_HPP
#define DRAMALLOC_LOADER_HPP

#include "dramalloc.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <dlfcn.h>

namespace dram {

/// A loaded library, or why there is none.
class Library {
 public:
  /// The table that was found.
  static Library loaded(const dram_api *api) {
    Library library;
    library.api_ = api;
    return library;
  }
  /// The sentence that says why not.
  static Library failed(std::string why) {
    Library library;
    library.error_ = std::move(why);
    return library;
  }

  /// Whether it was loaded.
  explicit operator bool() const noexcept { return api_ != nullptr; }
  /// The table of its functions; null if it was not loaded.
  const dram_api *api() const noexcept { return api_; }
  /// Why it was not loaded; empty if it was.
  const std::string &error() const noexcept { return error_; }

 private:
  const dram_api *api_ = nullptr;
  std::string error_;
};

/// The name that the system's loader finds an installed library by; it carries the major version
/// of the ABI.
inline std::string default_soname() {
#if defined(__APPLE__)
  return "libdramalloc.dylib";
#else
  return "libdramalloc.so." + std::to_string(DRAM_ABI_MAJOR);
#endif
}

/// Loads the library from `path`; if that is null or empty, from what the environment variable
/// DRAMALLOC_LIBRARY says; else by its default name.
///
/// The table is served for this header's major version or the load fails. Entries are only ever
/// appended, so an older library of the same major may lack the last ones: ask DRAM_API_HAS before
/// using one that is newer than the first version, or use the classes of dramalloc.hpp, which do.
inline Library load(const char *path = nullptr) {
  std::string name = path == nullptr ? "" : path;
  if (name.empty()) {
    const char *said = std::getenv("DRAMALLOC_LIBRARY");
    name = said == nullptr ? "" : said;
  }
  if (name.empty()) name = default_soname();

  (void)dlerror();
  // RTLD_LOCAL: a compiler's other libraries must not see these symbols.
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char *why = dlerror();
    return Library::failed(name + ": " + (why == nullptr ? "cannot be loaded" : why));
  }
  using GetApi = const dram_api *(*)(std::uint32_t);
  auto get_api = reinterpret_cast<GetApi>(dlsym(library, "dram_get_api"));
  if (get_api == nullptr) return Library::failed(name + ": has no dram_get_api");

  const dram_api *api = get_api(DRAM_ABI_MAJOR);
  const std::string wanted = "version " + std::to_string(DRAM_ABI_MAJOR) + " of the ABI";
  if (api == nullptr) {
    using AbiVersion = std::uint32_t (*)();
    auto abi_version = reinterpret_cast<AbiVersion>(dlsym(library, "dram_abi_version"));
    std::string has;
    if (abi_version != nullptr) has = ", but " + std::to_string(abi_version() >> 16);
    return Library::failed(name + ": does not serve " + wanted + has);
  }
  // The head must be there before its fields are believed.
  if (api->struct_size < offsetof(dram_api, version) || api->abi_major != DRAM_ABI_MAJOR) {
    return Library::failed(name + ": its table is not that of " + wanted);
  }
  // Every entry of the first version; interval_tree_free was its last.
  if (!DRAM_API_HAS(api, interval_tree_free)) {
    return Library::failed(name + ": its table is cut short");
  }
  return Library::loaded(api);
}

}  // namespace dram

#endif  // DRAMALLOC_LOADER_HPP
