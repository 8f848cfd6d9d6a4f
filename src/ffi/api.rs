//! What a loader looks up: the version, and one table of everything. // C2

use std::ffi::{c_char, c_void};

use super::abi::{DRAM_ABI_MAJOR, DRAM_ABI_MINOR};
use super::cancel::*;
use super::context::*;
use super::draw::*;
use super::error::*;
use super::explain::*;
use super::function::*;
use super::instruction::*;
use super::interval_tree::*;
use super::memloc::*;
use super::module::*;
use super::modules::*;
use super::options::*;
use super::pipeline::*;
use super::plan::*;
use super::pressure::*;
use super::problem::*;
use super::program::*;
use super::report::*;
use super::status::dram_status;
use super::text::{dram_str, dram_write_fn};

/// Every function of the ABI, for hosts that load the library at run time. Functions are only
/// ever appended: one is there if `struct_size` reaches past its field.
#[repr(C)]
pub struct dram_api {
    /// The size of the table that the library has.
    pub struct_size: usize,
    /// `DRAM_ABI_MAJOR` of the library.
    pub abi_major: u32,
    /// `DRAM_ABI_MINOR` of the library.
    pub abi_minor: u32,
    /// `dram_version`.
    pub version: extern "C" fn() -> *const c_char,
    /// `dram_error_code`.
    pub error_code: unsafe extern "C" fn(error: *const dram_error) -> dram_status,
    /// `dram_error_message`.
    pub error_message: unsafe extern "C" fn(error: *const dram_error) -> *const c_char,
    /// `dram_error_get`.
    pub error_get: unsafe extern "C" fn(
        error: *const dram_error,
        info_out: *mut dram_error_info,
    ) -> dram_status,
    /// `dram_error_no_room`.
    pub error_no_room: unsafe extern "C" fn(
        error: *const dram_error,
        no_room_out: *mut dram_no_room,
    ) -> dram_status,
    /// `dram_error_holder`.
    pub error_holder: unsafe extern "C" fn(
        error: *const dram_error,
        position: u32,
        holder_out: *mut dram_holder,
    ) -> dram_status,
    /// `dram_error_free`.
    pub error_free: unsafe extern "C" fn(error: *mut dram_error) -> dram_status,
    /// `dram_context_new`.
    pub context_new: unsafe extern "C" fn(
        context_out: *mut *mut dram_context,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_context_free`.
    pub context_free: unsafe extern "C" fn(context: *mut dram_context) -> dram_status,
    /// `dram_context_set_log`.
    pub context_set_log: unsafe extern "C" fn(
        context: *mut dram_context,
        log: dram_log_fn,
        user: *mut c_void,
        level: u32,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_cancel_new`.
    pub cancel_new: unsafe extern "C" fn(
        cancel_out: *mut *mut dram_cancel,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_cancel_free`.
    pub cancel_free: unsafe extern "C" fn(cancel: *mut dram_cancel) -> dram_status,
    /// `dram_cancel_set`.
    pub cancel_set:
        unsafe extern "C" fn(cancel: *mut dram_cancel, error: *mut *mut dram_error) -> dram_status,
    /// `dram_cancel_is_set`.
    pub cancel_is_set: unsafe extern "C" fn(
        cancel: *const dram_cancel,
        set_out: *mut u32,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_program_new`.
    pub program_new: unsafe extern "C" fn(
        context: *mut dram_context,
        name: dram_str,
        program_out: *mut *mut dram_program,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_program_from_json`.
    pub program_from_json: unsafe extern "C" fn(
        context: *mut dram_context,
        data: *const u8,
        len: usize,
        program_out: *mut *mut dram_program,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_program_to_json`.
    pub program_to_json: unsafe extern "C" fn(
        program: *const dram_program,
        write: dram_write_fn,
        user: *mut c_void,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_program_free`.
    pub program_free: unsafe extern "C" fn(program: *mut dram_program) -> dram_status,
    /// `dram_program_add_module`.
    pub program_add_module: unsafe extern "C" fn(
        program: *mut dram_program,
        name: dram_str,
        core: u32,
        module_out: *mut *mut dram_module,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_program_module_count`.
    pub program_module_count: unsafe extern "C" fn(
        program: *const dram_program,
        count_out: *mut u32,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_program_module`.
    pub program_module: unsafe extern "C" fn(
        program: *const dram_program,
        position: u32,
        module_out: *mut *mut dram_module,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_program_find_module`.
    pub program_find_module: unsafe extern "C" fn(
        program: *const dram_program,
        core: u32,
        module_out: *mut *mut dram_module,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_program_plan`.
    pub program_plan: unsafe extern "C" fn(
        program: *const dram_program,
        options: *const dram_options,
        control: *const dram_control,
        plan_out: *mut *mut dram_plan,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_program_apply`.
    pub program_apply: unsafe extern "C" fn(
        program: *mut dram_program,
        plan: *const dram_plan,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_program_verify`.
    pub program_verify: unsafe extern "C" fn(
        program: *const dram_program,
        plan: *const dram_plan,
        report_out: *mut *mut dram_report,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_program_hbm_usage`.
    pub program_hbm_usage: unsafe extern "C" fn(
        program: *const dram_program,
        plan: *const dram_plan,
        core: u32,
        extra: u64,
        usage_out: *mut dram_hbm_usage,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_module_get`.
    pub module_get: unsafe extern "C" fn(
        module: *const dram_module,
        info_out: *mut dram_module_info,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_module_add_function`.
    pub module_add_function: unsafe extern "C" fn(
        module: *mut dram_module,
        name: dram_str,
        function_out: *mut *mut dram_function,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_module_function`.
    pub module_function: unsafe extern "C" fn(
        module: *const dram_module,
        position: u32,
        function_out: *mut *mut dram_function,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_module_find_function`.
    pub module_find_function: unsafe extern "C" fn(
        module: *const dram_module,
        name: dram_str,
        function_out: *mut *mut dram_function,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_module_allocate`.
    pub module_allocate: unsafe extern "C" fn(
        module: *mut dram_module,
        options: *const dram_options,
        control: *const dram_control,
        plan_out: *mut *mut dram_plan,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_module_clear_placement`.
    pub module_clear_placement:
        unsafe extern "C" fn(module: *mut dram_module, error: *mut *mut dram_error) -> dram_status,
    /// `dram_module_attribute`.
    pub module_attribute: unsafe extern "C" fn(
        module: *const dram_module,
        number: u32,
        value_out: *mut u64,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_module_metric`.
    pub module_metric: unsafe extern "C" fn(
        module: *const dram_module,
        number: u32,
        value_out: *mut u64,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_module_metric_named`.
    pub module_metric_named: unsafe extern "C" fn(
        module: *const dram_module,
        name: dram_str,
        value_out: *mut u64,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_function_get`.
    pub function_get: unsafe extern "C" fn(
        function: *const dram_function,
        info_out: *mut dram_function_info,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_function_reserve`.
    pub function_reserve: unsafe extern "C" fn(
        function: *mut dram_function,
        memlocs: usize,
        instructions: usize,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_function_add_block`.
    pub function_add_block: unsafe extern "C" fn(
        function: *mut dram_function,
        name: dram_str,
        block_out: *mut u32,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_function_set_successors`.
    pub function_set_successors: unsafe extern "C" fn(
        function: *mut dram_function,
        block: u32,
        successors: *const u32,
        count: usize,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_function_address`.
    pub function_address: unsafe extern "C" fn(
        function: *const dram_function,
        memloc: u32,
        address_out: *mut u64,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_function_addresses`.
    pub function_addresses: unsafe extern "C" fn(
        function: *const dram_function,
        addresses: *mut u64,
        count: usize,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_function_cookies`.
    pub function_cookies: unsafe extern "C" fn(
        function: *const dram_function,
        cookies: *mut u64,
        count: usize,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_function_add_memloc`.
    pub function_add_memloc: unsafe extern "C" fn(
        function: *mut dram_function,
        memloc: *const dram_memloc_desc,
        memloc_out: *mut u32,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_function_add_memlocs`.
    pub function_add_memlocs: unsafe extern "C" fn(
        function: *mut dram_function,
        memlocs: *const dram_memloc_desc,
        count: usize,
        first_out: *mut u32,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_function_find_memloc`.
    pub function_find_memloc: unsafe extern "C" fn(
        function: *const dram_function,
        name: dram_str,
        memloc_out: *mut u32,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_function_memloc`.
    pub function_memloc: unsafe extern "C" fn(
        function: *const dram_function,
        memloc: u32,
        info_out: *mut dram_memloc_info,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_function_memloc_name`.
    pub function_memloc_name: unsafe extern "C" fn(
        function: *const dram_function,
        memloc: u32,
        write: dram_write_fn,
        user: *mut c_void,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_function_add_instruction`.
    pub function_add_instruction: unsafe extern "C" fn(
        function: *mut dram_function,
        instruction: *const dram_instruction_desc,
        index_out: *mut u32,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_function_add_instructions`.
    pub function_add_instructions: unsafe extern "C" fn(
        function: *mut dram_function,
        instructions: *const dram_instruction_columns,
        first_out: *mut u32,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_plan_from_json`.
    pub plan_from_json: unsafe extern "C" fn(
        data: *const u8,
        len: usize,
        plan_out: *mut *mut dram_plan,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_plan_to_json`.
    pub plan_to_json: unsafe extern "C" fn(
        plan: *const dram_plan,
        write: dram_write_fn,
        user: *mut c_void,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_plan_free`.
    pub plan_free: unsafe extern "C" fn(plan: *mut dram_plan) -> dram_status,
    /// `dram_plan_get`.
    pub plan_get: unsafe extern "C" fn(
        plan: *const dram_plan,
        info_out: *mut dram_plan_info,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_plan_space`.
    pub plan_space: unsafe extern "C" fn(
        plan: *const dram_plan,
        position: u32,
        space_out: *mut dram_space_info,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_plan_note`.
    pub plan_note: unsafe extern "C" fn(
        plan: *const dram_plan,
        position: u32,
        note_out: *mut dram_str,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_plan_metric`.
    pub plan_metric: unsafe extern "C" fn(
        plan: *const dram_plan,
        name: dram_str,
        value_out: *mut u64,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_plan_addresses`.
    pub plan_addresses: unsafe extern "C" fn(
        plan: *const dram_plan,
        function: *const dram_function,
        addresses: *mut u64,
        count: usize,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_plan_memloc_get`.
    pub plan_memloc_get: unsafe extern "C" fn(
        plan: *const dram_plan,
        function: *const dram_function,
        memloc: u32,
        memloc_out: *mut dram_plan_memloc,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_plan_segments`.
    pub plan_segments: unsafe extern "C" fn(
        plan: *const dram_plan,
        function: *const dram_function,
        memloc: u32,
        segments: *mut dram_segment,
        capacity: usize,
        count_out: *mut usize,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_plan_load`.
    pub plan_load: unsafe extern "C" fn(
        plan: *const dram_plan,
        function: *const dram_function,
        bytes: *mut u64,
        count: usize,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_plan_dependences`.
    pub plan_dependences: unsafe extern "C" fn(
        plan: *const dram_plan,
        function: *const dram_function,
        take: dram_dependences_fn,
        user: *mut c_void,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_report_count`.
    pub report_count: unsafe extern "C" fn(
        report: *const dram_report,
        count_out: *mut u32,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_report_violation`.
    pub report_violation: unsafe extern "C" fn(
        report: *const dram_report,
        position: u32,
        violation_out: *mut dram_violation,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_report_location`.
    pub report_location: unsafe extern "C" fn(
        report: *const dram_report,
        violation: u32,
        position: u32,
        name_out: *mut dram_str,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_report_free`.
    pub report_free: unsafe extern "C" fn(report: *mut dram_report) -> dram_status,
    /// `dram_problem_solve`.
    pub problem_solve: unsafe extern "C" fn(
        problem: *const dram_problem,
        options: *const dram_options,
        control: *const dram_control,
        offsets: *mut u64,
        result_out: *mut dram_problem_result,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_problem_solve_simple`.
    pub problem_solve_simple: unsafe extern "C" fn(
        lower: *const i64,
        upper: *const i64,
        size: *const u64,
        count: usize,
        capacity: u64,
        offsets: *mut u64,
        result_out: *mut dram_problem_result,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_interval_tree_new`.
    pub interval_tree_new: unsafe extern "C" fn(
        lo: *const u32,
        hi: *const u32,
        count: usize,
        tree_out: *mut *mut dram_interval_tree,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_interval_tree_overlaps`.
    pub interval_tree_overlaps: unsafe extern "C" fn(
        tree: *const dram_interval_tree,
        i: u32,
        payloads: *mut u32,
        capacity: usize,
        count_out: *mut usize,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_interval_tree_overlaps_with_interval`.
    pub interval_tree_overlaps_with_interval: unsafe extern "C" fn(
        tree: *const dram_interval_tree,
        lo: u32,
        hi: u32,
        payloads: *mut u32,
        capacity: usize,
        count_out: *mut usize,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_interval_tree_free`.
    pub interval_tree_free: unsafe extern "C" fn(tree: *mut dram_interval_tree) -> dram_status,
    /// `dram_plan_straddler`.
    pub plan_straddler: unsafe extern "C" fn(
        plan: *const dram_plan,
        position: u32,
        straddler_out: *mut dram_straddler,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_program_verify_with`.
    pub program_verify_with: unsafe extern "C" fn(
        program: *const dram_program,
        plan: *const dram_plan,
        options: *const dram_verify_options,
        report_out: *mut *mut dram_report,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_report_note`.
    pub report_note: unsafe extern "C" fn(
        report: *const dram_report,
        position: u32,
        note_out: *mut dram_str,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_module_lnc_split`.
    pub module_lnc_split: unsafe extern "C" fn(
        module: *mut dram_module,
        cores: u32,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_function_elided`.
    pub function_elided: unsafe extern "C" fn(
        function: *const dram_function,
        indices: *mut u32,
        capacity: usize,
        count_out: *mut usize,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_plan_edge_count`.
    pub plan_edge_count: unsafe extern "C" fn(
        plan: *const dram_plan,
        count_out: *mut usize,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_plan_edge`.
    pub plan_edge: unsafe extern "C" fn(
        plan: *const dram_plan,
        position: usize,
        edge_out: *mut dram_edge,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_program_races`.
    pub program_races: unsafe extern "C" fn(
        program: *const dram_program,
        plan: *const dram_plan,
        control: *const dram_control,
        report_out: *mut *mut dram_report,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_program_pressure`.
    pub program_pressure: unsafe extern "C" fn(
        program: *const dram_program,
        plan: *const dram_plan,
        core: u32,
        extra: u64,
        pressure_out: *mut dram_pressure,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_plan_live`.
    pub plan_live: unsafe extern "C" fn(
        plan: *const dram_plan,
        function: *const dram_function,
        extra: u64,
        sizes: *mut dram_live_size,
        count: usize,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_plan_device_live`.
    pub plan_device_live: unsafe extern "C" fn(
        plan: *const dram_plan,
        function: *const dram_function,
        extra: u64,
        control: *const dram_control,
        sizes: *mut dram_live_size,
        count: usize,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_modules_allocate`.
    pub modules_allocate: unsafe extern "C" fn(
        modules: *const *mut dram_module,
        count: usize,
        space: u32,
        options: *const dram_options,
        control: *const dram_control,
        plan_out: *mut *mut dram_plan,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_modules_sync_shared_allocations`.
    pub modules_sync_shared_allocations: unsafe extern "C" fn(
        modules: *const *mut dram_module,
        count: usize,
        options: *const dram_options,
        control: *const dram_control,
        info_out: *mut dram_sync_info,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_modules_digests`.
    pub modules_digests: unsafe extern "C" fn(
        modules: *const *mut dram_module,
        count: usize,
        options: *const dram_options,
        control: *const dram_control,
        digests: *mut dram_digest,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_digests_check`.
    pub digests_check: unsafe extern "C" fn(
        digests: *const dram_digest,
        count: usize,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_modules_lnc_verify`.
    pub modules_lnc_verify: unsafe extern "C" fn(
        modules: *const *mut dram_module,
        count: usize,
        options: *const dram_options,
        control: *const dram_control,
        report_out: *mut *mut dram_report,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_pipeline_new`.
    pub pipeline_new: unsafe extern "C" fn(
        options: *const dram_pipeline_options,
        pipeline_out: *mut *mut dram_pipeline,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_pipeline_free`.
    pub pipeline_free: unsafe extern "C" fn(pipeline: *mut dram_pipeline) -> dram_status,
    /// `dram_pipeline_pass_count`.
    pub pipeline_pass_count: unsafe extern "C" fn(
        pipeline: *const dram_pipeline,
        count_out: *mut u32,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_pipeline_pass_name`.
    pub pipeline_pass_name: unsafe extern "C" fn(
        pipeline: *const dram_pipeline,
        position: u32,
        name_out: *mut dram_str,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_pipeline_run`.
    pub pipeline_run: unsafe extern "C" fn(
        pipeline: *const dram_pipeline,
        program: *mut dram_program,
        options: *const dram_options,
        control: *const dram_control,
        run_out: *mut *mut dram_run,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_run_get`.
    pub run_get: unsafe extern "C" fn(
        run: *const dram_run,
        info_out: *mut dram_run_info,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_run_pass`.
    pub run_pass: unsafe extern "C" fn(
        run: *const dram_run,
        position: u32,
        pass_out: *mut dram_pass_info,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_run_note`.
    pub run_note: unsafe extern "C" fn(
        run: *const dram_run,
        pass: u32,
        position: u32,
        note_out: *mut dram_str,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_run_plan`.
    pub run_plan: unsafe extern "C" fn(
        run: *const dram_run,
        plan_out: *mut *mut dram_plan,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_run_free`.
    pub run_free: unsafe extern "C" fn(run: *mut dram_run) -> dram_status,
    /// `dram_error_conflict`.
    pub error_conflict: unsafe extern "C" fn(
        error: *const dram_error,
        position: u32,
        holder_out: *mut dram_holder,
    ) -> dram_status,
    /// `dram_plan_explain`.
    pub plan_explain: unsafe extern "C" fn(
        program: *const dram_program,
        plan: *const dram_plan,
        options: *const dram_explain_options,
        write: dram_write_fn,
        user: *mut c_void,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_plan_diff`.
    pub plan_diff: unsafe extern "C" fn(
        program_a: *const dram_program,
        plan_a: *const dram_plan,
        program_b: *const dram_program,
        plan_b: *const dram_plan,
        options: *const dram_diff_options,
        write: dram_write_fn,
        user: *mut c_void,
        error: *mut *mut dram_error,
    ) -> dram_status,
    /// `dram_plan_draw`.
    pub plan_draw: unsafe extern "C" fn(
        program: *const dram_program,
        plan: *const dram_plan,
        options: *const dram_draw_options,
        write: dram_write_fn,
        user: *mut c_void,
        error: *mut *mut dram_error,
    ) -> dram_status,
}

static API: dram_api = dram_api {
    struct_size: size_of::<dram_api>(),
    abi_major: DRAM_ABI_MAJOR,
    abi_minor: DRAM_ABI_MINOR,
    version: dram_version,
    error_code: dram_error_code,
    error_message: dram_error_message,
    error_get: dram_error_get,
    error_no_room: dram_error_no_room,
    error_holder: dram_error_holder,
    error_free: dram_error_free,
    context_new: dram_context_new,
    context_free: dram_context_free,
    context_set_log: dram_context_set_log,
    cancel_new: dram_cancel_new,
    cancel_free: dram_cancel_free,
    cancel_set: dram_cancel_set,
    cancel_is_set: dram_cancel_is_set,
    program_new: dram_program_new,
    program_from_json: dram_program_from_json,
    program_to_json: dram_program_to_json,
    program_free: dram_program_free,
    program_add_module: dram_program_add_module,
    program_module_count: dram_program_module_count,
    program_module: dram_program_module,
    program_find_module: dram_program_find_module,
    program_plan: dram_program_plan,
    program_apply: dram_program_apply,
    program_verify: dram_program_verify,
    program_hbm_usage: dram_program_hbm_usage,
    module_get: dram_module_get,
    module_add_function: dram_module_add_function,
    module_function: dram_module_function,
    module_find_function: dram_module_find_function,
    module_allocate: dram_module_allocate,
    module_clear_placement: dram_module_clear_placement,
    module_attribute: dram_module_attribute,
    module_metric: dram_module_metric,
    module_metric_named: dram_module_metric_named,
    function_get: dram_function_get,
    function_reserve: dram_function_reserve,
    function_add_block: dram_function_add_block,
    function_set_successors: dram_function_set_successors,
    function_address: dram_function_address,
    function_addresses: dram_function_addresses,
    function_cookies: dram_function_cookies,
    function_add_memloc: dram_function_add_memloc,
    function_add_memlocs: dram_function_add_memlocs,
    function_find_memloc: dram_function_find_memloc,
    function_memloc: dram_function_memloc,
    function_memloc_name: dram_function_memloc_name,
    function_add_instruction: dram_function_add_instruction,
    function_add_instructions: dram_function_add_instructions,
    plan_from_json: dram_plan_from_json,
    plan_to_json: dram_plan_to_json,
    plan_free: dram_plan_free,
    plan_get: dram_plan_get,
    plan_space: dram_plan_space,
    plan_note: dram_plan_note,
    plan_metric: dram_plan_metric,
    plan_addresses: dram_plan_addresses,
    plan_memloc_get: dram_plan_memloc_get,
    plan_segments: dram_plan_segments,
    plan_load: dram_plan_load,
    plan_dependences: dram_plan_dependences,
    report_count: dram_report_count,
    report_violation: dram_report_violation,
    report_location: dram_report_location,
    report_free: dram_report_free,
    problem_solve: dram_problem_solve,
    problem_solve_simple: dram_problem_solve_simple,
    interval_tree_new: dram_interval_tree_new,
    interval_tree_overlaps: dram_interval_tree_overlaps,
    interval_tree_overlaps_with_interval: dram_interval_tree_overlaps_with_interval,
    interval_tree_free: dram_interval_tree_free,
    plan_straddler: dram_plan_straddler,
    program_verify_with: dram_program_verify_with,
    report_note: dram_report_note,
    module_lnc_split: dram_module_lnc_split,
    function_elided: dram_function_elided,
    plan_edge_count: dram_plan_edge_count,
    plan_edge: dram_plan_edge,
    program_races: dram_program_races,
    program_pressure: dram_program_pressure,
    plan_live: dram_plan_live,
    plan_device_live: dram_plan_device_live,
    modules_allocate: dram_modules_allocate,
    modules_sync_shared_allocations: dram_modules_sync_shared_allocations,
    modules_digests: dram_modules_digests,
    digests_check: dram_digests_check,
    modules_lnc_verify: dram_modules_lnc_verify,
    pipeline_new: dram_pipeline_new,
    pipeline_free: dram_pipeline_free,
    pipeline_pass_count: dram_pipeline_pass_count,
    pipeline_pass_name: dram_pipeline_pass_name,
    pipeline_run: dram_pipeline_run,
    run_get: dram_run_get,
    run_pass: dram_run_pass,
    run_note: dram_run_note,
    run_plan: dram_run_plan,
    run_free: dram_run_free,
    error_conflict: dram_error_conflict,
    plan_explain: dram_plan_explain,
    plan_diff: dram_plan_diff,
    plan_draw: dram_plan_draw,
};

/// The version of the ABI: `DRAM_ABI_MAJOR << 16 | DRAM_ABI_MINOR` of the library.
#[unsafe(no_mangle)]
pub extern "C" fn dram_abi_version() -> u32 {
    DRAM_ABI_MAJOR << 16 | DRAM_ABI_MINOR
}

/// The version of the library as text, NUL-terminated, valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn dram_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The table of every function, valid for ever; null if this library does not serve that major
/// version of the ABI. Threads: may be called at any time.
#[unsafe(no_mangle)]
pub extern "C" fn dram_get_api(abi_major: u32) -> *const dram_api {
    if abi_major == DRAM_ABI_MAJOR {
        &raw const API
    } else {
        std::ptr::null()
    }
}
