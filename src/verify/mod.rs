//! Proof that a plan is right. Shares only `ir`, `plan` and `options` with the allocator. // V4
//!
//! [`verify`] looks at geometry: it recomputes from the program alone when bytes are taken
//! (`accesses`, `graph`, `lives`, `calls`; `epochs` and `groups` for what cores share), reads the plan
//! beside it (`scope`), holds every location against its own rules (`locations`), every two
//! against each other (`overlap`, on `wall` and `sweep`; `held` where local and shared have one
//! range of addresses) and the plan's figures against its own (`figures`, `bound`,
//! `runtime_page`). Nothing here is quadratic: a plan of a million locations is verified in
//! about the time it takes to read. [`verify_raw`] does the same for rows without a program;
//! [`lnc_verify`] looks at what the modules themselves have stored, without a plan.
//!
//! Violations are data: all of them are found, many of one kind become a total.

mod accesses;
mod bound;
mod calls;
mod cores;
mod deep;
mod epochs;
mod figures;
mod findings;
mod graph;
mod groups;
mod held;
mod instants;
mod kinds;
mod lives;
mod locations;
mod overlap;
mod raw;
mod runtime_page;
mod scope;
pub(crate) mod sweep;
#[cfg(test)]
mod tests;
mod wall;

use crate::control::Control;
use crate::error::Result;
use crate::ir::Program;
use crate::options::Options;
use crate::pace::Pace;
use crate::plan::Plan;
use calls::Calls;
use figures::Facts;
use findings::{At, Findings};
use groups::Groups;
use locations::{Floors, Layout};
use scope::Scope;

pub use cores::{lnc_verify, lnc_verify_with};
pub use deep::{Deep, verify_deep, verify_deep_with};
pub use findings::{REPORTED_PER_KIND, Violation};
pub use groups::Predicate;
pub use kinds::KINDS;
pub use raw::{verify_raw, verify_raw_plan};

/// Bytes of a page. // P2
const PAGE: u64 = 4096;

/// `bytes` rounded up to whole pages; wide, for the last page may end past 64 bits.
fn page_up(bytes: u64) -> u128 {
    u128::from(bytes).next_multiple_of(PAGE.into())
}

/// The bytes that a candidate takes. // P2, P3
fn as_placed(bytes: u64, options: &Options) -> u128 {
    if options.packed {
        bytes.into()
    } else {
        page_up(bytes)
    }
}

/// Everything wrong with the geometry of a plan; empty if it is proven right. // V1
pub fn verify(program: &Program, plan: &Plan) -> Vec<Violation> {
    verify_with(program, plan, &Control::default()).expect("nothing stops it")
}

/// As [`verify`], for a host that may cancel and has its own word on what is shared. // M1, S2
///
/// # Errors
///
/// The host has cancelled. A deadline ends nothing here: half a proof is none.
pub fn verify_with(
    program: &Program,
    plan: &Plan,
    control: &Control<'_>,
) -> Result<Vec<Violation>> {
    let pace = &mut Pace::until_cancelled(control);
    let mut findings = Findings::default();
    if let Err(error) = plan.options.validate() {
        findings.say("bad_options", At::default(), || error.to_string());
        return Ok(findings.finish());
    }
    let scopes = Scope::all(program, plan, &mut findings, pace);
    let calls = Calls::of(&scopes, &mut findings, pace);
    let groups = Groups::of(&scopes, &calls, control.shared, &mut findings, pace);
    let floors = Floors::of(&scopes, &groups, &plan.options, pace);
    let layout = Layout::check(&scopes, &groups, &floors, plan, &mut findings, pace);
    overlap::check(&scopes, &calls, &groups, &layout, plan, &mut findings, pace);
    let facts = Facts {
        scopes: &scopes,
        calls: &calls,
        groups: &groups,
        floors: &floors,
        layout: &layout,
        plan,
    };
    figures::check(&facts, &mut findings, pace);
    pace.end()?;
    Ok(findings.finish())
}
