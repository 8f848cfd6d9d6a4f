//! A real program of several cores, in one range of addresses per core. The files lie outside this
//! repository; without them this skips. // M7

use std::io::Read;
use std::path::Path;

use dramalloc::format::read_program;
use dramalloc::ir::{Program, Space};
use dramalloc::verify::verify;
use dramalloc::{Control, Geometry, Options, Plan, plan};

fn in_geometry(program: &Program, geometry: Geometry) -> Plan {
    let options = Options {
        geometry,
        ..Options::default()
    };
    let plan = plan(program, &options, &mut Control::default()).expect("it fits");
    assert_eq!(verify(program, &plan), []);
    plan
}

#[test]
fn a_decoder_on_four_cores_agrees_at_no_cost() {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().skip(1);
    let name = "shared/corpus/xla_llama7b_decode_tp4.4cores.program.json.gz";
    let mut files = above.map(|dir| dir.join(name));
    let Some(path) = files.find(|path| path.is_file()) else {
        eprintln!("skipped: there is no {name} beside this repository");
        return;
    };
    let file = std::fs::File::open(path).expect("a readable file");
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(file)
        .read_to_end(&mut text)
        .expect("gzip");
    let program = read_program(&text).expect("a program");
    let split = in_geometry(&program, Geometry::Split);
    let unified = in_geometry(&program, Geometry::Unified);
    let shared = |plan: &Plan| {
        let spaces = plan.spaces.iter();
        let mut shared = spaces.filter(|space| space.space == Space::Shared);
        shared.next().expect("the cores share something").peak
    };
    assert_eq!(shared(&unified), shared(&split));
    // Side by side at the worst, in each other's gaps at best.
    assert!(unified.peak >= split.peak && unified.peak <= split.peak + shared(&split));
    for core in 0..4 {
        let figure = |what: &str| unified.metrics[&format!("core_{core}_{what}")];
        assert!(figure("alone") <= figure("agreed") && figure("agreed") <= unified.peak);
    }
    assert_eq!(unified.metrics["agreement_cost"], 0);
    assert_eq!(unified.status, dramalloc::Status::Optimal);
}
