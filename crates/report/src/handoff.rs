//! One handoff explained: per scheme what it decided and when in words, and its graphs.

use crate::beside::{Beside, beside};
use crate::graphs::{self, Graphs};
use crate::pictures::{Budget, Picture};
use crate::{Origin, asked, headline, looks, page, rules};
use maud::{Markup, PreEscaped, html};
use rayon::prelude::*;
use segue_draw::{About, LinkTime, LinkTimeBar};
use segue_study::explain::{SchemeTrace, several_stacks};
use segue_study::measure::{NewLink, seconds};
use segue_study::numbers;
use segue_study::story::{Sentence, story};
use segue_study::warnings::warnings;
use segue_study::{Plan, Row};
use segue_world::RunRecord;

/// One handoff, drawn, before it is known how much of it fits into the page.
pub struct Drawn {
    id: String,
    schemes: Vec<DrawnScheme>,
    several_flows: bool,
    /// Stalls of all schemes.
    stalls: Picture,
    stalls_shown: Show,
    /// Delay in managed queues; empty if there is none.
    queue_delay: Picture,
    queue_delay_shown: Show,
}

struct DrawnScheme {
    name: String,
    record: RunRecord,
    /// Sentences about the flow that is drawn, or about no single one.
    story: Vec<Sentence>,
    /// Sentences that are not told.
    untold: usize,
    flow: u16,
    /// Sequence, its beginning if that is small, windows, queues.
    pictures: [Picture; KINDS],
    shown: [Show; KINDS],
}

/// Pictures of a handoff with a scheme.
const KINDS: usize = 4;
/// Sentences of a story that stand in the page unfolded.
const LONG_STORY: usize = 14;
/// Sentences of a story that stand in the page.
const MOST_SENTENCES: usize = 150;

/// Forms of a picture in the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Show {
    Nothing,
    /// For wide screens.
    Wide,
    /// For narrow ones as well.
    Both,
}

impl Drawn {
    /// Draws one handoff; `id` is unique in the page.
    pub fn new(traces: &[SchemeTrace], id: &str) -> Self {
        let named =
            |about: &About, suffix: &str| About { id: format!("{}{suffix}", about.id), ..about.clone() };
        let schemes = traces.par_iter().enumerate().map(|(index, told)| {
            let Graphs { flow, sequence, zoom, window, queue } =
                graphs::graphs(told, &format!("{id}-{index}"));
            let sequence = Picture::draw((440, 380), |size, suffix| {
                let mut graph = sequence.clone();
                graph.about = named(&graph.about, suffix);
                graph.svg(size)
            });
            let zoom = zoom.map_or_else(Picture::default, |zoom| {
                Picture::draw((340, 320), |size, suffix| {
                    let mut graph = zoom.clone();
                    graph.about = named(&graph.about, suffix);
                    graph.svg(size)
                })
            });
            let window = Picture::draw((260, 260), |size, suffix| {
                let mut graph = window.clone();
                graph.about = named(&graph.about, suffix);
                graph.svg(size)
            });
            let queue = Picture::draw((340, 340), |size, suffix| {
                let mut graph = queue.clone();
                graph.about = named(&graph.about, suffix);
                graph.svg(size)
            });
            let mut story = story(told);
            story.retain(|sentence| sentence.flow.is_none_or(|whose| whose == flow));
            let untold = story.len().saturating_sub(MOST_SENTENCES);
            // The last sentence is how it ended.
            let end = story.pop();
            story.truncate(MOST_SENTENCES - 1);
            story.extend(end);
            DrawnScheme {
                name: told.scheme.clone(),
                record: told.trace.record.clone(),
                story,
                untold,
                flow,
                pictures: [sequence, zoom, window, queue],
                shown: [Show::Nothing; KINDS],
            }
        });
        let schemes = schemes.collect();
        let Beside { stalls, queue_delay } = beside(traces, id);
        let rows = 28 * u32::try_from(stalls.rows.len()).unwrap_or(1);
        let stalls = Picture::draw((96 + rows, 120 + rows), |size, suffix| {
            let mut chart = stalls.clone();
            chart.about = named(&chart.about, suffix);
            chart.svg(size)
        });
        let queue_delay = queue_delay.map_or_else(Picture::default, |graph| {
            let plots = 160 * u32::try_from(graph.plots.len()).unwrap_or(1);
            Picture::draw((100 + plots, 130 + plots), |size, suffix| {
                let mut graph = graph.clone();
                graph.about = named(&graph.about, suffix);
                graph.svg(size)
            })
        });
        Self {
            id: id.to_string(),
            schemes,
            several_flows: traces.first().is_some_and(|told| told.trace.experiment.flows > 1),
            stalls,
            stalls_shown: Show::Nothing,
            queue_delay,
            queue_delay_shown: Show::Nothing,
        }
    }

