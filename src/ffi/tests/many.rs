//! Many cores through the table: private and shared mode alone, sync over programs, digests, the
//! core verifier, who holds memory. // M

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use super::super::error::{DRAM_UNKNOWN, dram_error_info};
use super::super::function::dram_function;
use super::super::instruction::{dram_instruction_desc, dram_kind, dram_operand};
use super::super::memloc::{
    DRAM_NO_ADDRESS, dram_memloc_desc, dram_memloc_flag, dram_memloc_info, dram_space,
};
use super::super::module::dram_module;
use super::super::modules::{dram_digest, dram_sync_info};
use super::super::options::dram_options;
use super::super::plan::dram_plan;
use super::super::pressure::{dram_live_size, dram_pressure};
use super::super::program::dram_program;
use super::super::report::{dram_report, dram_violation};
use super::super::status::dram_status;
use super::super::text::dram_str;
use super::{Host, api, fails, ok, sized};

/// Two cores, in one program or each in its own: `s` of core 0 and `t` of core 1 are one buffer of
/// 64 KiB, `own` is private. Each core writes its half, meets the other at a barrier, reads all.
pub(super) struct Cores {
    _hosts: Vec<Host>,
    pub(super) program: *mut dram_program,
    pub(super) modules: Vec<*mut dram_module>,
    pub(super) functions: Vec<*mut dram_function>,
}

pub(super) const SHARED: u32 = 0;
pub(super) const OWN: u32 = 1;
const HALF: u64 = 32768;

impl Cores {
    pub(super) fn new(apart: bool) -> Cores {
        Cores::sized(apart, [2 * HALF; 2])
    }

    fn sized(apart: bool, bytes: [u64; 2]) -> Cores {
        let hosts: Vec<Host> = (0..=u32::from(apart)).map(|_| Host::new()).collect();
        let program = hosts[0].program;
        let (mut modules, mut functions) = (Vec::new(), Vec::new());
        for core in 0..2u32 {
            let (module, function) = match core {
                0 => (hosts[0].module, hosts[0].function),
                _ => second_core(hosts.last().expect("there is one")),
            };
            fill(function, core, bytes[core as usize]);
            modules.push(module);
            functions.push(function);
        }
        Cores {
            _hosts: hosts,
            program,
            modules,
            functions,
        }
    }

    pub(super) fn address(&self, core: usize, memloc: u32) -> u64 {
        self.memloc(core, memloc).address
    }

    fn memloc(&self, core: usize, memloc: u32) -> dram_memloc_info {
        let mut info = sized();
        // SAFETY: the output is a local.
        ok(|e| unsafe { (api().function_memloc)(self.functions[core], memloc, &mut info, e) });
        info
    }

    fn allocate(&self, space: dram_space) {
        let list = self.modules.as_ptr();
        // SAFETY: the list is readable.
        ok(|e| unsafe {
            let allocate = api().modules_allocate;
            allocate(list, 2, space as u32, null(), null(), null_mut(), e)
        });
    }

    fn sync(&self) -> dram_sync_info {
        let mut info = sized();
        let list = self.modules.as_ptr();
        // SAFETY: the list is readable, the output is a local.
        ok(|e| unsafe {
            (api().modules_sync_shared_allocations)(list, 2, null(), null(), &mut info, e)
        });
        info
    }

    fn digests(&self) -> [dram_digest; 2] {
        let empty = dram_digest {
            core: 9,
            text: [0; 36],
        };
        let mut digests = [empty; 2];
        let list = self.modules.as_ptr();
        let out = digests.as_mut_ptr();
        // SAFETY: the list is readable, the output is a local.
        ok(|e| unsafe { (api().modules_digests)(list, 2, null(), null(), out, e) });
        digests
    }

    fn lnc_verify(&self) -> Vec<String> {
        let mut report = null_mut();
        let list = self.modules.as_ptr();
        // SAFETY: the list is readable, the output is a local.
        ok(|e| unsafe { (api().modules_lnc_verify)(list, 2, null(), null(), &mut report, e) });
        kinds(report)
    }

