//! The page of `segue compare --report`: the table, the charts, and a few handoffs packet by packet.

use crate::chart::quartiles;
use crate::distribution::{distribution, distribution_csv};
use crate::handoff::{bar_of_row, link_time, link_time_caption, link_time_csv, sentence_case};
use crate::pictures::{Budget, Picture};
use crate::shown::{self, Shown};
use crate::{Origin, asked, headline_of, looks, page, rules, traffic};
use maud::{Markup, PreEscaped, html};
use segue_draw::{About, Line, LineChart, LinePlot, Look};
use segue_export::comparison_csv;
use segue_study::measure::{self, Column, Measure};
use segue_study::{Comparison, GroupResult, Plan, Presentation, Row};

/// The page; `comparison` must have kept its single handoffs.
pub fn comparison_page(
    plan: &Plan,
    comparison: &Comparison,
    presentation: &Presentation,
    origin: &Origin,
) -> String {
    let budget = Budget::of_page();
    let title = presentation.title.clone().unwrap_or_else(|| links(plan));
    let (tables, more) = tables(plan, comparison);
    let head = html! {
        h1 { (title) }
        p.lead { (count(plan)) " per scheme, simulated packet by packet." }
        (asked::asked(plan, origin))
    }
    .into_string();
    let below = html! {
        (PreEscaped(&tables))
        @if more > 0 { p.lead { (more) " more tables would make this page too large; --csv has all rows." } }
        (legend(plan))
    }
    .into_string();
    let numbers = numbers(comparison, origin).into_string();
    let blocks = comparison.groups.len();
    // The command beside each chart, the entries of the blocks in the contents, and the rules that stories cite.
    let of_blocks = blocks * (300 + 2 * (origin.command.len() + 100));
    budget.must_take(head.len() + below.len() + numbers.len() + rules::MOST + of_blocks);
    let mut charts = charts(comparison, presentation);
    let distributions = comparison.groups.iter().enumerate().map(|(index, group)| distribution(index, group));
    charts.splice(1..1, distributions);
    let (handoffs, shown) = shown::handoffs(plan, comparison, &charts, &budget);
    let drawn = handoffs.iter().flat_map(|group| &group.handoffs);
    let cited = rules::cited(drawn.flat_map(|(_, drawn, _)| drawn.cited()));
    let picture = |index: usize| {
        html! {
            @if let (Some((picture, caption)), Some(Some(narrow))) = (charts.get(index), shown.get(index)) {
                (picture.markup(*narrow, caption))
            }
        }
    };
    // A chart of a block with its numbers, as long as there is room for them.
    let with_numbers = |index: usize, name: String, csv: String| {
        let numbers = page::saved("numbers (CSV)", &name, "text/csv", &csv);
        let numbers = Some(numbers).filter(|numbers| budget.takes(numbers.0.len()));
        html! {
            (picture(index))
            @if shown.get(index).is_some_and(Option::is_some) { (page::again(numbers, &origin.command)) }
        }
    };
    let content = html! {
        (PreEscaped(head))
        (contents(comparison, comparison.groups.len() - more, &handoffs, cited.is_some()))
        h2 id="result" { "Result" }
        (picture(0))
        (PreEscaped(numbers))
        (PreEscaped(below))
        h2 id="distributions" { "Distribution of the transfer times" }
        @for (index, group) in comparison.groups.iter().enumerate() {
            (with_numbers(1 + index, format!("segue-distribution-{index}.csv"), distribution_csv(group)))
        }
        h2 id="new-links" { "Time of the new link" }
        @for (index, group) in comparison.groups.iter().enumerate() {
            @let bars: Vec<_> = group.rows.iter().map(bar_of_row).collect();
            (with_numbers(1 + blocks + index, format!("segue-new-link-{index}.csv"), link_time_csv(&bars)))
        }
        @if shown.contains(&None) {
            p.lead { "Other charts would make this page too large." }
        }
        @for (index, group) in handoffs.iter().enumerate().filter(|(_, group)| group.has_been_drawn()) {
            (group.markup(plan, index))
        }
        @if !handoffs.iter().all(Shown::has_been_drawn) {
            p.lead { "The handoffs of other blocks would make this page too large; segue trace shows any." }
        }
        @if let Some(cited) = cited { h2 id=(rules::PLACE) { (rules::HEADING) } (cited) }
    };
    page::page(&format!("Segue: {title}"), content)
}

/// Bytes of the largest CSV that the page itself holds.
const NUMBERS: usize = 300_000;

