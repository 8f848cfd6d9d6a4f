// dramalloc for C++17: owning handles, std::string_view, results instead of out-parameters.
//
//   dram::Api api = dram::linked();                 // or dram::load() of dramalloc_loader.hpp
//   auto context = dram::Context::create(api);
//   auto program = context->new_program("example");
//   auto module = program->add_module("core0", 0);
//   auto main = module->add_function("main");
//   auto a = main->add_memloc(dram::MemLoc("a", 8192));
//   (void)main->add_instruction({"load", {}, {dram::whole(*a)}});
//   auto plan = program->plan();
//   if (!plan) std::cerr << plan.status().message() << '\n';
//
// Header only; compiles with -fno-exceptions -fno-rtti. Every call goes through the table that
// dram_get_api returns, so linked and loaded libraries are one path, and a function that an older
// library lacks is DRAM_STATUS_UNIMPLEMENTED instead of a jump into nothing.
//
// Callbacks are any callable. With exceptions enabled, one that throws ends the call early; what
// it threw is stored on this side of the C border and thrown again when the call has returned.
//
// What each call means, and which threads may make it, is said in dramalloc.h.

#ifndef DRAMALLOC_HPP
#define DRAMALLOC_HPP

#include "dramalloc.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__cpp_exceptions)
#include <exception>
#include <stdexcept>
#endif

namespace dram {

/// The table of a library's functions; null if there is none.
using Api = const dram_api *;

/// The table of the library that the program is linked with; null if it serves another major
/// version of the ABI than this header's. Not for programs that load the library at run time.
inline Api linked() noexcept { return dram_get_api(DRAM_ABI_MAJOR); }

/// A pointer and a length: what a call reads or fills.
template <class T>
class Span {
 public:
  constexpr Span() noexcept = default;
  /// Of an address and a number of elements.
  constexpr Span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
  /// Of anything with `data()` and `size()`.
  template <class C, class = decltype(std::declval<C &>().data()),
            class = std::enable_if_t<std::is_convertible_v<
                decltype(std::declval<C &>().data()), T *>>>
  constexpr Span(C &&c) noexcept : data_(c.data()), size_(c.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  /// Of a list in braces, valid until the end of the full expression.
  template <class U = T, class = std::enable_if_t<std::is_const_v<U>>>
  constexpr Span(std::initializer_list<std::remove_const_t<T>> list) noexcept
      : data_(list.begin()), size_(list.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

  /// The first element; null if there is none.
  constexpr T *data() const noexcept { return data_; }
  /// How many elements.
  constexpr std::size_t size() const noexcept { return size_; }
  /// Where a loop begins.
  constexpr T *begin() const noexcept { return data_; }
  /// Where a loop ends.
  constexpr T *end() const noexcept { return data_ + size_; }
  /// Element `i`, unchecked.
  constexpr T &operator[](std::size_t i) const noexcept { return data_[i]; }

 private:
  T *data_ = nullptr;
  std::size_t size_ = 0;
};

/// Text for a call.
inline dram_str str(std::string_view text) noexcept { return {text.data(), text.size()}; }

/// Text that a call handed out, borrowed from its owner.
inline std::string_view view(dram_str text) noexcept {
  return text.len == 0 ? std::string_view() : std::string_view(text.data, text.len);
}

/// A struct of which only `struct_size` is said.
template <class T>
T sized() noexcept {
  T value{};
  value.struct_size = sizeof(T);
  return value;
}

#if defined(__cpp_exceptions)
/// What `Result::value` and `Status::check` throw.
class Exception : public std::runtime_error {
 public:
  /// Of a status and the sentence that goes with it.
  Exception(dram_status code, std::string_view message)
      : std::runtime_error(std::string(message)), code_(code) {}
  /// The status that was thrown.
  dram_status code() const noexcept { return code_; }

 private:
  dram_status code_;
};
#endif

/// How a call went: success, or an error with what it says.
class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  /// Takes over an error object, which may be null.
  Status(Api api, dram_status code, dram_error *error) noexcept
      : api_(api), code_(code), error_(error) {}
  /// A failure on this side of the border; `text` lives for ever.
  Status(dram_status code, const char *text) noexcept : code_(code), text_(text) {}
  /// Leaves success behind.
  Status(Status &&other) noexcept { swap(other); }
  /// Leaves success behind; frees what this object held.
  Status &operator=(Status &&other) noexcept {
    Status(std::move(other)).swap(*this);
    return *this;
  }
  ~Status() {
    if (error_ != nullptr) (void)api_->error_free(error_);
  }

  /// Whether the call succeeded.
  bool ok() const noexcept { return code_ == DRAM_STATUS_OK; }
  /// The same as `ok`.
  explicit operator bool() const noexcept { return ok(); }
  /// The number of the outcome.
  dram_status code() const noexcept { return code_; }

  /// The sentence, borrowed from this object; empty for success.
  std::string_view message() const noexcept {
    if (error_ == nullptr) return text_;
    return view(info().message);
  }
  /// Everything that the error says, borrowed from this object.
  dram_error_info info() const noexcept {
    auto info = sized<dram_error_info>();
    info.core = info.instruction = DRAM_UNKNOWN;
    if (error_ != nullptr) (void)api_->error_get(error_, &info);
    return info;
  }
  /// What was in the way of a placement, borrowed from this object.
  std::optional<dram_no_room> no_room() const noexcept {
    auto out = sized<dram_no_room>();
    if (error_ == nullptr || api_->error_no_room(error_, &out) != DRAM_STATUS_OK) return {};
    return out;
  }
  /// A holder of bytes where room was short, largest first, borrowed from this object.
  std::optional<dram_holder> holder(std::uint32_t position) const noexcept {
    auto out = sized<dram_holder>();
    if (error_ == nullptr || api_->error_holder(error_, position, &out) != DRAM_STATUS_OK) {
      return {};
    }
    return out;
  }
  /// One of the locations that cannot all be placed, if that is proved; largest first, borrowed
  /// from this object.
  std::optional<dram_holder> conflict(std::uint32_t position) const noexcept {
    auto out = sized<dram_holder>();
    if (error_ == nullptr || !DRAM_API_HAS(api_, error_conflict) || // An older library has none.
        api_->error_conflict(error_, position, &out) != DRAM_STATUS_OK) {
      return {};
    }
    return out;
  }
  /// Success, or the end: throws, or aborts where there are no exceptions.
  void check() const {
    if (ok()) return;
#if defined(__cpp_exceptions)
    throw Exception(code_, message());
#else
    std::abort();
#endif
  }

 private:
  void swap(Status &other) noexcept {
    std::swap(api_, other.api_);
    std::swap(code_, other.code_);
    std::swap(error_, other.error_);
    std::swap(text_, other.text_);
  }

  Api api_ = nullptr;
  dram_status code_ = DRAM_STATUS_OK;
  dram_error *error_ = nullptr;
  const char *text_ = "";
};

/// A value, or why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  /// Success.
  Result(T value) : value_(std::move(value)) {}
  /// Failure; the status is not OK.
  Result(Status status) noexcept : status_(std::move(status)) {}

