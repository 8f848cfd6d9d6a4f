//! Several modules at once, of one program or of several: what the cores have to agree on. // M3, M5
//!
//! Cores may be compiled apart, each into a program of its own. These calls take the modules of
//! all cores as a list of handles, look at them as they are when the call begins, and write into
//! all of them or into none.

use std::borrow::Cow;
use std::ffi::c_char;
use std::ptr;
use std::sync::Arc;

use super::boundary::{Call, boundary};
use super::context::dram_log_level;
use super::error::dram_error;
use super::handle::Handle;
use super::module::{ModuleObject, dram_module};
use super::options::{self, code, dram_control, dram_options};
use super::plan::{PlanObject, dram_plan};
use super::program::{Seen, change_modules, log_plan};
use super::report::{self, dram_report};
use super::status::dram_status;
use super::structs::{Out, OutStruct, Versioned};
use super::text::{slice, slice_mut};
use crate::error::{Error, Result};
use crate::ir::{self, Space};
use crate::planner::space_metrics;
use crate::shared::{agree, check_digests, core_digests};
use crate::verify::lnc_verify_with;

/// Characters of a digest.
const DIGEST_LEN: usize = 32;

/// What the copying of shared addresses did.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_sync_info {
    /// Set by the caller: `sizeof(dram_sync_info)`.
    pub struct_size: usize,
    /// How many groups of shared locations have an address.
    pub groups: u64,
    /// How many locations were given theirs; 0 when all agreed already.
    pub assigned: u64,
    /// The digest of what was agreed: 32 hexadecimal digits, NUL-terminated.
    pub digest: [c_char; 40],
}

// SAFETY: integers, without padding (asserted in `layout`).
unsafe impl Versioned for dram_sync_info {
    const FIRST_SIZE: usize = 64;
}

/// What one core holds the addresses of all shared locations to be, as a fingerprint.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dram_digest {
    /// The core.
    pub core: u32,
    /// 32 hexadecimal digits, NUL-terminated.
    pub text: [c_char; 36],
}

/// Modules as a call saw them when it began.
struct Modules {
    objects: Vec<Arc<ModuleObject>>,
    /// Each program once.
    seen: Vec<Seen>,
    /// By module: which program of `seen`, and the position there.
    places: Vec<(usize, usize)>,
}

impl Modules {
    /// # Safety
    ///
    /// `modules` is null or readable for `count` elements.
    unsafe fn read(
        modules: *const *mut dram_module,
        count: usize,
        call: &mut Call,
    ) -> Result<Modules> {
        // SAFETY: this function's contract.
        let handles = unsafe { slice(modules, count, "modules")? };
        let mut all = Modules {
            objects: Vec::with_capacity(count),
            seen: Vec::new(),
            places: Vec::with_capacity(count),
        };
        for &handle in handles {
            let module = call.get(handle, "modules")?;
            let known = |seen: &Seen| Arc::ptr_eq(&seen.program, &module.program);
            let program = all.seen.iter().position(known).unwrap_or_else(|| {
                all.seen.push(module.program.seen());
                all.seen.len() - 1
            });
            all.places.push((program, module.position));
            all.objects.push(module);
        }
        Ok(all)
    }

    fn each(&self) -> Vec<&ir::Module> {
        let places = self.places.iter();
        places
            .map(|&(p, m)| &self.seen[p].value.modules()[m])
            .collect()
    }

    /// The modules in one array: that of their program if they are all of it, else copies.
    fn array(&self) -> Cow<'_, [ir::Module]> {
        if let [seen] = &self.seen[..] {
            let modules = seen.value.modules();
            let in_order = (0..modules.len()).map(|m| (0, m));
            if self.places.iter().copied().eq(in_order) {
                return Cow::Borrowed(modules);
            }
        }
        self.each().into_iter().cloned().collect()
    }

    /// Writes into all modules, or into none if one has changed since.
    fn change(self, body: impl FnMut(usize, &mut ir::Module)) -> Result<()> {
        change_modules(self.seen, &self.places, body)
    }
}

