//! Running the command in a folder of its own.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Two locations that share bytes, one that cannot, a view and a pin: 12288 bytes above the pin.
pub const PROGRAM: &str = r#"{"format":"dramalloc-program","version":1,"name":"small","modules":[
 {"name":"m0","core":0,"functions":[{"name":"main",
  "memlocs":[{"name":"x","bytes":8192,"usage":"input","address":0},
             {"name":"a","bytes":4096},{"name":"b","bytes":8000},{"name":"c","elem_count":1024,"elem_size":4},
             {"name":"v","alias_of":"b","offset":4096}],
  "instructions":[{"op":"load","uses":["x"],"defs":["a"]},
                  {"op":"work","uses":["a"],"defs":["b"]},
                  {"op":"peek","uses":["v"],"defs":["c"]},
                  {"op":"store","uses":["c"],"defs":[]}]}]}]}"#;

/// Three buffers, 12 bytes at time 2, and the same bytes for the first and the last.
pub const CSV: &str = "id,lower,upper,size\nfirst,0,2,4\nsecond,1,4,8\nlast,2,4,4\n";

/// What came of a run.
pub struct Outcome {
    pub status: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Outcome {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("stdout is text")
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout).expect("stdout is JSON")
    }

    /// The run, if it ended with this status; all that it said otherwise.
    #[track_caller]
    pub fn expect(self, status: i32) -> Outcome {
        assert_eq!(self.status, Some(status), "stderr: {}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }
}

/// A folder that no other test uses, empty at the start.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(test: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = fs::remove_dir_all(&path); // Not there on the first run.
        fs::create_dir_all(&path).expect("the folder for test files can be made");
        Folder(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), content).expect("test files can be written");
        self.path(name)
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&self.read(name)).expect("the file is JSON")
    }

    /// The names of all files, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the folder can be listed");
        let name = |e: std::io::Result<fs::DirEntry>| e.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dramalloc"));
        command.current_dir(&self.0);
        command
    }

    /// Runs the command in the folder.
    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Outcome {
        self.run_with(args, b"")
    }

    /// Runs the command in the folder with something on stdin.
    pub fn run_with<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        stdin: &[u8],
    ) -> Outcome {
        let mut command = self.command();
        command
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        let mut pipe = child.stdin.take().expect("stdin is piped");
        let stdin = stdin.to_owned();
        // A child that reads nothing closes the pipe; that is no failure of the test.
        let writer = std::thread::spawn(move || drop(pipe.write_all(&stdin)));
        let output = child.wait_with_output().expect("the command ends");
        writer.join().expect("the writer does not panic");
        Outcome {
            status: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).expect("stderr is text"),
        }
    }
}

/// `content`, compressed.
pub fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder
        .write_all(content)
        .expect("memory takes every write");
    encoder.finish().expect("memory takes every write")
}

/// `content`, unpacked.
pub fn gunzip(content: &[u8]) -> Vec<u8> {
    let mut unpacked = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(content), &mut unpacked)
        .expect("the file is gzip");
    unpacked
}

/// Compares a text with the one in `tests/data`; with `BLESS=1` in the environment, writes it there.
#[track_caller]
pub fn golden(name: &str, text: &str) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data");
    let path = data.join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, text).expect("test data can be written");
    }
    let known = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(
        text, known,
        "{name} is no longer so; BLESS=1 writes it anew"
    );
}
