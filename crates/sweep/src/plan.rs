//! The plan of a sweep, split into parts that share nothing. All that begins with one and the same warm-up (old link,
//! flows, stack, seed) is one part, so that nobody repeats another's warm-up.

use crate::warm_up::{Block, WarmUp};
use arrow_array::RecordBatch;
use segue_files::{FileError, SweepFile};
use segue_program::PROGRAM;
use segue_study::planned::PlannedScheme;
use segue_tables::{Layout, Question};
use segue_tcp::StackProfile;
use segue_world::access::LinkNames;
use segue_world::traffic::Class;
use segue_world::{AccessLink, Experiment, Traffic};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A checked sweep.
#[derive(Clone, Debug)]
pub struct Plan {
    /// In the order in which the file asks for them; each once for each seed.
    warm_ups: Vec<WarmUp>,
    seeds: Range<u64>,
    files: Vec<PathBuf>,
    fingerprint: String,
}

/// Fields by which a scheme's handoffs differ from another's where link, kind and flows are the same.
type Identity = (String, &'static str, Arc<Question>);

impl Plan {
    /// Reads a sweep from text; `path` is for messages, and the paths of traces start from its folder. `names`: those
    /// that links have beside the presets'.
    ///
    /// # Errors
    ///
    /// A fault in it, in one line with its place.
    pub fn read(text: &str, path: &str, names: &LinkNames) -> Result<Self, FileError> {
        Self::of_file(&SweepFile::parse(text, path)?.with(names))
    }

    /// Reads a sweep from a file.
    ///
    /// # Errors
    ///
    /// A fault in it, in one line with its place.
    pub fn open(path: &str, names: &LinkNames) -> Result<Self, FileError> {
        Self::of_file(&SweepFile::read(path, names)?)
    }

    fn of_file(file: &SweepFile) -> Result<Self, FileError> {
        let mut gathered = Gathered::default();
        let plans = file.plans()?;
        plans.iter().for_each(|plan| gathered.add(plan));
        let Gathered { warm_ups, .. } = gathered;
        // Every variant has the same links and seeds.
        let request = &plans[0].request;
        let links = request.pairs.iter().flat_map(|(old, new)| [old, new]);
        let files: BTreeSet<_> = links.flat_map(|link| link.files.clone()).collect();
        let seeds = request.seed..request.seed + request.seeds;
        let fingerprint = fingerprint(&warm_ups, &seeds);
        Ok(Self { warm_ups, seeds, files: files.into_iter().collect(), fingerprint })
    }

    /// Number of parts; they are numbered from 0, and the rows of the whole are theirs in this order.
    pub fn parts(&self) -> usize {
        self.warm_ups.len() * self.seeds.clone().count()
    }

    /// Number of handoffs, which are rows, of all parts.
    pub fn handoffs(&self) -> u64 {
        let of_seed: u64 = self.warm_ups.iter().map(WarmUp::handoffs).sum();
        of_seed * self.seeds.clone().count() as u64
    }

    /// Number of handoffs of a part.
    ///
    /// # Panics
    ///
    /// Panics if there is no such part, like the following.
    pub fn handoffs_of(&self, part: usize) -> u64 {
        self.part(part).0.handoffs()
    }

    /// A part in words: `wlan, 4 flows, ns2-sack1, seed 1: 4800 rows`.
    pub fn describe(&self, part: usize) -> String {
        let (warm_up, seed) = self.part(part);
        format!("{warm_up}, seed {seed}: {} rows", warm_up.handoffs())
    }

    /// How long a part takes, in no unit: for the order in which parts are begun.
    pub fn weight(&self, part: usize) -> u64 {
        self.part(part).0.weight()
    }

    /// Computes a part on this thread; `done` hears how many more handoffs are finished, and may break the work off,
    /// which is then `None`.
    pub fn run(&self, part: usize, done: &dyn Fn(u64) -> ControlFlow<()>) -> Option<RecordBatch> {
        let (warm_up, seed) = self.part(part);
        warm_up.run(seed, &self.layout(), done)
    }

    /// Mark that all parts share and no other sweep has: BLAKE3 of everything that is simulated and of the
    /// [program](PROGRAM), in hexadecimal. Neither comments nor the folder of the file are in it; the content of
    /// measured links is.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The stacks of all blocks.
    pub fn stacks(&self) -> impl Iterator<Item = &StackProfile> {
        self.warm_ups.iter().flat_map(WarmUp::blocks).map(|block| &block.experiment.stack)
    }

    /// Measured links, which no result may replace.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path)
    }

    /// The columns of all parts.
    fn layout(&self) -> Layout {
        let blocks = || self.warm_ups.iter().flat_map(WarmUp::blocks);
        let traffic = blocks().filter_map(|block| block.experiment.traffic.as_ref());
        let classes: BTreeSet<_> = traffic.flat_map(Traffic::classes).collect();
        Layout {
            several: blocks().any(|block| block.series.handoffs > 1),
            classes: classes.into_iter().map(Class::word).collect(),
        }
    }

    fn part(&self, part: usize) -> (&WarmUp, u64) {
        let seeds = self.seeds.clone().count();
        (&self.warm_ups[part / seeds], self.seeds.start + (part % seeds) as u64)
    }
}

