//! Writing pickles: the few values that a snapshot is made of.
//!
//! Protocol 2 (Python's *pickletools* describes it): a program for a stack machine, of which dicts,
//! lists, texts, whole numbers, booleans and pairs need a dozen instructions. Texts that were written
//! before are fetched from the machine's memory, and so is what the writer remembers by itself: the
//! calls of one instruction stand in many events.

use std::collections::BTreeMap;

/// Items between two instructions that append them. Readers put them on a stack in between, some as
/// the arguments of one call.
const BATCH: usize = 1000;

/// A pickle in the making.
pub(super) struct Pickler {
    out: Vec<u8>,
    texts: BTreeMap<String, u32>,
    remembered: u32,
}

/// A value that can be fetched again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remembered(u32);

impl Pickler {
    pub(super) fn new() -> Pickler {
        Pickler {
            out: vec![0x80, 2], // PROTO 2
            texts: BTreeMap::new(),
            remembered: 0,
        }
    }

    /// The whole pickle, of the one value that was written.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.out.push(b'.'); // STOP
        self.out
    }

    /// A dict: what `body` writes, each pair by [`Pickler::key`] and a value.
    pub(super) fn dict(&mut self, body: impl FnOnce(&mut Pickler)) {
        self.out.extend_from_slice(b"}("); // EMPTY_DICT, MARK
        body(self);
        self.out.push(b'u'); // SETITEMS
    }

    /// Starts a pair; the value comes next.
    pub(super) fn key(&mut self, key: &str) {
        self.text(key);
    }

    /// A list: what `each` writes for each item, one value.
    pub(super) fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut Pickler, T),
    ) {
        self.out.push(b']'); // EMPTY_LIST
        let mut open = 0;
        for item in items {
            if open == 0 {
                self.out.push(b'('); // MARK
            }
            each(self, item);
            open += 1;
            if open == BATCH {
                self.out.push(b'e'); // APPENDS
                open = 0;
            }
        }
        if open > 0 {
            self.out.push(b'e');
        }
    }

    /// A pair of numbers, as a tuple.
    pub(super) fn pair(&mut self, first: u64, second: u64) {
        self.number(first);
        self.number(second);
        self.out.push(0x86); // TUPLE2
    }

    pub(super) fn bool(&mut self, value: bool) {
        self.out.push(if value { 0x88 } else { 0x89 }); // NEWTRUE, NEWFALSE
    }

    /// The shortest instruction that holds the number.
    pub(super) fn number(&mut self, number: u64) {
        let bytes = number.to_le_bytes();
        match number {
            0..=0xff => self.instruction(b'K', &bytes[..1]), // BININT1
            0x100..=0xffff => self.instruction(b'M', &bytes[..2]), // BININT2
            0x1_0000..=0x7fff_ffff => self.instruction(b'J', &bytes[..4]), // BININT, signed
            _ => {
                // LONG1: two's complement, as short as the sign bit allows.
                let length = (64 - number.leading_zeros() as usize) / 8 + 1;
                self.instruction(0x8a, &[length as u8]);
                let known = length.min(bytes.len());
                self.out.extend_from_slice(&bytes[..known]);
                self.out.extend(std::iter::repeat_n(0, length - known));
            }
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        if let Some(&place) = self.texts.get(text) {
            return self.again(Remembered(place));
        }
        let length = u32::try_from(text.len()).expect("names are shorter than 4 GiB");
        self.instruction(b'X', &length.to_le_bytes()); // BINUNICODE
        self.out.extend_from_slice(text.as_bytes());
        let Remembered(place) = self.remember();
        self.texts.insert(text.to_owned(), place);
    }

    /// Remembers the value that was written last.
    pub(super) fn remember(&mut self) -> Remembered {
        let place = self.remembered;
        self.remembered += 1;
        match u8::try_from(place) {
            Ok(place) => self.instruction(b'q', &[place]), // BINPUT
            Err(_) => self.instruction(b'r', &place.to_le_bytes()), // LONG_BINPUT
        }
        Remembered(place)
    }

    /// Writes a remembered value again.
    pub(super) fn again(&mut self, Remembered(place): Remembered) {
        match u8::try_from(place) {
            Ok(place) => self.instruction(b'h', &[place]), // BINGET
            Err(_) => self.instruction(b'j', &place.to_le_bytes()), // LONG_BINGET
        }
    }

    fn instruction(&mut self, opcode: u8, argument: &[u8]) {
        self.out.push(opcode);
        self.out.extend_from_slice(argument);
    }
}
