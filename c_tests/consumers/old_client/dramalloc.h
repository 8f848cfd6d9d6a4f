/* The header of ABI 0.1, frozen as clients were compiled with it; its comments are left out. */
#ifndef DRAMALLOC_H
#define DRAMALLOC_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define DRAM_VERSION_MAJOR 0
#define DRAM_VERSION_MINOR 1
#define DRAM_VERSION_PATCH 0
#define DRAM_VERSION_STRING "0.1.0"
#define DRAM_ABI_MAJOR 0
#define DRAM_ABI_MINOR 1
#define DRAM_UNKNOWN 4294967295
#define DRAM_NO_ADDRESS 18446744073709551615ull
enum dram_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  DRAM_STATUS_OK = 0,
  DRAM_STATUS_CANCELLED = 1,
  DRAM_STATUS_INVALID_ARGUMENT = 3,
  DRAM_STATUS_DEADLINE_EXCEEDED = 4,
  DRAM_STATUS_NOT_FOUND = 5,
  DRAM_STATUS_ALREADY_EXISTS = 6,
  DRAM_STATUS_RESOURCE_EXHAUSTED = 8,
  DRAM_STATUS_FAILED_PRECONDITION = 9,
  DRAM_STATUS_OUT_OF_RANGE = 11,
  DRAM_STATUS_UNIMPLEMENTED = 12,
  DRAM_STATUS_INTERNAL = 13,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dram_status dram_status;
#else
typedef int32_t dram_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
enum dram_attribute
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  DRAM_ATTRIBUTE_ALLOCATED = 11,
  DRAM_ATTRIBUTE_REAL_CC_BUFFER_SIZE = 13,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dram_attribute dram_attribute;
#else
typedef uint32_t dram_attribute;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
enum dram_cc_limit
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int64_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  DRAM_CC_LIMIT_DEFAULT = 0,
  DRAM_CC_LIMIT_COMPUTED = -1,
  DRAM_CC_LIMIT_NONE = -2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dram_cc_limit dram_cc_limit;
#else
typedef int64_t dram_cc_limit;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
enum dram_dependence_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  DRAM_DEPENDENCE_KIND_FLOW = 0,
  DRAM_DEPENDENCE_KIND_OUTPUT = 1,
  DRAM_DEPENDENCE_KIND_ANTI = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dram_dependence_kind dram_dependence_kind;
#else
typedef uint32_t dram_dependence_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
enum dram_floor
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  DRAM_FLOOR_HWM = 0,
  DRAM_FLOOR_HOLES = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dram_floor dram_floor;
#else
typedef uint32_t dram_floor;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
enum dram_geometry
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  DRAM_GEOMETRY_SPLIT = 0,
  DRAM_GEOMETRY_UNIFIED = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dram_geometry dram_geometry;
#else
typedef uint32_t dram_geometry;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
enum dram_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  DRAM_KIND_COMPUTE = 0,
  DRAM_KIND_DMA_COPY = 1,
  DRAM_KIND_COLLECTIVE = 2,
  DRAM_KIND_CALL = 3,
  DRAM_KIND_BARRIER = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dram_kind dram_kind;
#else
typedef uint32_t dram_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
enum dram_log_level
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  DRAM_LOG_LEVEL_OFF = 0,
  DRAM_LOG_LEVEL_WARNING = 1,
  DRAM_LOG_LEVEL_INFO = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dram_log_level dram_log_level;
#else
typedef uint32_t dram_log_level;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
enum dram_memloc_flag
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  DRAM_MEMLOC_FLAG_PINNED = 1,
  DRAM_MEMLOC_FLAG_VIEW = 2,
  DRAM_MEMLOC_FLAG_ESCAPES = 4,
  DRAM_MEMLOC_FLAG_REMOTE = 8,
  DRAM_MEMLOC_FLAG_UNKNOWN_SIZE = 16,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dram_memloc_flag dram_memloc_flag;
#else
typedef uint32_t dram_memloc_flag;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
enum dram_memory
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  DRAM_MEMORY_DRAM = 0,
  DRAM_MEMORY_SBUF = 1,
  DRAM_MEMORY_PSUM = 2,
  DRAM_MEMORY_REG = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dram_memory dram_memory;
#else
typedef uint32_t dram_memory;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
enum dram_metric
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  DRAM_METRIC_RESERVED_SPACE = 31,
  DRAM_METRIC_RAW_BYTES = 32,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dram_metric dram_metric;
#else
typedef uint32_t dram_metric;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
enum dram_plan_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  DRAM_PLAN_STATUS_OPTIMAL = 0,
  DRAM_PLAN_STATUS_FEASIBLE = 1,
  DRAM_PLAN_STATUS_INFEASIBLE = 2,
  DRAM_PLAN_STATUS_UNKNOWN = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dram_plan_status dram_plan_status;
