//! The page of drives: for each drive the time line of its cells, throughput and stalls of each scheme, and the table.

use crate::handoff::sentence_case;
use crate::pictures::{Budget, Picture};
use crate::{Origin, looks, page};
use maud::{Markup, html};
use rayon::prelude::*;
use segue_draw::{
    About, Cell, Course as Drawn, Journey, Point, QueueDelay, QueueDelayGraph, QueueDelayPlot, Timeline,
};
use segue_export::drive_csv;
use segue_study::drive::{DriveBlock, DrivePlan, DriveRow, Mean};
use segue_study::measure::seconds;
use segue_study::numbers::{count, time};
use segue_study::warnings::stack_warnings;
use segue_world::access::QueueWord;
use segue_world::drive::course::Course;
use segue_world::drive::mobility::{Drive, Stay};
use segue_world::{Nanos, SECOND};
use std::collections::BTreeSet;

/// Parts of a drive whose throughput is drawn; none is shorter than [`SHORTEST`].
const PARTS: u32 = 300;
const SHORTEST: Nanos = SECOND;
/// Height of a scheme's plot and of all else in a picture, px.
const PLOT: u32 = 96;
const REST: u32 = 110;

/// The page; it simulates the first seed of each drive once more, and keeps its course.
pub fn drive_page(plan: &DrivePlan, rows: &[DriveRow], origin: &Origin) -> String {
    let title = plan.title.clone().unwrap_or_else(|| "Drives".into());
    let budget = Budget::of_page();
    let courses: Vec<Vec<Course>> = plan.blocks.par_iter().map(|block| courses(plan, block)).collect();
    let head = html! {
        h1 { (title) }
        p.lead { "Whole drives, simulated packet by packet: " (plan.seeds) @if plan.seeds == 1 { " seed" } @else { " seeds" } " of each scheme on each drive." }
        @for warning in stack_warnings(rows.iter().map(|row| row.stack.as_str())) {
            p.lead { (page::with_options(&sentence_case(&warning))) "." }
        }
        (asked(plan, rows, origin))
    }
    .into_string();
    let blocks = plan.blocks.iter().zip(rows.chunks(plan.schemes.len())).zip(&courses);
    let blocks: Vec<Block> = blocks
        .enumerate()
        .map(|(index, ((block, rows), courses))| Block {
            heading: heading(plan, block, index),
            pictures: std::iter::once(picture(plan, block, courses, index))
                .chain(queue_delay(plan, block, courses, index))
                .collect(),
            tables: tables(plan, block, rows, courses),
        })
        .collect();
    let numbers =
        drive_csv(rows).map(|csv| page::saved("numbers (CSV)", "segue-drives.csv", "text/csv", &csv));
    let numbers = html! { @if let Ok(numbers) = numbers { p.again { (numbers) } } }.into_string();
    let parts: Vec<(String, String)> =
        plan.blocks.iter().enumerate().map(|(index, block)| (place(index), name(plan, block))).collect();
    let contents = page::contents(&parts).into_string();
    budget.must_take(head.len() + numbers.len() + contents.len());
    blocks.iter().for_each(|Block { heading, pictures, tables }| {
        let captions: usize = pictures.iter().map(|(_, caption)| caption.len()).sum();
        budget.must_take(heading.0.len() + captions + tables.0.len());
    });
    let wide = |(picture, _): &(Picture, String)| budget.takes(picture.bytes().0);
    let wide: Vec<Vec<bool>> = blocks.iter().map(|block| block.pictures.iter().map(wide).collect()).collect();
    let content = html! {
        (maud::PreEscaped(head))
        (maud::PreEscaped(contents))
        (maud::PreEscaped(numbers))
        @for (Block { heading, pictures, tables }, wide) in blocks.iter().zip(&wide) {
            (heading)
            // They share a cursor.
            div.timed {
                @for ((picture, caption), wide) in pictures.iter().zip(wide) {
                    @if *wide {
                        @let narrow = budget.takes(picture.bytes().1 - picture.bytes().0);
                        (picture.markup(narrow, caption))
                    } @else {
                        p.lead { "A picture would make this page too large; a file with this drive alone has it." }
                    }
                }
            }
            (tables)
        }
        (legend(plan))
    };
    page::page(&format!("Segue: {title}"), content)
}

