//! The terminal table of a comparison.

use crate::layout::{self, Cell, GAP, Paint, Side, wrapped, wrapped_links};
use crate::screen::{COLUMNS, Screen};
use crate::traffic_table;
use segue_handoff::Scheme;
use segue_study::bench_words::{BenchWord, NOTICE_ERROR};
use segue_study::measure::{Column, NewLink, seconds};
use segue_study::numbers::time;
use segue_study::presentation::Presentation;
use segue_study::story::headline_of;
use segue_study::{Comparison, GroupResult, Plan, Row};
use segue_world::traffic::COUNTED;
use segue_world::{Address, NoticeMode};
use std::ops::Range;

/// Characters of the bar of link time: in a file or a pipe, on a wide terminal, and at least.
const BAR: usize = 24;
const WIDEST_BAR: usize = 48;
const NARROWEST_BAR: usize = 12;
/// Usual columns that give way to a long scheme name, in this order.
const GIVING_WAY: [Column; 3] = [Column::OverBoundP90, Column::SpuriousTimeouts, Column::Timeouts];

/// Columns that a long line has beside them, the most important ones first; none where the bar would shrink for it.
const COMING_IN: [&[Column]; 5] = [
    &[Column::Q1, Column::Q3],
    &[Column::NeedlessRetransmissions],
    &[Column::Drops],
    &[Column::Retransmissions],
    &[Column::FastRetransmits],
];

/// One character per class of link time.
const CLASSES: [(char, &str); 6] = [
    ('#', "useful (packets beyond the target, too)"),
    ('x', "needless"),
    ('-', "idle: data or the last ACKs are under way"),
    ('w', "idle: a window is full"),
    ('t', "idle: every sender waits for a timer"),
    ('.', "idle: other, such as slow start after a timeout"),
];
/// One more, where there are neighbours.
const NEIGHBOURS: (char, &str) = ('n', "carries packets of neighbours");
/// The same letter, where the mobile has other connections.
const OTHERS: (char, &str) = ('n', "carries packets of the mobile's other connections");

/// Meanings of a character of the bar.
pub fn meanings_of_letter(wanted: &str) -> Vec<&'static str> {
    let all = CLASSES.into_iter().chain([NEIGHBOURS, OTHERS]);
    all.filter(|(letter, _)| wanted.chars().eq([*letter])).map(|(_, meaning)| meaning).collect()
}

/// Above the names of the schemes.
const NAMES: &str = "scheme";

/// The whole table as text.
pub fn render(plan: &Plan, comparison: &Comparison, shown: &Presentation, screen: &Screen) -> String {
    let mut text = shown
        .title
        .iter()
        .map(|title| format!("{}\n\n", segue_console::printable(title)))
        .collect::<String>();
    let rows = || comparison.groups.iter().flat_map(|group| &group.rows);
    let name_width = rows().map(|row| row.scheme.chars().count()).max().unwrap_or(0).max(NAMES.len());
    let mut columns = shown.columns.clone();
    let mut widths = widths(&columns, name_width, rows());
    if columns == Column::USUAL {
        let giving_way = &mut GIVING_WAY.iter();
        while spare(&columns, &widths, screen.width) < NARROWEST_BAR
            && let Some(column) = giving_way.next()
        {
            columns.retain(|other| other != column);
            widths = self::widths(&columns, name_width, rows());
        }
        for more in COMING_IN {
            let wider: Vec<Column> = Column::WIDE
                .into_iter()
                .filter(|column| columns.contains(column) || more.contains(column))
                .collect();
            let wider_widths = self::widths(&wider, name_width, rows());
            if spare(&wider, &wider_widths, screen.width) < WIDEST_BAR {
                break;
            }
            (columns, widths) = (wider, wider_widths);
        }
    }
    let bar = bar_width(&columns, &widths, screen.width);
    if let Some(index) = columns.iter().position(|column| *column == Column::NewLink) {
        widths[index + 1] = bar;
    }
    for group in &comparison.groups {
        text.push_str(&wrapped_links(&heading(plan, group), screen.width));
        // Where no flow makes transfers, all that there is stands in the table of the traffic.
        if group.experiment.flows > 0 {
            for block in blocks(&widths, screen.terminal) {
                let own = [&widths[..1], &widths[1..][block.clone()]].concat();
                text.push_str(&group_table(group, &columns[block], &own, screen.colour));
            }
        }
        text.push_str(&neighbours(group, screen.width));
        let traffic = traffic_table::render(group, screen.colour);
        // Apart from the table above.
        if group.experiment.flows > 0 && !traffic.is_empty() {
            text.push('\n');
        }
        text.push_str(&traffic);
        text.push('\n');
    }
    text.push_str(&legend(plan, &columns, screen.width));
    if plan.traffic.is_some() {
        text.push_str(&traffic_table::legend(seconds(COUNTED), plan.series.handoffs > 1, screen.width));
    }
    text
}

