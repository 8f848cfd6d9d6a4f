//! A fingerprint of what the cores have agreed on. // M10
//!
//! SipHash-2-4 with 128 bits of output and a zero key (Aumasson and Bernstein, *SipHash: a fast
//! short-input PRF*, 2012), over the placed groups in owner order. Of each group: the owner's
//! core, the function's name, the owner's name, the address, the bytes. Every field is preceded
//! by its length in bytes; lengths and numbers are 64-bit little-endian. The digest is written as
//! 32 hexadecimal digits, first byte first.

use std::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher24};

/// What the digest covers of one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed<'a> {
    /// The owner's core.
    pub core: u32,
    /// The function's name.
    pub function: &'a str,
    /// The owner's name.
    pub name: &'a str,
    /// The address in bytes.
    pub address: u64,
    /// The bytes.
    pub bytes: u64,
}

/// The digest of groups in owner order.
pub fn digest<'a>(groups: impl IntoIterator<Item = Agreed<'a>>) -> String {
    let mut hasher = SipHasher24::new();
    let mut field = |bytes: &[u8]| {
        hasher.write(&(bytes.len() as u64).to_le_bytes());
        hasher.write(bytes);
    };
    for group in groups {
        field(&u64::from(group.core).to_le_bytes());
        field(group.function.as_bytes());
        field(group.name.as_bytes());
        field(&group.address.to_le_bytes());
        field(&group.bytes.to_le_bytes());
    }
    hasher
        .finish128()
        .as_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: Agreed<'_> = Agreed {
        core: 0,
        function: "main",
        name: "s",
        address: 4096,
        bytes: 64,
    };

    /// The values come from an implementation of SipHash-2-4-128 written for this test alone, in
    /// another language; it reproduces the authors' vector for the key 00, 01, ... 0f and no text.
    #[test]
    fn it_is_siphash_over_length_prefixed_fields() {
        assert_eq!(digest([]), "5049d74780a3e07d4202ab47d4cef2f4");
        assert_eq!(digest([GROUP]), "a6235a22f895cf0801d832d1405acab5");
    }

    #[test]
    fn every_field_counts_and_so_does_the_border_between_two() {
        let base = digest([GROUP]);
        for (field, other) in [
            ("core", Agreed { core: 1, ..GROUP }),
            (
                "function",
                Agreed {
                    function: "mai",
                    ..GROUP
                },
            ),
            (
                "border",
                Agreed {
                    function: "mai",
                    name: "ns",
                    ..GROUP
                },
            ),
            (
                "address",
                Agreed {
                    address: 8192,
                    ..GROUP
                },
            ),
            ("bytes", Agreed { bytes: 65, ..GROUP }),
        ] {
            assert_ne!(digest([other]), base, "{field}");
        }
        assert_eq!(base.len(), 32);
    }
}