  /// Whether there is a value.
  bool ok() const noexcept { return value_.has_value(); }
  /// The same as `ok`.
  explicit operator bool() const noexcept { return ok(); }
  /// Why there is no value, borrowed from this object.
  const Status &status() const & noexcept { return status_; }
  /// Why there is no value, moved out.
  Status status() && noexcept { return std::move(status_); }

  /// The value; throws, or aborts where there are no exceptions, if there is none.
  T &value() & {
    status_.check();
    return *value_;
  }
  /// The value, moved out; as above if there is none.
  T &&value() && {
    status_.check();
    return std::move(*value_);
  }
  /// The same as `value`.
  T &operator*() & { return value(); }
  /// The same as `value`.
  T &&operator*() && { return std::move(*this).value(); }
  /// A member of the value; as `value` if there is none.
  T *operator->() { return &value(); }

 private:
  Status status_;
  std::optional<T> value_;
};

namespace detail {

#if defined(__cpp_exceptions)
/// What a callback on this thread threw, until the call that it ran in has returned.
inline std::exception_ptr &pending() noexcept {
  static thread_local std::exception_ptr thrown;
  return thrown;
}
inline void rethrow() {
  if (pending()) std::rethrow_exception(std::exchange(pending(), nullptr));
}
/// Runs a callback; false if it threw, now or earlier in the same call.
template <class F>
bool guarded(F &&body) noexcept {
  if (pending()) return false;
  try {
    body();
    return true;
  } catch (...) {
    pending() = std::current_exception();
    return false;
  }
}
#else
inline void rethrow() noexcept {}
template <class F>
bool guarded(F &&body) noexcept {
  body();
  return true;
}
#endif

/// Calls an entry of the table, with an error pointer at the end. What callbacks threw stays
/// pending: for calls whose outputs need an owner first.
template <class... Params, class... Args>
Status call_only(Api api, dram_status (*dram_api::*entry)(Params...), Args... args) {
  if (api == nullptr) return {DRAM_STATUS_FAILED_PRECONDITION, "there is no library"};
  const auto *start = reinterpret_cast<const unsigned char *>(api);
  const auto *field = reinterpret_cast<const unsigned char *>(&(api->*entry));
  if (static_cast<std::size_t>(field - start) + sizeof(api->*entry) > api->struct_size) {
    return {DRAM_STATUS_UNIMPLEMENTED, "the library is older than this call"};
  }
  dram_error *error = nullptr;
  dram_status code = (api->*entry)(args..., &error);
  return Status(api, code, error);
}

/// Calls an entry of the table, and throws what a callback threw.
template <class... Params, class... Args>
Status call(Api api, dram_status (*dram_api::*entry)(Params...), Args... args) {
  Status status = call_only(api, entry, args...);
  rethrow();
  return status;
}

/// Makes a result of a call that stores one value through its last parameter.
template <class T, class... Params, class... Args>
Result<T> get(Api api, dram_status (*dram_api::*entry)(Params...), T failure, Args... args) {
  Status status = call(api, entry, args..., &failure);
  if (!status) return status;
  return failure;
}

/// An owned handle: freed once, moved, never copied.
template <class H, dram_status (*dram_api::*Free)(H *)>
class Owned {
 public:
  Owned() noexcept = default;
  Owned(Api api, H *handle) noexcept : api_(api), handle_(handle) {}
  Owned(Owned &&other) noexcept
      : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}
  Owned &operator=(Owned &&other) noexcept {
    if (this != &other) {
      reset();
      api_ = other.api_;
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Owned() { reset(); }

  /// Frees it now. A child whose parent has gone is stale by then, which is fine.
  void reset() noexcept {
    if (handle_ != nullptr) (void)(api_->*Free)(std::exchange(handle_, nullptr));
  }
  /// The handle, still owned.
  H *get() const noexcept { return handle_; }
  /// The table that it came from.
  Api api() const noexcept { return api_; }

 private:
  Api api_ = nullptr;
  H *handle_ = nullptr;
};

using Write = std::function<bool(std::string_view)>;

inline std::int32_t write(void *user, const char *data, std::size_t size) noexcept {
  bool more = false;
  const bool returned =
      guarded([&] { more = (*static_cast<Write *>(user))(std::string_view(data, size)); });
  return returned && more ? 0 : 1;
}

/// A sink that keeps everything; `text` outlives it.
inline Write append_to(std::string &text) {
  return [&text](std::string_view piece) {
    text.append(piece);
    return true;
  };
}

}  // namespace detail

/// A sticky flag that stops runs from any thread.
class Cancel {
 public:
  /// A flag that is not set.
  static Result<Cancel> create(Api api) {
    dram_cancel *handle = nullptr;
    Status status = detail::call(api, &dram_api::cancel_new, &handle);
    if (!status) return status;
    return Cancel(api, handle);
  }
  /// Stops the runs that watch it, now and later; from any thread.
  Status set() const { return detail::call(owned_.api(), &dram_api::cancel_set, owned_.get()); }
  /// Whether it has been set.
  Result<bool> is_set() const {
    std::uint32_t set = 0;
    Status status = detail::call(owned_.api(), &dram_api::cancel_is_set, owned_.get(), &set);
    if (!status) return status;
    return set != 0;
  }
  /// The handle, still owned.
  dram_cancel *get() const noexcept { return owned_.get(); }

