// Which addresses do the buffers of a function get?
//
// Describes the function to dramalloc through its C++ wrapper, asks for a plan, and has the plan
// verified. Whatever the library refuses becomes a diagnostic.
#ifndef DRAMALLOC_MLIR_PLACE_H
#define DRAMALLOC_MLIR_PLACE_H

#include "Collect.h"

#include "dramalloc.hpp"

namespace dramalloc_mlir {

struct PlaceOptions {
  uint32_t strategy = DRAM_STRATEGY_FAST;
  /// Bytes that the arena may have; 0: no limit.
  uint64_t capacity = 0;
  /// Whole pages of 4096 bytes instead of exact bytes.
  bool paged = false;
  /// Print the program, as a file that the dramalloc command reads, to standard error.
  bool printProgram = false;
};

struct Placement {
  /// The first byte of each buffer in the arena.
  std::vector<uint64_t> offsets;
  /// The bytes of the arena, and what no placement could do with less of.
  uint64_t bytes = 0;
  uint64_t bound = 0;
  /// What the arena has to be aligned to.
  uint64_t alignment = 1;
};

/// Emits an error and fails if there is no placement. There is at least one buffer.
mlir::FailureOr<Placement> place(dram::Api api, mlir::func::FuncOp func, const Collected &collected,
                                 const PlaceOptions &options);

} // namespace dramalloc_mlir

#endif // DRAMALLOC_MLIR_PLACE_H
