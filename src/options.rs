//! Every choice a host has, with the default of each.
//!
//! One struct serves the library, the C options struct, the command line and the `options` object
//! of a plan; the names are the same everywhere.

use crate::error::{Error, Result};
use crate::ir::{UsageMask, closed_set};
use crate::place::Region;
use std::fmt;

closed_set! {
    /// How to search for a placement. // S1
    Strategy {
        /// The best of a few near-linear orders.
        #[default]
        Fast = 0 "fast",
        /// The Briggs-like order and first fit, nothing else.
        Reference = 1 "reference",
        /// Anytime search.
        Best = 2 "best",
    }
}

closed_set! {
    /// Where placement starts beside the host's pins. // P4
    Floor {
        /// Above the end of every pin.
        #[default]
        Hwm = 0 "hwm",
        /// At 0; pins are obstacles while they live.
        Holes = 1 "holes",
    }
}

closed_set! {
    /// How a core's spaces share its memory. // G1, M7
    Geometry {
        /// Each space has addresses of its own.
        #[default]
        Split = 0 "split",
        /// One address range per core.
        Unified = 1 "unified",
    }
}

closed_set! {
    /// A device whose memory per core is known. // G1
    Preset {
        /// No capacity unless `capacity` says one.
        #[default]
        Custom = 0 "custom",
        /// 16 GiB per core.
        Inferentia = 1 "inferentia",
        /// 16 GiB per core.
        Trn1 = 2 "trn1",
        /// 16 GiB per core.
        Inf2 = 3 "inf2",
        /// 24 GiB per core.
        Trn2 = 4 "trn2",
        /// 36 GiB per core.
        Trn3 = 5 "trn3",
    }
}

impl Preset {
    /// Bytes of device memory that one core may use; `None` if the preset does not say.
    pub fn capacity(self) -> Option<u64> {
        let gib = match self {
            Preset::Custom => return None,
            Preset::Inferentia | Preset::Trn1 | Preset::Inf2 => 16,
            Preset::Trn2 => 24,
            Preset::Trn3 => 36,
        };
        Some(gib << 30)
    }
}

/// A window of one space. // P6
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceRegion {
    /// Which space it belongs to.
    pub space: crate::ir::Space,
    /// Where, and for what.
    pub region: Region,
}

/// What a host asks for. `Options::default()` is what the command does without flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How to search.
    pub strategy: Strategy,
    /// Bytes per core; wins over `preset`.
    pub capacity: Option<u64>,
    /// A known device.
    pub preset: Preset,
    /// Milliseconds; the clock is the caller's. `None`: no limit.
    pub budget_ms: Option<u64>,
    /// Steps, repeatable on any host. `None`: the strategy's own number.
    pub budget_steps: Option<u64>,
    /// Where placement starts.
    pub floor: Floor,
    /// The alignment of locations that declare none; a power of two. `None`: the mode's. // P8
    pub align: Option<u64>,
    /// Exact bytes instead of pages. // P3
    pub packed: bool,
    /// Inputs end at their last use, outputs begin at their first def. // L6b
    pub reuse_io: bool,
    /// Uses that may read unwritten bytes are errors. // L5
    pub strict: bool,
    /// `allreduce_buffer_size` in MiB; -1: computed; 0: no region. // P5
    pub cc_limit: i64,
    /// The others start at the real end of the collective region. // P5
    pub trim_cc: bool,
    /// The runtime page in MiB; 0: off. // P7
    pub runtime_page: u64,
    /// How spaces share a core's memory.
    pub geometry: Geometry,
    /// Slab size of shared mode in MiB; 0: off. // M6
    pub shared_mib_per_core: u64,
    /// A device-wide barrier separates the entry functions, so that their shared locations may
    /// share bytes. // M4
    pub separate_functions: bool,
    /// Bytes of peak that may be paid for each MiB of a hint that keeps its address; 0: none. // S2
    pub keep: u64,
    /// The usages that are candidates. // T
    pub usage_mask: UsageMask,
    /// Windows per space; none: one without bounds. // P6
    pub regions: Vec<SpaceRegion>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            strategy: Strategy::default(),
            capacity: None,
            preset: Preset::default(),
            budget_ms: None,
            budget_steps: None,
            floor: Floor::default(),
            align: None,
            packed: false,
            reuse_io: false,
            strict: false,
            cc_limit: 500,
            trim_cc: false,
            runtime_page: 0,
            geometry: Geometry::default(),
            shared_mib_per_core: 0,
            separate_functions: false,
            keep: 0,
            usage_mask: UsageMask::default(),
            regions: Vec::new(),
        }
    }
}

