//! What people look at: who holds memory, whether it is enough, and why it is so much. // G2, M8

mod budget;
mod columns;
mod counterpart;
mod device;
pub mod diff;
pub mod draw;
pub mod explain;
mod pressure;
#[cfg(test)]
mod tests;

pub(crate) use budget::hbm_usage_unless;
pub use budget::{HbmUsage, Verdict, hbm_usage};
pub use device::device_profile;
pub(crate) use pressure::pressure_unless;
pub use pressure::{
    Category, CorePressure, LiveSize, Pressure, core_profile, frame_profile, pressure,
    private_copies,
};