 private:
  Cancel(Api api, dram_cancel *handle) noexcept : owned_(api, handle) {}
  detail::Owned<dram_cancel, &dram_api::cancel_free> owned_;
};

/// What is asked of a run; see dram_options.
struct Options : dram_options {
  Options() noexcept : dram_options(sized<dram_options>()) {}
};

/// What a verification looks at beside geometry; as it stands, nothing. Leave its `control` null, and
/// hand a Control to Program::verify instead.
struct VerifyOptions : dram_verify_options {
  VerifyOptions() noexcept : dram_verify_options(sized<dram_verify_options>()) {}
};

/// How a plan is explained; as it stands, text with 10 entries in each list.
struct ExplainOptions : dram_explain_options {
  ExplainOptions() noexcept : dram_explain_options(sized<dram_explain_options>()) {}
};

/// How two plans are compared; as it stands, text with 10 entries in each list.
struct DiffOptions : dram_diff_options {
  DiffOptions() noexcept : dram_diff_options(sized<dram_diff_options>()) {}
};

class Plan;

/// How a host watches, stops and steers a run. Everything in it may be missing.
struct Control {
  /// Stops the run when set. A callback that throws sets it too.
  const Cancel *cancel = nullptr;
  /// Called when a phase begins, when something better is known, and else some times a second
  /// while a search goes on, on the calling thread.
  std::function<void(const dram_progress &)> progress;
  /// Whether the cores share a location although its description does not say so:
  /// (core, function, number, cookie).
  std::function<bool(std::uint32_t, std::string_view, std::uint32_t, std::uint64_t)> shared;
  /// An earlier plan to start from; see dram_control.
  const Plan *hint = nullptr;
};

namespace detail {

/// A control as the C side wants it, alive while the run lasts.
class Watch {
 public:
  Watch(Api api, const Control &control) : api_(api), control_(control) {
    given_.hint = handle_of(control.hint);
    given_.cancel = control.cancel == nullptr ? nullptr : control.cancel->get();
    if ((control.progress || control.shared) && given_.cancel == nullptr) {
      auto own = Cancel::create(api);
      if (own) own_.emplace(std::move(*own));
      if (own_) given_.cancel = own_->get();
    }
    if (control.progress) {
      given_.progress = progress;
      given_.progress_user = this;
    }
    if (control.shared) {
      given_.shared = shared;
      given_.shared_user = this;
    }
  }
  Watch(const Watch &) = delete;
  Watch &operator=(const Watch &) = delete;
  const dram_control *get() const noexcept { return &given_; }

 private:
  static const dram_plan *handle_of(const Plan *plan) noexcept;
  static void progress(void *user, const dram_progress *progress) noexcept {
    auto &self = *static_cast<Watch *>(user);
    self.run([&] { self.control_.progress(*progress); });
  }
  static std::int32_t shared(void *user, std::uint32_t core, dram_str function,
                             std::uint32_t memloc, std::uint64_t cookie) noexcept {
    auto &self = *static_cast<Watch *>(user);
    bool answer = false;
    self.run([&] { answer = self.control_.shared(core, view(function), memloc, cookie); });
    return answer ? 1 : 0;
  }
  template <class F>
  void run(F &&body) noexcept {
    if (guarded(std::forward<F>(body))) return;
    auto *cancel = const_cast<dram_cancel *>(given_.cancel);
    if (cancel != nullptr) (void)api_->cancel_set(cancel, nullptr);
  }

  Api api_;
  const Control &control_;
  std::optional<Cancel> own_;
  dram_control given_ = sized<dram_control>();
};

}  // namespace detail

/// A memory location as a host describes it; see dram_memloc_desc. The name is borrowed.
struct MemLoc : dram_memloc_desc {
  MemLoc() noexcept : dram_memloc_desc(sized<dram_memloc_desc>()) {}
  /// A local, internal location of so many bytes.
  MemLoc(std::string_view named, std::uint64_t size) noexcept : MemLoc() {
    name = str(named);
    bytes = size;
  }
  /// Bytes of another location.
  static MemLoc view(std::string_view named, std::uint32_t of, std::uint64_t from,
                     std::uint64_t size = 0) noexcept {
    MemLoc loc(named, size);
    loc.flags |= DRAM_MEMLOC_FLAG_VIEW;
    loc.alias_of = of;
    loc.offset = from;
    return loc;
  }
  /// Gives it the host's own address; it is never moved.
  MemLoc &pin(std::uint64_t at) noexcept {
    flags |= DRAM_MEMLOC_FLAG_PINNED;
    address = at;
    return *this;
  }
  /// Its bytes are needed after the function returns.
  MemLoc &escape() noexcept {
    flags |= DRAM_MEMLOC_FLAG_ESCAPES;
    return *this;
  }
  /// Follows a location of another core.
  MemLoc &follow(std::uint32_t core, std::string_view name_there) noexcept {
    flags |= DRAM_MEMLOC_FLAG_REMOTE;
    remote_core = core;
    remote_name = str(name_there);
    return *this;
  }
  /// Where in a banked memory it lies; its followers will say the same.
  MemLoc &lie_in(std::uint32_t first_partition, std::uint32_t its_bank) noexcept {
    partition = first_partition;
    bank = its_bank;
    return *this;
  }
  /// Says which cores reach it, beside those that are linked; the list is borrowed.
  MemLoc &reached_by(Span<const std::uint32_t> cores) noexcept {
    reach = cores.data();
    reach_count = cores.size();
    return *this;
  }
};

/// All bytes of a location, as an operand.
inline dram_operand whole(std::uint32_t memloc) noexcept { return {memloc, 0, 0, 0}; }

/// Some bytes of a location, as an operand.
inline dram_operand part(std::uint32_t memloc, std::uint64_t offset,
                         std::uint64_t bytes) noexcept {
  return {memloc, 0, offset, bytes};
}

/// An instruction as a host describes it; see dram_instruction_desc. Everything is borrowed, so
/// lists in braces belong inside the call.
struct Instruction {
  /// What it does, in the host's words.
  std::string_view op = {};
  /// What it reads.
  Span<const dram_operand> uses = {};
  /// What it writes.
  Span<const dram_operand> defs = {};
  /// The engine that runs it; engines run in parallel.
  std::uint32_t engine = 0;
  /// A `dram_kind`.
  std::uint32_t kind = DRAM_KIND_COMPUTE;
  /// Pairs of positions: this def may start where that use starts.
  Span<const dram_in_place> in_place = {};
  /// Its own name, for messages.
  std::string_view name = {};
  /// The function that a call runs.
  std::string_view callee = {};
  /// A call's bindings of locations to the callee's.
  Span<const dram_argument> args = {};
  /// A barrier's number, equal on all cores.
  std::optional<std::uint64_t> id = {};
};

/// One function of a module. A plain value: it lives and dies with its program.
class Function {
 public:
  /// Wraps a handle, which stays its program's.
  Function(Api api, dram_function *handle) noexcept : api_(api), handle_(handle) {}
  /// The handle, still the program's.
  dram_function *get() const noexcept { return handle_; }

