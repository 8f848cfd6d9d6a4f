// Loads a plugin and lets it run: host PLUGIN [LIBRARY].
#include <cstdio>

#include <dlfcn.h>

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  using Run = void (*)(const char *);
  auto run = plugin == nullptr ? nullptr : reinterpret_cast<Run>(dlsym(plugin, "plugin_run"));
  if (run == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  run(argc > 2 ? argv[2] : nullptr);
  return 0;
}