    fn plan(&self) -> *mut dram_plan {
        let mut plan = null_mut();
        // SAFETY: the output is a local.
        ok(|e| unsafe { (api().program_plan)(self.program, null(), null(), &mut plan, e) });
        plan
    }
}

/// Core 1's module and function: in the host's program, or the host's program instead of its own.
fn second_core(host: &Host) -> (*mut dram_module, *mut dram_function) {
    let (mut module, mut function) = (null_mut(), null_mut());
    let (name, main) = (dram_str::of("m1"), dram_str::of("main"));
    // SAFETY: outputs are locals, text is static.
    unsafe {
        ok(|e| (api().program_add_module)(host.program, name, 1, &mut module, e));
        ok(|e| (api().module_add_function)(module, main, &mut function, e));
    }
    (module, function)
}

fn fill(function: *mut dram_function, core: u32, bytes: u64) {
    let follows = core == 1;
    let shared = dram_memloc_desc {
        name: dram_str::of(if follows { "t" } else { "s" }),
        bytes,
        space: dram_space::Shared as u32,
        flags: if follows {
            dram_memloc_flag::Remote as u32
        } else {
            0
        },
        remote_name: if follows {
            dram_str::of("s")
        } else {
            dram_str::EMPTY
        },
        partition: 2 * u32::from(!follows),
        bank: 4 * u32::from(!follows),
        ..sized()
    };
    let own = dram_memloc_desc {
        name: dram_str::of("own"),
        bytes: 4096,
        ..sized()
    };
    let descs = [shared, own];
    let operand = |memloc, offset, bytes| dram_operand {
        memloc,
        reserved: 0,
        offset,
        bytes,
    };
    let half = operand(SHARED, u64::from(core) * HALF, HALF);
    let all = [operand(SHARED, 0, 0), operand(OWN, 0, 0)];
    let writes = [half, all[1]];
    let op = dram_str::of("op");
    let code = [
        dram_instruction_desc {
            op,
            defs: writes.as_ptr(),
            def_count: 2,
            ..sized()
        },
        dram_instruction_desc {
            op,
            kind: dram_kind::Barrier as u32,
            ..sized()
        },
        dram_instruction_desc {
            op,
            engine: 1,
            uses: all.as_ptr(),
            use_count: 2,
            ..sized()
        },
    ];
    let mut number = 0;
    // SAFETY: structs, lists and outputs are locals.
    unsafe {
        ok(|e| (api().function_add_memlocs)(function, descs.as_ptr(), 2, &mut number, e));
        for instruction in &code {
            ok(|e| (api().function_add_instruction)(function, instruction, &mut number, e));
        }
    }
}

/// The kinds of a report's violations; frees it.
fn kinds(report: *mut dram_report) -> Vec<String> {
    let mut count = 0;
    // SAFETY: outputs are locals; text is read before the report is freed.
    unsafe {
        ok(|e| (api().report_count)(report, &mut count, e));
        let kind = |i| {
            let mut violation: dram_violation = sized();
            ok(|e| (api().report_violation)(report, i, &mut violation, e));
            violation.kind.read("kind").unwrap().to_owned()
        };
        let kinds = (0..count).map(kind).collect();
        assert_eq!((api().report_free)(report), dram_status::Ok);
        kinds
    }
}

/// A failed call, with what its error says of both sides.
fn sides(
    call: impl FnOnce(*mut *mut super::super::error::dram_error) -> dram_status,
) -> (u32, String, u32, String) {
    let mut error = null_mut();
    assert_eq!(call(&mut error), dram_status::InvalidArgument);
    let mut info: dram_error_info = sized();
    // SAFETY: the output is a local; text is read before the error is freed.
    unsafe {
        assert_eq!((api().error_get)(error, &mut info), dram_status::Ok);
        let text = |text: dram_str| text.read("").unwrap().to_owned();
        assert_eq!(text(info.function), "main");
        assert_eq!(text(info.other_function), "main");
        let said = (
            info.core,
            text(info.location),
            info.other_core,
            text(info.other_location),
        );
        assert_eq!((api().error_free)(error), dram_status::Ok);
        said
    }
}

