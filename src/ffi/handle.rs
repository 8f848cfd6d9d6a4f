//! Handles: pointers in name only, checked tokens in truth. // C3
//!
//! Answers one question: which object does this handle mean, if any? A handle's value holds the
//! noun's tag, the slot's generation and the slot's number. Nothing ever dereferences it; a stale,
//! foreign, null or made-up one is found out by comparing three numbers. The tags make every
//! token an address that no 64-bit processor in use today accepts, so a host that follows one by
//! mistake faults at once.
//!
//! Each noun has a registry of its own. Slots live in chunks that double in size and never move,
//! so a look-up takes no lock but the slot's own: two threads with two handles never wait for each
//! other.
//!
//! # Invariants
//!
//! * **generation**: a slot's generation grows when its object is removed, and a slot whose
//!   generation is used up is retired; so no token ever means two objects.

use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};

use crate::error::{Error, Fault, Result};

const _: () = assert!(size_of::<usize>() == 8, "a token needs 64 bits");

const SLOT_BITS: u32 = 32;
const GENERATION_BITS: u32 = 24;
const LAST_GENERATION: u32 = (1 << GENERATION_BITS) - 1;
const FIRST_CHUNK: usize = 64;
const CHUNKS: usize = 26; // 64 * (2^26 - 1) slots, just below 2^32.

/// A noun of the ABI: an opaque type whose pointers are tokens.
pub(super) trait Handle: Sized + 'static {
    /// What a token of this noun means.
    type Object: Object;
    /// The C name, for messages.
    const NAME: &'static str;
    /// Distinct per noun; the top bits 10 make the token no canonical address.
    const TAG: u8;
    /// Where its objects are.
    fn registry() -> &'static Registry<Self>;
}

/// What a handle stands for.
pub(super) trait Object: Send + Sync + 'static {
    /// Set once a panic may have left it half changed; `None` if no panic can. // C8
    fn poison(&self) -> Option<&AtomicBool>;
}

/// Made when first needed, never moved.
type Chunk<H> = OnceLock<Box<[RwLock<Slot<H>>]>>;

struct Slot<H: Handle> {
    generation: u32,
    object: Option<Arc<H::Object>>,
}

struct Free {
    slots: Vec<u32>,
    used: u32,
}

/// All objects of one noun.
pub(super) struct Registry<H: Handle> {
    chunks: [Chunk<H>; CHUNKS],
    free: Mutex<Free>,
}

impl<H: Handle> Registry<H> {
    /// An empty registry.
    pub(super) const fn new() -> Registry<H> {
        Registry {
            chunks: [const { OnceLock::new() }; CHUNKS],
            free: Mutex::new(Free {
                slots: Vec::new(),
                used: 0,
            }),
        }
    }

    fn slot(&self, number: u32) -> Option<&RwLock<Slot<H>>> {
        let (chunk, at) = position(number);
        self.chunks.get(chunk)?.get()?.get(at)
    }

    /// Registers an object and returns its token.
    pub(super) fn insert(&self, object: Arc<H::Object>) -> *mut H {
        let number = {
            let mut free = self.free.lock();
            free.slots.pop().unwrap_or_else(|| {
                let number = free.used;
                let (chunk, _) = position(number);
                assert!(chunk < CHUNKS, "fewer than 2^32 handles of one kind");
                self.chunks[chunk].get_or_init(|| {
                    let empty = || {
                        RwLock::new(Slot {
                            generation: 1,
                            object: None,
                        })
                    };
                    (0..FIRST_CHUNK << chunk).map(|_| empty()).collect()
                });
                free.used += 1;
                number
            })
        };
        let mut slot = self.slot(number).expect("its chunk was just made").write();
        debug_assert!(slot.object.is_none(), "a free slot is empty");
        slot.object = Some(object);
        token::<H>(slot.generation, number)
    }

    /// The object of a token. `parameter` names the argument in the error.
    pub(super) fn get(&self, handle: *const H, parameter: &'static str) -> Result<Arc<H::Object>> {
        let (generation, number) = parts(handle, parameter)?;
        if let Some(slot) = self.slot(number) {
            let slot = slot.read();
            if slot.generation == generation
                && let Some(object) = &slot.object
            {
                return Ok(Arc::clone(object));
            }
        }
        Err(stale::<H>(parameter))
    }

    /// Ends a token and returns its object, which others may still be using.
    pub(super) fn remove(
        &self,
        handle: *const H,
        parameter: &'static str,
    ) -> Result<Arc<H::Object>> {
        let (generation, number) = parts(handle, parameter)?;
        let slot = self.slot(number).ok_or_else(|| stale::<H>(parameter))?;
        let mut slot = slot.write();
        if slot.generation != generation {
            return Err(stale::<H>(parameter));
        }
        let object = slot.object.take().ok_or_else(|| stale::<H>(parameter))?;
        if slot.generation < LAST_GENERATION {
            slot.generation += 1;
            drop(slot);
            self.free.lock().slots.push(number);
        }
        Ok(object)
    }
}

fn position(number: u32) -> (usize, usize) {
    let chunk = (number as usize / FIRST_CHUNK + 1).ilog2() as usize;
    let start = ((1 << chunk) - 1) * FIRST_CHUNK;
    (chunk, number as usize - start)
}