/// The rows as CSV, for programs.
fn numbers(comparison: &Comparison, origin: &Origin) -> Markup {
    let csv = comparison_csv(comparison).ok().filter(|csv| csv.len() <= NUMBERS);
    let numbers = match csv {
        Some(csv) => page::saved("numbers (CSV)", "segue-compare.csv", "text/csv", &csv),
        None => html! { "Numbers: repeat it with " code { "--csv FILE" } },
    };
    page::again(Some(numbers), &origin.command)
}

/// Links to the parts of the page; `tables` of the blocks have one.
fn contents(comparison: &Comparison, tables: usize, handoffs: &[Shown], rules: bool) -> Markup {
    let mut parts = vec![("result".to_string(), "Result".to_string())];
    let blocks = comparison.groups.iter().enumerate().take(tables).filter(|_| comparison.groups.len() > 1);
    parts.extend(blocks.map(|(index, group)| (block(index), headline_of(group))));
    parts.push(("distributions".into(), "Distribution of the transfer times".into()));
    parts.push(("new-links".into(), "Time of the new link".into()));
    let drawn = handoffs.iter().enumerate().filter(|(_, group)| group.has_been_drawn());
    parts.extend(
        drawn.map(|(index, group)| (shown::place(index), format!("One handoff: {}", group.headline))),
    );
    parts.extend(rules.then(|| (rules::PLACE.to_string(), rules::HEADING.to_string())));
    page::contents(&parts)
}

/// The place of a block's table.
fn block(index: usize) -> String {
    format!("block-{index}")
}

/// The result alone, for a page with a frame of its own. It has the table with the words of the command line, the chart
/// of quartiles, the distribution, and transfer times over handoff times. It also has the time of the new link.
/// `comparison` must have kept its handoffs.
pub fn comparison_part(plan: &Plan, comparison: &Comparison, presentation: &Presentation) -> String {
    if !plan.has_transfers() {
        return html! {
            @for group in &comparison.groups { (heading(group, None)) (traffic::tables(group)) }
            p.lead { (count(plan)) " a row. Without a long transfer there is no transfer time, and no bound." }
        }
        .into_string();
    }
    let charts = charts(comparison, presentation);
    let (quartiles, link_times) = charts.split_at(1);
    let distributions: Vec<(Picture, String)> =
        comparison.groups.iter().enumerate().map(|(index, group)| distribution(index, group)).collect();
    let over_time = comparison.groups.iter().enumerate().map(|(index, group)| over_time(index, group));
    let over_time: Vec<(Picture, String)> = over_time.collect();
    html! {
        @for group in &comparison.groups { (table(plan, group, None, Words::CommandLine)) }
        p.lead {
            (count(plan)) " a row. Q1, median, Q3: transfer time of " (plan.request.packets) " packets " (plan.counted()) ", s \
             (inf: not within 400 s). x bound, p90: its ratio to what no sender can beat with these links, median and 90th \
             percentile. Per handoff: RTO, timeouts; spur, spurious timeouts; FR, fast retransmits; drops in queues; \
             rexmit, packets sent again; needless, those that brought nothing. vs first: median ratio to "
            b { (plan.schemes[0].name) } " over the same handoffs; below 1 is faster. " (COLOURED)
            @if let Some(alone) = plan.alone() { " " (sentence_case(&alone)) "." }
        }
        // The bars of one block are few: a wide picture would be empty.
        @if comparison.groups.len() == 1 {
            div.beside {
                @for (picture, caption) in quartiles.iter().chain(&distributions) { (picture.narrow_markup(caption)) }
            }
        } @else {
            @for (picture, caption) in quartiles.iter().chain(&distributions) { (picture.markup(true, caption)) }
        }
        @for (picture, caption) in over_time.iter().chain(link_times) { (picture.markup(true, caption)) }
    }
    .into_string()
}

