//! The keys of a plan file, as a table per object. // F

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::format::json::{
    Format, Number, Signed, Small, Tag, Text, Version1, Word, Words, object, words,
};
use crate::ir::{Skipped, Space, Usage, UsageMask};
use crate::options::{Floor, Geometry, Preset, Strategy};
use crate::plan::{DependenceKind, Status};

words!(Strategy, Floor, Geometry, Preset, Status, DependenceKind);

impl Words for Skipped {
    const ALL: &'static [Skipped] = &[
        Skipped::Unreferenced,
        Skipped::CallerOwned,
        Skipped::NotDram,
        Skipped::FollowerUnused,
    ];

    fn word(self) -> &'static str {
        self.name()
    }
}

/// The word in the key `format`.
pub(crate) struct PlanFormat;

impl Format for PlanFormat {
    const WORD: &'static str = "dramalloc-plan";
}

object! {
    PlanDoc, "a plan", Dropped {
        format: Tag<PlanFormat>,
        version: Version1,
        options: OptionsDoc<'de>,
        strategy: Word<Strategy>,
        status: Word<Status>,
        digest: Text<'de>,
        peak: Number,
        lower_bound: Number,
        needs_dependences: bool,
        spaces: Vec<SpaceDoc<'de>>,
        modules: Vec<ModuleDoc<'de>>,
        dependences: &'de RawValue,
        straddlers: Vec<StraddlerDoc<'de>>,
        metrics: Metrics<'de>,
        notes: Vec<Text<'de>>,
    }
}
object! {
    OptionsDoc, "the options object", Dropped {
        strategy: Word<Strategy>,
        capacity: Number,
        preset: Word<Preset>,
        budget_ms: Number,
        budget_steps: Number,
        floor: Word<Floor>,
        align: Number,
        packed: bool,
        reuse_io: bool,
        strict: bool,
        cc_limit: Signed,
        trim_cc: bool,
        runtime_page: Number,
        geometry: Word<Geometry>,
        shared_mib_per_core: Number,
        separate_functions: bool,
        keep: Number,
        usage_mask: Mask,
        regions: Vec<RegionDoc<'de>>,
    }
}
object! {
    RegionDoc, "a region", Dropped {
        space: Word<Space>,
        base: Number,
        size: Number,
        usages: Mask,
    }
}
object! {
    SpaceDoc, "a space", Dropped {
        space: Word<Space>,
        core: Small,
        capacity: Number,
        floor: Number,
        peak: Number,
        lower_bound: Number,
    }
}
object! {
    ModuleDoc, "a module", Dropped {
        name: Text<'de>,
        core: Small,
        functions: Vec<FunctionDoc<'de>>,
    }
}
object! {
    FunctionDoc, "a function", Dropped {
        name: Text<'de>,
        spaces: Vec<FunctionSpaceDoc<'de>>,
        memlocs: &'de RawValue,
    }
}
object! {
    FunctionSpaceDoc, "a space of a function", Dropped {
        space: Word<Space>,
        floor: Number,
        hwm: Number,
        cc: CollectiveDoc<'de>,
    }
}
object! {
    CollectiveDoc, "a collective region", Dropped {
        limit: Number,
        real: Number,
        hwm: Number,
    }
}
object! {
    MemLocDoc, "a memloc", Dropped {
        name: Text<'de>,
        space: Word<Space>,
        address: Number,
        bytes: Number,
        aligned: Number,
        pinned: bool,
        shared: bool,
        owner: OwnerDoc<'de>,
        skipped: Word<Skipped>,
        segments: Vec<(Small, Small)>,
    }
}
object! {
    OwnerDoc, "an owner", Dropped {
        core: Small,
        name: Text<'de>,
    }
}
object! {
    StraddlerDoc, "a straddler", Dropped {
        core: Small,
        function: Text<'de>,
        name: Text<'de>,
        space: Word<Space>,
        address: Number,
        bytes: Number,
        pinned: bool,
    }
}
object! {
    DependenceDoc, "a dependence", Dropped {
        from: SiteDoc<'de>,
        to: SiteDoc<'de>,
        kind: Word<DependenceKind>,
        distance: Small,
        header: Small,
    }
}
object! {
    SiteDoc, "an instruction's site", Dropped {
        core: Small,
        function: Text<'de>,
        index: Small,
    }
}

/// A set of usages: a list of their words, or the number that the C ABI uses.
pub(crate) struct Mask(pub(crate) UsageMask);

impl<'de> Deserialize<'de> for Mask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Mask, D::Error> {
        struct WordsOrBits;
        impl<'de> Visitor<'de> for WordsOrBits {
            type Value = Mask;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of usages, or a number of which each bit is one")
            }

            fn visit_u64<E: de::Error>(self, bits: u64) -> Result<Mask, E> {
                let unexpected = || E::invalid_value(de::Unexpected::Unsigned(bits), &self);
                u32::try_from(bits)
                    .map(|b| Mask(UsageMask(b)))
                    .map_err(|_| unexpected())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Mask, A::Error> {
                let mut bits = 0;
                while let Some(Word(usage)) = list.next_element::<Word<Usage>>()? {
                    bits |= 1 << usage as u32;
                }
                Ok(Mask(UsageMask(bits)))
            }
        }
        deserializer.deserialize_any(WordsOrBits)
    }
}

/// Figures by name; the values as text, since plans from elsewhere hold fractions too.
pub(crate) struct Metrics<'de>(pub(crate) BTreeMap<String, &'de RawValue>);

impl<'de> Deserialize<'de> for Metrics<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Metrics<'de>, D::Error> {
        struct Figures;
        impl<'de> Visitor<'de> for Figures {
            type Value = Metrics<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of figures")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Metrics<'de>, A::Error> {
                let mut all = BTreeMap::new();
                while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
                    if all.insert(key.clone(), value).is_some() {
                        return Err(de::Error::custom(format!("the key {key:?} stands twice")));
                    }
                }
                Ok(Metrics(all))
            }
        }
        deserializer.deserialize_map(Figures)
    }
}