fn heading(plan: &Plan, group: &GroupResult) -> String {
    let bound = bound(group).map(|bound| format!("; bound {bound} s"));
    let warnings = group.warnings();
    let warnings: String = warnings.iter().map(|warning| format!("; {warning}")).collect();
    format!("{}{}{}{warnings}", headline_of(group), conditions(plan, group), bound.unwrap_or_default())
}

/// The physical bound, or the least and the largest one where rows differ. Stacks do, and in a series what earlier
/// handoffs have left under way.
fn bound(group: &GroupResult) -> Option<String> {
    let bounds: Option<Vec<f64>> = group.rows.iter().map(|row| row.bound_s).collect();
    let bounds = bounds.filter(|_| group.experiment.flows > 0)?;
    let (least, most) = (bounds.iter().copied().reduce(f64::min)?, bounds.iter().copied().reduce(f64::max)?);
    let [least, most] = [least, most].map(|bound| time(Some(bound)));
    Some(if least == most { least } else { format!("{least} to {most}") })
}

/// The stack, the notice and settings, where they are not the usual ones.
fn conditions(plan: &Plan, group: &GroupResult) -> String {
    let request = &plan.request;
    let mut text = String::new();
    if request.stack.is_some() || request.cc.is_some() {
        text.push_str(&format!("; {}", group.distinct_stacks().join(" and ")));
    }
    text.push_str(match request.notice {
        NoticeMode::Instant => "",
        NoticeMode::InBand { lost: 0 } => "; notice in-band",
        NoticeMode::InBand { lost: 1 } => "; notice in-band, first copy lost",
        NoticeMode::InBand { .. } => "; notice in-band, both copies lost",
        NoticeMode::Withheld => "; no notice",
    });
    for (_, words) in request.settings.iter().filter(|(key, _)| key == NOTICE_ERROR) {
        text.push_str(&format!("; notice errs by {words}"));
    }
    // Those with an option of their own stand further ahead.
    let has_option = |key: &str| BenchWord::named(key).is_some_and(|word| word.file.is_some());
    for (key, value) in request.settings.iter().filter(|(key, _)| !has_option(key)) {
        text.push_str(&format!("; {key}={value}"));
    }
    text
}

/// A line below the table: the share that the neighbours on the new link keep.
fn neighbours(group: &GroupResult, width: usize) -> String {
    let kept = |row: &Row| Some(format!("{} {:.0} %", row.scheme, 100.0 * row.neighbours?.kept?));
    let kept: Vec<String> = group.rows.iter().filter_map(kept).collect();
    if kept.is_empty() {
        return String::new();
    }
    let text = format!(
        "In 2 s after completion the neighbours on the new link receive, of what they do without the handoff: {}",
        kept.join(", ")
    );
    wrapped("", &text, width)
}

