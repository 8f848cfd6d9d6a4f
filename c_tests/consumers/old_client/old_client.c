/* Everything that grew since ABI 0.1 is used as it was then: options, descriptions, outputs, the table.
 * Behind each output lie bytes that the library must not know of. */
#include "dramalloc.h"

#include <stdio.h>
#include <string.h>

_Static_assert(DRAM_ABI_MAJOR == 0 && DRAM_ABI_MINOR == 1, "the header of then");
_Static_assert(sizeof(dram_options) == 120 && sizeof(dram_control) == 48 && sizeof(dram_memloc_desc) == 136 &&
                   sizeof(dram_no_room) == 104 && sizeof(dram_error_info) == 72 && sizeof(dram_problem_result) == 40,
               "its structs are those of then");

#define GUARD 0xa5
#define MUST(condition)                                                   \
  do {                                                                    \
    if (!(condition)) {                                                   \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);     \
      return 1;                                                           \
    }                                                                     \
  } while (0)

static int untouched(const unsigned char *guard, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (guard[i] != GUARD) return 0;
  }
  return 1;
}

static dram_str text(const char *terminated) {
  dram_str view = {terminated, strlen(terminated)};
  return view;
}

/* Two locations of a page, both live at instruction 1. */
static int build(const dram_api *api, dram_program *program, dram_function **function_out) {
  dram_module *module = NULL;
  MUST(api->program_add_module(program, text("core0"), 0, &module, NULL) == DRAM_STATUS_OK);
  MUST(api->module_add_function(module, text("main"), function_out, NULL) == DRAM_STATUS_OK);
  dram_operand operands[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
  for (int i = 0; i < 2; ++i) {
    dram_memloc_desc location = {0};
    location.struct_size = sizeof location;
    location.name = text(i == 0 ? "a" : "b");
    location.bytes = 4096;
    MUST(api->function_add_memloc(*function_out, &location, &operands[i].memloc, NULL) == DRAM_STATUS_OK);
  }
  for (int i = 0; i < 2; ++i) {
    dram_instruction_desc instruction = {0};
    instruction.struct_size = sizeof instruction;
    instruction.op = text(i == 0 ? "make" : "turn");
    instruction.uses = operands;
    instruction.use_count = i == 0 ? 0 : 1;
    instruction.defs = &operands[i];
    instruction.def_count = 1;
    uint32_t index = 0;
    MUST(api->function_add_instruction(*function_out, &instruction, &index, NULL) == DRAM_STATUS_OK);
  }
  return 0;
}

static int plans(const dram_api *api, dram_program *program) {
  dram_options options = {0};
  options.struct_size = sizeof options;
  options.strategy = DRAM_STRATEGY_BEST;
  dram_control control = {0};
  control.struct_size = sizeof control;
  dram_plan *plan = NULL;
  MUST(api->program_plan(program, &options, &control, &plan, NULL) == DRAM_STATUS_OK);
  dram_plan_info info = {0};
  info.struct_size = sizeof info;
  MUST(api->plan_get(plan, &info, NULL) == DRAM_STATUS_OK);
  printf("library %s, peak %llu\n", api->version(), (unsigned long long)info.peak);
  MUST(info.peak == 8192);
  MUST(api->plan_free(plan) == DRAM_STATUS_OK);
  return 0;
}

static int fails_with_a_reason(const dram_api *api, dram_program *program) {
  dram_options options = {0};
  options.struct_size = sizeof options;
  options.capacity = 4096;
  dram_plan *plan = NULL;
  dram_error *error = NULL;
  MUST(api->program_plan(program, &options, NULL, &plan, &error) == DRAM_STATUS_RESOURCE_EXHAUSTED);
  struct {
    dram_error_info info;
    unsigned char guard[128];
    dram_no_room no_room;
    unsigned char guard2[128];
  } out;
  memset(&out, GUARD, sizeof out);
  out.info.struct_size = sizeof out.info;
  out.no_room.struct_size = sizeof out.no_room;
  MUST(api->error_get(error, &out.info) == DRAM_STATUS_OK);
  MUST(api->error_no_room(error, &out.no_room) == DRAM_STATUS_OK);
  MUST(untouched(out.guard, sizeof out.guard) && untouched(out.guard2, sizeof out.guard2));
  MUST(out.no_room.bytes == 4096 && out.no_room.capacity == 4096 && out.info.message.len > 0);
  MUST(api->error_free(error) == DRAM_STATUS_OK);
  return 0;
}

/* Linked, not through the table. */
static int solves(void) {
  const int64_t lower[] = {0, 2};
  const int64_t upper[] = {2, 4};
  const uint64_t size[] = {64, 64};
  uint64_t offset[2];
  struct {
    dram_problem_result result;
    unsigned char guard[128];
  } out;
  memset(&out, GUARD, sizeof out);
  out.result.struct_size = sizeof out.result;
  MUST(dram_problem_solve_simple(lower, upper, size, 2, 0, offset, &out.result, NULL) == DRAM_STATUS_OK);
  MUST(out.result.peak == 64 && untouched(out.guard, sizeof out.guard));
  return 0;
}

int main(void) {
  const dram_api *api = dram_get_api(DRAM_ABI_MAJOR);
  MUST(api != NULL && api->struct_size >= sizeof *api && api->abi_minor > DRAM_ABI_MINOR);
  dram_context *context = NULL;
  dram_program *program = NULL;
  dram_function *function = NULL;
  MUST(api->context_new(&context, NULL) == DRAM_STATUS_OK);
  MUST(api->program_new(context, text("old"), &program, NULL) == DRAM_STATUS_OK);
  if (build(api, program, &function) || plans(api, program) || fails_with_a_reason(api, program)) return 1;
  MUST(api->context_free(context) == DRAM_STATUS_OK);
  return solves();
}