    /// Bytes of the words.
    fn words(&self) -> usize {
        let unfurnished = self.schemes.iter().all(|scheme| scheme.shown == [Show::Nothing; KINDS]);
        assert!(unfurnished, "words are weighed before there are pictures");
        // Captions, headings and choices around them.
        self.markup().into_string().len() + 2000 + 500 * self.schemes.len()
    }

    /// Bytes of the first `kinds` wide pictures of each scheme.
    fn wide(&self, kinds: usize) -> usize {
        let pictures = self.schemes.iter().flat_map(|scheme| scheme.pictures.iter().take(kinds));
        pictures.map(|picture| picture.bytes().0).sum()
    }

    fn show_wide(&mut self, kinds: usize) {
        for scheme in &mut self.schemes {
            scheme.shown[..kinds].fill(Show::Wide);
        }
    }

    /// Takes room for words and all wide pictures, if there is enough.
    pub fn furnish(&mut self, budget: &Budget) -> bool {
        let fits = budget.takes(self.words() + self.wide(KINDS));
        if fits {
            self.show_wide(KINDS);
            self.show_common(budget);
        }
        fits
    }

    /// Takes room for the pictures of all schemes together, stalls first, if there is enough.
    fn show_common(&mut self, budget: &Budget) {
        if budget.takes(self.stalls.bytes().0) {
            self.stalls_shown = Show::Wide;
        }
        if budget.takes(self.queue_delay.bytes().0) {
            self.queue_delay_shown = Show::Wide;
        }
    }

    /// Takes room for narrow pictures beside the wide ones of kind `kind`, as long as there is some.
    fn furnish_narrow(&mut self, kind: usize, budget: &Budget) {
        for scheme in &mut self.schemes {
            let (wide, both) = scheme.pictures[kind].bytes();
            if scheme.shown[kind] == Show::Wide && budget.takes(both - wide) {
                scheme.shown[kind] = Show::Both;
            }
        }
    }
}

const QUEUE_DELAY: &str = "Wait of each data packet in the managed queues, at the time at which it is sent on; 0 while \
     none waits.";

/// Takes room for handoffs of equal rank: words and wide pictures of all. If need be it takes those of all without the
/// queues, or without the windows and then the beginnings, too. If even sequence graphs are too many, the first schemes
/// have theirs. Says which handoffs are in the page.
pub fn furnish_alike(all: &mut [&mut Drawn], budget: &Budget) -> Vec<bool> {
    let words: Vec<usize> = all.iter().map(|drawn| drawn.words()).collect();
    for kinds in (1..=KINDS).rev() {
        let wide: usize = all.iter().map(|drawn| drawn.wide(kinds)).sum();
        if budget.takes(wide + words.iter().sum::<usize>()) {
            all.iter_mut().for_each(|drawn| drawn.show_wide(kinds));
            all.iter_mut().for_each(|drawn| drawn.show_common(budget));
            return vec![true; all.len()];
        }
    }
    let told: Vec<bool> = words.into_iter().map(|words| budget.takes(words)).collect();
    // One scheme after the other, so that no block is without a picture while another has all.
    let schemes = all.iter().map(|drawn| drawn.schemes.len()).max().unwrap_or(0);
    for index in 0..schemes {
        for (drawn, _) in all.iter_mut().zip(&told).filter(|(_, told)| **told) {
            if let Some(scheme) = drawn.schemes.get_mut(index)
                && budget.takes(scheme.pictures[0].bytes().0)
            {
                scheme.shown[0] = Show::Wide;
            }
        }
    }
    told
}

