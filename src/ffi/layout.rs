//! The ABI as numbers: every size, every offset, every value that must never change. // C5
//!
//! Nothing here runs. A change of a published number stops the build; a field appended to a struct
//! gets its line here, and the struct's size grows.

use std::mem::offset_of;

use super::context::dram_log_level;
use super::draw::{dram_draw_format, dram_draw_options};
use super::error::*;
use super::explain::{dram_diff_options, dram_explain_options, dram_report_format};
use super::function::dram_function_info;
use super::instruction::*;
use super::memloc::*;
use super::module::dram_module_info;
use super::modules::*;
use super::options::*;
use super::pipeline::*;
use super::plan::*;
use super::pressure::*;
use super::problem::*;
use super::report::{dram_verify_options, dram_violation};
use super::text::dram_str;
use crate::ir::{Kind, MemoryType, Space, Usage};
use crate::options::{Floor, Geometry, Preset, Strategy};
use crate::plan::{DependenceKind, Status};
use crate::report::draw::Format;

macro_rules! layout {
    ($name:ident, $size:literal, { $($field:ident: $offset:literal),+ }) => {
        const _: () = {
            assert!(size_of::<$name>() == $size);
            $(assert!(offset_of!($name, $field) == $offset);)+
        };
    };
}

layout!(dram_str, 16, { data: 0, len: 8 });
layout!(dram_error_info, 128, { struct_size: 0, message: 8, function: 24, location: 40, status: 56, core: 60, instruction: 64, has_no_room: 68, pass: 72, other_function: 88, other_location: 104, other_core: 120, reserved: 124 });
layout!(dram_no_room, 128, { struct_size: 0, location: 8, bytes: 24, capacity: 32, bound: 40, largest_hole: 48, deficit: 56, other_bytes: 64, others: 72, instruction: 80, holder_count: 88, id: 92, proved: 96, conflict_count: 100, conflict_instruction: 104, conflict_deficit: 112, conflict_minimal: 120, reserved: 124 });
layout!(dram_holder, 64, { struct_size: 0, location: 8, start: 24, bytes: 32, first: 40, last: 48, id: 56, reserved: 60 });
layout!(dram_region, 24, { base: 0, size: 8, space: 16, usage_mask: 20 });
layout!(dram_options, 128, { struct_size: 0, capacity: 8, budget_ms: 16, budget_steps: 24, align: 32, cc_limit: 40, runtime_page: 48, shared_mib_per_core: 56, regions: 64, region_count: 72, strategy: 80, preset: 84, floor: 88, geometry: 92, packed: 96, reuse_io: 100, strict: 104, trim_cc: 108, usage_mask: 112, separate_functions: 116, keep: 120 });
layout!(dram_progress, 64, { struct_size: 0, phase: 8, done: 24, total: 32, bound: 40, incumbent: 48, elapsed_us: 56 });
layout!(dram_control, 56, { struct_size: 0, cancel: 8, progress: 16, progress_user: 24, shared: 32, shared_user: 40, hint: 48 });
layout!(dram_module_info, 32, { struct_size: 0, name: 8, core: 24, function_count: 28 });
layout!(dram_function_info, 40, { struct_size: 0, name: 8, memloc_count: 24, block_count: 28, instruction_count: 32, reserved: 36 });
layout!(dram_memloc_desc, 144, { struct_size: 0, name: 8, bytes: 24, element_count: 32, element_size: 40, memory: 44, space: 48, usage: 52, align: 56, address: 64, offset: 72, alias_of: 80, flags: 84, cookie: 88, remote_name: 96, reach: 112, reach_count: 120, remote_core: 128, reserved: 132, partition: 136, bank: 140 });
layout!(dram_memloc_info, 88, { struct_size: 0, bytes: 8, align: 16, address: 24, cookie: 32, root_offset: 40, root: 48, memory: 52, space: 56, usage: 60, skipped: 64, flags: 68, is_shared_post_dram_alloc: 72, reserved: 76, partition: 80, bank: 84 });
layout!(dram_operand, 24, { memloc: 0, reserved: 4, offset: 8, bytes: 16 });
layout!(dram_in_place, 8, { used: 0, def: 4 });
layout!(dram_argument, 24, { callee: 0, caller: 16, reserved: 20 });
layout!(dram_instruction_desc, 144, { struct_size: 0, op: 8, name: 24, uses: 40, use_count: 48, defs: 56, def_count: 64, in_place: 72, in_place_count: 80, callee: 88, args: 104, arg_count: 112, id: 120, has_id: 128, kind: 132, engine: 136, reserved: 140 });
layout!(dram_instruction_columns, 136, { struct_size: 0, count: 8, op_table: 16, op_table_count: 24, ops: 32, kinds: 40, engines: 48, use_starts: 56, uses: 64, def_starts: 72, defs: 80, in_place_starts: 88, in_place: 96, use_offsets: 104, use_bytes: 112, def_offsets: 120, def_bytes: 128 });
layout!(dram_plan_info, 64, { struct_size: 0, peak: 8, lower_bound: 16, digest: 24, status: 40, strategy: 44, needs_dependences: 48, space_count: 52, module_count: 56, note_count: 60 });
layout!(dram_space_info, 48, { struct_size: 0, capacity: 8, floor: 16, peak: 24, lower_bound: 32, space: 40, core: 44 });
layout!(dram_plan_memloc, 96, { struct_size: 0, name: 8, address: 24, bytes: 32, aligned: 40, segment_count: 48, owner_name: 56, owner_core: 72, space: 76, skipped: 80, pinned: 84, is_shared_post_dram_alloc: 88, reserved: 92 });
layout!(dram_segment, 8, { first: 0, last: 4 });
layout!(dram_violation, 64, { struct_size: 0, kind: 8, message: 24, function: 40, core: 56, location_count: 60 });
layout!(dram_verify_options, 24, { struct_size: 0, deep: 8, reserved: 12, control: 16 });
layout!(dram_explain_options, 24, { struct_size: 0, format: 8, top: 12, spaces: 16, reserved: 20 });
layout!(dram_diff_options, 24, { struct_size: 0, format: 8, top: 12, spaces: 16, reserved: 20 });
layout!(dram_interval, 16, { lower: 0, upper: 8 });
layout!(dram_problem, 88, { struct_size: 0, count: 8, starts: 16, intervals: 24, sizes: 32, alignments: 40, pins: 48, labels: 56, regions: 64, region_count: 72, hints: 80 });
layout!(dram_problem_result, 88, { struct_size: 0, peak: 8, bound: 16, floor: 24, status: 32, straddler_count: 36, runtime_pages: 40, private_bytes: 48, kept: 56, kept_bytes: 64, moved: 72, moved_bytes: 80 });
layout!(dram_dependence, 24, { from: 0, to: 4, kind: 8, distance: 12, header: 16, reserved: 20 });
layout!(dram_hbm_usage, 104, { struct_size: 0, needed: 8, capacity: 16, input_output: 24, weights: 32, private_bytes: 40, shared: 48, collective: 56, extra: 64, unused: 72, function: 80, instruction: 84, verdict: 88, reserved: 92, copies: 96 });
layout!(dram_straddler, 72, { struct_size: 0, function: 8, name: 24, address: 40, bytes: 48, core: 56, space: 60, pinned: 64, reserved: 68 });
layout!(dram_edge, 72, { struct_size: 0, from_function: 8, to_function: 24, from_core: 40, to_core: 44, from: 48, to: 52, kind: 56, distance: 60, header: 64, reserved: 68 });
layout!(dram_live_size, 56, { input_output: 0, weights: 8, private_bytes: 16, shared: 24, collective: 32, extra: 40, copies: 48 });
layout!(dram_pressure, 80, { struct_size: 0, live: 8, core: 64, function: 68, instruction: 72, reserved: 76 });
layout!(dram_sync_info, 64, { struct_size: 0, groups: 8, assigned: 16, digest: 24 });
layout!(dram_digest, 40, { core: 0, text: 4 });
layout!(dram_pipeline_options, 64, { struct_size: 0, extra_bytes: 8, dram_rotation_size: 16, cores: 24, post_link: 28, disable_dram_allocation: 32, dram_rotation: 36, disable_dram_rotation: 40, disable_hbm_usage_check: 44, verify_each: 48, reserved: 52, verify_deep: 56, reserved_2: 60 });
layout!(dram_run_info, 64, { struct_size: 0, copies_elided: 8, edges_before: 16, edges_after: 24, bytes_spent: 32, moved: 40, edges_removed_per_mib: 48, pass_count: 56, rotated: 60 });
layout!(dram_pass_info, 40, { struct_size: 0, name: 8, took_ns: 24, verified: 32, note_count: 36 });
layout!(dram_draw_options, 80, { struct_size: 0, title: 8, beside_plan: 24, beside_program: 32, beside_title: 40, format: 56, width: 60, height: 64, core: 68, space: 72, reserved: 76 });

