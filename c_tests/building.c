/*
 * How long it takes to describe a large program, one call per thing and in bulk.
 *
 * Usage: building [COUNT]. Prints nanoseconds of processor time; not a test,
 * for the clock of a busy machine proves nothing.
 */
#define _POSIX_C_SOURCE 199309L
#include "dramalloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void must(dram_status status, dram_error *error, const char *what) {
  if (status == DRAM_STATUS_OK) return;
  fprintf(stderr, "%s: status %d: %s\n", what, (int)status, dram_error_message(error));
  exit(1);
}

static dram_function *new_function(dram_module *module, const char *name) {
  dram_function *function = NULL;
  dram_error *error = NULL;
  must(dram_module_add_function(module, dram_text(name), &function, &error), error, name);
  return function;
}

/* Location i is defined by instruction i, which uses location i - 1. */
static double one_by_one(dram_function *function, uint32_t count) {
  dram_error *error = NULL;
  double start = seconds();
  dram_memloc_desc memloc = {0};
  memloc.struct_size = sizeof memloc;
  memloc.bytes = 4096;
  char name[32];
  for (uint32_t i = 0; i < count; i++) {
    uint32_t id;
    int length = snprintf(name, sizeof name, "value_%" PRIu32, i);
    memloc.name.data = name;
    memloc.name.len = (size_t)length;
    must(dram_function_add_memloc(function, &memloc, &id, &error), error, "memloc");
  }
  double middle = seconds();
  dram_operand use = {0};
  dram_operand def = {0};
  dram_instruction_desc instruction = {0};
  instruction.struct_size = sizeof instruction;
  instruction.op = dram_text("add");
  instruction.uses = &use;
  instruction.defs = &def;
  instruction.def_count = 1;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t index;
    def.memloc = i;
    use.memloc = i == 0 ? 0 : i - 1;
    instruction.use_count = i == 0 ? 0 : 1;
    instruction.engine = i % 5;
    must(dram_function_add_instruction(function, &instruction, &index, &error), error, "add");
  }
  double end = seconds();
  printf("one by one: %6.1f ns per location, %6.1f ns per instruction, %.3f s in all\n",
         1e9 * (middle - start) / count, 1e9 * (end - middle) / count, end - start);
  return end - start;
}

static double in_bulk(dram_function *function, uint32_t count) {
  dram_memloc_desc *memlocs = calloc(count, sizeof *memlocs);
  uint32_t *uses = calloc(count, sizeof *uses);
  uint32_t *defs = calloc(count, sizeof *defs);
  uint32_t *use_starts = calloc(count + 1, sizeof *use_starts);
  uint32_t *def_starts = calloc(count + 1, sizeof *def_starts);
  uint32_t *engines = calloc(count, sizeof *engines);
  uint32_t *ops = calloc(count, sizeof *ops);
  dram_str op = dram_text("add");
  for (uint32_t i = 0; i < count; i++) {
    memlocs[i].struct_size = sizeof *memlocs;
    memlocs[i].bytes = 4096;
    memlocs[i].cookie = i + 1;
    uses[i] = i;
    defs[i] = i;
    use_starts[i + 1] = i; /* Row 0 has none. */
    def_starts[i + 1] = i + 1;
    engines[i] = i % 5;
  }
  dram_instruction_columns columns = {0};
  columns.struct_size = sizeof columns;
  columns.count = count;
  columns.op_table = &op;
  columns.op_table_count = 1;
  columns.ops = ops;
  columns.engines = engines;
  columns.use_starts = use_starts;
  columns.uses = uses;
  columns.def_starts = def_starts;
  columns.defs = defs;
  dram_error *error = NULL;
  uint32_t first;
  double start = seconds();
  must(dram_function_add_memlocs(function, memlocs, count, &first, &error), error, "memlocs");
  double middle = seconds();
  must(dram_function_add_instructions(function, &columns, &first, &error), error, "adds");
  double end = seconds();
  printf("in bulk:    %6.1f ns per location, %6.1f ns per instruction, %.3f s in all\n",
         1e9 * (middle - start) / count, 1e9 * (end - middle) / count, end - start);
  free(memlocs);
  free(uses);
  free(defs);
  free(use_starts);
  free(def_starts);
  free(engines);
  free(ops);
  return end - start;
}

int main(int argc, char **argv) {
  uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
  dram_error *error = NULL;
  dram_context *context = NULL;
  dram_program *program = NULL;
  dram_module *module = NULL;
  must(dram_context_new(&context, &error), error, "context");
  must(dram_program_new(context, dram_text("large"), &program, &error), error, "program");
  must(dram_program_add_module(program, dram_text("m"), 0, &module, &error), error, "module");
  double slow = one_by_one(new_function(module, "one_by_one"), count);
  double fast = in_bulk(new_function(module, "in_bulk"), count);
  printf("bulk is %.1f times as fast\n", slow / fast);
  must(dram_context_free(context), NULL, "free");
  return 0;
}
