//! The passes by name, and which of them a host's options leave. // X1, X2

use crate::error::{Error, Result};
use crate::sorting::CompactSort as _;
use std::fmt;

/// A pass of the pipeline, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pass {
    /// One module becomes one per core. // M9
    LncSplitter,
    /// Private mode on every module. // M3
    ColoringAllocatorDram,
    /// Spreads locations, so that fewer re-use edges are needed. // X4
    AddressRotationDram,
    /// Marks copies of bytes onto themselves. // X3
    DynamicDmaCleanup,
    /// Edges along values. // D1
    BuildFdeps,
    /// Edges along the bytes that the private spaces re-use. // D1
    AntiDependencyAnalyzerPostDram,
    /// Shared mode over all modules. // M3
    ColoringAllocatorDramShared,
    /// Who holds memory, at the worst moment of each core. // M8
    MemoryAnalysis,
    /// Every member of a group gets its owner's address. // M5
    SyncSharedAllocations,
    /// Edges once the shared bytes have addresses, and conflicts between cores. // D3
    AntiDependencyAnalyzerPostSharedDram,
    /// The cores agree, and every candidate has an address. // M2
    LncVerifier,
    /// Each core's memory holds what it needs. // G2
    HbmUsage,
    /// The debug space of every module.
    ColoringAllocatorDramDebug,
    /// Private mode again, over the linked modules.
    ColoringAllocatorDramPostLnk,
    /// Shared mode again, over the linked modules.
    ColoringAllocatorDramSharedPostLnk,
}

impl Pass {
    /// Every pass.
    pub const ALL: [Pass; 15] = [
        Pass::LncSplitter,
        Pass::ColoringAllocatorDram,
        Pass::AddressRotationDram,
        Pass::DynamicDmaCleanup,
        Pass::BuildFdeps,
        Pass::AntiDependencyAnalyzerPostDram,
        Pass::ColoringAllocatorDramShared,
        Pass::MemoryAnalysis,
        Pass::SyncSharedAllocations,
        Pass::AntiDependencyAnalyzerPostSharedDram,
        Pass::LncVerifier,
        Pass::HbmUsage,
        Pass::ColoringAllocatorDramDebug,
        Pass::ColoringAllocatorDramPostLnk,
        Pass::ColoringAllocatorDramSharedPostLnk,
    ];