/// A drive in the page.
struct Block {
    heading: Markup,
    /// With their captions.
    pictures: Vec<(Picture, String)>,
    tables: Markup,
}

fn courses(plan: &DrivePlan, block: &DriveBlock) -> Vec<Course> {
    let bins = u32::try_from(block.experiment.drive.length / SHORTEST).unwrap_or(PARTS).clamp(1, PARTS);
    plan.schemes.par_iter().map(|scheme| plan.course(block, scheme, bins)).collect()
}

fn milliseconds(time: Nanos) -> String {
    format!("{} ms", time as f64 / 1e6)
}

/// A block's name, with all that tells it from the others.
fn name(plan: &DrivePlan, block: &DriveBlock) -> String {
    let experiment = &block.experiment;
    let several =
        plan.blocks.iter().any(|other| other.experiment.bandwidth_error != experiment.bandwidth_error);
    let error = match several {
        true => format!(", bandwidth within {:.0} %", 100.0 * experiment.bandwidth_error),
        false => String::new(),
    };
    format!("{}, wide area {}{error}", block.name, milliseconds(experiment.wan.delay))
}

/// The place of a drive in the page.
fn place(index: usize) -> String {
    format!("drive-of-block-{index}")
}

fn heading(plan: &DrivePlan, block: &DriveBlock, index: usize) -> Markup {
    html! { h2 id=(place(index)) { (name(plan, block)) } }
}

fn asked(plan: &DrivePlan, rows: &[DriveRow], origin: &Origin) -> Markup {
    let Some(first) = plan.blocks.first().map(|block| &block.experiment) else { return html! {} };
    let mut drives: Vec<String> = Vec::new();
    for block in &plan.blocks {
        let drive = &block.experiment.drive;
        let words = format!("{}: {} s in {} cells", block.name, seconds(drive.length), drive.stays.len());
        if !drives.contains(&words) {
            drives.push(words);
        }
    }
    let mut traffic = vec![format!("{} to the mobile", flows(first.flows))];
    if first.cross > 0 {
        traffic.push(format!("{} beside", flows(first.cross)));
    }
    if first.web.is_some() {
        traffic.push("the web's users".into());
    }
    html! {
        dl.asked {
            dt { "Drives" } dd { (drives.join("; ")) }
            dt { "Wide area" } dd { (first.wan.rate / 1000) " kbit/s, queue of " (first.wan.queue) " packets" }
            dt { "Traffic" } dd { (traffic.join("; ")) }
            dt { "Schemes" }
            dd {
                @for (index, scheme) in plan.schemes.iter().enumerate() {
                    @if index > 0 { "; " }
                    b { (scheme.name) } " on " (scheme.stack.name)
                    @for (key, value) in &scheme.settings { ", " code { (key) "=" (value) } }
                }
            }
            @if let Some(row) = rows.first() { dt { "Notice" } dd { (row.notice) } }
            dt { @if plan.seeds > 1 { "Seeds" } @else { "Seed" } }
            dd { (plan.seed) @if plan.seeds > 1 { " to " (plan.seed + plan.seeds - 1) } }
            dt { "Repeat it" } dd { code.command { @for word in origin.command.split(' ') { span { (word) } " " } } }
            dt { "Made by" } dd { "Segue " (origin.version) }
        }
    }
}

fn flows(count: usize) -> String {
    format!("{count} bulk flow{}", if count == 1 { "" } else { "s" })
}

