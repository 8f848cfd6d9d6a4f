#include "Effects.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dramalloc_mlir {

// Not async.execute or gpu.launch, which may run on when the next operation has begun, and nothing
// that is not known here.
bool runsWithin(Operation *op) {
  return FlatFunction::isStructured(op) ||
         isa<linalg::LinalgOp, scf::ParallelOp, scf::ForallOp, scf::ReduceOp,
             affine::AffineParallelOp, memref::GenericAtomicRMWOp>(op);
}

bool isWholeView(Operation *view) {
  return isa<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(view);
}

// The memref that has the bytes of `operand` as its own, or some of them. Views that are not listed
// are unknown operations: memory_space_cast leaves our memory, vector.type_cast asks for more
// alignment than its source.
static Value aliasOf(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isa<memref::SubViewOp, memref::CastOp, memref::ReinterpretCastOp, memref::ViewOp,
          memref::ExpandShapeOp, memref::CollapseShapeOp, memref::TransposeOp,
          memref::ExtractStridedMetadataOp, arith::SelectOp>(op))
    return op->getResult(0);
  return {};
}

// Whether a value of this type cannot carry the address of a memref.
static bool carriesNoAddress(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    type = vector.getElementType();
  return type.isIntOrIndexOrFloat();
}

// Whether the operation, which writes to the operand, writes every element of it, provided that the
// program is right: memref.copy demands equal shapes, linalg that all shapes fit the loops.
static bool overwritesAll(OpOperand &operand) {
  Operation *op = operand.getOwner();
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return false;
  // One element is all of it.
  if (isa<memref::StoreOp, affine::AffineStoreOp>(op))
    return type.hasStaticShape() && type.getNumElements() == 1;
  if (isa<memref::CopyOp>(op))
    return true;
  // Every loop walks one dimension of the output, and all of it; a loop that the output does not
  // see might run no times at all.
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return structured.isDpsInit(&operand) &&
           structured.getMatchingIndexingMap(&operand).isPermutation();
  return false;
}

static bool isAccessOfKnownDialect(Operation *op) {
  if (isa<linalg::LinalgOp>(op))
    return true;
  // A DMA goes on after the operation that starts it.
  if (isa<memref::DmaStartOp, memref::DmaWaitOp, affine::AffineDmaStartOp, affine::AffineDmaWaitOp>(
          op))
    return false;
  if (op->getNumRegions() != 0 && !isa<memref::GenericAtomicRMWOp>(op))
    return false;
  return isa_and_nonnull<memref::MemRefDialect, affine::AffineDialect, vector::VectorDialect>(
      op->getDialect());
}

static Effect touch(OpOperand &operand) {
  Operation *op = operand.getOwner();
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface || !isAccessOfKnownDialect(op))
    return {Effect::Unknown};
  if (!llvm::all_of(op->getResultTypes(), carriesNoAddress))
    return {Effect::Unknown};

  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  Effect found{Effect::Touch};
  bool named = false;
  for (const MemoryEffects::EffectInstance &effect : effects) {
    // An effect on nothing in particular may be one on this memref.
    if (effect.getValue() && effect.getValue() != operand.get())
      continue;
    named |= static_cast<bool>(effect.getValue());
    if (isa<MemoryEffects::Read>(effect.getEffect()))
      found.access.reads = true;
    else if (isa<MemoryEffects::Write>(effect.getEffect()))
      found.access.writes = true;
    else
      return {Effect::Unknown};
  }
  // memref.store of a memref into a memref of memrefs keeps its address. linalg has no such thing:
  // an operand that it says nothing about is not touched.
  if (!named && !isa<linalg::LinalgOp>(op))
    return {Effect::Unknown};
  found.access.overwrites = found.access.writes && overwritesAll(operand);
  return found;
}

Effect effectOn(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (Value result = aliasOf(operand)) {
    Effect alias{Effect::Alias};
    alias.result = result;
    return alias;
  }
  return TypeSwitch<Operation *, Effect>(op)
      .Case<memref::DimOp, memref::RankOp>([](auto) { return Effect{Effect::None}; })
      .Case<memref::DeallocOp>([](auto) { return Effect{Effect::Free}; })
      .Case<memref::AssumeAlignmentOp>([](memref::AssumeAlignmentOp assume) {
        Effect aligned{Effect::Aligned};
        aligned.alignment = assume.getAlignment();
        return aligned;
      })
      .Case<func::ReturnOp>([](auto) {
        Effect unknown{Effect::Unknown};
        unknown.reason = "it is returned";
        return unknown;
      })
      .Case<CallOpInterface>([](auto) {
        Effect unknown{Effect::Unknown};
        unknown.reason = "it is passed to a call";
        return unknown;
      })
      .Default([&](Operation *) {
        Effect effect = touch(operand);
        if (effect.kind == Effect::Unknown)
          effect.reason = "what this operation does with it is not known";
        return effect;
      });
}

} // namespace dramalloc_mlir