#[test]
fn each_mode_alone_and_sync_are_the_whole_plan_also_between_programs() {
    let whole = Cores::new(false);
    let plan = whole.plan();
    // SAFETY: any handle may be given.
    unsafe {
        ok(|e| (api().program_apply)(whole.program, plan, e));
        (api().plan_free)(plan);
    }
    for apart in [false, true] {
        let cores = Cores::new(apart);
        cores.allocate(dram_space::Local);
        assert_eq!(cores.address(0, SHARED), DRAM_NO_ADDRESS);
        cores.allocate(dram_space::Shared);
        assert_eq!(cores.address(0, SHARED), 0);
        assert_eq!(cores.address(1, SHARED), DRAM_NO_ADDRESS, "a remote target");
        assert_eq!(cores.lnc_verify(), ["banks_disagree", "unplaced"]);
        let info = cores.sync();
        assert_eq!((info.groups, info.assigned), (1, 1), "the follower");
        for core in 0..2 {
            let (got, want) = (cores.memloc(core, SHARED), whole.memloc(core, SHARED));
            assert_eq!((got.address, got.space), (want.address, want.space));
            assert_eq!((got.partition, got.bank), (2, 4), "the owner's");
            assert_eq!(
                (want.partition, want.bank),
                (2, 4),
                "applied plans say so too"
            );
            assert_eq!(got.is_shared_post_dram_alloc, 1);
            assert_eq!(cores.address(core, OWN), whole.address(core, OWN));
        }
        assert_eq!(cores.lnc_verify(), [""; 0]);
        assert_eq!(cores.sync().assigned, 0, "a second time changes nothing");
    }
}

#[test]
fn a_space_alone_gets_what_the_others_leave() {
    let cores = Cores::new(false);
    cores.allocate(dram_space::Local);
    let list = cores.modules.as_ptr();
    let allocate = |capacity, e| {
        let options = dram_options {
            capacity,
            ..sized()
        };
        let space = dram_space::Shared as u32;
        // SAFETY: structs and lists are locals.
        unsafe { (api().modules_allocate)(list, 2, space, &options, null(), null_mut(), e) }
    };
    fails(dram_status::ResourceExhausted, |e| {
        allocate(2 * HALF + 4095, e)
    });
    assert_eq!(
        cores.address(0, SHARED),
        DRAM_NO_ADDRESS,
        "nothing was written"
    );
    ok(|e| allocate(2 * HALF + 4096, e));
    let mut floor = 9;
    // SAFETY: the output is a local.
    ok(|e| unsafe { (api().module_metric)(cores.modules[0], 32, &mut floor, e) });
    assert_eq!(
        floor,
        2 * HALF,
        "the raw bytes of the shared run, on their owner"
    );
}

#[test]
fn sync_says_both_sides_and_writes_nothing() {
    for apart in [false, true] {
        let cores = Cores::sized(apart, [2 * HALF, 2 * HALF + 1]);
        let list = cores.modules.as_ptr();
        // SAFETY: the list is readable.
        let sync = |e| unsafe {
            (api().modules_sync_shared_allocations)(list, 2, null(), null(), null_mut(), e)
        };
        let want = (1, "t".to_owned(), 0, "s".to_owned());
        assert_eq!(sides(sync), want);
        let cores = Cores::new(apart);
        let list = cores.modules.as_ptr();
        // SAFETY: as above.
        let sync = |e| unsafe {
            (api().modules_sync_shared_allocations)(list, 2, null(), null(), null_mut(), e)
        };
        assert_eq!(sides(sync), (0, "s".to_owned(), 1, "t".to_owned()));
        assert_eq!(cores.address(1, SHARED), DRAM_NO_ADDRESS);
    }
}

