//! One handoff explained: per scheme what it decided and when in words, and its graphs.

use crate::graphs::{self, Graphs};
use crate::pictures::{Budget, Picture};
use crate::{Origin, asked, headline, page};
use maud::{Markup, html};
use segue_draw::{About, LinkTime, LinkTimeBar};
use segue_study::explain::SchemeTrace;
use segue_study::measure::seconds;
use segue_study::numbers;
use segue_study::story::{Sentence, story};
use segue_study::{Plan, Row};
use segue_world::RunRecord;

/// One handoff, drawn, before it is known how much of it fits into the page.
pub struct Drawn {
    schemes: Vec<DrawnScheme>,
    several_flows: bool,
}

struct DrawnScheme {
    name: String,
    record: RunRecord,
    story: Vec<Sentence>,
    flow: u16,
    sequence: Picture,
    window: Picture,
    queue: Picture,
}

/// Sentences of a story that stand in the page unfolded.
const LONG_STORY: usize = 14;

/// What of a handoff fits into the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Nothing.
    None,
    /// Words and wide pictures.
    Wide,
    /// Narrow pictures as well.
    Both,
}

impl Drawn {
    /// Draws one handoff; `id` is unique in the page.
    pub fn new(traces: &[SchemeTrace], id: &str) -> Self {
        let schemes = traces.iter().enumerate().map(|(index, told)| {
            let Graphs { flow, sequence, window, queue } = graphs::graphs(told, &format!("{id}-{index}"));
            let named =
                |about: &About, suffix: &str| About { id: format!("{}{suffix}", about.id), ..about.clone() };
            DrawnScheme {
                name: told.scheme.clone(),
                record: told.trace.record.clone(),
                story: story(told),
                flow,
                sequence: Picture::draw((440, 380), |size, suffix| {
                    let mut graph = sequence.clone();
                    graph.about = named(&graph.about, suffix);
                    graph.svg(size)
                }),
                window: Picture::draw((260, 260), |size, suffix| {
                    let mut graph = window.clone();
                    graph.about = named(&graph.about, suffix);
                    graph.svg(size)
                }),
                queue: Picture::draw((340, 340), |size, suffix| {
                    let mut graph = queue.clone();
                    graph.about = named(&graph.about, suffix);
                    graph.svg(size)
                }),
            }
        });
        Self {
            schemes: schemes.collect(),
            several_flows: traces.first().is_some_and(|told| told.trace.experiment.flows > 1),
        }
    }

    /// Takes room in the page, as much as there is.
    pub fn room(&self, budget: &Budget) -> Room {
        let pictures =
            || self.schemes.iter().flat_map(|scheme| [&scheme.sequence, &scheme.window, &scheme.queue]);
        let wide: usize = pictures().map(|picture| picture.bytes().0).sum();
        let both: usize = pictures().map(|picture| picture.bytes().1).sum();
        if !budget.takes(wide) {
            Room::None
        } else if budget.takes(both - wide) {
            Room::Both
        } else {
            Room::Wide
        }
    }

    /// The explanation.
    pub fn markup(&self, room: Room) -> Markup {
        let narrow = room == Room::Both;
        html! {
            @for scheme in &self.schemes {
                section {
                    h3 { (scheme.name) ": " (outcome(&scheme.record)) }
                    (self.story(&scheme.story))
                    (scheme.sequence.markup(narrow, &format!(
                        "Packets and ACKs at the correspondent node{}. A packet is drawn when it is sent, a loss when and \
                         where it happens.",
                        self.of_flow(scheme.flow)
                    )))
                    (scheme.window.markup(narrow, &format!("Windows of the sender{}.", self.of_flow(scheme.flow))))
                    (scheme.queue.markup(narrow, "Queues of the access links towards the mobile: packets in them, \
                         the one being sent included, and the wait of each data packet."))
                }
            }
        }
    }

    fn of_flow(&self, flow: u16) -> String {
        if self.several_flows { format!(", flow {flow}, the slowest") } else { String::new() }
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
                    @if let Some(rule) = &sentence.rule { " " span.rule { "[" (rule) "]" } }
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
    let description =
        "One bar per scheme: seconds from completion to the end of the slowest transfer, by what the new \
                       link did; the line is the physical bound."
            .to_string();
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

/// The bar of a comparison's row.
pub fn bar_of_row(row: &Row) -> LinkTimeBar {
    let spent = &row.new_link_s;
    LinkTimeBar {
        label: row.scheme.clone(),
        useful: spent.useful,
        needless: spent.needless,
        idle_path: spent.idle_path,
        idle_window: spent.idle_window,
        idle_timer: spent.idle_timer,
        idle_other: spent.idle_other,
    }
}

fn bar_of_run(name: &str, record: &RunRecord) -> LinkTimeBar {
    let spent = &record.link_time;
    LinkTimeBar {
        label: name.to_string(),
        useful: seconds(spent.useful),
        needless: seconds(spent.needless),
        idle_path: seconds(spent.idle_path),
        idle_window: seconds(spent.idle_window),
        idle_timer: seconds(spent.idle_timer),
        idle_other: seconds(spent.idle_other),
    }
}

/// Caption of the bars.
pub const LINK_TIME_CAPTION: &str = "Where the new link's time went, from completion to the end of the slowest transfer: carrying \
     bytes that the mobile had not had (useful) or had had (needless), or idle because data or the last ACKs were under \
     way, because a window forbade to send, because every sender waited for a timer, or for another reason, such as slow \
     start after a timeout.";

/// The page of `segue trace --report`.
pub fn handoff_page(plan: &Plan, traces: &[SchemeTrace], origin: &Origin) -> String {
    let budget = Budget::new();
    let Some(first) = traces.first() else { return page::page("No scheme", html! {}) };
    let headline = headline(&first.trace.experiment);
    let bars = traces.iter().map(|told| bar_of_run(&told.scheme, &told.trace.record)).collect();
    let same_bound = traces.iter().all(|told| told.trace.record.bound == first.trace.record.bound);
    let bound = same_bound.then(|| seconds(first.trace.record.bound));
    let time = link_time("link-time", &headline, bound, bars);
    let room = budget.takes(time.bytes().1);
    let drawn = Drawn::new(traces, "handoff");
    // The pictures of the one handoff that was asked for are shown whatever they weigh.
    let narrow = drawn.room(&budget) == Room::Both;
    let content = html! {
        h1 { (headline) }
        p.lead { "One handoff at " (seconds(first.trace.record.at)) " s, packet by packet." }
        (asked::asked(plan, origin))
        h2 { "Result" }
        (counts(traces))
        (time.markup(room, LINK_TIME_CAPTION))
        h2 { "What happened" }
        (drawn.markup(if narrow { Room::Both } else { Room::Wide }))
    };
    page::page(&format!("Segue: {headline}"), content)
}

/// The counts of docs/bench.md, one line per scheme.
fn counts(traces: &[SchemeTrace]) -> Markup {
    html! {
        div.table {
            table {
                thead { tr {
                    th { "scheme" } th { "transfer, s" } th { "bound, s" } th { "timeouts" } th { "spurious" }
                    th { "fast retransmits" } th { "drops" } th { "resent" } th { "needless" }
                    th { "lost in disconnection" }
                } }
                tbody {
                    @for told in traces {
                        @let record = &told.trace.record;
                        tr {
                            td { (told.scheme) }
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
    }
}
