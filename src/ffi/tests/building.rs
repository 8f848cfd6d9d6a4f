//! Programs built through the table: the easy way, the bulk way, and what is refused.

use std::ptr::{null, null_mut};

use super::super::error::{DRAM_UNKNOWN, dram_error_info};
use super::super::function::dram_function_info;
use super::super::instruction::{
    dram_argument, dram_in_place, dram_instruction_columns, dram_instruction_desc, dram_operand,
};
use super::super::interval_tree::dram_interval_tree;
use super::super::memloc::{
    DRAM_NO_ADDRESS, dram_memloc_desc, dram_memloc_flag, dram_memloc_info, dram_usage,
};
use super::super::module::dram_module_info;
use super::super::status::dram_status;
use super::super::text::dram_str;
use super::{Host, api, fails, ok, sized};

fn info(host: &Host, memloc: u32) -> dram_memloc_info {
    let mut info = sized();
    // SAFETY: the output is a local.
    ok(|e| unsafe { (api().function_memloc)(host.function, memloc, &mut info, e) });
    info
}

#[test]
fn a_location_comes_back_as_it_was_described() {
    let host = Host::new();
    let root = host.memloc("root", 100);
    let view = dram_memloc_desc {
        flags: dram_memloc_flag::View as u32 | dram_memloc_flag::Escapes as u32,
        alias_of: root,
        offset: 60,
        cookie: 77,
        ..sized()
    };
    let pinned = dram_memloc_desc {
        name: dram_str::of("pinned"),
        element_count: 10,
        element_size: 4,
        usage: dram_usage::Weight as u32,
        flags: dram_memloc_flag::Pinned as u32,
        address: 4096,
        align: 64,
        ..sized()
    };
    let mut id = 0;
    let mut found = 0;
    let mut addresses = [0; 3];
    let mut cookies = [1; 3];
    // SAFETY: structs, arrays and outputs are locals.
    unsafe {
        ok(|e| (api().function_add_memloc)(host.function, &view, &mut id, e));
        assert_eq!(id, 1);
        ok(|e| (api().function_add_memloc)(host.function, &pinned, &mut id, e));
        let name = dram_str::of("pinned");
        ok(|e| (api().function_find_memloc)(host.function, name, &mut found, e));
        assert_eq!((id, found), (2, 2));
        ok(|e| (api().function_addresses)(host.function, addresses.as_mut_ptr(), 3, e));
        ok(|e| (api().function_cookies)(host.function, cookies.as_mut_ptr(), 3, e));
    }
    assert_eq!(addresses, [DRAM_NO_ADDRESS, DRAM_NO_ADDRESS, 4096]);
    assert_eq!(cookies, [0, 77, 0]);
    let view = info(&host, 1);
    assert_eq!((view.bytes, view.root, view.root_offset), (40, root, 60));
    assert_eq!((view.flags, view.cookie), (6, 77));
    let pinned = info(&host, 2);
    assert_eq!((pinned.bytes, pinned.address, pinned.align), (40, 4096, 64));
    assert_eq!((pinned.usage, pinned.flags, pinned.root), (4, 1, 2));
}

