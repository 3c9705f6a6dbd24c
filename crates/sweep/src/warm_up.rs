//! One part of a sweep: a network that is warmed up once and forked at every handoff time. From there it is run towards
//! every new link, kind and scheme that begins with it.

use arrow_array::RecordBatch;
use segue_study::HandoffRow;
use segue_study::measure::optional_of;
use segue_study::planned::PlannedScheme;
use segue_tables::{Layout, Question, SweptHandoff, handoff_batch};
use segue_world::traffic::Class;
use segue_world::{Experiment, Nanos, Series, WarmRun};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

/// One new link, kind and bench with the schemes that run there.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The simulated experiment, with the first seed.
    pub experiment: Arc<Experiment>,
    /// In order, with what was asked for.
    pub schemes: Vec<(PlannedScheme, Arc<Question>)>,
    /// Handoffs of each run.
    pub series: Series,
}

impl Block {
    /// Handoffs that follow from one handoff time.
    fn handoffs(&self) -> u64 {
        self.schemes.len() as u64 * u64::from(self.series.handoffs)
    }
}

/// All blocks that begin with one warm-up.
#[derive(Clone, Debug)]
pub(crate) struct WarmUp {
    at: Vec<Nanos>,
    blocks: Vec<Block>,
}

impl fmt::Display for WarmUp {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Experiment { old, flows, stack, traffic, .. } = &*self.blocks[0].experiment;
        let plural = if *flows == 1 { "" } else { "s" };
        let traffic = traffic.iter().map(|traffic| {
            let classes: Vec<_> = traffic.classes().into_iter().map(Class::word).collect();
            format!("traffic {}, ", classes.join(" and "))
        });
        let traffic: String = traffic.collect();
        write!(f, "{}, {flows} flow{plural}, {traffic}{}", old.text, stack.name)
    }
}

impl WarmUp {
    /// Handoffs at these times.
    pub fn new(at: Vec<Nanos>) -> Self {
        Self { at, blocks: Vec::new() }
    }

    /// Adds a block, which must share the warm-up.
    pub fn add(&mut self, block: Block) {
        self.blocks.push(block);
    }

    pub fn at(&self) -> &[Nanos] {
        &self.at
    }

    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    pub fn handoffs(&self) -> u64 {
        self.blocks.iter().map(Block::handoffs).sum::<u64>() * self.at.len() as u64
    }

    /// About how many packets are simulated: those of the transfers.
    pub fn weight(&self) -> u64 {
        let of_block = |block: &Block| {
            let experiment = &block.experiment;
            block.handoffs() * experiment.flows.max(1) as u64 * u64::from(experiment.packets)
        };
        let transfers: u64 = self.blocks.iter().map(of_block).sum();
        transfers * self.at.len() as u64
    }

    /// Simulates everything with this seed; rows by block, then by scheme, then by handoff time and handoff, in the
    /// columns of the whole sweep.
    pub fn run(
        &self,
        seed: u64,
        layout: &Layout,
        done: &dyn Fn(u64) -> ControlFlow<()>,
    ) -> Option<RecordBatch> {
        let seeded = |block: &Block| Arc::new(Experiment { seed, ..(*block.experiment).clone() });
        let experiments: Vec<_> = self.blocks.iter().map(seeded).collect();
        let mut warm = WarmRun::new((*experiments[0]).clone());
        for (block, experiment) in self.blocks.iter().zip(&experiments) {
            warm.follow_towards(experiment, block.schemes.iter().map(|(planned, _)| &planned.scheme));
        }
        let lines: usize = self.blocks.iter().map(|block| block.schemes.len()).sum();
        let mut rows: Vec<Vec<SweptHandoff>> = vec![Vec::with_capacity(self.at.len()); lines];
        for &at in &self.at {
            let fork = warm.fork(at);
            let mut lines = rows.iter_mut();
            for (block, experiment) in self.blocks.iter().zip(&experiments) {
                let handoff = fork.towards(experiment).complete();
                for ((planned, asked), line) in block.schemes.iter().zip(&mut lines) {
                    let mut experiment = Experiment::clone(experiment);
                    for (record, nth) in
                        handoff.run_series(&planned.scheme, block.series, &|| ()).iter().zip(1..)
                    {
                        let which = (block.series.handoffs > 1).then_some(nth);
                        let row = HandoffRow::new(&experiment, planned, seed, record);
                        let row = HandoffRow { handoff: which, ..row };
                        let classes =
                            if experiment.traffic.is_some() { optional_of(record) } else { Vec::new() };
                        line.push(SweptHandoff { asked: asked.clone(), row, classes });
                        if nth < block.series.handoffs {
                            experiment = experiment.following();
                        }
                    }
                }
                if done(block.handoffs()).is_break() {
                    return None;
                }
            }
        }
        let rows: Vec<SweptHandoff> = rows.into_iter().flatten().collect();
        let Ok(batch) = handoff_batch(&rows, layout) else {
            unreachable!("columns of one length and of the schema's types");
        };
        Some(batch)
    }
}