/// Widths of the names, then of the columns; the same in all blocks. The bar has as much as is over, which is not
/// known yet.
fn widths<'a>(columns: &[Column], names: usize, rows: impl Iterator<Item = &'a Row>) -> Vec<usize> {
    let mut widths = vec![names];
    widths.extend(columns.iter().map(|column| column.heading().len()));
    for row in rows {
        for (width, &column) in widths[1..].iter_mut().zip(columns) {
            if column != Column::NewLink {
                *width = (*width).max(text(row, column, 0).len());
            }
        }
    }
    widths
}

/// Characters of a line that other columns leave to the bar.
fn spare(columns: &[Column], widths: &[usize], line: usize) -> usize {
    let others = columns.iter().zip(&widths[1..]).filter(|(column, _)| **column != Column::NewLink);
    line.saturating_sub(widths[0] + others.map(|(_, width)| GAP + width).sum::<usize>() + GAP)
}

fn bar_width(columns: &[Column], widths: &[usize], line: usize) -> usize {
    match spare(columns, widths, line) {
        // The columns that were asked for take more than a line.
        spare if spare < NARROWEST_BAR => BAR,
        spare => spare.min(if line > COLUMNS { WIDEST_BAR } else { BAR }),
    }
}

/// Columns that fit side by side: on a terminal that is narrower than the table, those that are left stand below. The
/// first of `widths` is that of the names, which each block has.
fn blocks(widths: &[usize], terminal: Option<usize>) -> Vec<Range<usize>> {
    let (mut blocks, mut begin, mut width) = (Vec::new(), 0, widths[0]);
    for (column, own) in widths[1..].iter().enumerate() {
        width += GAP + own;
        if column > begin && terminal.is_some_and(|most| width > most) {
            blocks.push(begin..column);
            (begin, width) = (column, widths[0] + GAP + own);
        }
    }
    blocks.push(begin..widths.len() - 1);
    blocks
}

fn group_table(group: &GroupResult, columns: &[Column], widths: &[usize], colour: bool) -> String {
    let sides: Vec<Side> = std::iter::once(Side::Left).chain(columns.iter().map(|&c| side(c))).collect();
    let bold = |text: &str| Cell { text: text.into(), paint: Paint::Bold };
    let head = std::iter::once(NAMES).chain(columns.iter().map(|column| column.heading()));
    let mut rows = vec![head.map(bold).collect::<Vec<_>>()];
    rows.extend(group.rows.iter().map(|row| {
        let comparable = row.stack == group.rows[0].stack;
        let cells = columns.iter().zip(&widths[1..]).map(|(&column, &width)| Cell {
            text: text(row, column, width),
            paint: if comparable { paint(row, column) } else { Paint::Plain },
        });
        std::iter::once(Cell::from(row.scheme.clone())).chain(cells).collect()
    }));
    layout::table(&rows, widths, &sides, colour)
}

fn side(column: Column) -> Side {
    if column == Column::NewLink { Side::Left } else { Side::Right }
}

fn text(row: &Row, column: Column, width: usize) -> String {
    column.measure().map_or_else(|| bar(&row.new_link_s, width), |(measure, _)| measure.text(row))
}

/// By the ratio to the first row; both are on the same stack.
fn paint(row: &Row, column: Column) -> Paint {
    match row.against_first.ratio_median {
        _ if column != Column::RatioToFirst => Paint::Plain,
        Some(ratio) if ratio < 0.95 => Paint::Green,
        Some(ratio) if ratio <= 1.05 => Paint::Plain,
        _ => Paint::Red,
    }
}

/// Where the new link's time went, as shares of a bar.
fn bar(link: &NewLink, width: usize) -> String {
    let idle = [link.idle_path, link.idle_window, link.idle_timer, link.idle_other];
    let parts = [&[link.useful, link.needless][..], &idle, &[link.neighbours]].concat();
    let total: f64 = parts.iter().sum();
    if total <= 0.0 {
        return String::new();
    }
    let mut text = String::new();
    let mut sum = 0.0;
    for (part, (letter, _)) in parts.iter().zip(CLASSES.into_iter().chain([NEIGHBOURS])) {
        sum += part;
        let end = (sum / total * width as f64).round() as usize;
        while text.len() < end {
            text.push(letter);
        }
    }
    text
}

