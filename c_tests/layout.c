/*
 * The ABI as numbers, from the side of C: every size, every offset, every value that must never
 * change. Compiling this file is the test.
 *
 * A field appended to a struct gets its line here and in src/ffi/layout.rs; no line ever changes
 * but a size.
 */
#include "dramalloc.h"

#define AT(type, field, offset) _Static_assert(offsetof(type, field) == offset, #type "." #field)
#define IS(name, value) _Static_assert(name == value, #name)

/* Sizes and offsets. */
_Static_assert(sizeof(dram_str) == 16, "dram_str");
AT(dram_str, data, 0);
AT(dram_str, len, 8);

_Static_assert(sizeof(dram_error_info) == 128, "dram_error_info");
AT(dram_error_info, struct_size, 0);
AT(dram_error_info, message, 8);
AT(dram_error_info, function, 24);
AT(dram_error_info, location, 40);
AT(dram_error_info, status, 56);
AT(dram_error_info, core, 60);
AT(dram_error_info, instruction, 64);
AT(dram_error_info, has_no_room, 68);
AT(dram_error_info, pass, 72);
AT(dram_error_info, other_function, 88);
AT(dram_error_info, other_location, 104);
AT(dram_error_info, other_core, 120);
AT(dram_error_info, reserved, 124);

_Static_assert(sizeof(dram_no_room) == 128, "dram_no_room");
AT(dram_no_room, struct_size, 0);
AT(dram_no_room, location, 8);
AT(dram_no_room, bytes, 24);
AT(dram_no_room, capacity, 32);
AT(dram_no_room, bound, 40);
AT(dram_no_room, largest_hole, 48);
AT(dram_no_room, deficit, 56);
AT(dram_no_room, other_bytes, 64);
AT(dram_no_room, others, 72);
AT(dram_no_room, instruction, 80);
AT(dram_no_room, holder_count, 88);
AT(dram_no_room, id, 92);
AT(dram_no_room, proved, 96);
AT(dram_no_room, conflict_count, 100);
AT(dram_no_room, conflict_instruction, 104);
AT(dram_no_room, conflict_deficit, 112);
AT(dram_no_room, conflict_minimal, 120);
AT(dram_no_room, reserved, 124);

_Static_assert(sizeof(dram_holder) == 64, "dram_holder");
AT(dram_holder, struct_size, 0);
AT(dram_holder, location, 8);
AT(dram_holder, start, 24);
AT(dram_holder, bytes, 32);
AT(dram_holder, first, 40);
AT(dram_holder, last, 48);
AT(dram_holder, id, 56);
AT(dram_holder, reserved, 60);

_Static_assert(sizeof(dram_region) == 24, "dram_region");
AT(dram_region, base, 0);
AT(dram_region, size, 8);
AT(dram_region, space, 16);
AT(dram_region, usage_mask, 20);

_Static_assert(sizeof(dram_options) == 128, "dram_options");
AT(dram_options, struct_size, 0);
AT(dram_options, capacity, 8);
AT(dram_options, budget_ms, 16);
AT(dram_options, budget_steps, 24);
AT(dram_options, align, 32);
AT(dram_options, cc_limit, 40);
AT(dram_options, runtime_page, 48);
AT(dram_options, shared_mib_per_core, 56);
AT(dram_options, regions, 64);
AT(dram_options, region_count, 72);
AT(dram_options, strategy, 80);
AT(dram_options, preset, 84);
AT(dram_options, floor, 88);
AT(dram_options, geometry, 92);
AT(dram_options, packed, 96);
AT(dram_options, reuse_io, 100);
AT(dram_options, strict, 104);
AT(dram_options, trim_cc, 108);
AT(dram_options, usage_mask, 112);
AT(dram_options, separate_functions, 116);
AT(dram_options, keep, 120);

_Static_assert(sizeof(dram_progress) == 64, "dram_progress");
AT(dram_progress, struct_size, 0);
AT(dram_progress, phase, 8);
AT(dram_progress, done, 24);
AT(dram_progress, total, 32);
AT(dram_progress, bound, 40);
AT(dram_progress, incumbent, 48);
AT(dram_progress, elapsed_us, 56);