#[test]
fn values_without_their_flag_and_unknown_values_are_refused() {
    let host = Host::new();
    let base = || dram_memloc_desc {
        bytes: 8,
        ..sized()
    };
    let text = dram_str::of("x");
    #[rustfmt::skip]
    let cases = [
        ("address", dram_memloc_desc { address: 1, ..base() }),
        ("offset", dram_memloc_desc { offset: 1, ..base() }),
        ("alias_of", dram_memloc_desc { alias_of: 1, ..base() }),
        ("remote_name", dram_memloc_desc { remote_name: text, ..base() }),
        ("remote_core", dram_memloc_desc { remote_core: 1, ..base() }),
        ("flags", dram_memloc_desc { flags: 32, ..base() }),
        ("reserved", dram_memloc_desc { reserved: 1, ..base() }),
        ("memory", dram_memloc_desc { memory: 4, ..base() }),
        ("space", dram_memloc_desc { space: 3, ..base() }),
        ("usage", dram_memloc_desc { usage: 6, ..base() }),
        ("align", dram_memloc_desc { align: 3, ..base() }),
        ("both sizes", dram_memloc_desc { element_size: 1, ..base() }),
        ("half a size", dram_memloc_desc { element_count: 1, bytes: 0, ..base() }),
        ("unknown size", dram_memloc_desc { flags: 16, ..base() }),
        ("reach", dram_memloc_desc { reach_count: 1, ..base() }),
        ("name", dram_memloc_desc { name: dram_str { data: null(), len: 1 }, ..base() }),
        ("small", dram_memloc_desc { struct_size: 8, ..base() }),
        ("huge", dram_memloc_desc { struct_size: usize::MAX, ..base() }),
    ];
    for (name, desc) in cases {
        let mut id = 9;
        // SAFETY: refused before anything that is not there is read.
        let said = fails(dram_status::InvalidArgument, |e| unsafe {
            (api().function_add_memloc)(host.function, &desc, &mut id, e)
        });
        assert_eq!(id, 0, "{name}: {said}");
    }
    let mut count: dram_function_info = sized();
    // SAFETY: the output is a local.
    ok(|e| unsafe { (api().function_get)(host.function, &mut count, e) });
    assert_eq!(count.memloc_count, 0);
}

#[test]
fn a_refused_array_adds_nothing() {
    let host = Host::new();
    let good = dram_memloc_desc {
        bytes: 8,
        ..sized()
    };
    let bad = dram_memloc_desc { align: 3, ..good };
    let other_size = dram_memloc_desc {
        struct_size: good.struct_size + 8,
        ..good
    };
    let mut first = 9;
    // SAFETY: arrays and outputs are locals; the odd size is refused before it is relied on.
    unsafe {
        let add = api().function_add_memlocs;
        for array in [[good, bad], [good, other_size]] {
            fails(dram_status::InvalidArgument, |e| {
                add(host.function, array.as_ptr(), 2, &mut first, e)
            });
        }
        ok(|e| add(host.function, null(), 0, &mut first, e));
        assert_eq!(first, 0);
        ok(|e| add(host.function, [good, good].as_ptr(), 2, &mut first, e));
        ok(|e| add(host.function, [good].as_ptr(), 1, &mut first, e));
        assert_eq!(first, 2);
    }
}

#[test]
fn columns_build_what_single_calls_build() {
    let (one, bulk) = (Host::new(), Host::new());
    for host in [&one, &bulk] {
        for name in ["a", "b", "c"] {
            host.memloc(name, 64);
        }
    }
    let operand = |memloc, offset, bytes| dram_operand {
        memloc,
        reserved: 0,
        offset,
        bytes,
    };
    let pair = [dram_in_place { used: 1, def: 2 }];
    let loaded = [operand(0, 0, 0)];
    let (uses, defs) = ([operand(0, 8, 16)], [operand(1, 0, 0)]);
    let (uses_2, defs_2) = ([operand(1, 0, 0), operand(0, 0, 0)], [operand(2, 0, 0)]);
    let descs = [
        dram_instruction_desc {
            op: dram_str::of("load"),
            defs: loaded.as_ptr(),
            def_count: 1,
            engine: 1,
            kind: 1,
            ..sized()
        },
        dram_instruction_desc {
            op: dram_str::of("add"),
            uses: uses.as_ptr(),
            use_count: 1,
            defs: defs.as_ptr(),
            def_count: 1,
            ..sized()
        },
        dram_instruction_desc {
            op: dram_str::of("add"),
            uses: uses_2.as_ptr(),
            use_count: 2,
            defs: defs_2.as_ptr(),
            def_count: 1,
            in_place: pair.as_ptr(),
            in_place_count: 1,
            ..sized()
        },
    ];
    let table = [dram_str::of("load"), dram_str::of("add")];
    let columns = dram_instruction_columns {
        count: 3,
        op_table: table.as_ptr(),
        op_table_count: 2,
        ops: [0, 1, 1].as_ptr(),
        kinds: [1, 0, 0].as_ptr(),
        engines: [1, 0, 0].as_ptr(),
        use_starts: [0, 0, 1, 3].as_ptr(),
        uses: [0, 1, 0].as_ptr(),
        use_offsets: [8, 0, 0].as_ptr(),
        use_bytes: [16, 0, 0].as_ptr(),
        def_starts: [0, 1, 2, 3].as_ptr(),
        defs: [0, 1, 2].as_ptr(),
        in_place_starts: [0, 0, 0, 1].as_ptr(),
        in_place: pair.as_ptr(),
        ..sized()
    };
    let mut index = 9;
    // SAFETY: structs, their lists and the outputs are locals or static.
    unsafe {
        for (i, desc) in descs.iter().enumerate() {
            ok(|e| (api().function_add_instruction)(one.function, desc, &mut index, e));
            assert_eq!(index, i as u32);
        }
        ok(|e| (api().function_add_instructions)(bulk.function, &columns, &mut index, e));
        assert_eq!(index, 0);
    }
    assert_eq!(program(&one), program(&bulk));
}