/// Meanings of the columns, a line each.
fn legend(plan: &Plan, columns: &[Column], width: usize) -> String {
    let handoffs = plan.request.at.len() as u64 * plan.request.seeds;
    let rows = match handoffs {
        1 => "Each row: one handoff.".to_string(),
        _ => format!("Each row: {handoffs} handoffs."),
    };
    // Without a long transfer there is no table of transfers.
    if !plan.has_transfers() {
        return wrapped("", &rows, width);
    }
    let announces = |name: &str| Scheme::build(name, &[]).is_ok_and(|scheme| scheme.mobile().announces);
    let instant = plan.request.notice == NoticeMode::Instant
        && plan.notice_delay == 0
        && plan.notice_error.is_none()
        && plan.address == Address::Keep
        && plan.schemes.iter().any(|scheme| announces(&scheme.name));
    let more =
        columns.len() < Column::WIDE.len() && columns.iter().all(|column| Column::WIDE.contains(column));
    let about = format!(
        "{rows} Transfer time: from the completion of the handoff until {} more packets {} are acknowledged \
         (inf: not complete).{}{} `segue measures` defines the columns{}.",
        plan.request.packets,
        plan.counted(),
        if instant {
            " Notices reach senders at once; --notice in-band sends them over the new link."
        } else {
            ""
        },
        if plan.is_of_2008_unasked() {
            " The TCP is that of 2008; --stack linux-6.12 is today's."
        } else {
            ""
        },
        if more { "; --wide shows more" } else { "" }
    );
    let head = columns.iter().map(|column| column.heading().len()).max().unwrap_or(0) + GAP;
    let mut text = wrapped("", &about, width);
    for &column in columns {
        let mut meaning = column.meaning(&plan.schemes[0].name);
        if column == Column::NewLink {
            let others = plan.traffic.as_ref().map(|_| OTHERS);
            let more = plan.neighbours.map(|_| NEIGHBOURS).or(others);
            let classes: Vec<String> =
                CLASSES.into_iter().chain(more).map(|(letter, class)| format!("{letter} {class}")).collect();
            meaning = format!("{meaning}: {}", classes.join(", "));
        }
        text.push_str(&wrapped(&format!("{:head$}", column.heading()), &meaning, width));
    }
    if let Some(alone) = plan.alone() {
        text.push_str(&wrapped("", &alone, width));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two blanks stand before each column.
    #[test]
    fn columns_that_do_not_fit_a_terminal_stand_below() {
        let widths = [8, 6, 6, 40, 6];
        let one = std::slice::from_ref(&(0..4));
        assert_eq!(blocks(&widths, None), one);
        assert_eq!(blocks(&widths, Some(74)), one);
        assert_eq!(blocks(&widths, Some(73)), [0..3, 3..4]);
        assert_eq!(blocks(&widths, Some(24)), [0..2, 2..3, 3..4], "a bar alone may be wider");
    }

    #[test]
    fn a_bar_is_full_and_in_proportion() {
        let link = NewLink {
            useful: 6.0,
            needless: 3.0,
            idle_path: 0.0,
            idle_window: 3.0,
            idle_timer: 0.0,
            idle_other: 0.0,
            neighbours: 0.0,
        };
        let shared = NewLink { neighbours: 12.0, ..link };
        assert_eq!(bar(&shared, 24), "######xxxwwwnnnnnnnnnnnn");
        assert_eq!(bar(&link, 24), "############xxxxxxwwwwww");
        assert_eq!(bar(&link, 12), "######xxxwww");
    }
}