/// Takes room for their narrow pictures, sequence graphs first.
pub fn furnish_narrow(all: &mut [&mut Drawn], budget: &Budget) {
    for kind in 0..KINDS {
        all.iter_mut().for_each(|drawn| drawn.furnish_narrow(kind, budget));
    }
    for drawn in all {
        let Drawn { stalls, stalls_shown, queue_delay, queue_delay_shown, .. } = &mut **drawn;
        for (picture, shown) in [(stalls, stalls_shown), (queue_delay, queue_delay_shown)] {
            let (wide, both) = picture.bytes();
            if *shown == Show::Wide && budget.takes(both - wide) {
                *shown = Show::Both;
            }
        }
    }
}

impl Drawn {
    /// The place of what happened with a scheme.
    fn place(&self, index: usize) -> String {
        format!("{}-scheme-{index}", self.id)
    }

    /// Rules that its stories cite.
    pub fn cited(&self) -> impl Iterator<Item = &str> {
        self.schemes.iter().flat_map(|scheme| &scheme.story).filter_map(|sentence| sentence.rule.as_deref())
    }

    /// The explanation.
    pub fn markup(&self) -> Markup {
        html! {
            // Its graphs share a cursor.
            div.timed {
              @if self.stalls_shown != Show::Nothing {
                  (self.stalls.markup(self.stalls_shown == Show::Both, &self.caption_of_stalls()))
              }
              @if self.queue_delay_shown != Show::Nothing && !self.queue_delay.is_empty() {
                  (self.queue_delay.markup(self.queue_delay_shown == Show::Both, QUEUE_DELAY))
              }
              @for (index, scheme) in self.schemes.iter().enumerate() {
                section {
                    h3 id=(self.place(index)) { (looks::named(&scheme.name)) ": " (outcome(&scheme.record)) }
                    (self.story(&scheme.story))
                    @if scheme.untold > 0 {
                        p.lead { (scheme.untold) " more sentences: segue trace --story." }
                    }
                    @for (kind, (picture, shown)) in scheme.pictures.iter().zip(scheme.shown).enumerate() {
                        @if shown != Show::Nothing && !picture.is_empty() {
                            (picture.markup(shown == Show::Both, &self.caption(kind, scheme.flow)))
                        }
                    }
                }
            } }
            @if self.stalls_shown == Show::Nothing {
                p.lead { "The stalls would make this page too large." }
            }
            @if self.queue_delay_shown == Show::Nothing && !self.queue_delay.is_empty() {
                p.lead { "The delays in the queues would make this page too large." }
            }
            @if let Some(missing) = self.missing() { p.lead { (missing) " would make this page too large." } }
        }
    }

    fn caption_of_stalls(&self) -> String {
        let of_flow = if self.several_flows { " on the slowest flow" } else { "" };
        format!(
            "Stalls: a bar for each time in which nothing new came in order for more than 200 ms{of_flow}. A line ends \
             with its transfer."
        )
    }

    fn caption(&self, kind: usize, flow: u16) -> String {
        let of_flow = if self.several_flows { format!(", flow {flow}, the slowest") } else { String::new() };
        match kind {
            0 => format!(
                "Packets and ACKs at the correspondent node{of_flow}. A packet is drawn when it is sent, a loss when and \
                 where it happens."
            ),
            1 => format!("The same around the handoff{of_flow}, to three round trips of the new link."),
            2 => format!("Windows of the sender{of_flow}."),
            _ => "Queues of the access links towards the mobile: packets in them, the one being sent included, and the \
                  wait of each data packet."
                .into(),
        }
    }