/// The program behind a host's handle.
fn program(host: &Host) -> crate::ir::Program {
    let object = super::super::handle::healthy(host.program, "program").unwrap();
    (*object.snapshot()).clone()
}

#[test]
fn odd_columns_are_refused_whole() {
    let host = Host::new();
    host.memloc("a", 64);
    let base = || dram_instruction_columns {
        count: 2,
        ..sized()
    };
    let (falling, late, two) = ([0u32, 2, 1], [1u32, 1, 1], [0u32, 1, 2]);
    let (unknown, calls) = ([0u32, 7], [0u32, 3]);
    #[rustfmt::skip]
    let cases = [
        ("falling", dram_status::InvalidArgument, dram_instruction_columns { use_starts: falling.as_ptr(), ..base() }),
        ("late", dram_status::InvalidArgument, dram_instruction_columns { def_starts: late.as_ptr(), ..base() }),
        ("no uses", dram_status::InvalidArgument, dram_instruction_columns { use_starts: two.as_ptr(), ..base() }),
        ("ops", dram_status::OutOfRange, dram_instruction_columns { ops: unknown.as_ptr(), ..base() }),
        ("calls", dram_status::InvalidArgument, dram_instruction_columns { kinds: calls.as_ptr(), ..base() }),
        ("kinds", dram_status::InvalidArgument, dram_instruction_columns { kinds: unknown.as_ptr(), ..base() }),
        ("count", dram_status::InvalidArgument, dram_instruction_columns { count: usize::MAX, ..base() }),
        ("location", dram_status::OutOfRange, dram_instruction_columns { use_starts: two.as_ptr(), uses: unknown.as_ptr(), ..base() }),
    ];
    for (name, want, columns) in cases {
        let mut first = 9;
        // SAFETY: the lists are locals, or refused before they are read.
        let said = fails(want, |e| unsafe {
            (api().function_add_instructions)(host.function, &columns, &mut first, e)
        });
        assert_eq!(first, 0, "{name}: {said}");
    }
    assert_eq!(
        program(&host).modules()[0].functions()[0]
            .instructions()
            .len(),
        0
    );
}