_Static_assert(sizeof(dram_control) == 56, "dram_control");
AT(dram_control, struct_size, 0);
AT(dram_control, cancel, 8);
AT(dram_control, progress, 16);
AT(dram_control, progress_user, 24);
AT(dram_control, shared, 32);
AT(dram_control, shared_user, 40);
AT(dram_control, hint, 48);

_Static_assert(sizeof(dram_module_info) == 32, "dram_module_info");
AT(dram_module_info, struct_size, 0);
AT(dram_module_info, name, 8);
AT(dram_module_info, core, 24);
AT(dram_module_info, function_count, 28);

_Static_assert(sizeof(dram_function_info) == 40, "dram_function_info");
AT(dram_function_info, struct_size, 0);
AT(dram_function_info, name, 8);
AT(dram_function_info, memloc_count, 24);
AT(dram_function_info, block_count, 28);
AT(dram_function_info, instruction_count, 32);
AT(dram_function_info, reserved, 36);

_Static_assert(sizeof(dram_memloc_desc) == 144, "dram_memloc_desc");
AT(dram_memloc_desc, struct_size, 0);
AT(dram_memloc_desc, name, 8);
AT(dram_memloc_desc, bytes, 24);
AT(dram_memloc_desc, element_count, 32);
AT(dram_memloc_desc, element_size, 40);
AT(dram_memloc_desc, memory, 44);
AT(dram_memloc_desc, space, 48);
AT(dram_memloc_desc, usage, 52);
AT(dram_memloc_desc, align, 56);
AT(dram_memloc_desc, address, 64);
AT(dram_memloc_desc, offset, 72);
AT(dram_memloc_desc, alias_of, 80);
AT(dram_memloc_desc, flags, 84);
AT(dram_memloc_desc, cookie, 88);
AT(dram_memloc_desc, remote_name, 96);
AT(dram_memloc_desc, reach, 112);
AT(dram_memloc_desc, reach_count, 120);
AT(dram_memloc_desc, remote_core, 128);
AT(dram_memloc_desc, reserved, 132);
AT(dram_memloc_desc, partition, 136);
AT(dram_memloc_desc, bank, 140);

_Static_assert(sizeof(dram_memloc_info) == 88, "dram_memloc_info");
AT(dram_memloc_info, struct_size, 0);
AT(dram_memloc_info, bytes, 8);
AT(dram_memloc_info, align, 16);
AT(dram_memloc_info, address, 24);
AT(dram_memloc_info, cookie, 32);
AT(dram_memloc_info, root_offset, 40);
AT(dram_memloc_info, root, 48);
AT(dram_memloc_info, memory, 52);
AT(dram_memloc_info, space, 56);
AT(dram_memloc_info, usage, 60);
AT(dram_memloc_info, skipped, 64);
AT(dram_memloc_info, flags, 68);
AT(dram_memloc_info, is_shared_post_dram_alloc, 72);
AT(dram_memloc_info, reserved, 76);
AT(dram_memloc_info, partition, 80);
AT(dram_memloc_info, bank, 84);

_Static_assert(sizeof(dram_operand) == 24, "dram_operand");
AT(dram_operand, memloc, 0);
AT(dram_operand, reserved, 4);
AT(dram_operand, offset, 8);
AT(dram_operand, bytes, 16);

_Static_assert(sizeof(dram_in_place) == 8, "dram_in_place");
AT(dram_in_place, used, 0);
AT(dram_in_place, def, 4);

_Static_assert(sizeof(dram_argument) == 24, "dram_argument");
AT(dram_argument, callee, 0);
AT(dram_argument, caller, 16);
AT(dram_argument, reserved, 20);

_Static_assert(sizeof(dram_instruction_desc) == 144, "dram_instruction_desc");
AT(dram_instruction_desc, struct_size, 0);
AT(dram_instruction_desc, op, 8);
AT(dram_instruction_desc, name, 24);
AT(dram_instruction_desc, uses, 40);
AT(dram_instruction_desc, use_count, 48);
AT(dram_instruction_desc, defs, 56);
AT(dram_instruction_desc, def_count, 64);
AT(dram_instruction_desc, in_place, 72);
AT(dram_instruction_desc, in_place_count, 80);
AT(dram_instruction_desc, callee, 88);
AT(dram_instruction_desc, args, 104);
AT(dram_instruction_desc, arg_count, 112);
AT(dram_instruction_desc, id, 120);
AT(dram_instruction_desc, has_id, 128);
AT(dram_instruction_desc, kind, 132);
AT(dram_instruction_desc, engine, 136);
AT(dram_instruction_desc, reserved, 140);