    /// The pictures that are not in the page, in words.
    fn missing(&self) -> Option<&'static str> {
        let all = |kind: usize| self.schemes.iter().all(|scheme| scheme.shown[kind] != Show::Nothing);
        match [all(0), all(1), all(2), all(3)] {
            [true, true, true, true] => None,
            [true, true, true, false] => Some("Pictures of the queues"),
            [true, true, false, _] => Some("Pictures of windows and queues"),
            [true, false, ..] => Some("Pictures of what is around the handoff, of windows and of queues"),
            [false, ..] => Some("Further pictures"),
        }
    }

    /// The story; of a long one the middle is folded.
    fn story(&self, story: &[Sentence]) -> Markup {
        let split = if story.len() > LONG_STORY + 4 { LONG_STORY } else { story.len() };
        let (told, folded) = story.split_at(split);
        let (folded, end) = folded.split_at(folded.len().saturating_sub(1));
        html! {
            ol.story { @for sentence in told { (self.sentence(sentence)) } }
            @if !folded.is_empty() {
                details {
                    summary { (folded.len()) " more" }
                    ol.story { @for sentence in folded { (self.sentence(sentence)) } }
                }
                ol.story { @for sentence in end { (self.sentence(sentence)) } }
            }
        }
    }

    fn sentence(&self, sentence: &Sentence) -> Markup {
        let flow = sentence.flow.filter(|_| self.several_flows);
        html! {
            li {
                time { (format!("{:.3}", seconds(sentence.at))) " s" }
                span {
                    @if let Some(flow) = flow { "flow " (flow) ": " }
                    (sentence.text)
                    @if let Some(rule) = &sentence.rule { " " (rules::citation(rule)) }
                }
            }
        }
    }
}

/// Transfer time and its ratio to the bound, in words.
fn outcome(record: &RunRecord) -> String {
    match record.transfer {
        None => "not done".to_string(),
        Some(transfer) => {
            let over = (record.bound > 0).then(|| transfer as f64 / record.bound as f64);
            let ratio = over.map(|over| format!(", {over:.2} times the bound")).unwrap_or_default();
            format!("{} s{ratio}", numbers::time(Some(seconds(transfer))))
        }
    }
}

/// Stacked bars of the new link's time: means of a comparison's rows, or one handoff.
pub fn link_time(id: &str, what: &str, bound: Option<f64>, bars: Vec<LinkTimeBar>) -> Picture {
    let line = if bound.is_some() { "; the line is the physical bound" } else { "" };
    let description = format!(
        "One bar per scheme: seconds from completion to the end of the slowest transfer, by what the new link did{line}."
    );
    let title = format!("Where the new link's time went, {what}");
    let height = |row: u32, rest: u32| rest + row * bars.len() as u32;
    Picture::draw((height(40, 110), height(46, 150)), |size, suffix| {
        let about = About {
            id: format!("{id}{suffix}"),
            title: title.clone(),
            description: description.clone(),
            heading: String::new(),
        };
        LinkTime { about, bound, bars: bars.clone() }.svg(size)
    })
}

/// The bars as CSV.
pub fn link_time_csv(bars: &[LinkTimeBar]) -> String {
    let header =
        ["scheme", "useful_s", "needless_s", "idle_path_s", "idle_window_s", "idle_timer_s", "idle_other_s"];
    let row = |bar: &LinkTimeBar| {
        let LinkTimeBar { useful, needless, idle_path, idle_window, idle_timer, idle_other, .. } = bar;
        let lengths = [useful, needless, idle_path, idle_window, idle_timer, idle_other];
        [bar.label.clone()].into_iter().chain(lengths.map(|length| length.to_string())).collect()
    };
    page::csv(&header, bars.iter().map(row))
}

/// The bar of a comparison's row.
pub fn bar_of_row(row: &Row) -> LinkTimeBar {
    let spent = &row.new_link_s;
    LinkTimeBar {
        label: row.scheme.clone(),
        outcome: match row.incomplete {
            0 => beside_neighbours(spent.neighbours, row_total(spent)),
            all if all == row.points => Some("not done".into()),
            some => Some(format!("{some} of {} not done", row.points)),
        },
        useful: spent.useful,
        needless: spent.needless,
        idle_path: spent.idle_path,
        idle_window: spent.idle_window,
        idle_timer: spent.idle_timer,
        idle_other: spent.idle_other,
    }
}

