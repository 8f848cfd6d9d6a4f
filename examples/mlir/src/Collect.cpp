#include "Collect.h"

#include "Effects.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace dramalloc_mlir {

namespace {

// An allocation while it is not decided whether it is placed.
struct Candidate {
  Buffer buffer;
  Position at;
  /// Every value that may be its bytes or some of them, its own result first.
  llvm::SetVector<Value> aliases;
  /// Why it stays, and whose fault that is; empty while it may be placed.
  std::string stays;
  Operation *because = nullptr;

  void stay(StringRef why, Operation *op = nullptr) {
    if (!stays.empty())
      return;
    stays = why.str();
    because = op;
  }
};

class Collector {
public:
  Collector(func::FuncOp func, uint64_t alignment) : func(func), alignment(alignment) {}
  Collected run();

private:
  void findCandidates();
  void followValues();
  void lookAtUses(Candidate &candidate);
  bool runsInStep(Operation *op) const;
  bool outlivesItself(const Candidate &candidate) const;
  void keepMixedDeallocs();
  void number();
  Position birth(const Candidate &candidate, ArrayRef<Position> accesses) const;
  void explain() const;

  func::FuncOp func;
  uint64_t alignment;
  Collected result;
  std::vector<Candidate> candidates;
  /// The candidates that a value may be, ascending; a value that is not listed is none of them.
  DenseMap<Value, SmallVector<unsigned, 1>> origins;
  /// Values that may be a memref that is no candidate.
  llvm::DenseSet<Value> foreign;
};

// The bytes of an element as MLIR lays it out in memory, or nothing for a type whose layout depends
// on how it is lowered.
std::optional<uint64_t> bytesOfElement(Type type, Operation *scope) {
  if (type.isIndex())
    return std::max<uint64_t>(8, DataLayout::closest(scope).getTypeSize(type).getFixedValue());
  if (!type.isIntOrFloat())
    return {};
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == 1)
    return 1;
  if (bits < 8 || bits > 64 || !llvm::isPowerOf2_32(bits))
    return {};
  return bits / 8;
}

// Fills in the sizes, or says why the allocation cannot be placed, whatever is done with it.
std::string measure(memref::AllocOp alloc, uint64_t alignment, Buffer &buffer) {
  MemRefType type = alloc.getType();
  buffer.alloc = alloc;
  if (!type.hasStaticShape() || !alloc.getDynamicSizes().empty())
    return "its size is known at run time only";
  if (!type.getLayout().isIdentity() || !alloc.getSymbolOperands().empty())
    return "its layout is not the plain one";
  if (type.getMemorySpace())
    return "it lies in a memory space of its own";
  std::optional<uint64_t> element = bytesOfElement(type.getElementType(), alloc);
  if (!element)
    return "the size of its elements depends on how they are lowered";
  uint64_t bytes = *element;
  for (int64_t extent : type.getShape())
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes))
      return "its size has more than 64 bits";
  if (bytes == 0)
    return "it has no bytes";
  // 0 says nothing.
  uint64_t declared = std::max<uint64_t>(1, alloc.getAlignment().value_or(1));
  if (!isPossibleAlignment(declared))
    return "its alignment is not a power of two up to 2^30";
  buffer.bytes = bytes;
  buffer.elementBytes = *element;
  buffer.alignment = std::max({alignment, *element, declared});
  return {};
}

void Collector::findCandidates() {
  AsmState names(func);
  llvm::StringMap<unsigned> taken;
  func.walk([&](memref::AllocOp alloc) {
    Candidate candidate;
    candidate.at = result.order.position(alloc);
    if (std::string why = measure(alloc, alignment, candidate.buffer); !why.empty())
      candidate.stay(why);
    if (!result.order.isStep(alloc)) {
      Operation *around = result.order.blocks()[candidate.at.block].ops[candidate.at.index];
      candidate.stay("it is allocated where several may exist at once", around);
    }
    llvm::raw_string_ostream name(candidate.buffer.name);
    alloc.getResult().printAsOperand(name, names);
    // Regions side by side use the same names again.
    if (unsigned before = taken[candidate.buffer.name]++)
      name << "#" << before + 1;
    candidates.push_back(std::move(candidate));
  });
}