macro_rules! values {
    ($abi:ident, $core:ident, { $($variant:ident),+ }) => {
        const _: () = {
            assert!([$($abi::$variant as u32),+].len() == $core::ALL.len());
            $(assert!($abi::$variant as u32 == $core::$variant as u32);)+
        };
    };
}

values!(dram_strategy, Strategy, { Fast, Reference, Best });
values!(dram_floor, Floor, { Hwm, Holes });
values!(dram_geometry, Geometry, { Split, Unified });
values!(dram_preset, Preset, { Custom, Inferentia, Trn1, Inf2, Trn2, Trn3 });
values!(dram_memory, MemoryType, { Dram, Sbuf, Psum, Reg });
values!(dram_space, Space, { Local, Shared, Debug });
values!(dram_usage, Usage, { Internal, Collective, Input, Output, Weight, Constant });
values!(dram_kind, Kind, { Compute, DmaCopy, Collective, Call, Barrier });
values!(dram_dependence_kind, DependenceKind, { Flow, Output, Anti });
values!(dram_plan_status, Status, { Optimal, Feasible, Infeasible, Unknown });
values!(dram_draw_format, Format, { Html, Svg, Ascii });

// Without a twin in the core. Values that are matched on elsewhere are checked by their use.
const _: () = assert!(dram_report_format::Text as u32 == 0);
const _: () = assert!(dram_report_format::Json as u32 == 1);
const _: () = assert!(dram_log_level::Off as u32 == 0);
