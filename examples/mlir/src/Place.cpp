#include "Place.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace dramalloc_mlir {

namespace {

StringRef text(std::string_view view) { return {view.data(), view.size()}; }

Location where(const Collected &collected, uint32_t id) {
  memref::AllocOp alloc = collected.buffers[id].alloc;
  return alloc.getLoc();
}

// The names of diagnostics come from the library; the notes lead to the lines of the program.
LogicalResult refused(func::FuncOp func, const Collected &collected, const dram::Status &status) {
  InFlightDiagnostic error = emitError(func.getLoc());
  error << "dramalloc: " << text(status.message());
  if (std::optional<dram_no_room> room = status.no_room()) {
    if (room->id < collected.buffers.size())
      error.attachNote(where(collected, room->id))
          << "no room for " << room->bytes << " bytes; " << room->deficit << " are missing";
    for (uint32_t i = 0; i < room->holder_count; ++i) {
      std::optional<dram_holder> holder = status.holder(i);
      if (holder && holder->id < collected.buffers.size())
        error.attachNote(where(collected, holder->id))
            << "bytes " << holder->start << " to " << holder->start + holder->bytes
            << " are held by this";
    }
  }
  return failure();
}

class Describer {
public:
  Describer(const Collected &collected, const dram::Function &function)
      : collected(collected), function(function) {}

  // The location of a buffer has the buffer's number: both are counted in the same order.
  dram::Status describe() {
    for (const Buffer &buffer : collected.buffers) {
      dram::MemLoc location(buffer.name, buffer.bytes);
      location.align = buffer.alignment;
      if (auto added = function.add_memloc(location); !added)
        return std::move(added).status();
    }
    ArrayRef<FlatBlock> blocks = collected.order.blocks();
    for (unsigned b = 0; b < blocks.size(); ++b)
      if (dram::Status status = describeBlock(b, blocks[b]); !status)
        return status;
    for (unsigned b = 0; b < blocks.size(); ++b) {
      const auto &to = blocks[b].successors;
      if (to.empty())
        continue;
      if (dram::Status status = function.set_successors(b, {to.data(), to.size()}); !status)
        return status;
    }
    return {};
  }

private:
  dram::Status describeBlock(unsigned number, const FlatBlock &block) {
    if (auto opened = function.add_block("block" + std::to_string(number)); !opened)
      return std::move(opened).status();
    const auto &births = collected.births[number];
    const auto &accesses = collected.accesses[number];
    for (int i = 0; i < static_cast<int>(block.ops.size()); ++i) {
      if (auto born = births.find(i); born != births.end()) {
        // A new buffer holds nothing that anybody wants: as good as overwritten.
        for (unsigned id : born->second) {
          dram_operand all = dram::whole(id);
          if (auto added = function.add_instruction({"memref.alloc", {}, {&all, 1}}); !added)
            return std::move(added).status();
        }
      }
      if (auto found = accesses.find(i); found != accesses.end())
        if (dram::Status status = describeStep(block.ops[i], found->second); !status)
          return status;
    }
    return {};
  }

  dram::Status describeStep(Operation *op, const Accesses &accesses) {
    std::vector<dram_operand> uses, defs;
    for (auto [id, access] : accesses) {
      const Buffer &buffer = collected.buffers[id];
      if (access.reads)
        uses.push_back(dram::whole(id));
      // Which elements a partial write changes makes no difference to lives; one stands for them.
      if (access.overwrites || (access.writes && buffer.bytes == buffer.elementBytes))
        defs.push_back(dram::whole(id));
      else if (access.writes)
        defs.push_back(dram::part(id, 0, buffer.elementBytes));
    }
    StringRef name = op->getName().getStringRef();
    auto added = function.add_instruction({{name.data(), name.size()}, uses, defs});
    return std::move(added).status();
  }

  const Collected &collected;
  const dram::Function &function;
};

} // namespace

FailureOr<Placement> place(dram::Api api, func::FuncOp func, const Collected &collected,
                           const PlaceOptions &options) {
  auto no = [&](const dram::Status &status) { return refused(func, collected, status); };

  auto context = dram::Context::create(api);
  if (!context)
    return no(context.status());
  StringRef name = func.getName();
  auto program = context->new_program({name.data(), name.size()});
  if (!program)
    return no(program.status());
  auto module = program->add_module("core0", 0);
  if (!module)
    return no(module.status());
  auto function = module->add_function({name.data(), name.size()});
  if (!function)
    return no(function.status());
  if (dram::Status status = Describer(collected, *function).describe(); !status)
    return no(status);
  if (options.printProgram) {
    auto print = [](std::string_view piece) {
      llvm::errs() << text(piece);
      return true;
    };
    if (dram::Status status = program->write_json(print); !status)
      return no(status);
    llvm::errs() << "\n";
  }

  dram::Options wanted;
  wanted.strategy = options.strategy;
  wanted.capacity = options.capacity;
  wanted.packed = options.paged ? 0 : 1;
  auto plan = program->plan(wanted);
  if (!plan)
    return no(plan.status());
  auto report = program->verify(*plan);
  if (!report)
    return no(report.status());
  auto wrong = report->count();
  if (!wrong)
    return no(wrong.status());
  if (*wrong != 0) {
    InFlightDiagnostic error = emitError(func.getLoc());
    error << "dramalloc: its plan is wrong";
    for (uint32_t i = 0; i < *wrong; ++i)
      if (auto violation = report->violation(i))
        error.attachNote() << text(dram::view(violation->message));
    return failure();
  }

  auto info = plan->info();
  if (!info)
    return no(info.status());
  auto addresses = plan->addresses(*function);
  if (!addresses)
    return no(addresses.status());
  Placement placement;
  placement.offsets = *addresses;
  placement.bytes = info->peak;
  placement.bound = info->lower_bound;
  for (auto [i, buffer] : llvm::enumerate(collected.buffers)) {
    placement.alignment = std::max(placement.alignment, buffer.alignment);
    // The rewrite trusts these; the verifier has proved more, but of the library's own figures.
    if (placement.offsets[i] > placement.bytes ||
        buffer.bytes > placement.bytes - placement.offsets[i])
      return emitError(func.getLoc()) << "dramalloc: " << buffer.name << " has no address in the arena";
  }
  if (placement.bytes > static_cast<uint64_t>(INT64_MAX))
    return emitError(func.getLoc()) << "dramalloc: an arena of " << placement.bytes
                            << " bytes is more than a memref can have";
  return placement;
}

} // namespace dramalloc_mlir
