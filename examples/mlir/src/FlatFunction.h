// In which order may the operations of a function run?
//
// MLIR nests: a loop is an operation with a region inside. dramalloc wants what a back end has after
// lowering: blocks of instructions with successors. This is the function laid out flat without being
// changed: the regions of loops and conditionals become blocks, unstructured branches are blocks
// already, and any other operation with a region (linalg.generic, scf.parallel) stays one step.
//
// Beside the order it says which value becomes which: what a branch, an scf.yield or a loop hands on.
#ifndef DRAMALLOC_MLIR_FLATFUNCTION_H
#define DRAMALLOC_MLIR_FLATFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dramalloc_mlir {

/// A step: the operation number `index` of a flat block. -1: before the first one.
struct Position {
  unsigned block = 0;
  int index = 0;
};

/// Operations that run one after the other. The last one leaves the block: a terminator, or a loop
/// or conditional whose regions are blocks of their own.
struct FlatBlock {
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<unsigned, 2> successors;
};

class FlatFunction {
public:
  /// Lays out a function that has a body. False if control may go where we cannot follow; `why`
  /// says where.
  bool build(mlir::func::FuncOp func, mlir::Operation *&why);

  /// Loops and conditionals whose regions become blocks.
  static bool isStructured(mlir::Operation *op);

  llvm::ArrayRef<FlatBlock> blocks() const { return flat; }

  /// The step that an operation is, or that it is a part of.
  Position position(mlir::Operation *op) const;
  /// Whether the operation is a step by itself, not a part of one.
  bool isStep(mlir::Operation *op) const { return steps.contains(op); }
  /// Where a value comes into being.
  Position definition(mlir::Value value) const;

  /// Every value that control hands on, with what it becomes.
  llvm::ArrayRef<std::pair<mlir::Value, mlir::Value>> handedOn() const { return edges; }
  /// Whether this operand is only handed on.
  bool isHandedOn(mlir::OpOperand &operand) const {
    return forwarded.contains({operand.getOwner(), operand.getOperandNumber()});
  }

  /// Whether every path from the entry to `b` goes through `a`; not for what no path reaches.
  bool dominates(unsigned a, unsigned b) const;
  /// The last block that all paths to `a` and all paths to `b` go through; both are reached.
  unsigned commonDominator(unsigned a, unsigned b) const;
  unsigned immediateDominator(unsigned block) const { return idom[block]; }

  /// Whether control can come from the end of `from` to the start of `to` without entering `avoid`.
  bool reaches(unsigned from, unsigned to, std::optional<unsigned> avoid = {}) const;

  /// Whether `value` may still be wanted right after the step `at`: whether a path leads from there
  /// to one of its uses that counts, and not through the point where it comes into being anew.
  bool isLiveAfter(mlir::Value value, Position at,
                   llvm::function_ref<bool(mlir::OpOperand &)> counts) const;

private:
  bool addRegion(mlir::Region &region);
  bool connect(mlir::RegionBranchOpInterface op, unsigned before, unsigned after);
  void follow(unsigned from, const mlir::RegionSuccessor &to, unsigned after,
              mlir::OperandRange operands);
  void handOn(mlir::OperandRange operands, mlir::ValueRange inputs);
  unsigned open();
  void findDominators();

  static constexpr unsigned kNone = ~0u;

  std::vector<FlatBlock> flat;
  llvm::DenseMap<mlir::Operation *, Position> steps;
  /// The block that begins with an MLIR block.
  llvm::DenseMap<mlir::Block *, unsigned> startOf;
  /// The block that goes on after a loop or conditional.
  llvm::DenseMap<mlir::Operation *, unsigned> afterOf;
  /// Edges to MLIR blocks, which may come later.
  std::vector<std::pair<unsigned, mlir::Block *>> pending;
  std::vector<std::pair<mlir::Value, mlir::Value>> edges;
  llvm::DenseSet<std::pair<mlir::Operation *, unsigned>> forwarded;
  std::vector<unsigned> idom;
  /// The rank of each block in reverse postorder; kNone where no path leads.
  std::vector<unsigned> rank;
  mlir::Operation *unknown = nullptr;
};

} // namespace dramalloc_mlir

#endif // DRAMALLOC_MLIR_FLATFUNCTION_H
