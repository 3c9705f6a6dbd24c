//! One part of a sweep: a network that is warmed up once, forked at every handoff time, and run from there towards
//! every new link, kind and scheme that begins with it.

use arrow_array::RecordBatch;
use segue_study::HandoffRow;
use segue_study::planned::PlannedScheme;
use segue_tables::{Asked, SweptHandoff, handoff_batch};
use segue_world::{Experiment, Nanos, WarmRun};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

/// One new link, kind and bench with the schemes that run there.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The simulated experiment, with the first seed.
    pub experiment: Arc<Experiment>,
    /// In order, with what was asked for.
    pub schemes: Vec<(PlannedScheme, Arc<Asked>)>,
}

/// All blocks that begin with one warm-up.
#[derive(Clone, Debug)]
pub(crate) struct WarmUp {
    at: Vec<Nanos>,
    blocks: Vec<Block>,
}

impl fmt::Display for WarmUp {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Experiment { old, flows, stack, .. } = &*self.blocks[0].experiment;
        let plural = if *flows == 1 { "" } else { "s" };
        write!(f, "{}, {flows} flow{plural}, {}", old.text, stack.name)
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
        let schemes: usize = self.blocks.iter().map(|block| block.schemes.len()).sum();
        (schemes * self.at.len()) as u64
    }

    /// About how many packets are simulated: those of the transfers.
    pub fn weight(&self) -> u64 {
        let of_block = |Block { experiment, schemes }: &Block| {
            schemes.len() as u64 * experiment.flows as u64 * u64::from(experiment.packets)
        };
        let transfers: u64 = self.blocks.iter().map(of_block).sum();
        transfers * self.at.len() as u64
    }

    /// Simulates everything with this seed; rows by block, then by scheme, then by handoff time.
    pub fn run(&self, seed: u64, done: &dyn Fn(u64) -> ControlFlow<()>) -> Option<RecordBatch> {
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
                    let record = handoff.run(&planned.scheme);
                    let row = HandoffRow::new(experiment, planned, seed, &record);
                    line.push(SweptHandoff { asked: asked.clone(), row });
                }
                if done(block.schemes.len() as u64).is_break() {
                    return None;
                }
            }
        }
        let rows: Vec<SweptHandoff> = rows.into_iter().flatten().collect();
        let Ok(batch) = handoff_batch(&rows) else {
            unreachable!("columns of one length and of the schema's types");
        };
        Some(batch)
    }
}
