#include "FlatFunction.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dramalloc_mlir {

// Those whose regions run one at a time, between the operation before and the one after. Not
// scf.parallel: its iterations may run at the same time, which no order of blocks says.
bool FlatFunction::isStructured(Operation *op) {
  return isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp, scf::ExecuteRegionOp,
             affine::AffineForOp, affine::AffineIfOp, memref::AllocaScopeOp>(op);
}

bool FlatFunction::build(func::FuncOp func, Operation *&why) {
  if (!addRegion(func.getBody())) {
    why = unknown;
    return false;
  }
  for (auto [from, to] : pending)
    flat[from].successors.push_back(startOf.lookup(to));
  // Two edges between the same blocks, as of a conditional branch with two lists of operands, are
  // one.
  for (FlatBlock &block : flat) {
    llvm::sort(block.successors);
    block.successors.erase(llvm::unique(block.successors), block.successors.end());
  }
  findDominators();
  return true;
}

unsigned FlatFunction::open() {
  flat.emplace_back();
  return flat.size() - 1;
}

bool FlatFunction::addRegion(Region &region) {
  for (Block &block : region) {
    unsigned current = open();
    startOf[&block] = current;
    for (Operation &op : block) {
      steps[&op] = {current, static_cast<int>(flat[current].ops.size())};
      flat[current].ops.push_back(&op);
      if (!isStructured(&op))
        continue;
      for (Region &inner : op.getRegions())
        if (!addRegion(inner))
          return false;
      unsigned after = open();
      afterOf[&op] = after;
      if (!connect(cast<RegionBranchOpInterface>(op), current, after))
        return false;
      current = after;
    }

    Operation *last = block.empty() ? nullptr : &block.back();
    if (!last || last->getNumSuccessors() == 0)
      continue;
    auto branch = dyn_cast<BranchOpInterface>(last);
    if (!branch) {
      unknown = last;
      return false;
    }
    for (unsigned i = 0; i < last->getNumSuccessors(); ++i) {
      SuccessorOperands operands = branch.getSuccessorOperands(i);
      if (operands.getProducedOperandCount() != 0) {
        unknown = last;
        return false;
      }
      pending.emplace_back(current, last->getSuccessor(i));
      handOn(operands.getForwardedOperands(), last->getSuccessor(i)->getArguments());
    }
  }
  return true;
}

bool FlatFunction::connect(RegionBranchOpInterface op, unsigned before, unsigned after) {
  // No operand is assumed to be a known constant.
  SmallVector<Attribute> unknownValues(op->getNumOperands());
  SmallVector<RegionSuccessor> successors;
  op.getEntrySuccessorRegions(unknownValues, successors);
  for (RegionSuccessor &to : successors)
    follow(before, to, after, op.getEntrySuccessorOperands(to));

  for (Region &region : op->getRegions()) {
    for (Block &block : region) {
      Operation *last = block.empty() ? nullptr : &block.back();
      if (last && last->getNumSuccessors() != 0)
        continue; // A branch inside an scf.execute_region.
      auto terminator = dyn_cast_or_null<RegionBranchTerminatorOpInterface>(last);
      if (!terminator) {
        unknown = last ? last : op.getOperation();
        return false;
      }
      SmallVector<Attribute> unknownToo(last->getNumOperands());
      successors.clear();
      terminator.getSuccessorRegions(unknownToo, successors);
      for (RegionSuccessor &to : successors)
        follow(steps.lookup(last).block, to, after, terminator.getSuccessorOperands(to));
    }
  }
  return true;
}

void FlatFunction::follow(unsigned from, const RegionSuccessor &to, unsigned after,
                          OperandRange operands) {
  if (to.isParent())
    flat[from].successors.push_back(after);
  else
    pending.emplace_back(from, &to.getSuccessor()->front());
  handOn(operands, to.getSuccessorInputs());
}

void FlatFunction::handOn(OperandRange operands, ValueRange inputs) {
  if (operands.empty())
    return;
  unsigned first = operands.getBeginOperandIndex();
  for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(operands, inputs))) {
    edges.emplace_back(std::get<0>(pair), std::get<1>(pair));
    OpOperand &operand = operands.getBase()[i];
    forwarded.insert({operand.getOwner(), first + static_cast<unsigned>(i)});
  }
}

