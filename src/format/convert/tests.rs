//! What survives the way between programs and rows.

use crate::format::{
    CsvFile, Projection, csv_to_program, function_to_csv, program_to_csv, read_program,
};
use crate::ir::Program;
use crate::liveness::liveness;
use crate::raw::RawProblem;
use crate::testing::for_each_seed;

fn file(text: &str) -> CsvFile {
    CsvFile::read(text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn rows(program: &Program) -> String {
    program_to_csv(program, |function| liveness(function).lives)
        .expect("one function")
        .csv
}

#[test]
fn a_function_becomes_one_row_per_location_to_place() {
    let program = read_program(
        br#"{"format":"dramalloc-program","version":1,"modules":[{"functions":[{"name":"main",
        "memlocs":[
          {"name":"in","bytes":100,"usage":"input","address":0},
          {"name":"a,1","bytes":64},
          {"name":"again","elem_count":3,"elem_size":5,"align":8},
          {"name":"part","alias_of":"a,1","bytes":4},
          {"name":"held","bytes":7,"address":4096},
          {"name":"far","bytes":9,"space":"debug"},
          {"name":"near","bytes":9,"memory":"sbuf"},
          {"name":"never","bytes":9}],
        "instructions":[
          {"op":"0","uses":["in"],"defs":["a,1"]},
          {"op":"1","uses":["part"],"defs":["again","far"],"in_place":[["a,1","again"]]},
          {"op":"2","uses":["again"],"defs":["held"]},
          {"op":"3","uses":["held"]},
          {"op":"4","defs":["again"]}]}]}]}"#,
    )
    .unwrap();
    let function = &program.modules()[0].functions()[0];
    let projection = function_to_csv(function, &liveness(function).lives);
    let want = "id,lower,upper,size,alignment,gaps,offset\n\
                \"a,1\",0,2,64,1,,\n\
                again,1,5,15,8,3-4,\n\
                held,2,4,7,1,,4096\n\
                never,0,0,9,1,,\n";
    assert_eq!(projection.csv, want);
    let [owned, elsewhere, pairs] = &projection.notes[..] else {
        panic!("{:?}", projection.notes)
    };
    assert!(owned.starts_with("1 pinned inputs"), "{owned}");
    assert!(
        elsewhere.starts_with("1 locations of other spaces"),
        "{elsewhere}"
    );
    assert!(pairs.starts_with("1 in-place pairs"), "{pairs}");
}

#[test]
fn every_row_is_read_back_under_a_name_of_its_own() {
    // Whatever a name can be made of, beside the names that would be made of it.
    let parts = [
        "",
        "a",
        "\u{1}",
        "\0",
        "\u{1b}[31m",
        " ",
        "\t",
        "\n",
        "\r\n",
        "\u{85}",
        "\u{2028}",
        "\u{3000}",
        "\u{feff}",
        "\u{fffd}",
        "\"",
        ",",
        "#",
        "'",
        "\\",
        "#0",
        "#1_",
        "_",
    ];
    let (mut names, mut renamed) = (Vec::<String>::new(), 0);
    for first in parts {
        for second in parts {
            let name = format!("{first}{second}");
            if !names.contains(&name) {
                let changes = name.trim() != name || name.contains(['\u{1}', '\0', '\u{1b}']);
                renamed += usize::from(changes);
                names.push(name);
            }
        }
    }
    let mut function = crate::ir::Function::new("main");
    for name in &names {
        let spec = crate::ir::MemLocSpec {
            name,
            extent: Some(crate::ir::Extent::Bytes(8)),
            ..Default::default()
        };
        function.add_memloc(&spec).unwrap();
    }
    let Projection { csv, notes } = function_to_csv(&function, &liveness(&function).lives);
    let text = |c: char| !c.is_control() || "\t\n\r\u{c}\u{85}".contains(c);
    assert!(csv.chars().all(text), "{csv:?}");
    let back = file(&csv); // Which refuses two of one name.
    assert_eq!(back.problem().len(), names.len());
    for (name, label) in names.iter().zip(back.problem().labels.iter()) {
        let kept =
            !name.is_empty() && name.trim() == name && !name.contains(['\u{1}', '\0', '\u{1b}']);
        assert_eq!(kept, name == label, "{name:?} came back as {label:?}");
    }
    assert!(
        notes[0].starts_with(&format!("{renamed} locations are renamed")),
        "{notes:?}"
    );
}

