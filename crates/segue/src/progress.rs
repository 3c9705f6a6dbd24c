//! A progress bar with the time left, where somebody watches.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use std::io::IsTerminal;

/// A bar of so many handoffs or drives, which is gone when it is dropped; hidden where output goes to a pipe.
pub fn bar(count: u64, of: &str) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() && std::io::stdout().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(count), target).with_finish(ProgressFinish::AndClear);
    if let Ok(style) = ProgressStyle::with_template(&format!("{{bar:40}} {{pos}}/{{len}} {of}, {{eta}} left"))
    {
        bar.set_style(style);
    }
    bar
}