  /// Its name, borrowed from the program, and its counts.
  Result<dram_function_info> info() const {
    return detail::get(api_, &dram_api::function_get, sized<dram_function_info>(), handle_);
  }
  /// Makes room for so many of each, so that adding them is cheaper.
  Status reserve(std::size_t memlocs, std::size_t instructions) const {
    return detail::call(api_, &dram_api::function_reserve, handle_, memlocs, instructions);
  }
  /// Adds one location; returns its number.
  Result<std::uint32_t> add_memloc(const dram_memloc_desc &memloc) const {
    return detail::get(api_, &dram_api::function_add_memloc, std::uint32_t{0}, handle_, &memloc);
  }
  /// All or none; returns the number of the first.
  Result<std::uint32_t> add_memlocs(Span<const dram_memloc_desc> memlocs) const {
    return detail::get(api_, &dram_api::function_add_memlocs, std::uint32_t{0}, handle_,
                       memlocs.data(), memlocs.size());
  }
  /// Opens the next block; later instructions go there. Returns its number.
  Result<std::uint32_t> add_block(std::string_view name = {}) const {
    return detail::get(api_, &dram_api::function_add_block, std::uint32_t{0}, handle_, str(name));
  }
  /// Says where control may go from a block.
  Status set_successors(std::uint32_t block, Span<const std::uint32_t> successors) const {
    return detail::call(api_, &dram_api::function_set_successors, handle_, block,
                        successors.data(), successors.size());
  }
  /// Adds one instruction to the block opened last; returns its flat index.
  Result<std::uint32_t> add_instruction(const Instruction &given) const {
    auto desc = sized<dram_instruction_desc>();
    desc.op = str(given.op);
    desc.name = str(given.name);
    desc.uses = given.uses.data();
    desc.use_count = given.uses.size();
    desc.defs = given.defs.data();
    desc.def_count = given.defs.size();
    desc.in_place = given.in_place.data();
    desc.in_place_count = given.in_place.size();
    desc.callee = str(given.callee);
    desc.args = given.args.data();
    desc.arg_count = given.args.size();
    desc.id = given.id.value_or(0);
    desc.has_id = given.id ? 1 : 0;
    desc.kind = given.kind;
    desc.engine = given.engine;
    return detail::get(api_, &dram_api::function_add_instruction, std::uint32_t{0}, handle_,
                       static_cast<const dram_instruction_desc *>(&desc));
  }
  /// All or none; returns the index of the first.
  Result<std::uint32_t> add_instructions(const dram_instruction_columns &columns) const {
    return detail::get(api_, &dram_api::function_add_instructions, std::uint32_t{0}, handle_,
                       &columns);
  }
  /// The number of the location with this name.
  Result<std::uint32_t> find_memloc(std::string_view name) const {
    return detail::get(api_, &dram_api::function_find_memloc, std::uint32_t{0}, handle_,
                       str(name));
  }
  /// What is known of a location.
  Result<dram_memloc_info> memloc(std::uint32_t memloc) const {
    return detail::get(api_, &dram_api::function_memloc, sized<dram_memloc_info>(), handle_,
                       memloc);
  }
  /// Its name, copied.
  Result<std::string> memloc_name(std::uint32_t memloc) const {
    std::string name;
    detail::Write sink = [&](std::string_view text) {
      name += text;
      return true;
    };
    Status status = detail::call(api_, &dram_api::function_memloc_name, handle_, memloc,
                                 &detail::write, static_cast<void *>(&sink));
    if (!status) return status;
    return name;
  }
  /// Its address; it is an error to ask for one that it does not have.
  Result<std::uint64_t> address(std::uint32_t memloc) const {
    return detail::get(api_, &dram_api::function_address, std::uint64_t{0}, handle_, memloc);
  }
  /// The address of every location; DRAM_NO_ADDRESS where there is none.
  Result<std::vector<std::uint64_t>> addresses() const {
    return column(&dram_api::function_addresses);
  }
  /// The cookie of every location; 0 where there is none.
  Result<std::vector<std::uint64_t>> cookies() const {
    return column(&dram_api::function_cookies);
  }
  /// The copies that a pipeline has marked as moving bytes onto themselves, ascending.
  Result<std::vector<std::uint32_t>> elided() const {
    std::vector<std::uint32_t> indices(16);
    for (;;) {
      std::size_t count = 0;
      Status status = detail::call(api_, &dram_api::function_elided, handle_, indices.data(),
                                   indices.size(), &count);
      if (!status) return status;
      const bool all = count <= indices.size();
      indices.resize(count);
      if (all) return indices;
    }
  }

 private:
  template <class Entry>
  Result<std::vector<std::uint64_t>> column(Entry entry) const {
    auto about = info();
    if (!about) return std::move(about).status();
    std::vector<std::uint64_t> values(about->memloc_count);
    Status status = detail::call(api_, entry, handle_, values.data(), values.size());
    if (!status) return status;
    return values;
  }

  Api api_;
  dram_function *handle_;
};

/// Where everything lies, and how good that is.
class Plan {
 public:
  /// Takes over a handle.
  Plan(Api api, dram_plan *handle) noexcept : owned_(api, handle) {}
  /// Reads a plan file.
  static Result<Plan> from_json(Api api, std::string_view text) {
    dram_plan *handle = nullptr;
    Status status = detail::call(api, &dram_api::plan_from_json,
                                 reinterpret_cast<const std::uint8_t *>(text.data()), text.size(),
                                 &handle);
    if (!status) return status;
    return Plan(api, handle);
  }
  /// The handle, still owned.
  dram_plan *get() const noexcept { return owned_.get(); }
  /// Frees it now.
  void reset() noexcept { owned_.reset(); }