Position FlatFunction::position(Operation *op) const {
  while (!steps.contains(op))
    op = op->getParentOp();
  return steps.lookup(op);
}

Position FlatFunction::definition(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Block *block = argument.getOwner();
    if (auto start = startOf.find(block); start != startOf.end())
      return {start->second, -1};
    return position(block->getParentOp());
  }
  Operation *op = value.getDefiningOp();
  if (auto after = afterOf.find(op); after != afterOf.end())
    return {after->second, -1};
  return position(op);
}

// Keith D. Cooper, Timothy J. Harvey, Ken Kennedy: A Simple, Fast Dominance Algorithm, 2001.
void FlatFunction::findDominators() {
  const unsigned count = flat.size();
  std::vector<unsigned> order; // Postorder.
  std::vector<std::pair<unsigned, unsigned>> stack{{0, 0}};
  std::vector<bool> seen(count, false);
  seen[0] = true;
  while (!stack.empty()) {
    auto &[block, next] = stack.back();
    if (next == flat[block].successors.size()) {
      order.push_back(block);
      stack.pop_back();
      continue;
    }
    unsigned to = flat[block].successors[next++];
    if (!seen[to]) {
      seen[to] = true;
      stack.emplace_back(to, 0);
    }
  }
  std::reverse(order.begin(), order.end());

  rank.assign(count, kNone);
  for (unsigned i = 0; i < order.size(); ++i)
    rank[order[i]] = i;
  std::vector<SmallVector<unsigned, 2>> predecessors(count);
  for (unsigned block : order)
    for (unsigned to : flat[block].successors)
      predecessors[to].push_back(block);

  idom.assign(count, kNone);
  idom[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned block : llvm::drop_begin(order)) {
      unsigned best = kNone;
      for (unsigned from : predecessors[block])
        if (idom[from] != kNone)
          best = best == kNone ? from : commonDominator(best, from);
      if (idom[block] != best) {
        idom[block] = best;
        changed = true;
      }
    }
  }
}

unsigned FlatFunction::commonDominator(unsigned a, unsigned b) const {
  while (a != b) {
    while (rank[a] > rank[b])
      a = idom[a];
    while (rank[b] > rank[a])
      b = idom[b];
  }
  return a;
}

bool FlatFunction::dominates(unsigned a, unsigned b) const {
  return rank[a] != kNone && rank[b] != kNone && commonDominator(a, b) == a;
}

bool FlatFunction::reaches(unsigned from, unsigned to, std::optional<unsigned> avoid) const {
  std::vector<bool> seen(flat.size(), false);
  SmallVector<unsigned> stack{from};
  while (!stack.empty()) {
    unsigned block = stack.pop_back_val();
    for (unsigned next : flat[block].successors) {
      if (next == avoid || seen[next])
        continue;
      if (next == to)
        return true;
      seen[next] = true;
      stack.push_back(next);
    }
  }
  return false;
}

bool FlatFunction::isLiveAfter(Value value, Position at,
                               llvm::function_ref<bool(OpOperand &)> counts) const {
  // The first use in each block, and the first one in the block of `at` that comes after it.
  DenseMap<unsigned, int> firstUse;
  int firstAfter = INT_MAX;
  for (OpOperand &use : value.getUses()) {
    if (!counts(use))
      continue;
    Position p = position(use.getOwner());
    auto [entry, isNew] = firstUse.try_emplace(p.block, p.index);
    if (!isNew)
      entry->second = std::min(entry->second, p.index);
    if (p.block == at.block && p.index > at.index)
      firstAfter = std::min(firstAfter, p.index);
  }
  const Position born = definition(value);

  // A use in the step that makes the value, inside one of its regions, comes after the making.
  if (born.block == at.block && born.index > at.index)
    return firstAfter < born.index;
  if (firstAfter != INT_MAX)
    return true;
  std::vector<bool> seen(flat.size(), false);
  auto stack = llvm::to_vector<8>(flat[at.block].successors);
  while (!stack.empty()) {
    unsigned block = stack.pop_back_val();
    if (seen[block])
      continue;
    seen[block] = true;
    auto use = firstUse.find(block);
    if (born.block == block) {
      if (use != firstUse.end() && use->second < born.index)
        return true;
      continue;
    }
    if (use != firstUse.end())
      return true;
    llvm::append_range(stack, flat[block].successors);
  }
  return false;
}

} // namespace dramalloc_mlir