_Static_assert(sizeof(dram_instruction_columns) == 136, "dram_instruction_columns");
AT(dram_instruction_columns, struct_size, 0);
AT(dram_instruction_columns, count, 8);
AT(dram_instruction_columns, op_table, 16);
AT(dram_instruction_columns, op_table_count, 24);
AT(dram_instruction_columns, ops, 32);
AT(dram_instruction_columns, kinds, 40);
AT(dram_instruction_columns, engines, 48);
AT(dram_instruction_columns, use_starts, 56);
AT(dram_instruction_columns, uses, 64);
AT(dram_instruction_columns, def_starts, 72);
AT(dram_instruction_columns, defs, 80);
AT(dram_instruction_columns, in_place_starts, 88);
AT(dram_instruction_columns, in_place, 96);
AT(dram_instruction_columns, use_offsets, 104);
AT(dram_instruction_columns, use_bytes, 112);
AT(dram_instruction_columns, def_offsets, 120);
AT(dram_instruction_columns, def_bytes, 128);

_Static_assert(sizeof(dram_plan_info) == 64, "dram_plan_info");
AT(dram_plan_info, struct_size, 0);
AT(dram_plan_info, peak, 8);
AT(dram_plan_info, lower_bound, 16);
AT(dram_plan_info, digest, 24);
AT(dram_plan_info, status, 40);
AT(dram_plan_info, strategy, 44);
AT(dram_plan_info, needs_dependences, 48);
AT(dram_plan_info, space_count, 52);
AT(dram_plan_info, module_count, 56);
AT(dram_plan_info, note_count, 60);

_Static_assert(sizeof(dram_space_info) == 48, "dram_space_info");
AT(dram_space_info, struct_size, 0);
AT(dram_space_info, capacity, 8);
AT(dram_space_info, floor, 16);
AT(dram_space_info, peak, 24);
AT(dram_space_info, lower_bound, 32);
AT(dram_space_info, space, 40);
AT(dram_space_info, core, 44);

_Static_assert(sizeof(dram_plan_memloc) == 96, "dram_plan_memloc");
AT(dram_plan_memloc, struct_size, 0);
AT(dram_plan_memloc, name, 8);
AT(dram_plan_memloc, address, 24);
AT(dram_plan_memloc, bytes, 32);
AT(dram_plan_memloc, aligned, 40);
AT(dram_plan_memloc, segment_count, 48);
AT(dram_plan_memloc, owner_name, 56);
AT(dram_plan_memloc, owner_core, 72);
AT(dram_plan_memloc, space, 76);
AT(dram_plan_memloc, skipped, 80);
AT(dram_plan_memloc, pinned, 84);
AT(dram_plan_memloc, is_shared_post_dram_alloc, 88);
AT(dram_plan_memloc, reserved, 92);

_Static_assert(sizeof(dram_segment) == 8, "dram_segment");
AT(dram_segment, first, 0);
AT(dram_segment, last, 4);

_Static_assert(sizeof(dram_violation) == 64, "dram_violation");
AT(dram_violation, struct_size, 0);
AT(dram_violation, kind, 8);
AT(dram_violation, message, 24);
AT(dram_violation, function, 40);
AT(dram_violation, core, 56);
AT(dram_violation, location_count, 60);

_Static_assert(sizeof(dram_explain_options) == 24, "dram_explain_options");
AT(dram_explain_options, struct_size, 0);
AT(dram_explain_options, format, 8);
AT(dram_explain_options, top, 12);
AT(dram_explain_options, spaces, 16);
AT(dram_explain_options, reserved, 20);

_Static_assert(sizeof(dram_diff_options) == 24, "dram_diff_options");
AT(dram_diff_options, struct_size, 0);
AT(dram_diff_options, format, 8);
AT(dram_diff_options, top, 12);
AT(dram_diff_options, spaces, 16);
AT(dram_diff_options, reserved, 20);

_Static_assert(sizeof(dram_interval) == 16, "dram_interval");
AT(dram_interval, lower, 0);
AT(dram_interval, upper, 8);