#[test]
fn calls_and_barriers_carry_what_is_theirs() {
    let host = Host::new();
    let a = host.memloc("a", 64);
    let binding = [dram_argument {
        callee: dram_str::of("in"),
        caller: a,
        reserved: 0,
    }];
    let call = dram_instruction_desc {
        kind: 3,
        callee: dram_str::of("f"),
        args: binding.as_ptr(),
        arg_count: 1,
        ..sized()
    };
    let barrier = dram_instruction_desc {
        kind: 4,
        has_id: 1,
        id: 0,
        ..sized()
    };
    let mut index = 0;
    // SAFETY: structs, their lists and the output are locals.
    unsafe {
        let add = api().function_add_instruction;
        ok(|e| add(host.function, &call, &mut index, e));
        ok(|e| add(host.function, &barrier, &mut index, e));
        for bad in [
            dram_instruction_desc { kind: 3, ..sized() },
            dram_instruction_desc { kind: 9, ..sized() },
            dram_instruction_desc { id: 1, ..sized() },
            dram_instruction_desc {
                has_id: 2,
                ..barrier
            },
            dram_instruction_desc {
                reserved: 1,
                ..barrier
            },
        ] {
            fails(dram_status::InvalidArgument, |e| {
                add(host.function, &bad, &mut index, e)
            });
        }
    }
    let program = program(&host);
    let function = &program.modules()[0].functions()[0];
    let [call, barrier] = [0, 1].map(crate::ir::FlatIndex);
    assert_eq!(function.symbol(function.callee(call).unwrap()), "f");
    assert_eq!(function.args(call)[0].caller.0, a);
    assert_eq!(function.barrier_id(barrier), Some(0));
}

#[test]
fn an_error_says_where_as_data() {
    let host = Host::new();
    let a = host.memloc("a", 64);
    let long = dram_operand {
        memloc: a,
        reserved: 0,
        offset: 60,
        bytes: 5,
    };
    let desc = dram_instruction_desc {
        uses: &raw const long,
        use_count: 1,
        ..sized()
    };
    let (mut error, mut index) = (null_mut(), 9);
    let mut said: dram_error_info = sized();
    // SAFETY: structs and outputs are locals; text is read before the error is freed.
    unsafe {
        let add = api().function_add_instruction;
        let status = add(host.function, &desc, &mut index, &mut error);
        assert_eq!(status, dram_status::OutOfRange);
        assert_eq!((api().error_get)(error, &mut said), dram_status::Ok);
        assert_eq!(said.location.read("").unwrap(), "a");
        assert_eq!(said.function.read("").unwrap(), "main");
        assert!(said.message.read("").unwrap().contains("60"));
        (api().error_free)(error);
    }
    assert_eq!((said.core, said.instruction, said.status), (0, 0, 11));
    assert_eq!((said.has_no_room, DRAM_UNKNOWN), (0, u32::MAX));
}

#[test]
fn children_are_found_again_under_the_same_handle_and_die_with_their_parent() {
    let host = Host::new();
    let (mut module, mut function) = (null_mut(), null_mut());
    let mut about: dram_module_info = sized();
    let mut block = 0;
    // SAFETY: outputs are locals, text is static; any handle may be given.
    unsafe {
        ok(|e| (api().program_module)(host.program, 0, &mut module, e));
        assert_eq!(module, host.module);
        ok(|e| (api().program_find_module)(host.program, 0, &mut module, e));
        assert_eq!(module, host.module);
        fails(dram_status::NotFound, |e| {
            (api().program_find_module)(host.program, 1, &mut module, e)
        });
        assert!(module.is_null());
        ok(|e| (api().module_function)(host.module, 0, &mut function, e));
        assert_eq!(function, host.function);
        let name = dram_str::of("main");
        ok(|e| (api().module_find_function)(host.module, name, &mut function, e));
        assert_eq!(function, host.function);
        ok(|e| (api().module_get)(host.module, &mut about, e));
        assert_eq!(
            (about.name.read("").unwrap(), about.function_count),
            ("m", 1)
        );
        let twice = |e| (api().module_add_function)(host.module, name, &mut function, e);
        fails(dram_status::AlreadyExists, twice);
        let twice = |e| (api().program_add_module)(host.program, name, 0, &mut module, e);
        fails(dram_status::AlreadyExists, twice);
        assert_eq!((api().context_free)(host.context), dram_status::Ok);
        let none = dram_str::EMPTY;
        let add_block = |e| (api().function_add_block)(host.function, none, &mut block, e);
        let said = fails(dram_status::InvalidArgument, add_block);
        assert!(said.contains("no longer exists"), "{said}");
        assert_eq!(
            (api().program_free)(host.program),
            dram_status::InvalidArgument
        );
    }
}

