//! What people look at: who holds memory, and whether it is enough. // G2, M8

mod budget;
mod device;
mod pressure;
#[cfg(test)]
mod tests;

pub use budget::{HbmUsage, Verdict, hbm_usage};
pub use device::device_profile;
pub use pressure::{
    Category, CorePressure, LiveSize, Pressure, core_profile, frame_profile, pressure,
    private_copies,
};
