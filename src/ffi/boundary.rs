//! The one door between C and Rust: statuses out, no panic past it. // C4, C8

use std::any::Any;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Once};

use super::error::{Failure, dram_error};
use super::handle::{self, Handle};
use super::status::dram_status;
use crate::error::Result;

/// How many handles a call takes without an allocation; lists of handles take more.
const FEW_HANDLES: usize = 4;

/// One call from C: the handles it has looked up, which a panic poisons.
#[derive(Default)]
pub(super) struct Call {
    used: [Option<Used>; FEW_HANDLES],
    more: Vec<Used>,
}

/// A handle, and how to poison one of its noun.
#[derive(Clone, Copy)]
struct Used {
    address: usize,
    poison: fn(usize),
}

impl Call {
    /// The object of a handle; null, stale, foreign, garbage and poisoned ones are errors.
    pub(super) fn get<H: Handle>(
        &mut self,
        handle: *const H,
        parameter: &'static str,
    ) -> Result<Arc<H::Object>> {
        let object = handle::healthy(handle, parameter)?;
        let used = Used {
            address: handle.addr(),
            poison: handle::poison::<H>,
        };
        match self.used.iter_mut().find(|used| used.is_none()) {
            Some(empty) => *empty = Some(used),
            None => self.more.push(used),
        }
        Ok(object)
    }

    fn poison(&self) {
        for used in self.used.iter().flatten().chain(&self.more) {
            (used.poison)(used.address);
        }
    }
}

/// Runs the body of an exported function and says how it went.
///
/// If `error` is not null it receives an owned error object on failure and null on success.
///
/// # Safety
///
/// `error` is null or writable.
pub(super) unsafe fn boundary(
    error: *mut *mut dram_error,
    body: impl FnOnce(&mut Call) -> Result<()>,
) -> dram_status {
    let mut body = Some(body);
    let mut once = |call: &mut Call| body.take().expect("it runs once")(call);
    // SAFETY: this function's contract.
    unsafe { guard(error, &mut once) }
}

/// The door itself, which is compiled once for all the functions that go through it.
///
/// # Safety
///
/// As for [`boundary`].
#[inline(never)]
unsafe fn guard(
    error: *mut *mut dram_error,
    body: &mut dyn FnMut(&mut Call) -> Result<()>,
) -> dram_status {
    let error = if error.is_aligned() {
        error
    } else {
        std::ptr::null_mut()
    };
    if !error.is_null() {
        // SAFETY: aligned, not null, and writable by this function's contract.
        unsafe { error.write(std::ptr::null_mut()) };
    }
    quiet_panics();
    let mut call = Call::default();
    let depth = DEPTH.get();
    DEPTH.set(depth + 1);
    let outcome = catch_unwind(AssertUnwindSafe(|| body(&mut call)));
    DEPTH.set(depth);
    let (status, failure) = match outcome {
        Ok(Ok(())) => return dram_status::Ok,
        Ok(Err(e)) => (dram_status::from(&e), Failure::of(e)),
        Err(payload) => {
            call.poison();
            (dram_status::Internal, Failure::internal(panicked(payload)))
        }
    };
    if !error.is_null() {
        // SAFETY: as above.
        unsafe { error.write(dram_error::registry().insert(Arc::new(failure))) };
    }
    status
}

thread_local! {
    /// How many calls from C this thread is inside of. No destructor: the library may be loaded
    /// and forgotten by threads that outlive its users.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Where the last panic inside a call happened, until `panicked` takes it.
    static PLACE: Cell<ManuallyDrop<Option<String>>> =
        const { Cell::new(ManuallyDrop::new(None)) };
}

/// Sees to it that a panic inside a call is not printed: it becomes the caller's error. // C7
fn quiet_panics() {
    static HOOK: Once = Once::new();
    if HOOK.is_completed() || std::thread::panicking() {
        return;
    }
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if DEPTH.get() == 0 {
                return previous(info); // A Rust host's own panic.
            }
            let place = info.location().map(ToString::to_string);
            drop(ManuallyDrop::into_inner(
                PLACE.replace(ManuallyDrop::new(place)),
            ));
        }));
    });
}

/// What a panic said, and where.
fn panicked(payload: Box<dyn Any + Send>) -> String {
    let said = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned());
    // A payload whose destructor panics must not get out either.
    std::mem::forget(catch_unwind(AssertUnwindSafe(|| drop(payload))));
    let place = ManuallyDrop::into_inner(PLACE.replace(ManuallyDrop::new(None)));
    let place = place.map_or(String::new(), |place| format!(" ({place})"));
    format!("internal error: {said}{place}")
}