fn row_total(spent: &NewLink) -> f64 {
    let idle = spent.idle_path + spent.idle_window + spent.idle_timer + spent.idle_other;
    spent.useful + spent.needless + idle + spent.neighbours
}

/// The end of a bar that is shorter than its time: the rest is the neighbours'.
fn beside_neighbours(theirs: f64, total: f64) -> Option<String> {
    (theirs > 0.0)
        .then(|| format!("{} of {} s", numbers::time(Some(total - theirs)), numbers::time(Some(total))))
}

fn bar_of_run(name: &str, record: &RunRecord) -> LinkTimeBar {
    let spent = &record.link_time;
    LinkTimeBar {
        label: name.to_string(),
        outcome: match record.transfer {
            None => Some("not done".into()),
            Some(_) => beside_neighbours(seconds(spent.neighbours), seconds(spent.total())),
        },
        useful: seconds(spent.useful),
        needless: seconds(spent.needless),
        idle_path: seconds(spent.idle_path),
        idle_window: seconds(spent.idle_window),
        idle_timer: seconds(spent.idle_timer),
        idle_other: seconds(spent.idle_other),
    }
}

/// Caption of the bars, with a line at the bound or without.
pub fn link_time_caption(bound: Option<f64>) -> String {
    let line = if bound.is_some() { " The line is the physical bound." } else { "" };
    format!("{LINK_TIME}{line}{FLOWS_GO_ON}")
}

const LINK_TIME: &str = "Where the new link's time went, from completion to the end of the slowest transfer: carrying \
     bytes that the mobile did not have (useful) or already had (needless), or idle because data or the last ACKs were \
     under way, because a window was full, because every sender waited for a timer, or for another reason, such as slow \
     start after a timeout.";
const FLOWS_GO_ON: &str = " Useful time may pass the bound: a sender sends packets beyond its target while one of the target is \
     still missing, and with several flows those that are done go on until the slowest is.";

/// One handoff alone, for a page with a frame of its own: counts, and per scheme what happened, in words and pictures.
pub fn handoff_part(traces: &[SchemeTrace]) -> String {
    let budget = Budget::of_page();
    let Some(first) = traces.first() else { return String::new() };
    let (time, caption) = time_of_runs(first, traces);
    let mut drawn = Drawn::new(traces, "handoff");
    let counts = counts(traces).into_string();
    budget.must_take(counts.len() + time.bytes().1 + caption.len() + rules::MOST);
    let told = furnish_alike(&mut [&mut drawn], &budget);
    furnish_narrow(&mut [&mut drawn], &budget);
    html! {
        (time.markup(true, &caption))
        (PreEscaped(counts))
        @if told == [true] { (drawn.markup()) } @else { p.lead { "The story is too long for a page: segue trace --story." } }
        @if let Some(cited) = rules::cited(drawn.cited()) { h3 { (rules::HEADING) } (cited) }
    }
    .into_string()
}

/// The time of the new link, a bar per scheme, and the caption.
fn time_of_runs(first: &SchemeTrace, traces: &[SchemeTrace]) -> (Picture, String) {
    let same_bound = traces.iter().all(|told| told.trace.record.bound == first.trace.record.bound);
    let bound = same_bound.then(|| seconds(first.trace.record.bound));
    let bars = bars_of_runs(traces);
    (link_time("link-time", &headline(&first.trace.experiment), bound, bars), link_time_caption(bound))
}

fn bars_of_runs(traces: &[SchemeTrace]) -> Vec<LinkTimeBar> {
    traces.iter().map(|told| bar_of_run(&told.scheme, &told.trace.record)).collect()
}

