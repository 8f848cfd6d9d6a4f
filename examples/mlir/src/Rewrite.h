// Puts the buffers of a function into one arena, once their addresses are known.
#ifndef DRAMALLOC_MLIR_REWRITE_H
#define DRAMALLOC_MLIR_REWRITE_H

#include "Place.h"

namespace dramalloc_mlir {

enum class Arena {
  /// Allocated at the entry, freed at the exits.
  Alloc,
  /// The last argument of the function: whoever calls it brings the memory.
  Argument,
};

/// Replaces the allocations by views of the arena and removes their deallocs.
void rewrite(mlir::func::FuncOp func, Collected &collected, const Placement &placement,
             Arena arena);

} // namespace dramalloc_mlir

#endif // DRAMALLOC_MLIR_REWRITE_H