// Every value is what flows into it: candidates, and memrefs from elsewhere.
void Collector::followValues() {
  DenseMap<Value, SmallVector<Value>> flowsTo;
  llvm::DenseSet<Value> fed;
  auto connect = [&](Value from, Value to) {
    if (!isa<BaseMemRefType>(to.getType()))
      return;
    flowsTo[from].push_back(to);
    fed.insert(to);
  };
  for (auto [from, to] : result.order.handedOn())
    connect(from, to);
  SmallVector<Value> memrefs;
  auto note = [&](Value value) {
    if (isa<BaseMemRefType>(value.getType()))
      memrefs.push_back(value);
  };
  func.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), note);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), note);
    for (OpOperand &operand : op->getOpOperands())
      if (isa<BaseMemRefType>(operand.get().getType()))
        if (Effect effect = effectOn(operand); effect.kind == Effect::Alias)
          connect(operand.get(), effect.result);
  });

  auto spread = [&](Value from, llvm::function_ref<bool(Value)> reach) {
    SmallVector<Value> work{from};
    while (!work.empty()) {
      Value value = work.pop_back_val();
      if (!reach(value))
        continue;
      if (auto next = flowsTo.find(value); next != flowsTo.end())
        llvm::append_range(work, next->second);
    }
  };
  llvm::DenseSet<Value> known;
  for (auto [i, candidate] : llvm::enumerate(candidates)) {
    Value root = candidate.buffer.alloc.getResult();
    known.insert(root);
    spread(root, [&, i = static_cast<unsigned>(i)](Value value) {
      if (!candidates[i].aliases.insert(value))
        return false;
      origins[value].push_back(i);
      return true;
    });
  }
  for (Value value : memrefs)
    if (!known.contains(value) && !fed.contains(value))
      spread(value, [&](Value reached) { return foreign.insert(reached).second; });
}

// Whether the operation is a step, or runs inside one for as long as the step does.
bool Collector::runsInStep(Operation *op) const {
  while (!result.order.isStep(op)) {
    op = op->getParentOp();
    if (!runsWithin(op))
      return false;
  }
  return true;
}

void Collector::lookAtUses(Candidate &candidate) {
  for (Value value : candidate.aliases) {
    for (OpOperand &use : value.getUses()) {
      Operation *op = use.getOwner();
      if (!runsInStep(op))
        return candidate.stay("it is used where it is not known when that runs", op);
      if (result.order.isHandedOn(use))
        continue;
      Effect effect = effectOn(use);
      switch (effect.kind) {
      case Effect::None:
      case Effect::Alias:
      case Effect::Free:
      case Effect::Touch:
        break;
      case Effect::Aligned:
        // Of a part of the buffer it says something about the address that we cannot promise.
        if (value != candidate.buffer.alloc.getResult())
          return candidate.stay("an alignment is assumed of a part of it", op);
        candidate.buffer.alignment = std::max(candidate.buffer.alignment, effect.alignment);
        break;
      case Effect::Unknown:
        return candidate.stay(effect.reason, op);
      }
    }
  }
}

// Whether the buffer of one iteration may be used after the next one has been allocated: then one
// address is not enough. A use of the result of the allocation, or of a view of it, comes after the
// latest allocation; only values that were handed on may be older.
bool Collector::outlivesItself(const Candidate &candidate) const {
  if (!result.order.reaches(candidate.at.block, candidate.at.block))
    return false;
  auto counts = [](OpOperand &use) {
    Effect::Kind kind = effectOn(use).kind;
    return kind != Effect::Free && kind != Effect::None;
  };
  return llvm::any_of(llvm::drop_begin(candidate.aliases), [&](Value value) {
    return result.order.isLiveAfter(value, candidate.at, counts);
  });
}

// A dealloc goes with the buffers that it frees. One that may also free something that stays cannot
// go, nor stay, so neither can the buffers be placed.
void Collector::keepMixedDeallocs() {
  SmallVector<memref::DeallocOp> deallocs;
  func.walk([&](memref::DeallocOp dealloc) { deallocs.push_back(dealloc); });
  for (bool changed = true; changed;) {
    changed = false;
    for (memref::DeallocOp dealloc : deallocs) {
      auto freed = origins.find(dealloc.getMemref());
      if (freed == origins.end())
        continue;
      auto stays = [&](unsigned i) { return !candidates[i].stays.empty(); };
      if (!foreign.contains(dealloc.getMemref()) && llvm::none_of(freed->second, stays))
        continue;
      for (unsigned i : freed->second) {
        if (!stays(i)) {
          candidates[i].stay("what frees it may also free something that stays", dealloc);
          changed = true;
        }
      }
    }
  }
  for (memref::DeallocOp dealloc : deallocs) {
    auto freed = origins.find(dealloc.getMemref());
    if (freed != origins.end() && candidates[freed->second.front()].stays.empty())
      result.deallocs.push_back(dealloc);
  }
}

