//! The keys of a plan file, as a table per object. // F

use std::collections::BTreeMap;

use crate::format::json::{
    Format, Number, Raw, Read, Reader, Signed, Small, Tag, Text, Token, Value, Version1, Word,
    Words, object, words,
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
        dependences: Raw<'de>,
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
        memlocs: Raw<'de>,
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

impl<'de> Value<'de> for Mask {
    fn read(json: &mut Reader<'de>) -> Read<Mask> {
        let wanted = &"a list of usages, or a number of which each bit is one";
        let token = json.token()?;
        let mut bits = 0;
        match token {
            Token::List => json.list(wanted, &mut |json, _| {
                bits |= 1 << Word::<Usage>::read(json)?.0 as u32;
                Ok(())
            })?,
            Token::Number(number) => {
                let number = number.parse();
                bits = number.map_err(|_| json.not_a_value(&token, wanted))?;
            }
            other => return Err(json.not_of_type(&other, wanted)),
        }
        Ok(Mask(UsageMask(bits)))
    }
}

/// Figures by name; the values as text, since plans from elsewhere hold fractions too.
pub(crate) struct Metrics<'de>(pub(crate) BTreeMap<String, Raw<'de>>);

impl<'de> Value<'de> for Metrics<'de> {
    fn read(json: &mut Reader<'de>) -> Read<Metrics<'de>> {
        let mut all = BTreeMap::new();
        json.object(&"an object of figures", &mut |json, key| {
            if all.insert(key.to_string(), Raw::read(json)?).is_some() {
                return Err(json.mistake("the key stands twice"));
            }
            Ok(())
        })?;
        Ok(Metrics(all))
    }
}
