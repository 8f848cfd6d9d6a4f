// The pass, its options, and what mlir-opt looks for in a plugin.
//
//   mlir-opt --load-pass-plugin=dramalloc-mlir.so --pass-pipeline='builtin.module(dramalloc)' in.mlir
//
// The library is loaded when the pass runs, and linked with nothing: a compiler can ship the plugin
// and leave the library out.

#include "Rewrite.h"

#include "dramalloc_loader.hpp"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace dramalloc_mlir {

namespace {

// A pass over the module, for an arena that becomes an argument concerns those who call.
class DramallocPass : public PassWrapper<DramallocPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DramallocPass)

  DramallocPass() = default;
  DramallocPass(const DramallocPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "dramalloc"; }
  StringRef getDescription() const final {
    return "Put the buffers of each function into one arena, at addresses that dramalloc plans";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, memref::MemRefDialect>();
  }
  void runOnOperation() final;

private:
  bool argumentsAreUsable();
  LogicalResult runOn(func::FuncOp func, dram::Library &library);
  bool hasCallers(func::FuncOp func);

  Option<std::string> library{
      *this, "library",
      llvm::cl::desc("The shared library; empty: what DRAMALLOC_LIBRARY says, or the installed one")};
  Option<dram_strategy> strategy{
      *this, "strategy", llvm::cl::desc("How hard to search"), llvm::cl::init(DRAM_STRATEGY_FAST),
      llvm::cl::values(
          clEnumValN(DRAM_STRATEGY_REFERENCE, "reference", "one order, first fit"),
          clEnumValN(DRAM_STRATEGY_FAST, "fast", "the best of a few orders"),
          clEnumValN(DRAM_STRATEGY_BEST, "best", "search on"))};
  Option<uint64_t> capacity{*this, "capacity",
                            llvm::cl::desc("Bytes that an arena may have; 0: no limit"),
                            llvm::cl::init(0)};
  Option<uint64_t> alignment{
      *this, "alignment", llvm::cl::desc("The least alignment of a buffer, a power of two"),
      llvm::cl::init(64)};
  Option<bool> paged{*this, "paged",
                     llvm::cl::desc("Whole pages of 4096 bytes instead of exact bytes"),
                     llvm::cl::init(false)};
  Option<Arena> arena{
      *this, "arena", llvm::cl::desc("Where the memory comes from"), llvm::cl::init(Arena::Alloc),
      llvm::cl::values(clEnumValN(Arena::Alloc, "alloc", "allocated at the entry, freed at exits"),
                       clEnumValN(Arena::Argument, "argument", "a new last argument"))};
  Option<bool> summary{*this, "summary", llvm::cl::desc("A remark with the figures of each plan"),
                       llvm::cl::init(false)};
  Option<bool> printProgram{
      *this, "print-program",
      llvm::cl::desc("Print each function as a program file of dramalloc to standard error"),
      llvm::cl::init(false)};
};

bool DramallocPass::argumentsAreUsable() {
  if (isPossibleAlignment(alignment))
    return true;
  emitError(getOperation().getLoc()) << "dramalloc: alignment " << alignment.getValue()
                             << " is not a power of two up to 2^30";
  return false;
}

void DramallocPass::runOnOperation() {
  if (!argumentsAreUsable())
    return signalPassFailure();
  dram::Library loaded = dram::load(library.c_str());
  if (!loaded) {
    emitError(getOperation().getLoc()) << "dramalloc: " << loaded.error();
    return signalPassFailure();
  }
  // Nothing is half done within a function; those before one that fails keep their arenas, as
  // after any pass that fails.
  for (func::FuncOp func : getOperation().getOps<func::FuncOp>())
    if (!func.isExternal() && failed(runOn(func, loaded)))
      return signalPassFailure();
}

bool DramallocPass::hasCallers(func::FuncOp func) {
  std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(func, getOperation());
  return !uses || !uses->empty();
}

LogicalResult DramallocPass::runOn(func::FuncOp func, dram::Library &loaded) {
  Collected collected = collect(func, alignment);
  if (collected.buffers.empty())
    return success();
  if (arena == Arena::Argument && hasCallers(func))
    return emitError(func.getLoc()) << "dramalloc: @" << func.getName()
                            << " is called in this module, and its callers bring no arena";

  PlaceOptions options;
  options.strategy = strategy;
  options.capacity = capacity;
  options.paged = paged;
  options.printProgram = printProgram;
  FailureOr<Placement> placement = place(loaded.api(), func, collected, options);
  if (failed(placement))
    return failure();

  if (summary) {
    uint64_t sum = 0;
    for (const Buffer &buffer : collected.buffers)
      sum += buffer.bytes;
    emitRemark(func.getLoc()) << "@" << func.getName() << ": " << collected.buffers.size()
                      << " buffers of " << sum << " bytes in an arena of " << placement->bytes
                      << ", no arena is below " << placement->bound << "; " << collected.staying
                      << " stay";
  }
  rewrite(func, collected, *placement, arena);
  return success();
}

} // namespace

} // namespace dramalloc_mlir

extern "C" LLVM_ATTRIBUTE_WEAK LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "dramalloc", "v1",
          [] { mlir::PassRegistration<dramalloc_mlir::DramallocPass>(); }};
}
