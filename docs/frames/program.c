/* What a piece of C in the guide stands in: a program of one location that is read and written. */
#include "dramalloc.h"

#include <stdio.h>

static dram_str str(const char *text) { return (dram_str){text, strlen(text)}; }

int main(void) {
  dram_context *context = NULL;
  dram_program *program = NULL;
  dram_module *module = NULL;
  dram_function *function = NULL;
  dram_plan *plan = NULL;
  dram_error *error = NULL;
  dram_status status = dram_context_new(&context, &error);
  if (status == 0) status = dram_program_new(context, str("piece"), &program, &error);
  if (status == 0) status = dram_program_add_module(program, str("core0"), 0, &module, &error);
  if (status == 0) status = dram_module_add_function(module, str("main"), &function, &error);
  dram_memloc_desc x = {.struct_size = sizeof x, .name = str("x"), .bytes = 65536};
  uint32_t number = 0;
  if (status == 0) status = dram_function_add_memloc(function, &x, &number, &error);
  dram_operand operand = {.memloc = number};
  dram_instruction_desc load = {.struct_size = sizeof load, .op = str("load"), .defs = &operand, .def_count = 1};
  dram_instruction_desc store = {.struct_size = sizeof store, .op = str("store"), .uses = &operand, .use_count = 1};
  uint32_t index = 0;
  if (status == 0) status = dram_function_add_instruction(function, &load, &index, &error);
  if (status == 0) status = dram_function_add_instruction(function, &store, &index, &error);
  @block@
  if (status != 0) fprintf(stderr, "the piece ended with status %d\n", (int)status);
  (void)dram_plan_free(plan);
  (void)dram_error_free(error);
  (void)dram_context_free(context);
  return status != 0;
}