/// How the transfer time depends on when the handoff comes.
fn over_time(index: usize, group: &GroupResult) -> (Picture, String) {
    let line = |(row, look): (&Row, Look)| {
        let own = group.handoffs.iter().filter(|handoff| handoff.scheme == row.scheme);
        let points = own.map(|handoff| (handoff.at_s, handoff.transfer_s.unwrap_or(f64::NAN)));
        Line { label: row.scheme.clone(), look, steps: false, points: points.collect() }
    };
    let looks = looks::looks(group.rows.iter().map(|row| row.scheme.as_str()));
    let chart = LineChart {
        about: About {
            id: format!("over-time-{index}"),
            title: format!("Transfer time over handoff time, {}", headline_of(group)),
            description:
                "One curve per scheme: the transfer time of each handoff over the time at which it begins."
                    .into(),
            heading: String::new(),
        },
        across: "handoff time T, s".into(),
        plots: vec![LinePlot {
            measure: "transfer time, s".into(),
            lines: group.rows.iter().zip(looks).map(line).collect(),
        }],
    };
    let picture = Picture::draw((260, 260), |size, suffix| {
        let mut chart = chart.clone();
        chart.about.id.push_str(suffix);
        chart.svg(size)
    });
    (
        picture,
        "Transfer time of each handoff over the time at which it begins; a gap is one that is not done."
            .into(),
    )
}

/// The links, or how many pairs of them.
fn links(plan: &Plan) -> String {
    match &plan.request.pairs[..] {
        [(old, new), back @ ..] if back.is_empty() || asked::is_the_way_back(&plan.request.pairs) => {
            format!("{} \u{2192} {}", old.text, new.text)
        }
        pairs => format!("{} pairs of links", pairs.len()),
    }
}

/// Handoffs in each row, as words.
fn count(plan: &Plan) -> String {
    let handoffs = plan.request.at.len() as u64 * plan.request.seeds;
    format!("{handoffs} handoff{}", if handoffs == 1 { "" } else { "s" })
}

// ------------------------------------------------------------------------------------- the table

/// Bytes that tables may take.
const TABLES: usize = 1_500_000;

/// After the scheme's name; the bar of the new link has a chart of its own. The first have room on a telephone.
fn columns() -> impl Iterator<Item = (&'static Measure, &'static measure::Shown)> {
    const FIRST: [Column; 4] =
        [Column::Median, Column::RatioToFirst, Column::OverBound, Column::OverBoundP90];
    let rest = Column::WIDE.into_iter().filter(|column| !FIRST.contains(column));
    FIRST.into_iter().chain(rest).filter_map(Column::measure)
}

/// Sources of the words above the columns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Words {
    /// The page's own.
    Page,
    /// Those of the command line.
    CommandLine,
}

/// As many tables as the page has room for, and how many more there are.
fn tables(plan: &Plan, comparison: &Comparison) -> (String, usize) {
    let mut text = String::new();
    for (index, group) in comparison.groups.iter().enumerate() {
        let table = table(plan, group, Some(block(index)), Words::Page).into_string();
        if text.len() + table.len() > TABLES {
            return (text, comparison.groups.len() - index);
        }
        text.push_str(&table);
    }
    (text, 0)
}

fn table(plan: &Plan, group: &GroupResult, place: Option<String>, words: Words) -> Markup {
    // All tables of a page have the same columns.
    let longest = plan.schemes.iter().map(|scheme| scheme.name.chars().count()).max().unwrap_or(0).max(6);
    let first_stack = group.rows.first().map(|row| row.stack.as_str());
    html! {
        (heading(group, place))
        div.table {
            table.same {
                colgroup { col style=(format!("width: {}ch", longest + 3)); @for _ in columns() { col; } }
                thead { tr {
                    th title="" { "scheme" }
                    @for (measure, shown) in columns() {
                        th title=(measure.about(&plan.schemes[0].name)) {
                            @if words == Words::Page { (shown.title.unwrap_or(shown.heading)) } @else { (shown.heading) }
                        }
                    }
                } }
                tbody { @for row in &group.rows { (line(row, first_stack == Some(&row.stack))) } }
            }
        }
        (traffic::tables(group))
    }
}

/// A block's name, and words of warning.
fn heading(group: &GroupResult, place: Option<String>) -> Markup {
    let warnings = group.warnings();
    html! {
        h3 id=[place] { (headline_of(group)) }
        @if !warnings.is_empty() {
            p.lead { @for warning in &warnings { (page::with_options(&sentence_case(warning))) ". " } }
        }
    }
}

/// `comparable`: to the first row, on the same stack.
fn line(row: &Row, comparable: bool) -> Markup {
    let judged = match row.against_first.ratio_median {
        _ if !comparable => "",
        Some(ratio) if ratio < 0.95 => "better",
        Some(ratio) if ratio <= 1.05 => "",
        _ => "worse",
    };
    html! {
        tr {
            td { (looks::named(&row.scheme)) }
            @for (measure, shown) in columns() {
                @let class = if shown.column == Column::RatioToFirst { judged } else { "" };
                td class=[Some(class).filter(|class| !class.is_empty())] { (measure.text(row)) }
            }
        }
    }
}