    /// The name of the pass.
    pub fn name(self) -> &'static str {
        match self {
            Pass::LncSplitter => "lnc_splitter",
            Pass::ColoringAllocatorDram => "coloring_allocator_dram",
            Pass::AddressRotationDram => "address_rotation_dram",
            Pass::DynamicDmaCleanup => "dynamic_dma_cleanup",
            Pass::BuildFdeps => "build_fdeps",
            Pass::AntiDependencyAnalyzerPostDram => "anti_dependency_analyzer_post_dram",
            Pass::ColoringAllocatorDramShared => "coloring_allocator_dram_shared",
            Pass::MemoryAnalysis => "memory_analysis_after_coloring_allocator_dram_shared",
            Pass::SyncSharedAllocations => "sync_shared_allocations",
            Pass::AntiDependencyAnalyzerPostSharedDram => {
                "anti_dependency_analyzer_post_shared_dram"
            }
            Pass::LncVerifier => "lnc_verifier",
            Pass::HbmUsage => "hbm_usage",
            Pass::ColoringAllocatorDramDebug => "coloring_allocator_dram_debug",
            Pass::ColoringAllocatorDramPostLnk => "coloring_allocator_dram_post_lnk",
            Pass::ColoringAllocatorDramSharedPostLnk => "coloring_allocator_dram_shared_post_lnk",
        }
    }

    /// Whether it gives addresses.
    pub fn places(self) -> bool {
        matches!(
            self,
            Pass::ColoringAllocatorDram
                | Pass::ColoringAllocatorDramPostLnk
                | Pass::ColoringAllocatorDramShared
                | Pass::ColoringAllocatorDramSharedPostLnk
                | Pass::ColoringAllocatorDramDebug
        )
    }

    /// The pass with this name.
    pub fn from_name(name: &str) -> Option<Pass> {
        Pass::ALL.into_iter().find(|pass| pass.name() == name)
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a host wants of the pipeline, beside what it wants of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineOptions {
    /// Clone the only module to this many cores first; 0 or 1: leave the program as it is. // M9
    pub cores: u32,
    /// The modules are linked: keep nothing but the host's pins, and place again. // X1
    pub post_link: bool,
    /// Leave `coloring_allocator_dram` out, and what only makes sense after it. // X2
    pub disable_dram_allocation: bool,
    /// Put `address_rotation_dram` in. // X4
    pub dram_rotation: bool,
    /// Leave `address_rotation_dram` out whatever `dram_rotation` says. // X2
    pub disable_dram_rotation: bool,
    /// The window of the rotation above the floor, in GiB, at most 8; -1: what was used before.
    pub dram_rotation_size: i64,
    /// Report a core that needs too much instead of failing. // G2
    pub disable_hbm_usage_check: bool,
    /// Bytes per core that only the host knows of, such as descriptors. // G2
    pub extra_bytes: u64,
    /// Verify after every pass. // X6
    pub verify_each: bool,
    /// Run the program on the plan after the last pass. // V2, V3, X6
    pub verify_deep: bool,
}

/// The widest rotation window, in GiB. // X4
const ROTATION_LIMIT: i64 = 8;

impl Default for PipelineOptions {
    fn default() -> PipelineOptions {
        PipelineOptions {
            cores: 0,
            post_link: false,
            disable_dram_allocation: false,
            dram_rotation: false,
            disable_dram_rotation: false,
            dram_rotation_size: ROTATION_LIMIT,
            disable_hbm_usage_check: false,
            extra_bytes: 0,
            verify_each: false,
            verify_deep: false,
        }
    }
}

impl PipelineOptions {
    /// Refuses what no run could honour.
    pub fn validate(&self) -> Result<()> {
        let size = self.dram_rotation_size;
        if size != -1 && !(0..=ROTATION_LIMIT).contains(&size) {
            let reason = format!("is -1 or from 0 to {ROTATION_LIMIT} GiB, not {size}");
            return Err(Error::invalid("dram_rotation_size", reason));
        }
        Ok(())
    }

    /// The passes that run, in order. The gates are here and nowhere else: a pass that runs asks
    /// no option whether it should. // X2
    pub(super) fn passes(&self) -> Vec<Pass> {
        let runs = |pass: &Pass| match pass {
            Pass::LncSplitter => self.cores > 1 && !self.post_link,
            Pass::ColoringAllocatorDram => !self.disable_dram_allocation && !self.post_link,
            Pass::AddressRotationDram => {
                self.dram_rotation && !self.disable_dram_rotation && !self.disable_dram_allocation
            }
            Pass::DynamicDmaCleanup | Pass::BuildFdeps | Pass::AntiDependencyAnalyzerPostDram => {
                !self.disable_dram_allocation
            }
            Pass::ColoringAllocatorDramShared => !self.post_link,
            Pass::ColoringAllocatorDramPostLnk => self.post_link && !self.disable_dram_allocation,
            Pass::ColoringAllocatorDramSharedPostLnk => self.post_link,
            Pass::MemoryAnalysis
            | Pass::SyncSharedAllocations
            | Pass::AntiDependencyAnalyzerPostSharedDram
            | Pass::LncVerifier
            | Pass::HbmUsage
            | Pass::ColoringAllocatorDramDebug => true,
        };
        let mut passes: Vec<Pass> = Pass::ALL.into_iter().filter(runs).collect();
        // After linking, the two allocators stand where the others stood.
        let place = |pass: &Pass| match pass {
            Pass::ColoringAllocatorDramPostLnk => Pass::ColoringAllocatorDram,
            Pass::ColoringAllocatorDramSharedPostLnk => Pass::ColoringAllocatorDramShared,
            &pass => pass,
        };
        passes.sort_compact_by_key(|pass| place(pass) as u32);
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(options: PipelineOptions) -> Vec<&'static str> {
        options.passes().into_iter().map(Pass::name).collect()
    }

    #[test]
    fn the_gates_take_a_pass_with_its_followers() {
        let default = names(PipelineOptions::default());
        assert_eq!(
            default,
            [
                "coloring_allocator_dram",
                "dynamic_dma_cleanup",
                "build_fdeps",
                "anti_dependency_analyzer_post_dram",
                "coloring_allocator_dram_shared",
                "memory_analysis_after_coloring_allocator_dram_shared",
                "sync_shared_allocations",
                "anti_dependency_analyzer_post_shared_dram",
                "lnc_verifier",
                "hbm_usage",
                "coloring_allocator_dram_debug",
            ]
        );
        let without = PipelineOptions {
            disable_dram_allocation: true,
            dram_rotation: true,
            ..PipelineOptions::default()
        };
        assert_eq!(names(without), default[4..]);
        let rotated = PipelineOptions {
            dram_rotation: true,
            ..PipelineOptions::default()
        };
        assert_eq!(names(rotated.clone())[1], "address_rotation_dram");
        assert_eq!(
            names(PipelineOptions {
                disable_dram_rotation: true,
                ..rotated
            }),
            default
        );
        let linked = names(PipelineOptions {
            post_link: true,
            cores: 2,
            ..Default::default()
        });
        assert_eq!(linked[0], "coloring_allocator_dram_post_lnk");
        assert_eq!(linked[4], "coloring_allocator_dram_shared_post_lnk");
        assert_eq!(linked.len(), default.len());
        let split = names(PipelineOptions {
            cores: 2,
            ..PipelineOptions::default()
        });
        assert_eq!(split[0], "lnc_splitter");
    }

    #[test]
    fn names_lead_back_to_their_passes() {
        for pass in Pass::ALL {
            assert_eq!(Pass::from_name(pass.name()), Some(pass));
        }
        assert_eq!(Pass::from_name("coloring"), None);
    }

    #[test]
    fn a_rotation_window_above_8_gib_is_refused() {
        for (size, ok) in [(-2, false), (-1, true), (0, true), (8, true), (9, false)] {
            let options = PipelineOptions {
                dram_rotation_size: size,
                ..Default::default()
            };
            assert_eq!(options.validate().is_ok(), ok, "{size}");
        }
    }
}
