// What does an operation do with one of its memref operands?
#ifndef DRAMALLOC_MLIR_EFFECTS_H
#define DRAMALLOC_MLIR_EFFECTS_H

#include "Collect.h"

namespace dramalloc_mlir {

struct Effect {
  enum Kind {
    /// Nothing that touches bytes: its shape is asked for.
    None,
    /// Its result, `result`, is the same bytes or some of them.
    Alias,
    /// Reads or writes bytes while it runs, as `access` says, and keeps nothing.
    Touch,
    /// Gives the bytes back.
    Free,
    /// Says that the start of the memref has an alignment, `alignment`.
    Aligned,
    /// Anything may happen, now or later; `reason` says what is known.
    Unknown,
  };
  Kind kind = Unknown;
  mlir::Value result = {};
  Access access = {};
  uint64_t alignment = 1;
  llvm::StringRef reason = {};
};

/// The effect of the operation on the operand, which is a memref.
Effect effectOn(mlir::OpOperand &operand);

/// Whether what is inside the regions of the operation runs while the operation does, so that the
/// operation can stand for it.
bool runsWithin(mlir::Operation *op);

/// Whether the view is all of its source.
bool isWholeView(mlir::Operation *view);

} // namespace dramalloc_mlir

#endif // DRAMALLOC_MLIR_EFFECTS_H