_Static_assert(sizeof(dram_problem) == 88, "dram_problem");
AT(dram_problem, struct_size, 0);
AT(dram_problem, count, 8);
AT(dram_problem, starts, 16);
AT(dram_problem, intervals, 24);
AT(dram_problem, sizes, 32);
AT(dram_problem, alignments, 40);
AT(dram_problem, pins, 48);
AT(dram_problem, labels, 56);
AT(dram_problem, regions, 64);
AT(dram_problem, region_count, 72);
AT(dram_problem, hints, 80);

_Static_assert(sizeof(dram_problem_result) == 88, "dram_problem_result");
AT(dram_problem_result, struct_size, 0);
AT(dram_problem_result, peak, 8);
AT(dram_problem_result, bound, 16);
AT(dram_problem_result, floor, 24);
AT(dram_problem_result, status, 32);
AT(dram_problem_result, straddler_count, 36);
AT(dram_problem_result, runtime_pages, 40);
AT(dram_problem_result, private_bytes, 48);
AT(dram_problem_result, kept, 56);
AT(dram_problem_result, kept_bytes, 64);
AT(dram_problem_result, moved, 72);
AT(dram_problem_result, moved_bytes, 80);

_Static_assert(sizeof(dram_dependence) == 24, "dram_dependence");
AT(dram_dependence, from, 0);
AT(dram_dependence, to, 4);
AT(dram_dependence, kind, 8);
AT(dram_dependence, distance, 12);
AT(dram_dependence, header, 16);
AT(dram_dependence, reserved, 20);

_Static_assert(sizeof(dram_hbm_usage) == 104, "dram_hbm_usage");
AT(dram_hbm_usage, struct_size, 0);
AT(dram_hbm_usage, needed, 8);
AT(dram_hbm_usage, capacity, 16);
AT(dram_hbm_usage, input_output, 24);
AT(dram_hbm_usage, weights, 32);
AT(dram_hbm_usage, private_bytes, 40);
AT(dram_hbm_usage, shared, 48);
AT(dram_hbm_usage, collective, 56);
AT(dram_hbm_usage, extra, 64);
AT(dram_hbm_usage, unused, 72);
AT(dram_hbm_usage, function, 80);
AT(dram_hbm_usage, instruction, 84);
AT(dram_hbm_usage, verdict, 88);
AT(dram_hbm_usage, reserved, 92);
AT(dram_hbm_usage, copies, 96);

_Static_assert(sizeof(dram_straddler) == 72, "dram_straddler");
AT(dram_straddler, struct_size, 0);
AT(dram_straddler, function, 8);
AT(dram_straddler, name, 24);
AT(dram_straddler, address, 40);
AT(dram_straddler, bytes, 48);
AT(dram_straddler, core, 56);
AT(dram_straddler, space, 60);
AT(dram_straddler, pinned, 64);
AT(dram_straddler, reserved, 68);

AT(dram_api, struct_size, 0);
AT(dram_api, abi_major, 8);
AT(dram_api, abi_minor, 12);
AT(dram_api, version, 16);

_Static_assert(sizeof(dram_edge) == 72, "dram_edge");
AT(dram_edge, struct_size, 0);
AT(dram_edge, from_function, 8);
AT(dram_edge, to_function, 24);
AT(dram_edge, from_core, 40);
AT(dram_edge, to_core, 44);
AT(dram_edge, from, 48);
AT(dram_edge, to, 52);
AT(dram_edge, kind, 56);
AT(dram_edge, distance, 60);
AT(dram_edge, header, 64);
AT(dram_edge, reserved, 68);

_Static_assert(sizeof(dram_live_size) == 56, "dram_live_size");
AT(dram_live_size, input_output, 0);
AT(dram_live_size, weights, 8);
AT(dram_live_size, private_bytes, 16);
AT(dram_live_size, shared, 24);
AT(dram_live_size, collective, 32);
AT(dram_live_size, extra, 40);
AT(dram_live_size, copies, 48);

_Static_assert(sizeof(dram_pressure) == 80, "dram_pressure");
AT(dram_pressure, struct_size, 0);
AT(dram_pressure, live, 8);
AT(dram_pressure, core, 64);
AT(dram_pressure, function, 68);
AT(dram_pressure, instruction, 72);
AT(dram_pressure, reserved, 76);