  /// The figures; text borrowed from the plan.
  Result<dram_plan_info> info() const {
    return detail::get(api(), &dram_api::plan_get, sized<dram_plan_info>(), get());
  }
  /// The figures of one space.
  Result<dram_space_info> space(std::uint32_t position) const {
    return detail::get(api(), &dram_api::plan_space, sized<dram_space_info>(), get(), position);
  }
  /// Borrowed from the plan.
  Result<std::string_view> note(std::uint32_t position) const {
    dram_str note{};
    Status status = detail::call(api(), &dram_api::plan_note, get(), position, &note);
    if (!status) return status;
    return view(note);
  }
  /// A location that straddles a page of the runtime; text borrowed from the plan.
  Result<dram_straddler> straddler(std::uint32_t position) const {
    return detail::get(api(), &dram_api::plan_straddler, sized<dram_straddler>(), get(), position);
  }
  /// One figure by name.
  Result<std::uint64_t> metric(std::string_view name) const {
    return detail::get(api(), &dram_api::plan_metric, std::uint64_t{0}, get(), str(name));
  }
  /// The planned address of every location of a function; DRAM_NO_ADDRESS where there is none.
  Result<std::vector<std::uint64_t>> addresses(const Function &function) const {
    auto about = function.info();
    if (!about) return std::move(about).status();
    std::vector<std::uint64_t> values(about->memloc_count);
    Status status = detail::call(api(), &dram_api::plan_addresses, get(), function.get(),
                                 values.data(), values.size());
    if (!status) return status;
    return values;
  }
  /// Text borrowed from the plan.
  Result<dram_plan_memloc> memloc(const Function &function, std::uint32_t memloc) const {
    return detail::get(api(), &dram_api::plan_memloc_get, sized<dram_plan_memloc>(), get(),
                       function.get(), memloc);
  }
  /// When it is live: closed runs of flat indices, ascending.
  Result<std::vector<dram_segment>> segments(const Function &function,
                                             std::uint32_t memloc) const {
    auto about = this->memloc(function, memloc);
    if (!about) return std::move(about).status();
    std::vector<dram_segment> runs(about->segment_count);
    std::size_t count = 0;
    Status status = detail::call(api(), &dram_api::plan_segments, get(), function.get(), memloc,
                                 runs.data(), runs.size(), &count);
    if (!status) return status;
    return runs;
  }
  /// The bytes that the function's own frame holds at each instruction.
  Result<std::vector<std::uint64_t>> load(const Function &function) const {
    auto about = function.info();
    if (!about) return std::move(about).status();
    std::vector<std::uint64_t> bytes(about->instruction_count);
    Status status = detail::call(api(), &dram_api::plan_load, get(), function.get(), bytes.data(),
                                 bytes.size());
    if (!status) return status;
    return bytes;
  }
  /// The order that engines must keep.
  Result<std::vector<dram_dependence>> dependences(const Function &function) const {
    std::vector<dram_dependence> edges;
    Status status = detail::call(api(), &dram_api::plan_dependences, get(), function.get(), &take,
                                 static_cast<void *>(&edges));
    if (!status) return status;
    return edges;
  }
  /// How many dependences the plan carries, of all functions of all cores.
  Result<std::size_t> edge_count() const {
    return detail::get(api(), &dram_api::plan_edge_count, std::size_t{0}, get());
  }
  /// One of them; text borrowed from the plan.
  Result<dram_edge> edge(std::size_t position) const {
    return detail::get(api(), &dram_api::plan_edge, sized<dram_edge>(), get(), position);
  }
  /// What the function's core holds at each instruction, callees included.
  Result<std::vector<dram_live_size>> live(const Function &function,
                                           std::uint64_t extra = 0) const {
    auto sizes = per_instruction(function);
    if (!sizes) return sizes;
    Status status = detail::call(api(), &dram_api::plan_live, get(), function.get(), extra,
                                 sizes->data(), sizes->size());
    if (!status) return status;
    return sizes;
  }
  /// What the device holds while the function's core is at each instruction.
  Result<std::vector<dram_live_size>> device_live(const Function &function,
                                                  std::uint64_t extra = 0,
                                                  const Control &control = {}) const {
    auto sizes = per_instruction(function);
    if (!sizes) return sizes;
    detail::Watch watch(api(), control);
    Status status = detail::call(api(), &dram_api::plan_device_live, get(), function.get(), extra,
                                 watch.get(), sizes->data(), sizes->size());
    if (!status) return status;
    return sizes;
  }
  /// Hands the plan file to `sink` in pieces, until it returns false.
  Status write_json(detail::Write sink) const {
    return detail::call(api(), &dram_api::plan_to_json, get(), &detail::write,
                        static_cast<void *>(&sink));
  }

 private:
  static void take(void *user, const dram_dependence *edges, std::size_t count) noexcept {
    auto &all = *static_cast<std::vector<dram_dependence> *>(user);
    (void)detail::guarded([&] { all.assign(edges, edges + count); });
  }
  static Result<std::vector<dram_live_size>> per_instruction(const Function &function) {
    auto about = function.info();
    if (!about) return std::move(about).status();
    return std::vector<dram_live_size>(about->instruction_count);
  }
  Api api() const noexcept { return owned_.api(); }

  detail::Owned<dram_plan, &dram_api::plan_free> owned_;
};

inline const dram_plan *detail::Watch::handle_of(const Plan *plan) noexcept {
  return plan == nullptr ? nullptr : plan->get();
}

/// What verification found; empty for a plan that is proven right.
class Report {
 public:
  /// Takes over a handle.
  Report(Api api, dram_report *handle) noexcept : owned_(api, handle) {}
  /// The handle, still owned.
  dram_report *get() const noexcept { return owned_.get(); }

  /// How many violations there are.
  Result<std::uint32_t> count() const {
    return detail::get(owned_.api(), &dram_api::report_count, std::uint32_t{0}, get());
  }
  /// Text borrowed from the report.
  Result<dram_violation> violation(std::uint32_t position) const {
    return detail::get(owned_.api(), &dram_api::report_violation, sized<dram_violation>(), get(),
                       position);
  }
  /// Borrowed from the report.
  Result<std::string_view> location(std::uint32_t violation, std::uint32_t position) const {
    dram_str name{};
    Status status = detail::call(owned_.api(), &dram_api::report_location, get(), violation,
                                 position, &name);
    if (!status) return status;
    return view(name);
  }
  /// What a person should know beside the violations, borrowed from the report; past the last one
  /// DRAM_STATUS_OUT_OF_RANGE.
  Result<std::string_view> note(std::uint32_t position) const {
    dram_str note{};
    Status status =
        detail::call(owned_.api(), &dram_api::report_note, get(), position, &note);
    if (!status) return status;
    return view(note);
  }

 private:
  detail::Owned<dram_report, &dram_api::report_free> owned_;
};

/// One core's copy of the program. A plain value: it lives and dies with its program.
class Module {
 public:
  /// Wraps a handle, which stays its program's.
  Module(Api api, dram_module *handle) noexcept : api_(api), handle_(handle) {}
  /// The handle, still the program's.
  dram_module *get() const noexcept { return handle_; }