/// The page of `segue trace --report`.
pub fn handoff_page(plan: &Plan, traces: &[SchemeTrace], origin: &Origin) -> String {
    let budget = Budget::of_page();
    let Some(first) = traces.first() else { return page::page("No scheme", html! {}) };
    let headline = headline(&first.trace.experiment);
    let (time, caption) = time_of_runs(first, traces);
    let mut drawn = Drawn::new(traces, "handoff");
    let flows = first.trace.experiment.flows;
    let numbers =
        page::saved("numbers (CSV)", "segue-trace.csv", "text/csv", &link_time_csv(&bars_of_runs(traces)));
    let numbers = page::again(Some(numbers), &origin.command).into_string();
    let head = html! {
        h1 { (headline) }
        p.lead {
            "One handoff at " (seconds(first.trace.record.at)) " s, packet by packet."
            @for warning in warnings(&first.trace.experiment, traces.iter().map(|trace| trace.stack), several_stacks(traces)) { " " (page::with_options(&sentence_case(&warning))) "." }
        }
        (asked::asked(plan, origin))
    }
    .into_string();
    let counts = counts(traces).into_string();
    let contents_of_schemes = 200 * traces.len();
    budget.must_take(
        head.len()
            + numbers.len()
            + counts.len()
            + time.bytes().0
            + caption.len()
            + rules::MOST
            + contents_of_schemes,
    );
    let told = furnish_alike(&mut [&mut drawn], &budget);
    let narrow_time = budget.takes(time.bytes().1 - time.bytes().0);
    furnish_narrow(&mut [&mut drawn], &budget);
    let cited = rules::cited(drawn.cited());
    let mut parts =
        vec![("result".into(), "Result".into()), ("what-happened".into(), "What happened".into())];
    if told == [true] {
        let schemes = traces.iter().enumerate();
        parts.extend(
            schemes.map(|(index, told)| (drawn.place(index), format!("What happened: {}", told.scheme))),
        );
    }
    parts.extend(cited.is_some().then(|| (rules::PLACE.to_string(), rules::HEADING.to_string())));
    let content = html! {
        (PreEscaped(head))
        (page::contents(&parts))
        h2 id="result" { "Result" }
        (time.markup(narrow_time, &caption))
        (PreEscaped(numbers))
        (PreEscaped(counts))
        p.lead { "Every event as JSON lines: repeat it with " code { "--json FILE" } "." }
        h2 id="what-happened" { "What happened" }
        @if flows > 1 {
            p.lead { "Of " (flows) " flows the slowest is told and drawn; of the others tells segue trace --story." }
        }
        @if told == [true] { (drawn.markup()) } @else { p.lead { "It would make this page too large: segue trace --story." } }
        @if let Some(cited) = cited { h2 id=(rules::PLACE) { (rules::HEADING) } (cited) }
    };
    page::page(&format!("Segue: {headline}"), content)
}

/// The first letter large.
pub fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The counts of docs/reference/bench.md, one line per scheme.
fn counts(traces: &[SchemeTrace]) -> Markup {
    html! {
        div.table {
            table {
                thead { tr {
                    th { "scheme" } th { "transfer, s" } th { "bound, s" } th { "timeouts" } th { "spurious" }
                    th { "fast retransmits" } th { "drops" } th { "resent" } th { "needless" }
                    th title="packets that the disconnection swallowed" { "lost" }
                } }
                tbody {
                    @for told in traces {
                        @let record = &told.trace.record;
                        tr {
                            td { (looks::named(&told.scheme)) }
                            td { (numbers::time(record.transfer.map(seconds))) }
                            td { (numbers::time(Some(seconds(record.bound)))) }
                            td { (record.timeouts_after().count()) }
                            td { (record.timeouts_after().filter(|timeout| timeout.spurious).count()) }
                            td { (record.fast_retransmits.iter().filter(|f| f.0 >= record.completion).count()) }
                            td { (record.drops) }
                            td { (record.retransmissions) }
                            td { (record.needless_retransmissions) }
                            td { (record.lost_in_disconnection) }
                        }
                    }
                }
            }
        }
        p.lead { "Events from completion to the end; lost: in the disconnection, before completion." }
    }
}
