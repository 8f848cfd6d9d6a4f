#include "Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace dramalloc_mlir {

static Value makeArena(func::FuncOp func, const Placement &placement, Arena kind,
                       OpBuilder &entry) {
  auto type = MemRefType::get({static_cast<int64_t>(placement.bytes)}, entry.getI8Type());
  Location loc = func.getLoc();
  if (kind == Arena::Argument) {
    func.insertArgument(func.getNumArguments(), type, {}, loc);
    Value arena = func.getArguments().back();
    // For whoever reads the function, and for code that wants aligned accesses.
    entry.create<memref::AssumeAlignmentOp>(loc, arena, static_cast<uint32_t>(placement.alignment));
    return arena;
  }
  Value arena = entry.create<memref::AllocOp>(
      loc, type, entry.getI64IntegerAttr(static_cast<int64_t>(placement.alignment)));
  // An exit is a return; what ends in an endless loop or a trap frees nothing.
  for (Block &block : func.getBody())
    if (auto exit = dyn_cast<func::ReturnOp>(block.getTerminator()))
      OpBuilder(exit).create<memref::DeallocOp>(exit.getLoc(), arena);
  return arena;
}

void rewrite(func::FuncOp func, Collected &collected, const Placement &placement, Arena kind) {
  for (memref::DeallocOp dealloc : collected.deallocs)
    dealloc.erase();

  OpBuilder entry = OpBuilder::atBlockBegin(&func.getBody().front());
  Value arena = makeArena(func, placement, kind, entry);
  std::map<uint64_t, Value> constants;
  for (uint64_t offset : placement.offsets) {
    Value &at = constants[offset];
    if (!at)
      at = entry.create<arith::ConstantIndexOp>(func.getLoc(), static_cast<int64_t>(offset));
  }
  for (auto [buffer, offset] : llvm::zip_equal(collected.buffers, placement.offsets)) {
    Location loc = buffer.alloc.getLoc();
    Value at = constants[offset];
    // Where it was allocated, so that it comes before all its uses.
    OpBuilder here(buffer.alloc);
    Value view =
        here.create<memref::ViewOp>(loc, buffer.alloc.getType(), arena, at, ValueRange());
    buffer.alloc.getResult().replaceAllUsesWith(view);
    buffer.alloc.erase();
  }
}

} // namespace dramalloc_mlir