/// The colours of the ratio to the first scheme.
const COLOURED: &str = "It is green below 0.95, orange above 1.05, and has no colour on another stack.";

fn legend(plan: &Plan) -> Markup {
    html! {
        p.lead {
            "Transfer time: from the completion of the handoff until the slowest flow is done (inf: not within 400 s). \
             \u{d7} bound: its ratio to what no sender can beat with these links. Counts are means per handoff. vs first: \
             median ratio to " b { (plan.schemes[0].name) } " over the same handoffs; below 1 is faster. " (COLOURED)
        }
    }
}

// ------------------------------------------------------------------------------------ the charts

fn charts(comparison: &Comparison, presentation: &Presentation) -> Vec<(Picture, String)> {
    let mut charts = vec![(
        picture(comparison, presentation),
        "Transfer time: a bar from the lower to the upper quartile, a mark at the median, and the median of the physical \
         bound."
            .to_string(),
    )];
    for (index, group) in comparison.groups.iter().enumerate() {
        let headline = headline_of(group);
        let bound = group.rows.first().and_then(|row| row.bound_s).filter(|_| group.same_bounds());
        let bars = group.rows.iter().map(bar_of_row).collect();
        let picture = link_time(&format!("link-time-{index}"), &headline, bound, bars);
        let caption = match index {
            0 => {
                let median = if bound.is_some() { ", and the median of the bound" } else { "" };
                format!("{headline}. {} Means over all handoffs{median}.", link_time_caption(bound))
            }
            _ => format!("{headline}: where the new link's time went."),
        };
        charts.push((picture, caption));
    }
    charts
}

fn picture(comparison: &Comparison, presentation: &Presentation) -> Picture {
    let chart = quartiles(comparison, presentation);
    Picture::draw((400, 420), |size, suffix| {
        let mut chart = chart.clone();
        chart.about.id.push_str(suffix);
        // The page says it above.
        chart.about.heading.clear();
        chart.svg(size)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::plan;

    #[test]
    fn each_chart_has_its_numbers_and_its_command() {
        let plan = plan(&[]);
        let comparison = Comparison::run(&plan, true, &|_| {});
        let origin = Origin { command: "segue compare these".into(), version: "0" };
        let page = comparison_page(&plan, &comparison, &Presentation::default(), &origin);
        for name in ["segue-compare.csv", "segue-distribution-0.csv", "segue-new-link-0.csv"] {
            assert_eq!(page.matches(&format!("download=\"{name}\"")).count(), 1, "{name}");
        }
        assert_eq!(page.matches("<code class=\"command\">segue compare these</code>").count(), 3);
        let told = page.matches("<code class=\"command\">segue trace 6400kbit/9ms").count();
        assert_eq!(told, page.matches("seed 7</code>").count());
        assert!(told >= 1 && page.len() < 3_000_000);
        // Two handoffs: three points a curve, from no share to all.
        let csv = distribution_csv(&comparison.groups[0]);
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!((lines.len(), lines[0]), (7, "scheme,transfer_s,share"));
        assert!(
            lines[1].starts_with("sack,") && lines[1].ends_with(",0") && lines[6].ends_with(",1"),
            "{csv}"
        );
        let bars: Vec<_> = comparison.groups[0].rows.iter().map(bar_of_row).collect();
        assert_eq!(link_time_csv(&bars).lines().count(), 3);
    }

    #[test]
    fn a_handoff_of_too_many_packets_is_not_drawn() {
        let link = |text: &str| segue_world::AccessLink::parse(text).expect("a link");
        let mut request = plan(&[]).request;
        request.pairs = vec![(link("200mbit/9ms"), link("1gbit/9ms"))];
        (request.packets, request.at) = (400_000, vec![5 * segue_world::SECOND]);
        request.schemes = vec!["sack".into()];
        let plan = request.plan().expect("a plan");
        let comparison = Comparison::run(&plan, true, &|_| {});
        let origin = Origin { command: "segue compare these".into(), version: "0" };
        let page = comparison_page(&plan, &comparison, &Presentation::default(), &origin);
        let left_out = "median (T = 5 s) has too many packets for this page; segue trace tells it.";
        assert_eq!(page.matches(left_out).count(), 1);
        assert!(!page.contains("Time-sequence graph"), "it is not drawn");
    }
}