fn picture(plan: &DrivePlan, block: &DriveBlock, courses: &[Course], index: usize) -> (Picture, String) {
    let drive = &block.experiment.drive;
    let series = looks::series(plan.schemes.iter().map(|scheme| (scheme.name.as_str(), scheme.name.clone())));
    let drawn = series.into_iter().zip(courses).map(|(series, course)| Drawn {
        series,
        throughput: throughput(course, drive.length),
        stalls: course.stalls.iter().map(|&(from, until)| (seconds(from), seconds(until))).collect(),
    });
    let journey = Journey {
        about: About {
            id: format!("drive-{index}"),
            title: format!("Cells, throughput and stalls, {}", name(plan, block)),
            description: "The cells of the mobile over time, and below them for each scheme the throughput, with stalls \
                          above it."
                .into(),
            heading: String::new(),
        },
        length: seconds(drive.length),
        networks: drive.networks.clone(),
        cells: drive.stays.iter().map(|stay| cell(drive, stay)).collect(),
        measure: "throughput, kbit/s".into(),
        courses: drawn.collect(),
    };
    let rest = REST + 17 * u32::try_from(journey.networks.len()).unwrap_or(1);
    let height = rest + PLOT * u32::try_from(courses.len()).unwrap_or(1);
    let picture = Picture::draw((height, height), |size, suffix| {
        let mut journey = journey.clone();
        journey.about.id.push_str(suffix);
        journey.svg(size)
    });
    let bin = courses.first().map_or(0.0, |course| seconds(course.bin));
    let caption = format!(
        "The drive with seed {}. At the top the cells, each with the network it is of. Below, throughput of data new to \
         the mobile in parts of {bin} s. Above it, the stalls: more than 200 ms without new data.",
        plan.seed
    );
    (picture, caption)
}

/// Delay in the queues of the cells over time, if one of them is managed.
fn queue_delay(
    plan: &DrivePlan,
    block: &DriveBlock,
    courses: &[Course],
    index: usize,
) -> Option<(Picture, String)> {
    let drive = &block.experiment.drive;
    let queues: BTreeSet<QueueWord> = drive.stays.iter().map(|stay| stay.link.features[0].queue).collect();
    if queues.iter().all(|queue| *queue == QueueWord::DropTail) {
        return None;
    }
    let targets: BTreeSet<Option<Nanos>> = queues.iter().map(|queue| queue.target()).collect();
    let series = looks::series(plan.schemes.iter().map(|scheme| (scheme.name.as_str(), scheme.name.clone())));
    let course = |(series, course): (_, &Course)| {
        let point = |(bin, wait): (usize, &Option<Nanos>)| {
            Point::new(seconds(course.bin * bin as Nanos), seconds(wait.unwrap_or(0)))
        };
        let delays = course.waits.iter().enumerate().map(point).collect();
        QueueDelay { series, delays, end: None, drops: Vec::new(), marks: Vec::new() }
    };
    let words: Vec<String> = queues.iter().map(QueueWord::to_string).collect();
    let graph = QueueDelayGraph {
        about: About {
            id: format!("drive-queue-{index}"),
            title: format!("Queueing delay, {}", name(plan, block)),
            description:
                "The longest wait of data in the queue of the access link over time, one curve per scheme."
                    .into(),
            heading: String::new(),
        },
        timeline: Timeline { span: Some((0.0, seconds(drive.length))), ..Timeline::default() },
        plots: vec![QueueDelayPlot {
            label: format!("access links, {}", words.join(" and ")),
            // None of several targets is that of the line.
            target: targets.first().copied().flatten().filter(|_| targets.len() == 1).map(seconds),
            courses: series.into_iter().zip(courses).map(course).collect(),
        }],
    };
    let picture = Picture::draw((230, 260), |size, suffix| {
        let mut graph = graph.clone();
        graph.about.id.push_str(suffix);
        graph.svg(size)
    });
    let bin = courses.first().map_or(0.0, |course| seconds(course.bin));
    let caption =
        format!("The longest wait of data in the queue of the mobile's access link, in parts of {bin} s.");
    Some((picture, caption))
}

/// Throughput of each part, kbit/s.
fn throughput(course: &Course, length: Nanos) -> Vec<Point> {
    let point = |(index, packets): (usize, &u32)| {
        let from = course.bin * index as Nanos;
        let lasts = (from + course.bin).min(length) - from;
        let bits = f64::from(*packets) * f64::from(course.payload) * 8.0;
        Point::new(seconds(from), bits / 1000.0 / seconds(lasts))
    };
    course.packets.iter().enumerate().map(point).collect()
}

fn cell(drive: &Drive, stay: &Stay) -> Cell {
    let network = drive.networks.get(stay.network).map_or("", String::as_str);
    let (from, until) = (seconds(stay.from), seconds(stay.until.min(drive.length)));
    let label = format!("{network}: {}, {from:.1} s to {until:.1} s", stay.link.text);
    Cell { network: stay.network, from, until, label }
}

