//! What people look at: who holds memory, and whether it is enough. // G2, M8

mod budget;
mod pressure;

pub use budget::{HbmUsage, Verdict, hbm_usage};
pub use pressure::{Category, CorePressure, LiveSize, Pressure, frame_profile, pressure};
