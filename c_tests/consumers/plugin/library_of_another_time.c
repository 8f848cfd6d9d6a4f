/* Today's library as a client of another time meets it.
 *
 * OLDER: the table of ABI 0.1, and of the options the fields of then, of which unknown ones must be 0.
 * NEWER: a table with more entries than this header knows. OTHER_MAJOR: a library that serves version 7. */
#include "dramalloc.h"

#include <dlfcn.h>

#ifdef OTHER_MAJOR

uint32_t dram_abi_version(void) { return 7u << 16; }

const dram_api *dram_get_api(uint32_t abi_major) {
  (void)abi_major;
  return NULL;
}

#else

/* Room for what a later version appends. Bytes past the end of a table are no functions. */
static union {
  dram_api api;
  unsigned char bytes[sizeof(dram_api) + 4 * sizeof(void (*)(void))];
} table;
static const dram_api *today;

#ifdef OLDER
#define TABLE_SIZE (offsetof(dram_api, interval_tree_free) + sizeof today->interval_tree_free)
#define MINOR 1

static dram_status program_plan_of_then(const dram_program *program, const dram_options *options,
                                        const dram_control *control, dram_plan **plan_out, dram_error **error) {
  const size_t known = offsetof(dram_options, keep);
  if (options != NULL && options->struct_size > known) {
    const unsigned char *bytes = (const unsigned char *)options;
    for (size_t i = known; i < options->struct_size; ++i) {
      if (bytes[i] != 0) {
        if (plan_out != NULL) *plan_out = NULL;
        if (error != NULL) *error = NULL;
        return DRAM_STATUS_INVALID_ARGUMENT;
      }
    }
    dram_options then = {0};
    memcpy(&then, options, known);
    then.struct_size = known;
    return today->program_plan(program, &then, control, plan_out, error);
  }
  return today->program_plan(program, options, control, plan_out, error);
}
#else
#define TABLE_SIZE sizeof table
#define MINOR (DRAM_ABI_MINOR + 1)
#endif

uint32_t dram_abi_version(void) { return (uint32_t)DRAM_ABI_MAJOR << 16 | MINOR; }

const dram_api *dram_get_api(uint32_t abi_major) {
  void *library = dlopen(TODAYS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return NULL;
  const dram_api *(*get_api)(uint32_t) = NULL;
  *(void **)&get_api = dlsym(library, "dram_get_api");
  today = get_api == NULL ? NULL : get_api(abi_major);
  if (today == NULL) return NULL;
  memset(&table, 0x5a, sizeof table);
  memcpy(&table, today, TABLE_SIZE < today->struct_size ? TABLE_SIZE : today->struct_size);
  table.api.struct_size = TABLE_SIZE;
  table.api.abi_minor = MINOR;
#ifdef OLDER
  table.api.program_plan = program_plan_of_then;
#endif
  return &table.api;
}

#endif