/// How much of the stalls lies in times with a link.
fn stalled_with_link(course: &Course, drive: &Drive) -> Nanos {
    let overlap = |stay: &Stay, (from, until): (Nanos, Nanos)| {
        until.min(stay.until).saturating_sub(from.max(stay.from))
    };
    let stalls = course.stalls.iter();
    stalls.map(|&stall| drive.stays.iter().map(|stay| overlap(stay, stall)).sum::<Nanos>()).sum()
}

fn mean(value: &Mean) -> String {
    match value.ci95 {
        Some(ci95) => format!("{:.0} \u{b1} {ci95:.0}", value.mean),
        None => format!("{:.0}", value.mean),
    }
}

fn tables(plan: &DrivePlan, block: &DriveBlock, rows: &[DriveRow], courses: &[Course]) -> Markup {
    let drive = &block.experiment.drive;
    let longest = |course: &Course| course.stalls.iter().map(|(from, until)| until - from).max().unwrap_or(0);
    html! {
        h3 { "The drive of the picture" }
        div.table { table {
            thead { tr {
                th { "scheme" } th { "stalls" } th { "time in stalls, s" } th { "with a link, s" } th { "longest stall, s" }
            } }
            tbody {
                @for (scheme, course) in plan.schemes.iter().zip(courses) {
                    tr {
                        td { (looks::named(&scheme.name)) }
                        td { (course.stalls.len()) }
                        td { (time(Some(seconds(course.stalled())))) }
                        td { (time(Some(seconds(stalled_with_link(course, drive))))) }
                        td { (time(Some(seconds(longest(course))))) }
                    }
                }
            }
        } }
        h3 { "All seeds" }
        div.table { table {
            thead { tr {
                th { "scheme" } th { "kbit/s" } th { "cross traffic, kbit/s" } th { "Jain" } th { "idle, s" } th { "timeouts" }
                th { "resent" } th { "queue, s" } th { "web, s" }
            } }
            tbody {
                @for row in rows {
                    tr {
                        td { (looks::named(&row.scheme)) }
                        td { (mean(&row.mobile_kbps)) }
                        td { (row.cross_kbps.as_ref().map_or("-".into(), mean)) }
                        td { (format!("{:.2}", row.jain.mean)) }
                        td { (time(row.idle_s)) }
                        td { (count(row.timeouts)) }
                        td { (count(row.retransmissions)) }
                        td { (time(row.queue_delay_median_s)) }
                        td { (row.web.as_ref().map_or("-".into(), |web| time(web.completion_median_s))) }
                    }
                }
            }
        } }
    }
}

fn legend(plan: &DrivePlan) -> Markup {
    html! {
        p.lead {
            "kbit/s: data in order to the mobile"
            @if plan.seeds > 1 { ", mean \u{b1} half the 95 % confidence interval over " (plan.seeds) " seeds" }
            ". Jain: fairness of all bulk flows. idle: from link-up until data reaches the new link, mean. timeouts, resent: \
             per drive. queue: median delay of data at the access link. web: median time of an object."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_world::AccessLink;

    /// By hand: of the stall from 3 s to 9 s the mobile has a link until 4 s and from 7 s on.
    #[test]
    fn stalls_are_told_apart_by_whether_there_is_a_link() {
        let link = AccessLink::parse("200kbit/150ms").unwrap();
        let stay = |from: u64, until: u64| Stay {
            network: 0,
            from: from * SECOND,
            until: until * SECOND,
            link: link.clone(),
        };
        let drive = Drive::new(10 * SECOND, vec!["a".into()], vec![stay(0, 4), stay(7, 10)]).unwrap();
        let course = Course {
            bin: 4 * SECOND,
            packets: vec![100, 0, 50],
            waits: vec![None; 3],
            payload: 1000,
            stalls: vec![(3 * SECOND, 9 * SECOND)],
            last: None,
        };
        assert_eq!(stalled_with_link(&course, &drive), 3 * SECOND);
        let rates: Vec<f64> = throughput(&course, drive.length).iter().map(|point| point.value).collect();
        assert_eq!(rates, [200.0, 0.0, 200.0], "the last part has two seconds");
    }
}
