//! Conditions of a laboratory's path that the simulator beside it does not have.

use crate::measure::seconds;
use segue_words::lab::{Dead, Gateway};
use segue_world::Nanos;

/// All of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// Which direction goes first.
    pub dead: Dead,
    /// Share of the mobile's ICMP messages that are lost.
    pub lost_icmp: f64,
    /// Share of the mobile's packets that are lost after link-up, until the server sends data.
    pub lost_messages: f64,
    /// A router before the server.
    pub gateway: Gateway,
    /// Agents may tell a smaller MTU.
    pub agent_mtu: bool,
    /// How long before a make-before-break handoff the mobile announces it to senders that hear notices. 0: it does not,
    /// but a copy of the notice goes over the old link.
    pub announce: Option<Nanos>,
}

impl Default for Conditions {
    /// A quiet path, and an agent without a configuration of its own.
    fn default() -> Self {
        let (dead, gateway) = (Dead::default(), Gateway::default());
        Self { dead, lost_icmp: 0.0, lost_messages: 0.0, gateway, agent_mtu: true, announce: None }
    }
}

impl Conditions {
    /// Those that differ from the usual, as plans say them.
    pub fn words(&self) -> String {
        let mut words = Vec::new();
        if self.dead != Dead::default() {
            words.push(format!("dead = {}", self.dead));
        }
        if self.gateway != Gateway::default() {
            words.push(format!("gateway = {}", self.gateway));
        }
        for (name, share) in [("lost-icmp", self.lost_icmp), ("lost-messages", self.lost_messages)] {
            if share > 0.0 {
                words.push(format!("{name} = {share}"));
            }
        }
        if !self.agent_mtu {
            words.push("agent-mtu = false".into());
        }
        if let Some(before) = self.announce {
            words.push(format!("announce = {} s", seconds(before)));
        }
        words.join(", ")
    }
}