#[test]
fn digests_differ_until_the_cores_agree() {
    let cores = Cores::new(true);
    cores.allocate(dram_space::Shared);
    let digests = cores.digests();
    assert_eq!(digests.map(|d| d.core), [0, 1]);
    // SAFETY: the digests are locals.
    unsafe {
        let said = fails(dram_status::FailedPrecondition, |e| {
            (api().digests_check)(digests.as_ptr(), 2, e)
        });
        assert!(said.contains("on 0; ") && said.ends_with("on 1"), "{said}");
        let info = cores.sync();
        let digests = cores.digests();
        ok(|e| (api().digests_check)(digests.as_ptr(), 2, e));
        let agreed = CStr::from_ptr(info.digest.as_ptr());
        assert_eq!(agreed, CStr::from_ptr(digests[0].text.as_ptr()));
        assert_eq!(agreed.to_bytes().len(), 32);
    }
}

#[test]
fn a_program_is_split_in_place_and_its_handles_stay() {
    let host = Host::new();
    let shared = dram_memloc_desc {
        name: dram_str::of("s"),
        bytes: 8,
        space: dram_space::Shared as u32,
        ..sized()
    };
    let (mut id, mut count) = (0, 0);
    let (mut clone, mut function) = (null_mut(), null_mut());
    let mut info: dram_memloc_info = sized();
    // SAFETY: structs and outputs are locals, text is static.
    unsafe {
        ok(|e| (api().function_add_memloc)(host.function, &shared, &mut id, e));
        ok(|e| (api().module_lnc_split)(host.module, 3, e));
        ok(|e| (api().program_module_count)(host.program, &mut count, e));
        assert_eq!(count, 3);
        ok(|e| (api().function_memloc)(host.function, id, &mut info, e));
        assert_eq!(info.flags, 0, "core 0's own");
        ok(|e| (api().program_find_module)(host.program, 2, &mut clone, e));
        let main = dram_str::of("main");
        ok(|e| (api().module_find_function)(clone, main, &mut function, e));
        ok(|e| (api().function_memloc)(function, id, &mut info, e));
        assert_eq!(info.flags, dram_memloc_flag::Remote as u32);
        fails(dram_status::InvalidArgument, |e| {
            (api().module_lnc_split)(clone, 2, e)
        });
    }
    host.memloc("later", 8); // The first handle still means core 0's function.
}

#[test]
fn memory_is_told_by_category_per_instruction_core_and_device() {
    let cores = Cores::new(false);
    let plan = cores.plan();
    let zero = dram_live_size {
        input_output: 0,
        weights: 0,
        private_bytes: 0,
        shared: 0,
        collective: 0,
        extra: 0,
        copies: 0,
    };
    let (mut live, mut device) = ([zero; 3], [zero; 3]);
    let (mut core, mut both): (dram_pressure, dram_pressure) = (sized(), sized());
    // SAFETY: outputs are locals.
    unsafe {
        let (one, all) = (live.as_mut_ptr(), device.as_mut_ptr());
        let function = cores.functions[1];
        ok(|e| (api().plan_live)(plan, function, 16, one, 3, e));
        let want = dram_live_size {
            private_bytes: 4096,
            shared: 2 * HALF,
            extra: 16,
            ..zero
        };
        let figures = |l: &dram_live_size| (l.private_bytes, l.shared, l.extra);
        assert_eq!(live.map(|l| figures(&l)), [figures(&want); 3]);
        ok(|e| (api().plan_device_live)(plan, function, 16, null(), all, 3, e));
        assert_eq!(device.map(|l| figures(&l)), [(2 * 4096, 2 * HALF, 32); 3]);
        let pressure = api().program_pressure;
        ok(|e| pressure(cores.program, plan, 1, 16, &mut core, e));
        assert_eq!(figures(&core.live), figures(&want));
        assert_eq!((core.core, core.function, core.instruction), (1, 0, 0));
        ok(|e| pressure(cores.program, plan, DRAM_UNKNOWN, 16, &mut both, e));
        assert_eq!(figures(&both.live), (2 * 4096, 2 * HALF, 32));
        assert_eq!((both.core, both.function), (DRAM_UNKNOWN, DRAM_UNKNOWN));
        (api().plan_free)(plan);
    }
}

