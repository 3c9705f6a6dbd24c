//! A progress bar with the time left, where somebody watches.

use crate::screen::Screen;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

/// A bar of so many handoffs or drives, which is gone when it is dropped; hidden where nobody watches.
pub fn bar(screen: &Screen, count: u64, of: &str) -> ProgressBar {
    let target = if screen.progress { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(count), target).with_finish(ProgressFinish::AndClear);
    if let Ok(style) = ProgressStyle::with_template(&format!("{{bar:40}} {{pos}}/{{len}} {of}, {{eta}} left"))
    {
        bar.set_style(style);
    }
    bar
}