// Where the bytes of a buffer begin to matter. Not where it is allocated, for many programs allocate
// at the top: as late as all its accesses still come after that point, and always between two
// allocations.
Position Collector::birth(const Candidate &candidate, ArrayRef<Position> accesses) const {
  const FlatFunction &order = result.order;
  const Position at = candidate.at;
  std::optional<unsigned> block;
  for (const Position &access : accesses) {
    if (access.block == at.block ? access.index < at.index
                                 : !order.dominates(at.block, access.block))
      return at; // Also an older one is used: then nothing is gained by being late.
    block = block ? order.commonDominator(*block, access.block) : access.block;
  }
  if (!block)
    return at;
  // Passed twice after one allocation it would end what was written between.
  while (*block != at.block && order.reaches(*block, *block, at.block))
    block = order.immediateDominator(*block);

  Position found{*block, static_cast<int>(order.blocks()[*block].ops.size()) - 1};
  for (const Position &access : accesses)
    if (access.block == *block)
      found.index = std::min(found.index, access.index);
  return found;
}

// The buffers that are placed, numbered, with what every step does with them.
void Collector::number() {
  const size_t blocks = result.order.blocks().size();
  result.accesses.resize(blocks);
  result.births.resize(blocks);
  for (auto [origin, candidate] : llvm::enumerate(candidates)) {
    if (!candidate.stays.empty()) {
      ++result.staying;
      continue;
    }
    const unsigned id = result.buffers.size();
    SmallVector<Position> touched;
    llvm::DenseSet<Value> whole;
    for (Value value : candidate.aliases) {
      // Only this buffer, all of it, and the one that was allocated last.
      Operation *maker = value.getDefiningOp();
      if (value == candidate.buffer.alloc.getResult() ||
          (maker && isWholeView(maker) && whole.contains(maker->getOperand(0))))
        whole.insert(value);
      for (OpOperand &use : value.getUses()) {
        Effect effect = effectOn(use);
        if (effect.kind != Effect::Touch || !(effect.access.reads || effect.access.writes))
          continue;
        Position p = result.order.position(use.getOwner());
        touched.push_back(p);
        Access &access = result.accesses[p.block][p.index][id];
        access.reads |= effect.access.reads;
        access.writes |= effect.access.writes;
        // Inside a region a write may happen or not.
        access.overwrites |= effect.access.overwrites && whole.contains(value) &&
                             result.order.isStep(use.getOwner());
      }
    }
    Position born = birth(candidate, touched);
    result.births[born.block][born.index].push_back(id);
    result.buffers.push_back(std::move(candidate.buffer));
  }
}

void Collector::explain() const {
  for (const Candidate &candidate : candidates) {
    if (candidate.stays.empty())
      continue;
    InFlightDiagnostic remark = emitRemark(candidate.buffer.alloc->getLoc());
    remark << candidate.buffer.name << " stays as it is: " << candidate.stays;
    if (candidate.because)
      remark.attachNote(candidate.because->getLoc()) << "here";
  }
}

Collected Collector::run() {
  Operation *why = nullptr;
  if (!result.order.build(func, why)) {
    InFlightDiagnostic remark = emitRemark(func.getLoc());
    remark << "@" << func.getName() << " is left alone: where control goes is not known";
    remark.attachNote(why->getLoc()) << "here";
    return std::move(result);
  }
  findCandidates();
  followValues();
  for (Candidate &candidate : candidates) {
    if (candidate.stays.empty())
      lookAtUses(candidate);
    if (candidate.stays.empty() && outlivesItself(candidate))
      candidate.stay("one of an earlier iteration may be in use when the next is allocated");
  }
  keepMixedDeallocs();
  number();
  explain();
  return std::move(result);
}

} // namespace

Collected collect(func::FuncOp func, uint64_t alignment) {
  return Collector(func, alignment).run();
}

} // namespace dramalloc_mlir