  /// Its name, borrowed from the program, its core, its counts.
  Result<dram_module_info> info() const {
    return detail::get(api_, &dram_api::module_get, sized<dram_module_info>(), handle_);
  }
  /// Adds an empty function.
  Result<Function> add_function(std::string_view name) const {
    return function(&dram_api::module_add_function, str(name));
  }
  /// The function at a position.
  Result<Function> function(std::uint32_t position) const {
    return function(&dram_api::module_function, position);
  }
  /// The function with this name.
  Result<Function> find_function(std::string_view name) const {
    return function(&dram_api::module_find_function, str(name));
  }
  /// Gives every candidate an address, all or none; the plan has the figures.
  Result<Plan> allocate(const Options &options = {}, const Control &control = {}) const {
    detail::Watch watch(api_, control);
    dram_plan *plan = nullptr;
    Status status =
        detail::call_only(api_, &dram_api::module_allocate, handle_,
                          static_cast<const dram_options *>(&options), watch.get(), &plan);
    Plan owned(api_, plan);
    detail::rethrow();
    if (!status) return status;
    return owned;
  }
  /// Splits the program of this module, its only one, over cores: one clone per core.
  Status lnc_split(std::uint32_t cores) const {
    return detail::call(api_, &dram_api::module_lnc_split, handle_, cores);
  }
  /// Takes back every address that is not the host's pin.
  Status clear_placement() const {
    return detail::call(api_, &dram_api::module_clear_placement, handle_);
  }
  /// An attribute by number; see dram_attribute.
  Result<std::uint64_t> attribute(std::uint32_t number) const {
    return detail::get(api_, &dram_api::module_attribute, std::uint64_t{0}, handle_, number);
  }
  /// A metric by number; see dram_metric.
  Result<std::uint64_t> metric(std::uint32_t number) const {
    return detail::get(api_, &dram_api::module_metric, std::uint64_t{0}, handle_, number);
  }
  /// A metric by name.
  Result<std::uint64_t> metric(std::string_view name) const {
    return detail::get(api_, &dram_api::module_metric_named, std::uint64_t{0}, handle_,
                       str(name));
  }

 private:
  template <class Entry, class Key>
  Result<Function> function(Entry entry, Key key) const {
    dram_function *function = nullptr;
    Status status = detail::call(api_, entry, handle_, key, &function);
    if (!status) return status;
    return Function(api_, function);
  }

  Api api_;
  dram_module *handle_;
};

/// How a plan is drawn; see dram_draw_options. What its pointers and texts name must outlive the call.
struct DrawOptions : dram_draw_options {
  DrawOptions() noexcept : dram_draw_options(sized<dram_draw_options>()) {}
};

/// A whole program, one module per core. Dies with its context at the latest.
class Program {
 public:
  /// Takes over a handle.
  Program(Api api, dram_program *handle) noexcept : owned_(api, handle) {}
  /// The handle, still owned.
  dram_program *get() const noexcept { return owned_.get(); }
  /// Frees it now, with its modules and functions.
  void reset() noexcept { owned_.reset(); }

  /// Adds an empty module for a core.
  Result<Module> add_module(std::string_view name, std::uint32_t core) const {
    return module(&dram_api::program_add_module, str(name), core);
  }
  /// How many modules there are.
  Result<std::uint32_t> module_count() const {
    return detail::get(api(), &dram_api::program_module_count, std::uint32_t{0}, get());
  }
  /// The module at a position.
  Result<Module> module(std::uint32_t position) const {
    return module(&dram_api::program_module, position);
  }
  /// The module of a core.
  Result<Module> find_module(std::uint32_t core) const {
    return module(&dram_api::program_find_module, core);
  }
  /// Plans everything and changes nothing.
  Result<Plan> plan(const Options &options = {}, const Control &control = {}) const {
    detail::Watch watch(api(), control);
    dram_plan *plan = nullptr;
    Status status =
        detail::call_only(api(), &dram_api::program_plan, get(),
                          static_cast<const dram_options *>(&options), watch.get(), &plan);
    Plan owned(api(), plan);
    detail::rethrow();
    if (!status) return status;
    return owned;
  }
  /// Writes a plan's addresses into the program.
  Status apply(const Plan &plan) const {
    return detail::call(api(), &dram_api::program_apply, get(), plan.get());
  }
  /// Proves a plan, or says what is wrong with it.
  Result<Report> verify(const Plan &plan) const {
    dram_report *report = nullptr;
    Status status =
        detail::call(api(), &dram_api::program_verify, get(), plan.get(), &report);
    if (!status) return status;
    return Report(api(), report);
  }
  /// The same and what the options ask for: with `deep` the program is also run on the plan.
  Result<Report> verify(const Plan &plan, const dram_verify_options &options) const {
    dram_report *report = nullptr;
    Status status = detail::call(api(), &dram_api::program_verify_with, get(), plan.get(),
                                 &options, &report);
    if (!status) return status;
    return Report(api(), report);
  }
  /// The same for a host that may cancel, and that says what else is shared, as when the plan was
  /// made: the control stands for that of the options.
  Result<Report> verify(const Plan &plan, const dram_verify_options &options,
                        const Control &control) const {
    detail::Watch watch(api(), control);
    dram_verify_options given = options;
    given.control = watch.get();
    dram_report *report = nullptr;
    Status status = detail::call_only(api(), &dram_api::program_verify_with, get(), plan.get(),
                                      static_cast<const dram_verify_options *>(&given), &report);
    Report owned(api(), report);
    detail::rethrow();
    if (!status) return status;
    return owned;
  }
  /// Why the plan needs the bytes that it needs, handed to `sink` in pieces until it returns false.
  Status explain(const Plan &plan, detail::Write sink, const ExplainOptions &options = {}) const {
    return detail::call(api(), &dram_api::plan_explain, get(), plan.get(), &options,
                        &detail::write, static_cast<void *>(&sink));
  }
  /// The same as one text.
  Result<std::string> explain(const Plan &plan, const ExplainOptions &options = {}) const {
    std::string text;
    Status status = explain(plan, detail::append_to(text), options);
    if (!status) return status;
    return text;
  }
  /// What is different in a second plan, of this program or of another, handed to `sink` in pieces
  /// until it returns false.
  Status diff(const Plan &plan, const Program &other, const Plan &other_plan, detail::Write sink,
              const DiffOptions &options = {}) const {
    return detail::call(api(), &dram_api::plan_diff, get(), plan.get(), other.get(),
                        other_plan.get(), &options, &detail::write, static_cast<void *>(&sink));
  }
  /// The same as one text.
  Result<std::string> diff(const Plan &plan, const Program &other, const Plan &other_plan,
                           const DiffOptions &options = {}) const {
    std::string text;
    Status status = diff(plan, other, other_plan, detail::append_to(text), options);
    if (!status) return status;
    return text;
  }
  /// What fills a core's memory at its worst instruction; `extra` are bytes of the host's.
  Result<dram_hbm_usage> hbm_usage(const Plan &plan, std::uint32_t core,
                                   std::uint64_t extra = 0) const {
    return detail::get(api(), &dram_api::program_hbm_usage, sized<dram_hbm_usage>(), get(),
                       plan.get(), core, extra);
  }
  /// A core's worst moment; DRAM_UNKNOWN: the device's.
  Result<dram_pressure> pressure(const Plan &plan, std::uint32_t core,
                                 std::uint64_t extra = 0) const {
    return detail::get(api(), &dram_api::program_pressure, sized<dram_pressure>(), get(),
                       plan.get(), core, extra);
  }
  /// Where cores touch the same shared bytes and nothing orders them.
  Result<Report> races(const Plan &plan, const Control &control = {}) const {
    detail::Watch watch(api(), control);
    dram_report *report = nullptr;
    Status status = detail::call_only(api(), &dram_api::program_races, get(), plan.get(),
                                      watch.get(), &report);
    Report owned(api(), report);
    detail::rethrow();
    if (!status) return status;
    return owned;
  }
  /// Every module, in the order in which they were added.
  Result<std::vector<Module>> modules() const {
    auto count = module_count();
    if (!count) return std::move(count).status();
    std::vector<Module> all;
    for (std::uint32_t i = 0; i < *count; ++i) {
      auto one = module(i);
      if (!one) return std::move(one).status();
      all.push_back(*one);
    }
    return all;
  }
  /// Draws a plan of this program: hands a page, a picture or a map to `sink` in pieces, until it
  /// returns false. A second plan in the options is drawn beside it.
  Status draw(const Plan &plan, detail::Write sink, const DrawOptions &options = {}) const {
    return detail::call(api(), &dram_api::plan_draw, get(), plan.get(), &options, &detail::write,
                        static_cast<void *>(&sink));
  }
  /// Hands the program file to `sink` in pieces, until it returns false.
  Status write_json(detail::Write sink) const {
    return detail::call(api(), &dram_api::program_to_json, get(), &detail::write,
                        static_cast<void *>(&sink));
  }