#[test]
fn several_functions_are_refused_by_name() {
    let text = include_bytes!("../../../tests/data/two_cores.program.json");
    let program = read_program(text).unwrap();
    let error = program_to_csv(&program, |f| liveness(f).lives)
        .unwrap_err()
        .to_string();
    let names = "has 3: main on core 0, helper on core 0, main on core 1";
    assert!(error.contains(names), "{error}");
}

#[test]
fn an_alignment_that_no_program_can_ask_for_is_refused() {
    let odd = file("id,lower,upper,size,alignment\na,0,1,8,24\n");
    let error = csv_to_program(&odd, "p").unwrap_err().to_string();
    assert!(
        error.contains("location a") && error.contains("24"),
        "{error}"
    );
}

/// Whether two rows are live at one time.
fn meet(problem: &RawProblem, a: usize, b: usize) -> bool {
    let of =
        |i: usize| &problem.segments[problem.starts[i] as usize..problem.starts[i + 1] as usize];
    of(a)
        .iter()
        .any(|x| of(b).iter().any(|y| x.0 < y.1 && y.0 < x.1))
}

#[test]
fn a_step_is_named_after_the_time_at_which_it_begins() {
    let rows = file("id,lower,upper,size\na,-5,40,8\nb,40,900,8\nc,3,40,8\n");
    let program = csv_to_program(&rows, "p").expect("valid");
    let function = &program.modules()[0].functions()[0];
    let steps = function.instructions().iter();
    let names: Vec<&str> = steps.map(|i| function.symbol(i.op)).collect();
    assert_eq!(names, ["time -5", "time 3", "time 40"]);
}

#[test]
fn rows_keep_their_problem_on_the_way_through_a_program() {
    for_each_seed(0..300, |u| {
        let mut text = "id,lower,upper,size,alignment,offset,gaps\n".to_owned();
        for i in 0..u.int_in_range(0..=5)? {
            let (lower, length) = (u.int_in_range(-9..=9)?, u.int_in_range(0..=9)?);
            let (gap, gap_end) = (u.int_in_range(-9..=9)?, u.int_in_range(9..=12)?);
            let size: u64 = u.int_in_range(0..=1 << 40)?;
            let align = 1_u64 << u.int_in_range(0..=12)?;
            let offset = if u.ratio(1, 3)? {
                u.int_in_range(0..=99)?.to_string()
            } else {
                String::new()
            };
            let upper: i32 = lower + length;
            text += &format!("r{i},{lower},{upper},{size},{align},{offset},{gap}-{gap_end} 2-4\n");
        }
        let before = file(&text);
        let program = csv_to_program(&before, "p").expect("valid");
        let after = file(&rows(&program));
        let (old, new) = (before.problem(), after.problem());
        assert_eq!((&old.labels, &old.sizes), (&new.labels, &new.sizes));
        for i in 0..old.len() {
            let align = |p: &RawProblem| p.alignments.get(i).copied().unwrap_or(1);
            assert_eq!(align(old), align(new), "{text}");
            let pin = |p: &RawProblem| p.pins.get(i).copied().flatten();
            assert_eq!(pin(old), pin(new), "{text}");
            for j in 0..i {
                assert_eq!(
                    meet(old, i, j),
                    meet(new, i, j),
                    "rows {i} and {j} of\n{text}"
                );
            }
        }
        // Times are ranks by now, so the second way round changes nothing.
        let again = file(&rows(&csv_to_program(&after, "p").expect("valid")));
        assert_eq!(again.problem(), new, "{text}");
        Ok(())
    });
}
