# What a piece of CMake in the guide stands in: a compiler that finds dramalloc installed under $PREFIX.
cmake_minimum_required(VERSION 3.22)
project(compiler LANGUAGES C CXX)
list(APPEND CMAKE_PREFIX_PATH "$ENV{PREFIX}")
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/compiler.cpp"
  "#include \"dramalloc.hpp\"\nint main() { return dram::Context::create(dram::linked()) ? 0 : 1; }\n")
add_executable(compiler "${CMAKE_CURRENT_BINARY_DIR}/compiler.cpp")
@block@
add_custom_command(TARGET compiler POST_BUILD COMMAND compiler)