/// Conditions that a warm-up depends on: old link with its queues and the starts of flows, rates of the wired hops,
/// flows, stack, traffic. With neighbours they include them and the new link.
type Conditions = (String, (u64, u64), usize, usize, Option<String>, Option<String>);

/// The warm-ups of several plans.
#[derive(Default)]
struct Gathered {
    warm_ups: Vec<WarmUp>,
    places: BTreeMap<Conditions, usize>,
    stacks: Vec<StackProfile>,
    /// Variants of the settings may leave a scheme as it was.
    known: BTreeSet<Identity>,
}

impl Gathered {
    fn add(&mut self, plan: &segue_study::Plan) {
        let request = &plan.request;
        let mut schemes: BTreeMap<usize, Vec<(PlannedScheme, Arc<Question>)>> = BTreeMap::new();
        for planned in &plan.schemes {
            let asked = Arc::new(Question {
                notice: request.notice.word(),
                notice_loss: request.notice.lost(),
                definition: request.definition.word(),
                settings: in_words(&planned.settings),
                packets: request.packets,
            });
            if self.known.insert((planned.name.clone(), planned.stack.name, asked.clone())) {
                schemes.entry(planned.stack_index).or_default().push((planned.clone(), asked));
            }
        }
        for (old, new) in &request.pairs {
            for &kind in &request.kinds {
                for &flows in &request.flows {
                    for (&index, schemes) in &schemes {
                        let stack = plan.stacks[index];
                        let experiment =
                            Arc::new(plan.experiment((old, new), kind, flows, stack, request.seed));
                        let hops = experiment.fixed_hops();
                        let stack = position(&mut self.stacks, stack);
                        let neighbours = experiment.neighbours;
                        let neighbours = neighbours.map(|users| format!("{users:?} {}", new.text));
                        // Settings of the bench may change what the words of the link leave open.
                        let AccessLink { queue, up_queue, .. } = &experiment.old;
                        let old_link = format!("{} {queue} {up_queue:?} {}", old.text, experiment.starts);
                        let traffic = experiment.traffic.as_ref().map(|traffic| format!("{traffic:?}"));
                        let key = (old_link, (hops.wired, hops.last), flows, stack, traffic, neighbours);
                        let fresh = self.warm_ups.len();
                        let place = *self.places.entry(key).or_insert(fresh);
                        if place == fresh {
                            self.warm_ups.push(WarmUp::new(request.at.clone()));
                        }
                        self.warm_ups[place].add(Block {
                            experiment,
                            schemes: schemes.clone(),
                            series: plan.series,
                        });
                    }
                }
            }
        }
    }
}

/// Where `item` stands, at the end if it has not been there.
fn position<T: PartialEq>(items: &mut Vec<T>, item: T) -> usize {
    items.iter().position(|other| *other == item).unwrap_or_else(|| {
        items.push(item);
        items.len() - 1
    })
}

/// `KEY=VALUE KEY=VALUE`.
fn in_words(settings: &[(String, String)]) -> String {
    let pairs: BTreeMap<_, _> = settings.iter().cloned().collect();
    pairs.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
}

fn fingerprint(warm_ups: &[WarmUp], seeds: &Range<u64>) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut links: BTreeMap<String, String> = BTreeMap::new();
    // A measured link is long: its content goes in once, without the place of its files.
    let mut link = |link: &AccessLink| -> String {
        let known = links.entry(link.text.clone()).or_insert_with(|| {
            let content = format!("{:?}", AccessLink { files: Vec::new(), ..link.clone() });
            blake3::hash(content.as_bytes()).to_hex().to_string()
        });
        known.clone()
    };
    let nowhere = AccessLink::parse("1mbit/1ms").expect("a link");
    hasher.update(format!("segue {PROGRAM} {seeds:?}").as_bytes());
    for warm_up in warm_ups {
        hasher.update(format!("warm-up {:?}", warm_up.at()).as_bytes());
        for Block { experiment, schemes, .. } in warm_up.blocks() {
            // All of it, so that a new field is not forgotten; links by their content.
            let (old, new) = (link(&experiment.old), link(&experiment.new));
            let rest =
                Experiment { old: nowhere.clone(), new: nowhere.clone(), ..Experiment::clone(experiment) };
            hasher.update(format!("block {old} {new} {rest:?}").as_bytes());
            for (planned, asked) in schemes {
                hasher.update(format!("scheme {:?} {asked:?}", planned.name).as_bytes());
            }
        }
    }
    hasher.finalize().to_hex().to_string()
}