#[test]
fn races_are_told_and_a_barrier_ends_them() {
    let cores = Cores::new(false);
    let races = |plan| {
        let mut report = null_mut();
        // SAFETY: the output is a local.
        ok(|e| unsafe { (api().program_races)(cores.program, plan, null(), &mut report, e) });
        kinds(report)
    };
    let plan = cores.plan();
    assert_eq!(races(plan), [""; 0], "each core writes its half");
    // Core 1 writes core 0's half too, in the first epoch as the function's only instruction after
    // its barrier would be the second's: a read of core 0 meets a write of core 1.
    let all = [dram_operand {
        memloc: SHARED,
        reserved: 0,
        offset: 0,
        bytes: 0,
    }];
    let write = dram_instruction_desc {
        op: dram_str::of("op"),
        defs: all.as_ptr(),
        def_count: 1,
        ..sized()
    };
    let mut index = 0;
    // SAFETY: structs and outputs are locals; any handle may be given.
    unsafe {
        let add = api().function_add_instruction;
        ok(|e| add(cores.functions[1], &write, &mut index, e));
        (api().plan_free)(plan);
        let plan = cores.plan();
        assert_eq!(races(plan), ["race"]);
        (api().plan_free)(plan);
    }
}

#[test]
fn a_predicate_is_asked_and_may_call_the_library() {
    unsafe extern "C" fn shared(
        user: *mut c_void,
        _: u32,
        _: dram_str,
        memloc: u32,
        _: u64,
    ) -> i32 {
        let mut count = 0;
        // SAFETY: the user's data is the program's handle, which any call may be given.
        unsafe { (api().program_module_count)(user.cast(), &mut count, null_mut()) };
        assert_eq!(count, 2, "no lock is held");
        i32::from(memloc == OWN)
    }
    let cores = Cores::new(false);
    let control = super::super::options::dram_control {
        shared: Some(shared),
        shared_user: cores.program.cast(),
        ..sized()
    };
    let list = cores.modules.as_ptr();
    let space = dram_space::Shared as u32;
    // SAFETY: structs and lists are locals.
    unsafe {
        ok(|e| (api().modules_allocate)(list, 2, space, null(), &control, null_mut(), e));
        ok(|e| (api().modules_sync_shared_allocations)(list, 2, null(), &control, null_mut(), e));
        let mut report = null_mut();
        ok(|e| (api().modules_lnc_verify)(list, 2, null(), &control, &mut report, e));
        assert_eq!(kinds(report), [""; 0]);
    }
    assert_eq!(cores.address(0, OWN), cores.address(1, OWN));
    assert_ne!(cores.address(0, OWN), cores.address(0, SHARED));
}

#[test]
fn threads_that_sync_the_same_modules_in_other_orders_do_not_wait_for_each_other() {
    let cores = Cores::new(true);
    cores.allocate(dram_space::Local);
    cores.allocate(dram_space::Shared);
    let handles: Vec<usize> = cores.modules.iter().map(|m| m.addr()).collect();
    std::thread::scope(|scope| {
        for backwards in [false, true] {
            let mut handles = handles.clone();
            scope.spawn(move || {
                if backwards {
                    handles.reverse();
                }
                let list: Vec<*mut dram_module> = handles
                    .iter()
                    .map(|&h| std::ptr::without_provenance_mut(h))
                    .collect();
                for _ in 0..200 {
                    // SAFETY: the list is readable.
                    let status = unsafe {
                        (api().modules_sync_shared_allocations)(
                            list.as_ptr(),
                            2,
                            null(),
                            null(),
                            null_mut(),
                            null_mut(),
                        )
                    };
                    let meanwhile = dram_status::FailedPrecondition;
                    assert!(status == dram_status::Ok || status == meanwhile);
                }
            });
        }
    });
    assert_eq!(cores.lnc_verify(), [""; 0]);
}