 private:
  template <class Entry, class... Keys>
  Result<Module> module(Entry entry, Keys... keys) const {
    dram_module *module = nullptr;
    Status status = detail::call(api(), entry, get(), keys..., &module);
    if (!status) return status;
    return Module(api(), module);
  }
  Api api() const noexcept { return owned_.api(); }

  detail::Owned<dram_program, &dram_api::program_free> owned_;
};

/// The owner of programs, and where notes are logged.
class Context {
 public:
  /// Receives what a person should know; the level is a dram_log_level.
  using Log = std::function<void(std::uint32_t level, std::string_view message)>;

  /// A context that logs nothing.
  static Result<Context> create(Api api) {
    dram_context *handle = nullptr;
    Status status = detail::call(api, &dram_api::context_new, &handle);
    if (!status) return status;
    return Context(api, handle);
  }
  /// The handle, still owned.
  dram_context *get() const noexcept { return owned_.get(); }

  /// Says where notes go; an empty function for silence. Not while another call is running.
  Status set_log(Log log, std::uint32_t level = DRAM_LOG_LEVEL_WARNING) {
    auto kept = log ? std::make_unique<Log>(std::move(log)) : nullptr;
    Status status = detail::call(api(), &dram_api::context_set_log, get(),
                                 kept ? &trampoline : nullptr, static_cast<void *>(kept.get()),
                                 level);
    if (status) log_ = std::move(kept);
    return status;
  }
  /// An empty program.
  Result<Program> new_program(std::string_view name) const {
    dram_program *program = nullptr;
    Status status = detail::call(api(), &dram_api::program_new, get(), str(name), &program);
    if (!status) return status;
    return Program(api(), program);
  }
  /// Reads a program file.
  Result<Program> program_from_json(std::string_view text) const {
    dram_program *program = nullptr;
    Status status = detail::call(api(), &dram_api::program_from_json, get(),
                                 reinterpret_cast<const std::uint8_t *>(text.data()), text.size(),
                                 &program);
    if (!status) return status;
    return Program(api(), program);
  }

 private:
  Context(Api api, dram_context *handle) noexcept : owned_(api, handle) {}
  static void trampoline(void *user, std::uint32_t level, dram_str message) noexcept {
    (void)detail::guarded([&] { (*static_cast<Log *>(user))(level, view(message)); });
  }
  Api api() const noexcept { return owned_.api(); }

  std::unique_ptr<Log> log_;  // Outlives the handle: destroyed after it.
  detail::Owned<dram_context, &dram_api::context_free> owned_;
};

/// Which passes a pipeline has; see dram_pipeline_options.
struct PipelineOptions : dram_pipeline_options {
  PipelineOptions() noexcept : dram_pipeline_options(sized<dram_pipeline_options>()) {}
};

/// What a run of a pipeline did.
class Run {
 public:
  /// Takes over a handle.
  Run(Api api, dram_run *handle) noexcept : owned_(api, handle) {}
  /// The handle, still owned.
  dram_run *get() const noexcept { return owned_.get(); }

  /// What the run came to.
  Result<dram_run_info> info() const {
    return detail::get(owned_.api(), &dram_api::run_get, sized<dram_run_info>(), get());
  }
  /// What one pass did; text borrowed from the run.
  Result<dram_pass_info> pass(std::uint32_t position) const {
    return detail::get(owned_.api(), &dram_api::run_pass, sized<dram_pass_info>(), get(),
                       position);
  }
  /// Borrowed from the run.
  Result<std::string_view> note(std::uint32_t pass, std::uint32_t position) const {
    dram_str note{};
    Status status =
        detail::call(owned_.api(), &dram_api::run_note, get(), pass, position, &note);
    if (!status) return status;
    return view(note);
  }
  /// The plan that was written into the program, with its dependences.
  Result<Plan> plan() const {
    dram_plan *plan = nullptr;
    Status status = detail::call(owned_.api(), &dram_api::run_plan, get(), &plan);
    if (!status) return status;
    return Plan(owned_.api(), plan);
  }

 private:
  detail::Owned<dram_run, &dram_api::run_free> owned_;
};

/// The named passes, built from switches.
class Pipeline {
 public:
  /// The passes that the switches leave.
  static Result<Pipeline> create(Api api, const PipelineOptions &options = {}) {
    dram_pipeline *handle = nullptr;
    Status status = detail::call(api, &dram_api::pipeline_new,
                                 static_cast<const dram_pipeline_options *>(&options), &handle);
    if (!status) return status;
    return Pipeline(api, handle);
  }
  /// The handle, still owned.
  dram_pipeline *get() const noexcept { return owned_.get(); }

  /// How many passes it has.
  Result<std::uint32_t> pass_count() const {
    return detail::get(api(), &dram_api::pipeline_pass_count, std::uint32_t{0}, get());
  }
  /// Valid for ever.
  Result<std::string_view> pass_name(std::uint32_t position) const {
    dram_str name{};
    Status status =
        detail::call(api(), &dram_api::pipeline_pass_name, get(), position, &name);
    if (!status) return status;
    return view(name);
  }
  /// Runs the passes and writes what they decided into the program, all or nothing.
  Result<Run> run(const Program &program, const Options &options = {},
                  const Control &control = {}) const {
    detail::Watch watch(api(), control);
    dram_run *run = nullptr;
    Status status =
        detail::call_only(api(), &dram_api::pipeline_run, get(), program.get(),
                          static_cast<const dram_options *>(&options), watch.get(), &run);
    Run owned(api(), run);
    detail::rethrow();
    if (!status) return status;
    return owned;
  }