_Static_assert(sizeof(dram_sync_info) == 64, "dram_sync_info");
AT(dram_sync_info, struct_size, 0);
AT(dram_sync_info, groups, 8);
AT(dram_sync_info, assigned, 16);
AT(dram_sync_info, digest, 24);

_Static_assert(sizeof(dram_digest) == 40, "dram_digest");
AT(dram_digest, core, 0);
AT(dram_digest, text, 4);

_Static_assert(sizeof(dram_pipeline_options) == 64, "dram_pipeline_options");
AT(dram_pipeline_options, struct_size, 0);
AT(dram_pipeline_options, extra_bytes, 8);
AT(dram_pipeline_options, dram_rotation_size, 16);
AT(dram_pipeline_options, cores, 24);
AT(dram_pipeline_options, post_link, 28);
AT(dram_pipeline_options, disable_dram_allocation, 32);
AT(dram_pipeline_options, dram_rotation, 36);
AT(dram_pipeline_options, disable_dram_rotation, 40);
AT(dram_pipeline_options, disable_hbm_usage_check, 44);
AT(dram_pipeline_options, verify_each, 48);
AT(dram_pipeline_options, reserved, 52);
AT(dram_pipeline_options, verify_deep, 56);
AT(dram_pipeline_options, reserved_2, 60);

_Static_assert(sizeof(dram_run_info) == 64, "dram_run_info");
AT(dram_run_info, struct_size, 0);
AT(dram_run_info, copies_elided, 8);
AT(dram_run_info, edges_before, 16);
AT(dram_run_info, edges_after, 24);
AT(dram_run_info, bytes_spent, 32);
AT(dram_run_info, moved, 40);
AT(dram_run_info, edges_removed_per_mib, 48);
AT(dram_run_info, pass_count, 56);
AT(dram_run_info, rotated, 60);

_Static_assert(sizeof(dram_draw_options) == 80, "dram_draw_options");
AT(dram_draw_options, struct_size, 0);
AT(dram_draw_options, title, 8);
AT(dram_draw_options, beside_plan, 24);
AT(dram_draw_options, beside_program, 32);
AT(dram_draw_options, beside_title, 40);
AT(dram_draw_options, format, 56);
AT(dram_draw_options, width, 60);
AT(dram_draw_options, height, 64);
AT(dram_draw_options, core, 68);
AT(dram_draw_options, space, 72);
AT(dram_draw_options, reserved, 76);

_Static_assert(sizeof(dram_pass_info) == 40, "dram_pass_info");
AT(dram_pass_info, struct_size, 0);
AT(dram_pass_info, name, 8);
AT(dram_pass_info, took_ns, 24);
AT(dram_pass_info, verified, 32);
AT(dram_pass_info, note_count, 36);

/* Values. */
IS(DRAM_LOG_LEVEL_OFF, 0);
IS(DRAM_LOG_LEVEL_WARNING, 1);
IS(DRAM_LOG_LEVEL_INFO, 2);

IS(DRAM_KIND_COMPUTE, 0);
IS(DRAM_KIND_DMA_COPY, 1);
IS(DRAM_KIND_COLLECTIVE, 2);
IS(DRAM_KIND_CALL, 3);
IS(DRAM_KIND_BARRIER, 4);

IS(DRAM_MEMORY_DRAM, 0);
IS(DRAM_MEMORY_SBUF, 1);
IS(DRAM_MEMORY_PSUM, 2);
IS(DRAM_MEMORY_REG, 3);

IS(DRAM_SPACE_LOCAL, 0);
IS(DRAM_SPACE_SHARED, 1);
IS(DRAM_SPACE_DEBUG, 2);

IS(DRAM_USAGE_INTERNAL, 0);
IS(DRAM_USAGE_COLLECTIVE, 1);
IS(DRAM_USAGE_INPUT, 2);
IS(DRAM_USAGE_OUTPUT, 3);
IS(DRAM_USAGE_WEIGHT, 4);
IS(DRAM_USAGE_CONSTANT, 5);

IS(DRAM_MEMLOC_FLAG_PINNED, 1);
IS(DRAM_MEMLOC_FLAG_VIEW, 2);
IS(DRAM_MEMLOC_FLAG_ESCAPES, 4);
IS(DRAM_MEMLOC_FLAG_REMOTE, 8);
IS(DRAM_MEMLOC_FLAG_UNKNOWN_SIZE, 16);