impl Options {
    /// Bytes per core that gate a plan, if any. // G1
    pub fn core_capacity(&self) -> Option<u64> {
        self.capacity.or(self.preset.capacity())
    }

    /// Bytes of the runtime page; 0: off. // P7
    pub fn runtime_page_bytes(&self) -> u64 {
        self.runtime_page << 20 // `Options::validate` bounds it.
    }

    /// Refuses what no run could honour.
    pub fn validate(&self) -> Result<()> {
        if self.align.is_some_and(|align| !align.is_power_of_two()) {
            return Err(Error::invalid("align", "must be a power of two"));
        }
        if self.cc_limit < -1 || self.cc_limit > i64::MAX >> 20 {
            return Err(Error::invalid(
                "cc_limit",
                "must be -1, 0 or a number of MiB below 2^43",
            ));
        }
        if self.runtime_page > u64::MAX >> 20 {
            return Err(Error::invalid(
                "runtime_page",
                "must be a number of MiB below 2^44",
            ));
        }
        if self.shared_mib_per_core > u64::MAX >> 20 {
            return Err(Error::invalid(
                "shared_mib_per_core",
                "must be a number of MiB below 2^44",
            ));
        }
        if self.usage_mask.0 & !UsageMask::ALL.0 != 0 {
            return Err(Error::invalid("usage_mask", "has a bit that is no usage"));
        }
        for (i, a) in self.regions.iter().enumerate() {
            let end = a.region.base.checked_add(a.region.size);
            let end = end.ok_or_else(|| Error::invalid("regions", "a region ends past 64 bits"))?;
            for b in &self.regions[..i] {
                let other_end = b.region.base + b.region.size; // Checked when it was `a`.
                if a.space == b.space && a.region.base < other_end && b.region.base < end {
                    return Err(Error::invalid(
                        "regions",
                        "two regions of one space overlap",
                    ));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Space;

    #[test]
    fn the_capacity_wins_over_the_preset() {
        let trn2 = Options {
            preset: Preset::Trn2,
            ..Options::default()
        };
        assert_eq!(trn2.core_capacity(), Some(24 << 30));
        assert_eq!(
            Options {
                capacity: Some(7),
                ..trn2
            }
            .core_capacity(),
            Some(7)
        );
        assert_eq!(Options::default().core_capacity(), None);
    }

    #[test]
    fn impossible_options_are_refused() {
        let region = |base, size| SpaceRegion {
            space: Space::Local,
            region: Region {
                base,
                size,
                usages: UsageMask::ALL,
            },
        };
        let ok = Options {
            regions: vec![region(0, 8), region(8, 8)],
            ..Options::default()
        };
        assert_eq!(ok.validate(), Ok(()));
        for (name, bad) in [
            (
                "align",
                Options {
                    align: Some(12),
                    ..Options::default()
                },
            ),
            (
                "cc_limit",
                Options {
                    cc_limit: -2,
                    ..Options::default()
                },
            ),
            (
                "runtime page",
                Options {
                    runtime_page: 1 << 44,
                    ..Options::default()
                },
            ),
            (
                "usage",
                Options {
                    usage_mask: UsageMask(64),
                    ..Options::default()
                },
            ),
            (
                "overlap",
                Options {
                    regions: vec![region(0, 9), region(8, 8)],
                    ..Options::default()
                },
            ),
            (
                "end",
                Options {
                    regions: vec![region(u64::MAX, 2)],
                    ..Options::default()
                },
            ),
        ] {
            assert!(bad.validate().is_err(), "{name}");
        }
    }
}