#else
typedef uint32_t dram_plan_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
enum dram_preset
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  DRAM_PRESET_CUSTOM = 0,
  DRAM_PRESET_INFERENTIA = 1,
  DRAM_PRESET_TRN1 = 2,
  DRAM_PRESET_INF2 = 3,
  DRAM_PRESET_TRN2 = 4,
  DRAM_PRESET_TRN3 = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dram_preset dram_preset;
#else
typedef uint32_t dram_preset;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
enum dram_skipped
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  DRAM_SKIPPED_NO = 0,
  DRAM_SKIPPED_UNREFERENCED = 1,
  DRAM_SKIPPED_CALLER_OWNED = 2,
  DRAM_SKIPPED_NOT_DRAM = 3,
  DRAM_SKIPPED_FOLLOWER_UNUSED = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dram_skipped dram_skipped;
#else
typedef uint32_t dram_skipped;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
enum dram_space
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  DRAM_SPACE_LOCAL = 0,
  DRAM_SPACE_SHARED = 1,
  DRAM_SPACE_DEBUG = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dram_space dram_space;
#else
typedef uint32_t dram_space;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
enum dram_strategy
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  DRAM_STRATEGY_FAST = 0,
  DRAM_STRATEGY_REFERENCE = 1,
  DRAM_STRATEGY_BEST = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dram_strategy dram_strategy;
#else
typedef uint32_t dram_strategy;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
enum dram_usage
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  DRAM_USAGE_INTERNAL = 0,
  DRAM_USAGE_COLLECTIVE = 1,
  DRAM_USAGE_INPUT = 2,
  DRAM_USAGE_OUTPUT = 3,
  DRAM_USAGE_WEIGHT = 4,
  DRAM_USAGE_CONSTANT = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dram_usage dram_usage;
#else
typedef uint32_t dram_usage;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
enum dram_verdict
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  DRAM_VERDICT_FITS = 0,
  DRAM_VERDICT_SLIGHTLY = 1,
  DRAM_VERDICT_OVER = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum dram_verdict dram_verdict;
#else
typedef uint32_t dram_verdict;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus
typedef struct dram_cancel dram_cancel;
typedef struct dram_context dram_context;
typedef struct dram_error dram_error;
typedef struct dram_function dram_function;
typedef struct dram_interval_tree dram_interval_tree;
typedef struct dram_module dram_module;
typedef struct dram_plan dram_plan;
typedef struct dram_program dram_program;
typedef struct dram_report dram_report;
typedef struct dram_str {
  const char *data;
  size_t len;
} dram_str;
typedef struct dram_error_info {
  size_t struct_size;
  struct dram_str message;
  struct dram_str function;
  struct dram_str location;
  int32_t status;
  uint32_t core;
  uint32_t instruction;
  uint32_t has_no_room;
} dram_error_info;
typedef struct dram_no_room {
  size_t struct_size;
  struct dram_str location;
  uint64_t bytes;
  uint64_t capacity;
  uint64_t bound;
  uint64_t largest_hole;
  uint64_t deficit;
  uint64_t other_bytes;
  uint64_t others;
  int64_t instruction;
  uint32_t holder_count;
  uint32_t id;
  uint32_t proved;
  uint32_t reserved;
} dram_no_room;
typedef struct dram_holder {
  size_t struct_size;
  struct dram_str location;
  uint64_t start;
  uint64_t bytes;
  int64_t first;
  int64_t last;
  uint32_t id;
  uint32_t reserved;
} dram_holder;
typedef void (*dram_log_fn)(void *user, uint32_t level, struct dram_str message);
typedef int32_t (*dram_write_fn)(void *user, const char *data, size_t len);
typedef struct dram_region {
  uint64_t base;
  uint64_t size;
  uint32_t space;
  uint32_t usage_mask;
} dram_region;
typedef struct dram_options {
  size_t struct_size;
  uint64_t capacity;
  uint64_t budget_ms;
  uint64_t budget_steps;
  uint64_t align;
  int64_t cc_limit;
  uint64_t runtime_page;
  uint64_t shared_mib_per_core;
  const struct dram_region *regions;
  size_t region_count;
  uint32_t strategy;
  uint32_t preset;
  uint32_t floor;
  uint32_t geometry;
  uint32_t packed;
  uint32_t reuse_io;
  uint32_t strict;
  uint32_t trim_cc;
  uint32_t usage_mask;
  uint32_t separate_functions;
} dram_options;
typedef struct dram_progress {
  size_t struct_size;
  struct dram_str phase;
  uint64_t done;
  uint64_t total;
  uint64_t bound;
  uint64_t incumbent;
  uint64_t elapsed_us;
} dram_progress;
typedef void (*dram_progress_fn)(void *user, const struct dram_progress *progress);
typedef int32_t (*dram_shared_fn)(void *user,
                                  uint32_t core,
                                  struct dram_str function,
                                  uint32_t memloc,
                                  uint64_t cookie);
