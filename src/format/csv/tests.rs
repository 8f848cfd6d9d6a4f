//! What CSV files have to keep, and what they have to refuse.

use super::CsvFile;
use crate::raw::RawProblem;
use crate::testing::for_each_seed;

fn read(text: &str) -> CsvFile {
    CsvFile::read(text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn lives(problem: &RawProblem) -> Vec<Vec<(i64, i64)>> {
    (0..problem.len())
        .map(|i| {
            problem.segments[problem.starts[i] as usize..problem.starts[i + 1] as usize].to_vec()
        })
        .collect()
}

fn written(file: &CsvFile, offsets: &[u64]) -> String {
    let mut text = Vec::new();
    file.write(offsets, &mut text)
        .expect("a Vec takes everything");
    String::from_utf8(text).expect("CSV is text")
}

#[test]
fn the_dialects_say_the_same_thing() {
    let want = read("id,lower,upper,size\na,0,4,10\nb,-2,3,7\n");
    assert_eq!(lives(want.problem()), [[(0, 4)], [(-2, 3)]]);
    assert_eq!(want.problem().sizes, [10, 7]);
    assert!(want.problem().labels.iter().eq(["a", "b"]));
    for (name, text) in [
        ("begin", "buffer,begin,upper,size\na,0,4,10\nb,-2,3,7\n"),
        (
            "inclusive",
            "buffer_id,start,end,size\na,0,3,10\nb,-2,2,7\n",
        ),
        ("order", "size,upper,lower,id\n10,4,0,a\n7,3,-2,b\n"),
        (
            "blanks, case and line ends",
            " ID , Lower,UPPER,size\r\na,0, 4 ,10\r\n\r\nb,-2,3,7\r\n",
        ),
        (
            "quotes",
            "\"id\",\"lower\",upper,size\n\"a\",\"0\",4,10\nb,-2,3,\"7\"",
        ),
        (
            "comments",
            "# made by hand\n# pool_offset=0\n\nid,lower,upper,size\na,0,4,10\nb,-2,3,7\n",
        ),
        ("mark", "\u{feff}id,lower,upper,size\na,0,4,10\nb,-2,3,7\n"),
    ] {
        assert_eq!(read(text).problem(), want.problem(), "{name}");
    }
}

#[test]
fn gaps_cut_a_life_into_segments() {
    for (name, lower, upper, gaps, want) in [
        ("none", 0, 10, "", vec![(0, 10)]),
        ("two", 0, 10, "2-4 6-7", vec![(0, 2), (4, 6), (7, 10)]),
        (
            "any order, overlapping",
            0,
            10,
            " 5-7  2-4 3-6 ",
            vec![(0, 2), (7, 10)],
        ),
        ("at the ends", 0, 10, "0-1 9-10", vec![(1, 9)]),
        ("past the ends", 0, 10, "-5-1 9-12 20-30", vec![(1, 9)]),
        ("negative", -9, -1, "-5--3", vec![(-9, -5), (-3, -1)]),
        ("empty", 0, 10, "5-5", vec![(0, 10)]),
        ("everything", 0, 10, "0-10", vec![]),
    ] {
        let file = read(&format!(
            "id,lower,upper,size,gaps\na,{lower},{upper},8,{gaps}\n"
        ));
        assert_eq!(lives(file.problem()), [want], "{name}");
    }
    let inclusive = read("id,start,end,size,gaps\na,0,9,8,2-3 6-6\n");
    assert_eq!(lives(inclusive.problem()), [[(0, 2), (4, 6), (7, 10)]]);
}

#[test]
fn pins_alignments_and_empty_lives_are_read() {
    let file =
        read("id,lower,upper,size,alignment,offset\na,0,4,10,,\nb,3,3,7,24,64\nc,0,1,0,1,0\n");
    let problem = file.problem();
    assert_eq!(problem.alignments, [1, 24, 1]);
    assert_eq!(problem.pins, [None, Some(64), Some(0)]);
    assert_eq!(lives(problem), [vec![(0, 4)], vec![], vec![(0, 1)]]);
    let plain = read("id,lower,upper,size\na,0,4,10\n");
    assert!(plain.problem().alignments.is_empty() && plain.problem().pins.is_empty());
    assert!(read("id,lower,upper,size\n").problem().is_empty());
    let wide = format!(
        "id,lower,upper,size\na,{},{},{}\n",
        i64::MIN,
        i64::MAX,
        u64::MAX
    );
    assert_eq!(lives(read(&wide).problem()), [[(i64::MIN, i64::MAX)]]);
    assert_eq!(read(&wide).problem().sizes, [u64::MAX]);
}

#[test]
fn a_file_of_omnimalloc_is_read_as_it_is_written() {
    // What version 1.0 writes for a pool with a base, a kind and one row that is placed.
    let text = "# pool_offset=4096\r\nid,lower,upper,size,offset,kind\r\n0,0,4,64,,WORKSPACE\r\n\
                \"a,b\",2,6,32,64,\r\n";
    let file = read(text);
    assert_eq!(lives(file.problem()), [[(0, 4)], [(2, 6)]]);
    assert_eq!(file.problem().pins, [None, Some(64)]);
    let notes = file.notes().join("; ");
    assert!(notes.contains("kind") && notes.contains("4096"), "{notes}");
    // The base stays where it stood: offsets count from it.
    let want = text.replace("64,,WORKSPACE", "64,0,WORKSPACE");
    assert_eq!(written(&file, &[0, 64]), want);
}

#[test]
fn the_output_is_the_input_with_offsets() {
    let text = "# c\nid,lower,size,upper,kind,hint\na,0,10,4,WORKSPACE,7\n\"b, c\",-2, 7,3,,\n";
    let file = read(text);
    let want = "# c\nid,lower,size,upper,kind,hint,offset\na,0,10,4,WORKSPACE,7,0\n\"b, c\",-2, 7,3,,,16\n";
    assert_eq!(written(&file, &[0, 16]), want);
    assert_eq!(file.problem().hints, [Some(7), None]);
    let [unused] = file.notes() else {
        panic!("one note: {:?}", file.notes())
    };
    assert!(unused.contains("kind") && !unused.contains("hint"));
    let twice = "id,lower,upper,size,hint\na,0,1,4,x\n";
    let refused = CsvFile::read(twice.as_bytes()).unwrap_err().to_string();
    assert!(
        refused.contains("line 2") && refused.contains("hint"),
        "{refused}"
    );

    let solved = read("offset,id,lower,upper,size\r\n,a,0,4,10\r\n64,b,0,4,10\r\n");
    let want = "offset,id,lower,upper,size\r\n0,a,0,4,10\r\n64,b,0,4,10\r\n";
    assert_eq!(written(&solved, &[0, 64]), want);
    assert!(solved.notes().is_empty());
}

#[test]
fn an_error_names_the_line() {
    let rows = |rows: &str| format!("id,lower,upper,size\n{rows}");
    let cases = [
        ("empty", String::new(), "line 1: there is no header"),
        (
            "only comments",
            "# a\n\n".to_owned(),
            "line 3: there is no header",
        ),
        (
            "no id",
            "lower,upper,size\n".to_owned(),
            "line 1: there is no column id",
        ),
        (
            "no size",
            "#\nid,lower,upper\n".to_owned(),
            "line 2: there is no column size; the columns are id, lower, upper",
        ),
        (
            "no life",
            "id,size\n".to_owned(),
            "line 1: there is neither a column lower",
        ),
        (
            "half a life",
            "id,lower,size\n".to_owned(),
            "line 1: a life needs two columns: lower (or begin) and upper",
        ),
        (
            "a mixed life",
            "id,start,upper,size\n".to_owned(),
            "line 1: a life needs two columns: lower (or begin) and upper",
        ),
        (
            "two names",
            "id,buffer,lower,upper,size\n".to_owned(),
            "line 1: columns id and buffer say the same",
        ),
        (
            "another separator",
            "id;lower;upper;size\n".to_owned(),
            "the columns are id;lower;upper;size",
        ),
        (
            "inverted",
            rows("a,0,1,1\nb,5,2,1\n"),
            "location b: line 3: lower 5 lies after upper 2",
        ),
        (
            "inverted, inclusive",
            "id,start,end,size\na,5,3,1\n".to_owned(),
            "line 2: start 5 lies after end 3",
        ),
        (
            "the end of time",
            format!("id,start,end,size\na,0,{},1\n", i64::MAX),
            "line 2: end 9223372036854775807 is the last",
        ),
        (
            "twice",
            rows("a,0,1,1\nb,0,1,1\n\na,0,1,1\nb,0,1,1\n"),
            "location a: line 5: the id stands on line 2 already",
        ),
        ("nameless", rows(",0,1,1\n"), "line 2: the id is empty"),
        (
            "a word",
            rows("a,0,x,1\n"),
            "line 2: upper \"x\" is no whole number",
        ),
        (
            "nothing",
            rows("a,,1,1\n"),
            "line 2: lower \"\" is no whole number",
        ),
        (
            "a fraction",
            rows("a,0,1,1.5\n"),
            "line 2: size \"1.5\" is no whole number",
        ),
        (
            "a negative size",
            rows("a,0,1,-1\n"),
            "line 2: size \"-1\" is no whole number",
        ),
        (
            "too large",
            rows("a,0,1,18446744073709551616\n"),
            "line 2: size",
        ),
        (
            "too late",
            rows("a,0,9223372036854775808,1\n"),
            "line 2: upper",
        ),
        (
            "a field too few",
            rows("a,0,1\n"),
            "line 2: there are 3 fields, but 4 columns",
        ),
        (
            "a field too many",
            rows("a,0,1,1,\n"),
            "line 2: there are 5 fields, but 4 columns",
        ),
        (
            "alignment",
            "id,lower,upper,size,alignment\na,0,1,1,0\n".to_owned(),
            "line 2: the alignment is 0",
        ),
        (
            "an offset",
            "id,lower,upper,size,offset\na,0,1,1,-1\n".to_owned(),
            "line 2: offset \"-1\"",
        ),
        (
            "a window",
            "id,lower,upper,size,gaps\na,0,9,1,2-4@0:8\n".to_owned(),
            "line 2: gap 2-4@0:8 has a window, which is not supported",
        ),
        (
            "a gap",
            "id,lower,upper,size,gaps\na,0,9,1,2\n".to_owned(),
            "line 2: gap \"2\" is not of the form",
        ),
        (
            "an inverted gap",
            "id,lower,upper,size,gaps\na,0,9,1,4-2\n".to_owned(),
            "line 2: gap 4-2 ends before",
        ),
        (
            "a clock",
            rows("a,1:0,2:1,1\n"),
            "line 2: lower is a vector clock (1:0), which is not supported",
        ),
        (
            "a pool",
            "# made by hand\n# pool_offset=all\nid,lower,upper,size\n".to_owned(),
            "line 2: pool_offset \"all\" is no whole number",
        ),
    ];
    for (name, text, wanted) in cases {
        let error = CsvFile::read(text.as_bytes()).expect_err(name).to_string();
        assert!(
            error.contains(wanted),
            "{name}: {wanted:?} is not in {error:?}"
        );
        assert!(!error.contains('\n'), "{name}: {error}");
    }
    let error = CsvFile::read(*b"id,lower,upper,size\n\xff,0,1,1\n")
        .unwrap_err()
        .to_string();
    assert!(error.contains("line 2"), "{error}");
}

#[test]
fn damaged_text_is_read_or_refused_but_never_a_crash() {
    let text =
        "# c\nid,lower,upper,size,alignment,gaps,offset\na,0,9,8,4,2-4 6-7,\n\"b\",-3,9,16,,,64\n";
    for_each_seed(0..300, |u| {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..u.int_in_range(1..=4)? {
            let at = u.choose_index(bytes.len())?;
            match u.int_in_range(0..=2)? {
                0 => bytes[at] = u.arbitrary()?,
                1 => bytes[at] = *u.choose(b"#,-:@\"\r\n 0-9")?,
                _ => drop(bytes.remove(at)),
            }
        }
        if let Ok(file) = CsvFile::read(bytes.as_slice()) {
            let offsets: Vec<u64> = (0..file.problem().len() as u64).collect();
            let again = CsvFile::read(written(&file, &offsets).as_bytes()).expect("our own output");
            assert_eq!(again.problem().segments, file.problem().segments);
            assert_eq!(again.problem().sizes, file.problem().sizes);
            assert_eq!(again.problem().labels, file.problem().labels);
            assert!(
                again
                    .problem()
                    .pins
                    .iter()
                    .copied()
                    .eq(offsets.into_iter().map(Some))
            );
        }
        Ok(())
    });
}
