// Which buffers of a function can be given addresses, and who reads and writes them when?
//
// A buffer is a memref.alloc. Its address may be ours only if every access to it is known, so its
// value is followed through views, branches and loops; where it goes out of sight (returned, passed
// to a call, stored, taken by an operation that is not known here), the buffer stays what it was and
// a remark says why. What remains is a list of steps with the buffers that each reads and writes, in
// the order of the flat function: all that dramalloc wants to know.
//
// Two buffers that may be live at once must not share bytes, so whatever is in doubt counts as a
// read, and as a write that leaves the old bytes in place.
#ifndef DRAMALLOC_MLIR_COLLECT_H
#define DRAMALLOC_MLIR_COLLECT_H

#include "FlatFunction.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <string>

namespace dramalloc_mlir {

/// What a memref can say about itself in all its attributes.
inline bool isPossibleAlignment(uint64_t alignment) {
  return llvm::isPowerOf2_64(alignment) && alignment <= (uint64_t(1) << 30);
}

/// A memref.alloc whose bytes are ours to place.
struct Buffer {
  mlir::memref::AllocOp alloc;
  /// As the function is printed: %alloc_3.
  std::string name;
  uint64_t bytes = 0;
  uint64_t elementBytes = 0;
  uint64_t alignment = 1;
};

/// What one step does with one buffer.
struct Access {
  bool reads = false;
  bool writes = false;
  /// Writes all of it, so that nobody needs the old bytes.
  bool overwrites = false;
};

/// Accesses of one step, by number of the buffer.
using Accesses = std::map<unsigned, Access>;

struct Collected {
  FlatFunction order;
  std::vector<Buffer> buffers;
  /// For each block of `order`: what its operations do, by their index.
  std::vector<std::map<int, Accesses>> accesses;
  /// Where the bytes of a buffer begin to matter: before these operations, by block and index.
  std::vector<std::map<int, llvm::SmallVector<unsigned, 1>>> births;
  /// The deallocs of buffers that are placed, and of nothing else.
  std::vector<mlir::memref::DeallocOp> deallocs;
  /// How many allocations stay as they are.
  unsigned staying = 0;
};

/// Looks at a function with a body and changes nothing. `alignment`: what every buffer has at least.
Collected collect(mlir::func::FuncOp func, uint64_t alignment);

} // namespace dramalloc_mlir

#endif // DRAMALLOC_MLIR_COLLECT_H