IS(DRAM_SKIPPED_NO, 0);
IS(DRAM_SKIPPED_UNREFERENCED, 1);
IS(DRAM_SKIPPED_CALLER_OWNED, 2);
IS(DRAM_SKIPPED_NOT_DRAM, 3);
IS(DRAM_SKIPPED_FOLLOWER_UNUSED, 4);

IS(DRAM_ATTRIBUTE_ALLOCATED, 11);
IS(DRAM_ATTRIBUTE_REAL_CC_BUFFER_SIZE, 13);

IS(DRAM_METRIC_RESERVED_SPACE, 31);
IS(DRAM_METRIC_RAW_BYTES, 32);

IS(DRAM_STRATEGY_FAST, 0);
IS(DRAM_STRATEGY_REFERENCE, 1);
IS(DRAM_STRATEGY_BEST, 2);

IS(DRAM_FLOOR_HWM, 0);
IS(DRAM_FLOOR_HOLES, 1);

IS(DRAM_GEOMETRY_SPLIT, 0);
IS(DRAM_GEOMETRY_UNIFIED, 1);

IS(DRAM_PRESET_CUSTOM, 0);
IS(DRAM_PRESET_INFERENTIA, 1);
IS(DRAM_PRESET_TRN1, 2);
IS(DRAM_PRESET_INF2, 3);
IS(DRAM_PRESET_TRN2, 4);
IS(DRAM_PRESET_TRN3, 5);

IS(DRAM_CC_LIMIT_DEFAULT, 0);
IS(DRAM_CC_LIMIT_COMPUTED, -1);
IS(DRAM_CC_LIMIT_NONE, -2);

IS(DRAM_PLAN_STATUS_OPTIMAL, 0);
IS(DRAM_PLAN_STATUS_FEASIBLE, 1);
IS(DRAM_PLAN_STATUS_INFEASIBLE, 2);
IS(DRAM_PLAN_STATUS_UNKNOWN, 3);

IS(DRAM_DEPENDENCE_KIND_FLOW, 0);
IS(DRAM_DEPENDENCE_KIND_OUTPUT, 1);
IS(DRAM_DEPENDENCE_KIND_ANTI, 2);

IS(DRAM_REPORT_FORMAT_TEXT, 0);
IS(DRAM_REPORT_FORMAT_JSON, 1);

IS(DRAM_VERDICT_FITS, 0);
IS(DRAM_VERDICT_SLIGHTLY, 1);
IS(DRAM_VERDICT_OVER, 2);
IS(DRAM_DRAW_FORMAT_HTML, 0);
IS(DRAM_DRAW_FORMAT_SVG, 1);
IS(DRAM_DRAW_FORMAT_ASCII, 2);

IS(DRAM_STATUS_OK, 0);
IS(DRAM_STATUS_CANCELLED, 1);
IS(DRAM_STATUS_INVALID_ARGUMENT, 3);
IS(DRAM_STATUS_DEADLINE_EXCEEDED, 4);
IS(DRAM_STATUS_NOT_FOUND, 5);
IS(DRAM_STATUS_ALREADY_EXISTS, 6);
IS(DRAM_STATUS_RESOURCE_EXHAUSTED, 8);
IS(DRAM_STATUS_FAILED_PRECONDITION, 9);
IS(DRAM_STATUS_OUT_OF_RANGE, 11);
IS(DRAM_STATUS_UNIMPLEMENTED, 12);
IS(DRAM_STATUS_INTERNAL, 13);
IS(DRAM_UNKNOWN, UINT32_MAX);
IS(DRAM_NO_ADDRESS, UINT64_MAX);
_Static_assert(sizeof(dram_status) == 4, "dram_status is returned in 32 bits");

/* Functions have the types that the table says. */
int dram_layout_test(const dram_api *api);
int dram_layout_test(const dram_api *api) {
  return api->program_plan == dram_program_plan && api->version == dram_version &&
         api->pipeline_run == dram_pipeline_run && DRAM_API_HAS(api, plan_straddler) &&
         DRAM_API_HAS(api, run_free) && DRAM_API_HAS(api, plan_diff) &&
         api->plan_draw == dram_plan_draw;
}