fn token<H: Handle>(generation: u32, number: u32) -> *mut H {
    const { assert!(H::TAG >> 6 == 0b10, "a tag begins with the bits 10") };
    let tag = usize::from(H::TAG) << (SLOT_BITS + GENERATION_BITS);
    let address = tag | (generation as usize) << SLOT_BITS | number as usize;
    ptr::without_provenance_mut(address)
}

/// The generation and the slot's number that a handle claims.
fn parts<H: Handle>(handle: *const H, parameter: &'static str) -> Result<(u32, u32)> {
    let address = handle.addr();
    if address == 0 {
        return Err(Error::invalid(parameter, "is null"));
    }
    if address >> (SLOT_BITS + GENERATION_BITS) != usize::from(H::TAG) {
        return Err(Error::invalid(
            parameter,
            format!("is not a {} handle", H::NAME),
        ));
    }
    let generation = (address >> SLOT_BITS) as u32 & LAST_GENERATION;
    Ok((generation, address as u32))
}

fn stale<H: Handle>(parameter: &'static str) -> Error {
    let reason = format!("is a {} handle that no longer exists", H::NAME);
    Error::invalid(parameter, reason)
}

/// The object of a handle, unless a panic has poisoned it.
pub(super) fn healthy<H: Handle>(
    handle: *const H,
    parameter: &'static str,
) -> Result<Arc<H::Object>> {
    let object = H::registry().get(handle, parameter)?;
    if let Some(poison) = object.poison()
        && poison.load(Ordering::Relaxed)
    {
        let sentence =
            format!("{parameter}: an internal error has poisoned it; it can only be freed");
        return Err(Fault::FailedPrecondition(sentence).into());
    }
    Ok(object)
}

/// Marks the object of a handle as unusable, if it still exists.
pub(super) fn poison<H: Handle>(address: usize) {
    let handle = ptr::without_provenance::<H>(address);
    if let Ok(object) = H::registry().get(handle, "")
        && let Some(poison) = object.poison()
    {
        poison.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Toy;
    struct Value(u32);
    impl Object for Value {
        fn poison(&self) -> Option<&AtomicBool> {
            None
        }
    }
    static TOYS: Registry<Toy> = Registry::new();
    impl Handle for Toy {
        type Object = Value;
        const NAME: &'static str = "toy";
        const TAG: u8 = 0x80;
        fn registry() -> &'static Registry<Toy> {
            &TOYS
        }
    }

    #[test]
    fn slots_fill_their_chunks_without_gap_or_overlap() {
        let mut want = (0, 0);
        for number in 0..10_000 {
            assert_eq!(position(number), want);
            want.1 += 1;
            if want.1 == FIRST_CHUNK << want.0 {
                want = (want.0 + 1, 0);
            }
        }
        // The last numbers have no chunk: `insert` stops there, `get` finds nothing.
        assert_eq!(position(u32::MAX).0, CHUNKS);
    }

    #[test]
    fn a_token_means_one_object_for_ever() {
        let registry: Registry<Toy> = Registry::new();
        let mut tokens = Vec::new();
        for i in 0..1000 {
            tokens.push(registry.insert(Arc::new(Value(i))));
        }
        for (i, &token) in tokens.iter().enumerate() {
            assert_eq!(registry.get(token, "toy").unwrap().0, i as u32);
        }
        for &token in &tokens {
            registry.remove(token, "toy").unwrap();
            assert!(registry.get(token, "toy").is_err());
            assert!(registry.remove(token, "toy").is_err());
        }
        let again = registry.insert(Arc::new(Value(7)));
        assert!(!tokens.contains(&again));
        assert!(tokens.iter().all(|&t| registry.get(t, "toy").is_err()));
    }

    #[test]
    fn a_slot_is_retired_with_its_last_generation() {
        let registry: Registry<Toy> = Registry::new();
        let first = registry.insert(Arc::new(Value(0)));
        registry.slot(0).unwrap().write().generation = LAST_GENERATION;
        let last = token::<Toy>(LAST_GENERATION, 0);
        assert!(registry.get(first, "toy").is_err());
        registry.remove(last, "toy").unwrap();
        assert!(registry.get(last, "toy").is_err());
        let next = registry.insert(Arc::new(Value(1)));
        assert_eq!(next.addr() as u32, 1, "slot 0 is not used again");
    }

    #[test]
    fn made_up_tokens_mean_nothing() {
        let registry: Registry<Toy> = Registry::new();
        let real = registry.insert(Arc::new(Value(0))).addr();
        for bit in 0..64 {
            let toy = ptr::without_provenance::<Toy>(real ^ (1 << bit));
            assert!(registry.get(toy, "toy").is_err(), "bit {bit}");
        }
        for address in [1, 8, 0x7fff_dead_beef, usize::MAX, usize::MAX - 7] {
            let toy = ptr::without_provenance::<Toy>(address);
            assert!(registry.get(toy, "toy").is_err(), "{address:#x}");
        }
    }

    #[test]
    fn threads_may_come_and_go_at_once() {
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    for round in 0..2000 {
                        let value = thread * 10_000 + round;
                        let token = TOYS.insert(Arc::new(Value(value)));
                        assert_eq!(TOYS.get(token, "toy").unwrap().0, value);
                        assert_eq!(TOYS.remove(token, "toy").unwrap().0, value);
                        assert!(TOYS.get(token, "toy").is_err());
                    }
                });
            }
        });
    }
}
