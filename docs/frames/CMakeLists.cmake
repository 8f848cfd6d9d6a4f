# What a piece of CMake in the guide stands in: a compiler that has dramalloc's sources in a folder.
cmake_minimum_required(VERSION 3.22)
project(compiler LANGUAGES C CXX)
set(DRAM_TARGET_DIR "@root@/target" CACHE PATH "One build for all trees")
file(CREATE_LINK "@root@" "${CMAKE_CURRENT_SOURCE_DIR}/dramalloc" SYMBOLIC)
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/compiler.cpp"
  "#include \"dramalloc.hpp\"\nint main() { return dram::Context::create(dram::linked()) ? 0 : 1; }\n")
add_executable(compiler "${CMAKE_CURRENT_BINARY_DIR}/compiler.cpp")
target_compile_features(compiler PRIVATE cxx_std_17)
@block@
add_custom_command(TARGET compiler POST_BUILD COMMAND compiler)