/// The allocator over modules of one program or of several, one per core: gives every candidate of
/// one space an address, all or none. What an earlier allocation placed in that space is placed
/// anew; the other spaces stay, and a core's capacity is what they leave of it.
///
/// `modules`, `count`: one module per core, in any order, with all that their links name. `space`:
/// a `dram_space`. `DRAM_SPACE_LOCAL` and `DRAM_SPACE_DEBUG` run in private mode, module by module;
/// `DRAM_SPACE_SHARED` runs in shared mode, jointly: each group is placed once, on its owner, and
/// its followers have no address before `dram_modules_sync_shared_allocations`. `options`,
/// `control`: null for the defaults. `plan_out`: null, or receives the plan of these modules and
/// this space; free it with `dram_plan_free`.
///
/// A change of one of the modules meanwhile makes the call fail with
/// `DRAM_STATUS_FAILED_PRECONDITION`. No placement: as for `dram_program_plan`. A failed call
/// changes nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_modules_allocate(
    modules: *const *mut dram_module,
    count: usize,
    space: u32,
    options: *const dram_options,
    control: *const dram_control,
    plan_out: *mut *mut dram_plan,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let plan_out = unsafe { Out::optional(plan_out, ptr::null_mut(), "plan_out")? };
        // SAFETY: as this function's parameters say.
        let modules = unsafe { Modules::read(modules, count, call)? };
        let space = code("space", space, Space::from_code)?;
        // SAFETY: as this function's parameters say.
        let (options, watch) = unsafe { options::read(options, control, call)? };
        let plan = {
            let array = modules.array();
            watch.run(&options, |control| {
                crate::plan_space(&array, space, &options, control)
            })?
        };
        let objects = modules.objects.clone();
        modules.change(|m, module| {
            crate::apply_space(&plan, m, module, space);
            objects[m].set_metrics(space_metrics(&plan, m, module, space));
        })?;
        if let Some(first) = objects.first() {
            log_plan(&first.program.context, space.name(), &plan);
        }
        if let Some(plan_out) = plan_out {
            plan_out.set(dram_plan::registry().insert(Arc::new(PlanObject::new(plan))));
        }
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Gives every copy of a shared location the address, partition and bank of its owner, over modules
/// of one program or of several: all or none. Calling it again changes nothing; with one module
/// there is nothing to do.
///
/// `modules`, `count`: one module per core, in any order, with all that their links name.
/// `options`: null, or says the usages that are given addresses, and nothing else counts;
/// `control`: null, or says what else is shared: as in the allocation. `info_out`: null, or set its
/// `struct_size`, the call fills the rest; all 0 on failure.
///
/// A link that leads nowhere, copies of different sizes, different pins, two copies on one core, a
/// group that is placed nowhere: `DRAM_STATUS_INVALID_ARGUMENT`, and the error has both sides. A
/// change of one of the modules meanwhile: `DRAM_STATUS_FAILED_PRECONDITION`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_modules_sync_shared_allocations(
    modules: *const *mut dram_module,
    count: usize,
    options: *const dram_options,
    control: *const dram_control,
    info_out: *mut dram_sync_info,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let info_out = unsafe { OutStruct::optional(info_out, "info_out")? };
        // SAFETY: as this function's parameters say.
        let modules = unsafe { Modules::read(modules, count, call)? };
        // SAFETY: as this function's parameters say.
        let (options, watch) = unsafe { options::read(options, control, call)? };
        let agreement =
            watch.prove(|control| agree(&modules.each(), options.usage_mask, control.shared))?;
        let context = modules
            .objects
            .first()
            .map(|m| Arc::clone(&m.program.context));
        modules.change(|m, module| agreement.write(m, module))?;
        let report = &agreement.report;
        if let Some(context) = context {
            for note in &report.notes {
                context.log(dram_log_level::Warning, || note.clone());
            }
        }
        if let Some(info_out) = info_out {
            info_out.set(dram_sync_info {
                struct_size: 0,
                groups: report.groups,
                assigned: report.assigned,
                digest: terminated(&report.digest),
            });
        }
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// What each core holds the addresses of all shared locations to be, as a digest: its own copy's
/// address where it has a copy, the agreed one elsewhere. Equal for all cores if all copies are.
/// Digests of cores that are compiled in different processes can be exchanged and compared.
///
/// `modules`, `count`, `options`, `control`: as for `dram_modules_sync_shared_allocations`.
/// `digests`: an array of `count` elements, filled in the order of `modules`; all 0 on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_modules_digests(
    modules: *const *mut dram_module,
    count: usize,
    options: *const dram_options,
    control: *const dram_control,
    digests: *mut dram_digest,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameters say.
        let digests = unsafe { slice_mut(digests, count, "digests")? };
        digests.fill(dram_digest {
            core: 0,
            text: [0; 36],
        });
        // SAFETY: as this function's parameters say.
        let modules = unsafe { Modules::read(modules, count, call)? };
        // SAFETY: as this function's parameters say.
        let (options, watch) = unsafe { options::read(options, control, call)? };
        let found = watch
            .prove(|control| core_digests(&modules.each(), options.usage_mask, control.shared))?;
        for (out, (core, digest)) in digests.iter_mut().zip(found) {
            *out = dram_digest {
                core,
                text: terminated(&digest),
            };
        }
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// Compares digests: cores that differ are `DRAM_STATUS_FAILED_PRECONDITION`, and the error names
/// them all. None, or one, agrees.
///
/// `digests`, `count`: as `dram_modules_digests` fills them, perhaps by another process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_digests_check(
    digests: *const dram_digest,
    count: usize,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |_: &mut Call| {
        // SAFETY: as this function's parameters say.
        let digests = unsafe { slice(digests, count, "digests")? };
        let read = |digest: &dram_digest| Ok((digest.core, text(digest)?));
        let digests: Vec<(u32, String)> = digests.iter().map(read).collect::<Result<_>>()?;
        check_digests(digests.iter().map(|(core, text)| (*core, text.as_str())))
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// The core verifier: checks, without a plan, what modules have stored. Every copy of a shared
/// location lies where its owner does, in the same partition and bank, and is marked; nothing else
/// is marked; every candidate that is used has an address.
///
/// `modules`, `count`, `options`, `control`: as for `dram_modules_sync_shared_allocations`. Succeeds
/// also when something is wrong: that stands in the report, which is empty if the cores agree. Free
/// it with `dram_report_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dram_modules_lnc_verify(
    modules: *const *mut dram_module,
    count: usize,
    options: *const dram_options,
    control: *const dram_control,
    report_out: *mut *mut dram_report,
    error: *mut *mut dram_error,
) -> dram_status {
    let body = |call: &mut Call| {
        // SAFETY: as this function's parameter says.
        let report_out = unsafe { Out::new(report_out, ptr::null_mut(), "report_out")? };
        // SAFETY: as this function's parameters say.
        let modules = unsafe { Modules::read(modules, count, call)? };
        // SAFETY: as this function's parameters say.
        let (options, watch) = unsafe { options::read(options, control, call)? };
        let violations = watch.prove(|control| {
            let modules = modules.each();
            lnc_verify_with(&modules, options.usage_mask, control)
        })?;
        report_out.set(report::hand_out(violations, Vec::new()));
        Ok(())
    };
    // SAFETY: as this function's parameter says.
    unsafe { boundary(error, body) }
}

/// A digest's text as an array; what is left is 0.
fn terminated<const N: usize>(text: &str) -> [c_char; N] {
    let mut out = [0; N];
    for (out, byte) in out.iter_mut().zip(text.bytes().take(N - 1)) {
        *out = byte as c_char; // ASCII.
    }
    out
}

/// The text of a digest that a host handed in.
fn text(digest: &dram_digest) -> Result<String> {
    let bytes = digest.text.map(|c| c as u8);
    let is_digit = |b: &u8| b.is_ascii_digit() || (b'a'..=b'f').contains(b);
    let (digits, rest) = bytes.split_at(DIGEST_LEN);
    if !digits.iter().all(is_digit) || rest[0] != 0 {
        let reason = format!("its text is not {DIGEST_LEN} hexadecimal digits in lower case");
        return Err(Error::invalid("digests", reason).on_core(digest.core));
    }
    Ok(digits.iter().map(|&b| char::from(b)).collect())
}
