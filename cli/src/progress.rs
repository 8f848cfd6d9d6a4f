//! A bar on stderr while a run works, if stderr is a terminal.

use std::io::IsTerminal;
use std::time::Duration;

use dramalloc::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shows what the library reports.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar; one that draws nothing if `quiet`, or if stderr is no terminal.
    pub fn new(quiet: bool) -> Bar {
        if quiet || !std::io::stderr().is_terminal() {
            return Bar(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.enable_steady_tick(Duration::from_millis(200));
        Bar(bar)
    }

    /// The next report.
    pub fn show(&self, progress: &Progress) {
        if self.0.is_hidden() {
            return;
        }
        let template = if progress.total > 0 {
            self.0.set_length(progress.total);
            "{prefix:10} {wide_bar} {percent:>3} %  {msg}"
        } else {
            "{prefix:10} {spinner}  {msg}"
        };
        let style = ProgressStyle::with_template(template).expect("the template is a constant");
        self.0.set_style(style);
        self.0.set_prefix(progress.phase);
        self.0.set_position(progress.done);
        if progress.incumbent != u64::MAX && progress.bound > 0 {
            self.0.set_message(format!(
                "peak {} of bound {}",
                progress.incumbent, progress.bound
            ));
        }
    }

    /// Wipes the bar away, so that what follows stands on a clean line.
    pub fn finish(self) {
        self.0.finish_and_clear();
    }
}