#[test]
fn blocks_are_numbered_and_know_where_control_goes() {
    let host = Host::new();
    let mut block = 9;
    // SAFETY: outputs and arrays are locals, text is static.
    unsafe {
        for (want, name) in ["entry", "loop", "exit"].into_iter().enumerate() {
            let name = dram_str::of(name);
            ok(|e| (api().function_add_block)(host.function, name, &mut block, e));
            assert_eq!(block, want as u32);
        }
        let succs = api().function_set_successors;
        ok(|e| succs(host.function, 0, [1].as_ptr(), 1, e));
        ok(|e| succs(host.function, 1, [1, 2].as_ptr(), 2, e));
        ok(|e| succs(host.function, 2, null(), 0, e));
        fails(dram_status::OutOfRange, |e| {
            succs(host.function, 3, null(), 0, e)
        });
        fails(dram_status::OutOfRange, |e| {
            succs(host.function, 0, [3].as_ptr(), 1, e)
        });
        fails(dram_status::InvalidArgument, |e| {
            succs(host.function, 0, null(), 1, e)
        });
    }
}

#[test]
fn the_interval_tree_stands_for_itself() {
    let (lo, hi) = ([0, 5, 2, 9], [4, 9, 5, 9]);
    let mut tree: *mut dram_interval_tree = null_mut();
    let mut found = [99; 2];
    let mut count = 0;
    // SAFETY: arrays and outputs are locals.
    unsafe {
        let new = api().interval_tree_new;
        ok(|e| new(lo.as_ptr(), hi.as_ptr(), 4, &mut tree, e));
        let overlaps = api().interval_tree_overlaps;
        ok(|e| overlaps(tree, 2, found.as_mut_ptr(), 2, &mut count, e));
        assert_eq!((count, found), (2, [0, 1]));
        let with = api().interval_tree_overlaps_with_interval;
        ok(|e| with(tree, 0, 9, found.as_mut_ptr(), 1, &mut count, e));
        assert_eq!((count, found), (4, [0, 1]), "there are more than fit");
        ok(|e| with(tree, 3, 2, null_mut(), 0, &mut count, e));
        assert_eq!(count, 0);
        fails(dram_status::OutOfRange, |e| {
            overlaps(tree, 4, null_mut(), 0, &mut count, e)
        });
        (api().interval_tree_free)(tree);
        fails(dram_status::InvalidArgument, |e| {
            new(hi.as_ptr(), lo.as_ptr(), 4, &mut tree, e)
        });
    }
}

#[test]
fn threads_may_build_functions_of_one_program_at_once() {
    let host = Host::new();
    let module = host.module.addr();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let module = std::ptr::without_provenance_mut(module);
                let mut function = null_mut();
                let name = format!("f{thread}");
                let desc = dram_memloc_desc {
                    bytes: 8,
                    ..sized()
                };
                let mut id = 0;
                // SAFETY: outputs, text and structs are locals.
                unsafe {
                    let name = dram_str::of(&name);
                    ok(|e| (api().module_add_function)(module, name, &mut function, e));
                    for want in 0..500 {
                        ok(|e| (api().function_add_memloc)(function, &desc, &mut id, e));
                        assert_eq!(id, want);
                    }
                }
            });
        }
    });
    let counts: Vec<usize> = program(&host).modules()[0]
        .functions()
        .iter()
        .map(|f| f.memlocs().len())
        .collect();
    assert_eq!(counts, [0, 500, 500, 500, 500]);
}
