//! What is written is there whole, or not at all.

use std::fs;

use crate::harness::{CSV, Folder, PROGRAM, gunzip, gzip};

#[test]
fn stdin_stdout_files_and_gzip_carry_the_same_plan() {
    let folder = Folder::new("same_plan");
    folder.file("p.json", PROGRAM);
    folder.file("packed", gzip(PROGRAM.as_bytes())); // Found by content, whatever it is called.
    let want = folder.run(["plan", "p.json"]).expect(0).stdout;
    assert_eq!(
        folder
            .run_with(["plan", "-"], PROGRAM.as_bytes())
            .expect(0)
            .stdout,
        want
    );
    assert_eq!(
        folder
            .run_with(["plan", "-", "-o", "-"], PROGRAM.as_bytes())
            .expect(0)
            .stdout,
        want
    );
    assert_eq!(folder.run(["plan", "packed"]).expect(0).stdout, want);
    for (out, packed) in [
        ("plan.json", false),
        ("plan.json.gz", true),
        ("PLAN.GZ", true),
    ] {
        let got = folder.run(["plan", "p.json", "-o", out]).expect(0);
        assert_eq!(got.text(), "", "{out}");
        let bytes = folder.read(out);
        assert_eq!(if packed { gunzip(&bytes) } else { bytes }, want, "{out}");
    }
    // A compressed plan is the same bytes whenever it is made.
    assert_eq!(folder.read("plan.json.gz"), folder.read("PLAN.GZ"));
    folder.run(["verify", "packed", "plan.json.gz"]).expect(0);
}

#[test]
fn stdout_carries_the_result_alone() {
    let folder = Folder::new("result_alone");
    folder.file("p.json", PROGRAM);
    for talk in [&[][..], &["-v"], &["-q"]] {
        let got = folder.run(["plan", "p.json"].iter().chain(talk)).expect(0);
        assert_eq!(got.json()["format"], "dramalloc-plan", "{talk:?}");
        assert!(
            !got.stderr.contains('\r'),
            "no bar without a terminal: {}",
            got.stderr
        );
        match talk {
            ["-q"] => assert_eq!(got.stderr, ""),
            ["-v"] => assert!(
                got.stderr.contains("dramalloc: time: plan "),
                "{}",
                got.stderr
            ),
            _ => assert!(
                got.stderr.contains("dramalloc: plan: peak 20480 bytes"),
                "{}",
                got.stderr
            ),
        }
    }
}

#[test]
fn a_failed_run_leaves_the_old_file_and_nothing_else() {
    let folder = Folder::new("old_file");
    folder.file("p.json", PROGRAM);
    folder.file("out", "the old plan");
    folder
        .run(["plan", "p.json", "-o", "out", "--capacity", "8193"])
        .expect(1);
    assert_eq!(folder.read("out"), b"the old plan");
    assert_eq!(folder.names(), ["out", "p.json"]);
    folder.run(["plan", "p.json", "-o", "out"]).expect(0);
    assert_eq!(folder.json("out")["format"], "dramalloc-plan");
    assert_eq!(folder.names(), ["out", "p.json"]);
}

#[test]
fn an_input_may_be_its_own_output() {
    let folder = Folder::new("own_output");
    folder.file("p.csv", CSV);
    folder.run(["plan", "p.csv", "-o", "p.csv"]).expect(0);
    assert!(
        String::from_utf8(folder.read("p.csv"))
            .unwrap()
            .starts_with("id,lower,upper,size,offset\n")
    );
}

#[test]
fn what_cannot_be_written_is_named() {
    let folder = Folder::new("cannot_be_written");
    folder.file("p.json", PROGRAM);
    fs::create_dir(folder.path("folder")).unwrap();
    let read_only = folder.file("read_only", "old");
    let mut permissions = fs::metadata(&read_only).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&read_only, permissions).unwrap();
    for (out, says) in [
        ("no/such/plan.json", "its folder does not exist"),
        ("folder", "is a directory"),
        ("p.json/plan.json", "not a directory"),
        ("read_only", "permission denied"),
    ] {
        let got = folder.run(["plan", "p.json", "-q", "-o", out]).expect(2);
        assert!(got.stderr.contains(says), "{out}: {}", got.stderr);
        assert_eq!(got.stderr.lines().count(), 1, "{out}: {}", got.stderr);
    }
    assert_eq!(folder.read("read_only"), b"old");
    assert_eq!(folder.names(), ["folder", "p.json", "read_only"]);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    use std::process::Stdio;

    #[test]
    fn a_device_is_written_through_and_not_replaced() {
        let folder = Folder::new("device");
        folder.file("p.json", PROGRAM);
        folder.run(["plan", "p.json", "-o", "/dev/null"]).expect(0);
        assert!(
            fs::metadata("/dev/null")
                .unwrap()
                .file_type()
                .is_char_device()
        );
        let got = folder
            .run(["plan", "p.json", "-o", "/dev/stdout"])
            .expect(0);
        assert_eq!(got.json()["format"], "dramalloc-plan");
    }

    #[test]
    fn a_link_stays_a_link_and_permissions_stay() {
        let folder = Folder::new("link");
        folder.file("p.json", PROGRAM);
        let real = folder.file("real", "old");
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("real", folder.path("link")).unwrap();
        folder.run(["plan", "p.json", "-o", "link"]).expect(0);
        assert!(
            fs::symlink_metadata(folder.path("link"))
                .unwrap()
                .is_symlink()
        );
        assert_eq!(folder.json("real")["format"], "dramalloc-plan");
        assert_eq!(
            fs::metadata(&real).unwrap().permissions().mode() & 0o777,
            0o640
        );
    }

    #[test]
    fn a_full_disk_is_an_error() {
        if !std::path::Path::new("/dev/full").exists() {
            eprintln!("skipped: this system has no /dev/full");
            return;
        }
        let folder = Folder::new("full");
        folder.file("p.json", PROGRAM);
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let to_stdout = folder
            .command()
            .args(["plan", "p.json", "-q"])
            .stdout(full)
            .output()
            .unwrap();
        let to_file = folder
            .command()
            .args(["plan", "p.json", "-q", "-o", "/dev/full"])
            .output()
            .unwrap();
        for output in [to_stdout, to_file] {
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{stderr}");
            assert!(stderr.contains("no space left"), "{stderr}");
            assert_eq!(stderr.lines().count(), 1, "{stderr}");
        }
    }

    #[test]
    fn a_reader_that_leaves_is_no_news() {
        let folder = Folder::new("broken_pipe");
        for args in [&["plan", "-", "-q"][..], &["convert", "-"]] {
            let mut command = folder.command();
            command
                .args(args)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            drop(child.stdout.take()); // Before the command has anything to write.
            child
                .stdin
                .take()
                .unwrap()
                .write_all(PROGRAM.as_bytes())
                .unwrap();
            let output = child.wait_with_output().unwrap();
            assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{args:?}");
            assert_eq!(output.status.code(), Some(2), "{args:?}");
        }
    }
}