typedef struct dram_control {
  size_t struct_size;
  const struct dram_cancel *cancel;
  dram_progress_fn progress;
  void *progress_user;
  dram_shared_fn shared;
  void *shared_user;
} dram_control;
typedef struct dram_hbm_usage {
  size_t struct_size;
  uint64_t needed;
  uint64_t capacity;
  uint64_t input_output;
  uint64_t weights;
  uint64_t private_bytes;
  uint64_t shared;
  uint64_t collective;
  uint64_t extra;
  uint64_t unused;
  uint32_t function;
  uint32_t instruction;
  uint32_t verdict;
  uint32_t reserved;
} dram_hbm_usage;
typedef struct dram_module_info {
  size_t struct_size;
  struct dram_str name;
  uint32_t core;
  uint32_t function_count;
} dram_module_info;
typedef struct dram_function_info {
  size_t struct_size;
  struct dram_str name;
  uint32_t memloc_count;
  uint32_t block_count;
  uint32_t instruction_count;
  uint32_t reserved;
} dram_function_info;
typedef struct dram_memloc_desc {
  size_t struct_size;
  struct dram_str name;
  uint64_t bytes;
  uint64_t element_count;
  uint32_t element_size;
  uint32_t memory;
  uint32_t space;
  uint32_t usage;
  uint64_t align;
  uint64_t address;
  uint64_t offset;
  uint32_t alias_of;
  uint32_t flags;
  uint64_t cookie;
  struct dram_str remote_name;
  const uint32_t *reach;
  size_t reach_count;
  uint32_t remote_core;
  uint32_t reserved;
} dram_memloc_desc;
typedef struct dram_memloc_info {
  size_t struct_size;
  uint64_t bytes;
  uint64_t align;
  uint64_t address;
  uint64_t cookie;
  uint64_t root_offset;
  uint32_t root;
  uint32_t memory;
  uint32_t space;
  uint32_t usage;
  uint32_t skipped;
  uint32_t flags;
  uint32_t is_shared_post_dram_alloc;
  uint32_t reserved;
} dram_memloc_info;
typedef struct dram_operand {
  uint32_t memloc;
  uint32_t reserved;
  uint64_t offset;
  uint64_t bytes;
} dram_operand;
typedef struct dram_in_place {
  uint32_t used;
  uint32_t def;
} dram_in_place;
typedef struct dram_argument {
  struct dram_str callee;
  uint32_t caller;
  uint32_t reserved;
} dram_argument;
typedef struct dram_instruction_desc {
  size_t struct_size;
  struct dram_str op;
  struct dram_str name;
  const struct dram_operand *uses;
  size_t use_count;
  const struct dram_operand *defs;
  size_t def_count;
  const struct dram_in_place *in_place;
  size_t in_place_count;
  struct dram_str callee;
  const struct dram_argument *args;
  size_t arg_count;
  uint64_t id;
  uint32_t has_id;
  uint32_t kind;
  uint32_t engine;
  uint32_t reserved;
} dram_instruction_desc;
typedef struct dram_instruction_columns {
  size_t struct_size;
  size_t count;
  const struct dram_str *op_table;
  size_t op_table_count;
  const uint32_t *ops;
  const uint32_t *kinds;
  const uint32_t *engines;
  const uint32_t *use_starts;
  const uint32_t *uses;
  const uint32_t *def_starts;
  const uint32_t *defs;
  const uint32_t *in_place_starts;
  const struct dram_in_place *in_place;
  const uint64_t *use_offsets;
  const uint64_t *use_bytes;
  const uint64_t *def_offsets;
  const uint64_t *def_bytes;
} dram_instruction_columns;
typedef struct dram_plan_info {
  size_t struct_size;
  uint64_t peak;
  uint64_t lower_bound;
  struct dram_str digest;
  uint32_t status;
  uint32_t strategy;
  uint32_t needs_dependences;
  uint32_t space_count;
  uint32_t module_count;
  uint32_t note_count;
} dram_plan_info;
typedef struct dram_space_info {
  size_t struct_size;
  uint64_t capacity;
  uint64_t floor;
  uint64_t peak;
  uint64_t lower_bound;
  uint32_t space;
  uint32_t core;
} dram_space_info;
typedef struct dram_plan_memloc {
  size_t struct_size;
  struct dram_str name;
  uint64_t address;
  uint64_t bytes;
  uint64_t aligned;
  size_t segment_count;
  struct dram_str owner_name;
  uint32_t owner_core;
  uint32_t space;
  uint32_t skipped;
  uint32_t pinned;
  uint32_t is_shared_post_dram_alloc;
  uint32_t reserved;
} dram_plan_memloc;
typedef struct dram_segment {
  uint32_t first;
  uint32_t last;
} dram_segment;
typedef struct dram_dependence {
  uint32_t from;
  uint32_t to;
  uint32_t kind;
  uint32_t distance;
  uint32_t header;
  uint32_t reserved;
} dram_dependence;
typedef void (*dram_dependences_fn)(void *user, const struct dram_dependence *edges, size_t count);
typedef struct dram_violation {
  size_t struct_size;
  struct dram_str kind;
  struct dram_str message;
  struct dram_str function;
  uint32_t core;
  uint32_t location_count;
} dram_violation;
typedef struct dram_interval {
  int64_t lower;
  int64_t upper;
} dram_interval;
typedef struct dram_problem {
  size_t struct_size;
  size_t count;
  const uint32_t *starts;
  const struct dram_interval *intervals;
  const uint64_t *sizes;
  const uint64_t *alignments;
  const uint64_t *pins;
  const struct dram_str *labels;
  const struct dram_region *regions;
  size_t region_count;
} dram_problem;
typedef struct dram_problem_result {
  size_t struct_size;
  uint64_t peak;
  uint64_t bound;
  uint64_t floor;
  uint32_t status;
  uint32_t reserved;
} dram_problem_result;
typedef struct dram_api {
  size_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  const char *(*version)(void);
  dram_status (*error_code)(const struct dram_error *error);
  const char *(*error_message)(const struct dram_error *error);
  dram_status (*error_get)(const struct dram_error *error, struct dram_error_info *info_out);
  dram_status (*error_no_room)(const struct dram_error *error, struct dram_no_room *no_room_out);
  dram_status (*error_holder)(const struct dram_error *error,
                              uint32_t position,
                              struct dram_holder *holder_out);
  dram_status (*error_free)(struct dram_error *error);
  dram_status (*context_new)(struct dram_context **context_out, struct dram_error **error);
  dram_status (*context_free)(struct dram_context *context);
  dram_status (*context_set_log)(struct dram_context *context,
                                 dram_log_fn log,
                                 void *user,
                                 uint32_t level,
                                 struct dram_error **error);
  dram_status (*cancel_new)(struct dram_cancel **cancel_out, struct dram_error **error);
  dram_status (*cancel_free)(struct dram_cancel *cancel);
  dram_status (*cancel_set)(struct dram_cancel *cancel, struct dram_error **error);
  dram_status (*cancel_is_set)(const struct dram_cancel *cancel,
                               uint32_t *set_out,
                               struct dram_error **error);
  dram_status (*program_new)(struct dram_context *context,
                             struct dram_str name,
                             struct dram_program **program_out,
                             struct dram_error **error);
  dram_status (*program_from_json)(struct dram_context *context,
                                   const uint8_t *data,
                                   size_t len,
                                   struct dram_program **program_out,
                                   struct dram_error **error);
  dram_status (*program_to_json)(const struct dram_program *program,
                                 dram_write_fn write,
                                 void *user,
                                 struct dram_error **error);
  dram_status (*program_free)(struct dram_program *program);
  dram_status (*program_add_module)(struct dram_program *program,
                                    struct dram_str name,
                                    uint32_t core,
                                    struct dram_module **module_out,
                                    struct dram_error **error);
  dram_status (*program_module_count)(const struct dram_program *program,
                                      uint32_t *count_out,
                                      struct dram_error **error);
  dram_status (*program_module)(const struct dram_program *program,
                                uint32_t position,
                                struct dram_module **module_out,
                                struct dram_error **error);
  dram_status (*program_find_module)(const struct dram_program *program,
                                     uint32_t core,
                                     struct dram_module **module_out,
                                     struct dram_error **error);
  dram_status (*program_plan)(const struct dram_program *program,
                              const struct dram_options *options,
                              const struct dram_control *control,
                              struct dram_plan **plan_out,
                              struct dram_error **error);
  dram_status (*program_apply)(struct dram_program *program,
                               const struct dram_plan *plan,
                               struct dram_error **error);
  dram_status (*program_verify)(const struct dram_program *program,
                                const struct dram_plan *plan,
                                struct dram_report **report_out,
                                struct dram_error **error);
  dram_status (*program_hbm_usage)(const struct dram_program *program,
                                   const struct dram_plan *plan,
                                   uint32_t core,
                                   uint64_t extra,
                                   struct dram_hbm_usage *usage_out,
                                   struct dram_error **error);
  dram_status (*module_get)(const struct dram_module *module,
                            struct dram_module_info *info_out,
                            struct dram_error **error);
  dram_status (*module_add_function)(struct dram_module *module,
                                     struct dram_str name,
                                     struct dram_function **function_out,
                                     struct dram_error **error);
  dram_status (*module_function)(const struct dram_module *module,
                                 uint32_t position,
                                 struct dram_function **function_out,
                                 struct dram_error **error);
  dram_status (*module_find_function)(const struct dram_module *module,
                                      struct dram_str name,
                                      struct dram_function **function_out,
                                      struct dram_error **error);
  dram_status (*module_allocate)(struct dram_module *module,
                                 const struct dram_options *options,
                                 const struct dram_control *control,
                                 struct dram_plan **plan_out,
                                 struct dram_error **error);
  dram_status (*module_clear_placement)(struct dram_module *module, struct dram_error **error);
  dram_status (*module_attribute)(const struct dram_module *module,
                                  uint32_t number,
                                  uint64_t *value_out,
                                  struct dram_error **error);
  dram_status (*module_metric)(const struct dram_module *module,
                               uint32_t number,
                               uint64_t *value_out,
                               struct dram_error **error);
  dram_status (*module_metric_named)(const struct dram_module *module,
                                     struct dram_str name,
                                     uint64_t *value_out,
                                     struct dram_error **error);
  dram_status (*function_get)(const struct dram_function *function,
                              struct dram_function_info *info_out,
                              struct dram_error **error);
  dram_status (*function_reserve)(struct dram_function *function,
                                  size_t memlocs,
                                  size_t instructions,
                                  struct dram_error **error);
  dram_status (*function_add_block)(struct dram_function *function,
                                    struct dram_str name,
                                    uint32_t *block_out,
                                    struct dram_error **error);
  dram_status (*function_set_successors)(struct dram_function *function,
                                         uint32_t block,
                                         const uint32_t *successors,
                                         size_t count,
                                         struct dram_error **error);
  dram_status (*function_address)(const struct dram_function *function,
                                  uint32_t memloc,
                                  uint64_t *address_out,
                                  struct dram_error **error);
  dram_status (*function_addresses)(const struct dram_function *function,
                                    uint64_t *addresses,
                                    size_t count,
                                    struct dram_error **error);
  dram_status (*function_cookies)(const struct dram_function *function,
                                  uint64_t *cookies,
                                  size_t count,
                                  struct dram_error **error);
  dram_status (*function_add_memloc)(struct dram_function *function,
                                     const struct dram_memloc_desc *memloc,
                                     uint32_t *memloc_out,
                                     struct dram_error **error);
  dram_status (*function_add_memlocs)(struct dram_function *function,
                                      const struct dram_memloc_desc *memlocs,
                                      size_t count,
                                      uint32_t *first_out,
                                      struct dram_error **error);
  dram_status (*function_find_memloc)(const struct dram_function *function,
                                      struct dram_str name,
                                      uint32_t *memloc_out,
                                      struct dram_error **error);
  dram_status (*function_memloc)(const struct dram_function *function,
                                 uint32_t memloc,
                                 struct dram_memloc_info *info_out,
                                 struct dram_error **error);
  dram_status (*function_memloc_name)(const struct dram_function *function,
                                      uint32_t memloc,
                                      dram_write_fn write,
                                      void *user,
                                      struct dram_error **error);
  dram_status (*function_add_instruction)(struct dram_function *function,
                                          const struct dram_instruction_desc *instruction,
                                          uint32_t *index_out,
                                          struct dram_error **error);
  dram_status (*function_add_instructions)(struct dram_function *function,
                                           const struct dram_instruction_columns *instructions,
                                           uint32_t *first_out,
                                           struct dram_error **error);
  dram_status (*plan_from_json)(const uint8_t *data,
                                size_t len,
                                struct dram_plan **plan_out,
                                struct dram_error **error);
  dram_status (*plan_to_json)(const struct dram_plan *plan,
                              dram_write_fn write,
                              void *user,
                              struct dram_error **error);
  dram_status (*plan_free)(struct dram_plan *plan);
  dram_status (*plan_get)(const struct dram_plan *plan,
                          struct dram_plan_info *info_out,
                          struct dram_error **error);
  dram_status (*plan_space)(const struct dram_plan *plan,
                            uint32_t position,
                            struct dram_space_info *space_out,
                            struct dram_error **error);
  dram_status (*plan_note)(const struct dram_plan *plan,
                           uint32_t position,
                           struct dram_str *note_out,
                           struct dram_error **error);
  dram_status (*plan_metric)(const struct dram_plan *plan,
                             struct dram_str name,
                             uint64_t *value_out,
                             struct dram_error **error);
  dram_status (*plan_addresses)(const struct dram_plan *plan,
                                const struct dram_function *function,
                                uint64_t *addresses,
                                size_t count,
                                struct dram_error **error);
  dram_status (*plan_memloc_get)(const struct dram_plan *plan,
                                 const struct dram_function *function,
                                 uint32_t memloc,
                                 struct dram_plan_memloc *memloc_out,
                                 struct dram_error **error);
  dram_status (*plan_segments)(const struct dram_plan *plan,
                               const struct dram_function *function,
                               uint32_t memloc,
                               struct dram_segment *segments,
                               size_t capacity,
                               size_t *count_out,
                               struct dram_error **error);
  dram_status (*plan_load)(const struct dram_plan *plan,
                           const struct dram_function *function,
                           uint64_t *bytes,
                           size_t count,
                           struct dram_error **error);
  dram_status (*plan_dependences)(const struct dram_plan *plan,
                                  const struct dram_function *function,
                                  dram_dependences_fn take,
                                  void *user,
                                  struct dram_error **error);
  dram_status (*report_count)(const struct dram_report *report,
                              uint32_t *count_out,
                              struct dram_error **error);
  dram_status (*report_violation)(const struct dram_report *report,
                                  uint32_t position,
                                  struct dram_violation *violation_out,
                                  struct dram_error **error);
  dram_status (*report_location)(const struct dram_report *report,
                                 uint32_t violation,
                                 uint32_t position,
                                 struct dram_str *name_out,
                                 struct dram_error **error);
  dram_status (*report_free)(struct dram_report *report);
  dram_status (*problem_solve)(const struct dram_problem *problem,
                               const struct dram_options *options,
                               const struct dram_control *control,
                               uint64_t *offsets,
                               struct dram_problem_result *result_out,
                               struct dram_error **error);
  dram_status (*problem_solve_simple)(const int64_t *lower,
                                      const int64_t *upper,
                                      const uint64_t *size,
                                      size_t count,
                                      uint64_t capacity,
                                      uint64_t *offsets,
                                      struct dram_problem_result *result_out,
                                      struct dram_error **error);
  dram_status (*interval_tree_new)(const uint32_t *lo,
                                   const uint32_t *hi,
                                   size_t count,
                                   struct dram_interval_tree **tree_out,
                                   struct dram_error **error);
  dram_status (*interval_tree_overlaps)(const struct dram_interval_tree *tree,
                                        uint32_t i,
                                        uint32_t *payloads,
                                        size_t capacity,
                                        size_t *count_out,
                                        struct dram_error **error);
  dram_status (*interval_tree_overlaps_with_interval)(const struct dram_interval_tree *tree,
                                                      uint32_t lo,
                                                      uint32_t hi,
                                                      uint32_t *payloads,
                                                      size_t capacity,
                                                      size_t *count_out,
                                                      struct dram_error **error);
  dram_status (*interval_tree_free)(struct dram_interval_tree *tree);
} dram_api;
#ifdef __cplusplus
extern "C" {
#endif // __cplusplus
dram_status dram_error_code(const struct dram_error *error);
const char *dram_error_message(const struct dram_error *error);
dram_status dram_error_get(const struct dram_error *error, struct dram_error_info *info_out);
dram_status dram_error_no_room(const struct dram_error *error, struct dram_no_room *no_room_out);
dram_status dram_error_holder(const struct dram_error *error,
                              uint32_t position,
                              struct dram_holder *holder_out);
dram_status dram_error_free(struct dram_error *error);
dram_status dram_context_new(struct dram_context **context_out, struct dram_error **error);
dram_status dram_context_free(struct dram_context *context);
dram_status dram_context_set_log(struct dram_context *context,
                                 dram_log_fn log,
                                 void *user,
                                 uint32_t level,
                                 struct dram_error **error);
dram_status dram_cancel_new(struct dram_cancel **cancel_out, struct dram_error **error);
dram_status dram_cancel_free(struct dram_cancel *cancel);
dram_status dram_cancel_set(struct dram_cancel *cancel, struct dram_error **error);
dram_status dram_cancel_is_set(const struct dram_cancel *cancel,
                               uint32_t *set_out,
                               struct dram_error **error);
dram_status dram_program_new(struct dram_context *context,
                             struct dram_str name,
                             struct dram_program **program_out,
                             struct dram_error **error);
dram_status dram_program_from_json(struct dram_context *context,
                                   const uint8_t *data,
                                   size_t len,
                                   struct dram_program **program_out,
                                   struct dram_error **error);
dram_status dram_program_to_json(const struct dram_program *program,
                                 dram_write_fn write,
                                 void *user,
                                 struct dram_error **error);
dram_status dram_program_free(struct dram_program *program);
dram_status dram_program_add_module(struct dram_program *program,
                                    struct dram_str name,
                                    uint32_t core,
                                    struct dram_module **module_out,
                                    struct dram_error **error);
dram_status dram_program_module_count(const struct dram_program *program,
                                      uint32_t *count_out,
                                      struct dram_error **error);
dram_status dram_program_module(const struct dram_program *program,
                                uint32_t position,
                                struct dram_module **module_out,
                                struct dram_error **error);
dram_status dram_program_find_module(const struct dram_program *program,
                                     uint32_t core,
                                     struct dram_module **module_out,
                                     struct dram_error **error);
dram_status dram_program_plan(const struct dram_program *program,
                              const struct dram_options *options,
                              const struct dram_control *control,
                              struct dram_plan **plan_out,
                              struct dram_error **error);
dram_status dram_program_apply(struct dram_program *program,
                               const struct dram_plan *plan,
                               struct dram_error **error);
dram_status dram_program_hbm_usage(const struct dram_program *program,
                                   const struct dram_plan *plan,
                                   uint32_t core,
                                   uint64_t extra,
                                   struct dram_hbm_usage *usage_out,
                                   struct dram_error **error);
dram_status dram_program_verify(const struct dram_program *program,
                                const struct dram_plan *plan,
                                struct dram_report **report_out,
                                struct dram_error **error);
dram_status dram_module_get(const struct dram_module *module,
                            struct dram_module_info *info_out,
                            struct dram_error **error);
dram_status dram_module_add_function(struct dram_module *module,
                                     struct dram_str name,
                                     struct dram_function **function_out,
                                     struct dram_error **error);
dram_status dram_module_function(const struct dram_module *module,
                                 uint32_t position,
                                 struct dram_function **function_out,
                                 struct dram_error **error);
dram_status dram_module_find_function(const struct dram_module *module,
                                      struct dram_str name,
                                      struct dram_function **function_out,
                                      struct dram_error **error);
dram_status dram_module_allocate(struct dram_module *module,
                                 const struct dram_options *options,
                                 const struct dram_control *control,
                                 struct dram_plan **plan_out,
                                 struct dram_error **error);
dram_status dram_module_clear_placement(struct dram_module *module, struct dram_error **error);
dram_status dram_module_attribute(const struct dram_module *module,
                                  uint32_t number,
                                  uint64_t *value_out,
                                  struct dram_error **error);
dram_status dram_module_metric(const struct dram_module *module,
                               uint32_t number,
                               uint64_t *value_out,
                               struct dram_error **error);
dram_status dram_module_metric_named(const struct dram_module *module,
                                     struct dram_str name,
                                     uint64_t *value_out,
                                     struct dram_error **error);
dram_status dram_function_get(const struct dram_function *function,
                              struct dram_function_info *info_out,
                              struct dram_error **error);
dram_status dram_function_reserve(struct dram_function *function,
                                  size_t memlocs,
                                  size_t instructions,
                                  struct dram_error **error);
dram_status dram_function_add_block(struct dram_function *function,
                                    struct dram_str name,
                                    uint32_t *block_out,
                                    struct dram_error **error);
dram_status dram_function_set_successors(struct dram_function *function,
                                         uint32_t block,
                                         const uint32_t *successors,
                                         size_t count,
                                         struct dram_error **error);
dram_status dram_function_address(const struct dram_function *function,
                                  uint32_t memloc,
                                  uint64_t *address_out,
                                  struct dram_error **error);
dram_status dram_function_addresses(const struct dram_function *function,
                                    uint64_t *addresses,
                                    size_t count,
                                    struct dram_error **error);
dram_status dram_function_cookies(const struct dram_function *function,
                                  uint64_t *cookies,
                                  size_t count,
                                  struct dram_error **error);
dram_status dram_function_add_memloc(struct dram_function *function,
                                     const struct dram_memloc_desc *memloc,
                                     uint32_t *memloc_out,
                                     struct dram_error **error);
dram_status dram_function_add_memlocs(struct dram_function *function,
                                      const struct dram_memloc_desc *memlocs,
                                      size_t count,
                                      uint32_t *first_out,
                                      struct dram_error **error);
dram_status dram_function_find_memloc(const struct dram_function *function,
                                      struct dram_str name,
                                      uint32_t *memloc_out,
                                      struct dram_error **error);
dram_status dram_function_memloc(const struct dram_function *function,
                                 uint32_t memloc,
                                 struct dram_memloc_info *info_out,
                                 struct dram_error **error);
dram_status dram_function_memloc_name(const struct dram_function *function,
                                      uint32_t memloc,
                                      dram_write_fn write,
                                      void *user,
                                      struct dram_error **error);
dram_status dram_function_add_instruction(struct dram_function *function,
                                          const struct dram_instruction_desc *instruction,
                                          uint32_t *index_out,
                                          struct dram_error **error);
dram_status dram_function_add_instructions(struct dram_function *function,
                                           const struct dram_instruction_columns *instructions,
                                           uint32_t *first_out,
                                           struct dram_error **error);
dram_status dram_plan_from_json(const uint8_t *data,
                                size_t len,
                                struct dram_plan **plan_out,
                                struct dram_error **error);
dram_status dram_plan_to_json(const struct dram_plan *plan,
                              dram_write_fn write,
                              void *user,
                              struct dram_error **error);
dram_status dram_plan_free(struct dram_plan *plan);
dram_status dram_plan_get(const struct dram_plan *plan,
                          struct dram_plan_info *info_out,
                          struct dram_error **error);
dram_status dram_plan_space(const struct dram_plan *plan,
                            uint32_t position,
                            struct dram_space_info *space_out,
                            struct dram_error **error);
dram_status dram_plan_note(const struct dram_plan *plan,
                           uint32_t position,
                           struct dram_str *note_out,
                           struct dram_error **error);
dram_status dram_plan_metric(const struct dram_plan *plan,
                             struct dram_str name,
                             uint64_t *value_out,
                             struct dram_error **error);
dram_status dram_plan_addresses(const struct dram_plan *plan,
                                const struct dram_function *function,
                                uint64_t *addresses,
                                size_t count,
                                struct dram_error **error);
dram_status dram_plan_memloc_get(const struct dram_plan *plan,
                                 const struct dram_function *function,
                                 uint32_t memloc,
                                 struct dram_plan_memloc *memloc_out,
                                 struct dram_error **error);
dram_status dram_plan_segments(const struct dram_plan *plan,
                               const struct dram_function *function,
                               uint32_t memloc,
                               struct dram_segment *segments,
                               size_t capacity,
                               size_t *count_out,
                               struct dram_error **error);
dram_status dram_plan_load(const struct dram_plan *plan,
                           const struct dram_function *function,
                           uint64_t *bytes,
                           size_t count,
                           struct dram_error **error);
dram_status dram_plan_dependences(const struct dram_plan *plan,
                                  const struct dram_function *function,
                                  dram_dependences_fn take,
                                  void *user,
                                  struct dram_error **error);
dram_status dram_report_count(const struct dram_report *report,
                              uint32_t *count_out,
                              struct dram_error **error);
dram_status dram_report_violation(const struct dram_report *report,
                                  uint32_t position,
                                  struct dram_violation *violation_out,
                                  struct dram_error **error);
dram_status dram_report_location(const struct dram_report *report,
                                 uint32_t violation,
                                 uint32_t position,
                                 struct dram_str *name_out,
                                 struct dram_error **error);
dram_status dram_report_free(struct dram_report *report);
dram_status dram_problem_solve(const struct dram_problem *problem,
                               const struct dram_options *options,
                               const struct dram_control *control,
                               uint64_t *offsets,
                               struct dram_problem_result *result_out,
                               struct dram_error **error);
dram_status dram_problem_solve_simple(const int64_t *lower,
                                      const int64_t *upper,
                                      const uint64_t *size,
                                      size_t count,
                                      uint64_t capacity,
                                      uint64_t *offsets,
                                      struct dram_problem_result *result_out,
                                      struct dram_error **error);
dram_status dram_interval_tree_new(const uint32_t *lo,
                                   const uint32_t *hi,
                                   size_t count,
                                   struct dram_interval_tree **tree_out,
                                   struct dram_error **error);
dram_status dram_interval_tree_overlaps(const struct dram_interval_tree *tree,
                                        uint32_t i,
                                        uint32_t *payloads,
                                        size_t capacity,
                                        size_t *count_out,
                                        struct dram_error **error);
dram_status dram_interval_tree_overlaps_with_interval(const struct dram_interval_tree *tree,
                                                      uint32_t lo,
                                                      uint32_t hi,
                                                      uint32_t *payloads,
                                                      size_t capacity,
                                                      size_t *count_out,
                                                      struct dram_error **error);
dram_status dram_interval_tree_free(struct dram_interval_tree *tree);
uint32_t dram_abi_version(void);
const char *dram_version(void);
const struct dram_api *dram_get_api(uint32_t abi_major);
#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus
#endif
#ifndef DRAM_API_HAS
#define DRAM_API_HAS(api, entry) \
  ((api) != NULL && offsetof(dram_api, entry) + sizeof((api)->entry) <= (api)->struct_size)
#endif
#if !defined(__cplusplus) && !defined(DRAM_TEXT_DEFINED)
#define DRAM_TEXT_DEFINED
static inline dram_str dram_text(const char *terminated) {
  dram_str text = {terminated, terminated == NULL ? 0 : strlen(terminated)};
  return text;
}
#endif