 private:
  Pipeline(Api api, dram_pipeline *handle) noexcept : owned_(api, handle) {}
  Api api() const noexcept { return owned_.api(); }

  detail::Owned<dram_pipeline, &dram_api::pipeline_free> owned_;
};

/// One module per core, of one program or of several: what the cores have to agree on. A plain
/// value: the modules live and die with their programs.
class Cores {
 public:
  /// Of modules that have different cores.
  Cores(Api api, Span<const Module> modules) : api_(api) {
    for (const Module &module : modules) handles_.push_back(module.get());
  }

  /// The allocator on one space, a dram_space: private mode on each module, or shared mode.
  Result<Plan> allocate(std::uint32_t space, const Options &options = {},
                        const Control &control = {}) const {
    detail::Watch watch(api_, control);
    dram_plan *plan = nullptr;
    Status status = detail::call_only(api_, &dram_api::modules_allocate, handles_.data(),
                                      handles_.size(), space,
                                      static_cast<const dram_options *>(&options), watch.get(),
                                      &plan);
    Plan owned(api_, plan);
    detail::rethrow();
    if (!status) return status;
    return owned;
  }
  /// Gives every copy of a shared location its owner's address, partition and bank.
  Result<dram_sync_info> sync_shared_allocations(const Options &options = {},
                                                 const Control &control = {}) const {
    detail::Watch watch(api_, control);
    auto info = sized<dram_sync_info>();
    Status status = detail::call(api_, &dram_api::modules_sync_shared_allocations,
                                 handles_.data(), handles_.size(),
                                 static_cast<const dram_options *>(&options), watch.get(), &info);
    if (!status) return status;
    return info;
  }
  /// What each core holds the shared addresses to be.
  Result<std::vector<dram_digest>> digests(const Options &options = {},
                                           const Control &control = {}) const {
    detail::Watch watch(api_, control);
    std::vector<dram_digest> digests(handles_.size());
    Status status = detail::call(api_, &dram_api::modules_digests, handles_.data(),
                                 handles_.size(), static_cast<const dram_options *>(&options),
                                 watch.get(), digests.data());
    if (!status) return status;
    return digests;
  }
  /// What is wrong with the addresses that the modules have stored.
  Result<Report> lnc_verify(const Options &options = {}, const Control &control = {}) const {
    detail::Watch watch(api_, control);
    dram_report *report = nullptr;
    Status status = detail::call_only(api_, &dram_api::modules_lnc_verify, handles_.data(),
                                      handles_.size(),
                                      static_cast<const dram_options *>(&options), watch.get(),
                                      &report);
    Report owned(api_, report);
    detail::rethrow();
    if (!status) return status;
    return owned;
  }

 private:
  Api api_;
  std::vector<dram_module *> handles_;
};

/// Whether digests, perhaps of other processes, are equal; the error names the cores.
inline Status check_digests(Api api, Span<const dram_digest> digests) {
  return detail::call(api, &dram_api::digests_check, digests.data(), digests.size());
}

/// A solved raw problem.
struct Solved {
  /// Where each buffer begins.
  std::vector<std::uint64_t> offsets;
  /// The figures.
  dram_problem_result result;
};

/// Places buffers that are live over half-open intervals; see dram_problem.
inline Result<Solved> solve(Api api, const dram_problem &problem, const Options &options = {},
                            const Control &control = {}) {
  detail::Watch watch(api, control);
  Solved solved{std::vector<std::uint64_t>(problem.count), sized<dram_problem_result>()};
  Status status = detail::call(api, &dram_api::problem_solve, &problem,
                               static_cast<const dram_options *>(&options), watch.get(),
                               solved.offsets.data(), &solved.result);
  if (!status) return status;
  return solved;
}

/// The simplest form: buffer i has size[i] bytes and is live over [lower[i], upper[i]).
inline Result<Solved> solve(Api api, Span<const std::int64_t> lower,
                            Span<const std::int64_t> upper, Span<const std::uint64_t> size,
                            std::uint64_t capacity = 0) {
  if (lower.size() != size.size() || upper.size() != size.size()) {
    return Status(DRAM_STATUS_INVALID_ARGUMENT, "lower, upper and size differ in length");
  }
  Solved solved{std::vector<std::uint64_t>(size.size()), sized<dram_problem_result>()};
  Status status = detail::call(api, &dram_api::problem_solve_simple, lower.data(), upper.data(),
                               size.data(), size.size(), capacity, solved.offsets.data(),
                               &solved.result);
  if (!status) return status;
  return solved;
}

/// Which of these closed intervals overlap a given one?
class IntervalTree {
 public:
  /// Of intervals [lo[i], hi[i]].
  static Result<IntervalTree> create(Api api, Span<const std::uint32_t> lo,
                                     Span<const std::uint32_t> hi) {
    if (lo.size() != hi.size()) {
      return Status(DRAM_STATUS_INVALID_ARGUMENT, "lo and hi differ in length");
    }
    dram_interval_tree *handle = nullptr;
    Status status = detail::call(api, &dram_api::interval_tree_new, lo.data(), hi.data(),
                                 lo.size(), &handle);
    if (!status) return status;
    return IntervalTree(api, handle);
  }
  /// The handle, still owned.
  dram_interval_tree *get() const noexcept { return owned_.get(); }

  /// What overlaps interval i, ascending, without itself.
  Result<std::vector<std::uint32_t>> overlaps(std::uint32_t i) const {
    return query(&dram_api::interval_tree_overlaps, i);
  }
  /// What overlaps [lo, hi], ascending.
  Result<std::vector<std::uint32_t>> overlaps(std::uint32_t lo, std::uint32_t hi) const {
    return query(&dram_api::interval_tree_overlaps_with_interval, lo, hi);
  }

 private:
  IntervalTree(Api api, dram_interval_tree *handle) noexcept : owned_(api, handle) {}

  template <class Entry, class... Keys>
  Result<std::vector<std::uint32_t>> query(Entry entry, Keys... keys) const {
    std::vector<std::uint32_t> found(16);
    for (;;) {
      std::size_t count = 0;
      Status status = detail::call(owned_.api(), entry, get(), keys..., found.data(),
                                   found.size(), &count);
      if (!status) return status;
      const bool all = count <= found.size();
      found.resize(count);
      if (all) return found;
    }
  }

  detail::Owned<dram_interval_tree, &dram_api::interval_tree_free> owned_;
};

}  // namespace dram

#endif  // DRAMALLOC_HPP
