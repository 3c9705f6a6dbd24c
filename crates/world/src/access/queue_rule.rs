//! One length for the queues of all links whose words say none: what papers leave open, turned by one setting.

use super::words::{Length, length};
use super::{AccessLink, Capacity, LinkNames, layers, pieces};

/// A length in packets, or by the link's rate; never below another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueRule {
    length: Length,
    least: Option<Length>,
}

impl QueueRule {
    /// Reads `2bdp`, `50p`, `100ms` or `max(2bdp,20p)`.
    pub fn parse(text: &str) -> Option<Self> {
        let Some(both) = text.strip_prefix("max(").and_then(|rest| rest.strip_suffix(')')) else {
            return Some(Self { length: length(text)?, least: None });
        };
        let (written, least) = both.split_once(',')?;
        Some(Self { length: length(written)?, least: Some(length(least)?) })
    }
}

impl AccessLink {
    /// The same link with queues by the rule, unless a word of its own or of its preset is about its queue.
    #[must_use]
    pub fn with_queues(&self, rule: QueueRule) -> Self {
        if self.names_queue() {
            return self.clone();
        }
        let round_trip = self.least_round_trip();
        let packets = |capacity: &Capacity| {
            let of = |length: Length| length.packets(capacity.mean_rate(), round_trip);
            of(rule.length).max(rule.least.map_or(0, of))
        };
        let (queue, up_queue) = (packets(&self.down), packets(&self.up));
        Self { queue, up_queue: (up_queue != queue).then_some(up_queue), ..self.clone() }
    }

    /// Whether its words, or those of its preset, name a queue.
    pub fn names_queue(&self) -> bool {
        let says = |piece: &&str| piece.starts_with("queue=") || piece.starts_with("up-queue=");
        // A meaning has no other names than those of presets.
        let meaning = self.meaning.as_deref().unwrap_or(&self.text);
        pieces(&self.text).iter().any(says)
            || layers(meaning, &LinkNames::default()).iter().flatten().any(says)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queues(link: &str, rule: &str) -> (u32, u32) {
        let link =
            AccessLink::parse(link).expect("a link").with_queues(QueueRule::parse(rule).expect("a rule"));
        (link.queue, link.up_queue.unwrap_or(link.queue))
    }

    /// By hand: 6400 kbit/s and 18 ms are 9.6 packets, 200 kbit/s and 600 ms are 10.
    #[test]
    fn queues_follow_the_rule_where_no_word_says_otherwise() {
        assert_eq!(queues("6400kbit/9ms", "1bdp"), (10, 10));
        assert_eq!(queues("200kbit/300ms", "2bdp"), (20, 20));
        assert_eq!(queues("200kbit/300ms", "max(2bdp,50p)"), (50, 50));
        assert_eq!(queues("200kbit/300ms", "max(2bdp,5p)"), (20, 20));
        assert_eq!(queues("6400kbit/9ms,up=640kbit", "2bdp"), (19, 2));
        assert_eq!(queues("200kbit/300ms,queue=7p", "2bdp"), (7, 7));
        assert_eq!(queues("200kbit/300ms,queue=codel", "2bdp").0, 1000);
    }

    #[test]
    fn what_is_no_length_is_no_rule() {
        for text in ["", "0p", "2x", "max(2bdp)", "max(2bdp,5p", "max(2bdp,5p,6p)", "codel", "-1p"] {
            assert_eq!(QueueRule::parse(text), None, "{text}");
        }
    }
}
