//! Fate of each packet of a flow that is not acknowledged.

use segue_tcp::Nanos;
use std::collections::VecDeque;

/// Where the last copy of a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// On the old link, which delivers it then.
    Old(Nanos),
    /// On the new link; its number among all that were sent there.
    Out(u32),
    /// Nowhere: it is to be sent again.
    Lost,
    /// With the mobile.
    Sacked,
}

/// A packet that is not acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub fate: Fate,
    /// When its last copy left.
    pub sent: Nanos,
    /// An earlier copy may arrive, too.
    pub again: bool,
}

/// One flow.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    /// The claim sends for it.
    pub joined: bool,
    /// Its own notice has come: what it has not acknowledged had not arrived on completion.
    pub notified: bool,
    /// Its packets have time stamps: the mobile refuses what is older than the last that it had in order (RFC 7323,
    /// 5.3).
    pub stamped: bool,
    /// Number of the first packet below.
    pub una: u32,
    pub packets: VecDeque<Packet>,
    /// New packets since the notice.
    pub fresh: u32,
    /// Packets that are lost, and those on the old and on the new link.
    pub lost: u32,
    pub old: u32,
    pub out: u32,
    /// Numbers of the last three copies that have arrived over the new link, highest first.
    arrived: [u32; 3],
    /// Losses of copies up to this one have been answered.
    pub answered: u32,
    /// When all that is out will be taken for lost.
    pub expires: Option<Nanos>,
    /// Expiries since it was last heard of.
    pub backoff: u32,
}

/// News of an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    /// Packets that have arrived over the new link.
    pub arrived: u32,
    /// Round trip of the last of them that was sent but once.
    pub rtt: Option<Nanos>,
    /// Its number.
    pub number: u32,
    /// How much later than expected the old link has delivered.
    pub slip: Nanos,
    /// When the first packet left that was taken to be on the old link, and came too early for it.
    pub on_new_since: Option<Nanos>,
    /// A packet was lost on the new link, and no loss since the last answer.
    pub congested: bool,
}

impl Ledger {
    /// One beyond the last packet.
    pub fn end(&self) -> u32 {
        self.una + self.packets.len() as u32
    }

    /// Gives a packet another fate.
    pub fn set(&mut self, index: usize, fate: Fate) {
        let before = std::mem::replace(&mut self.packets[index].fate, fate);
        self.count(before, false);
        self.count(fate, true);
    }

    /// Adds a packet behind the last.
    pub fn push(&mut self, packet: Packet) {
        self.count(packet.fate, true);
        self.packets.push_back(packet);
    }

    fn count(&mut self, fate: Fate, more: bool) {
        let number = match fate {
            Fate::Old(_) => &mut self.old,
            Fate::Out(_) => &mut self.out,
            Fate::Lost => &mut self.lost,
            Fate::Sacked => return,
        };
        *number = if more { *number + 1 } else { *number - 1 };
    }

    /// The first packet that is lost, behind so many others.
    pub fn first_lost(&self, behind: usize) -> Option<usize> {
        (behind..self.packets.len()).find(|&place| self.packets[place].fate == Fate::Lost)
    }

    /// When the last packet arrives over the old link, if the first unacknowledged one is lost, and would make the
    /// mobile refuse that.
    pub fn refused_until(&self) -> Option<Nanos> {
        if !self.stamped || self.old == 0 || self.packets[0].fate != Fate::Lost {
            return None;
        }
        let arrivals = self.packets.iter().filter_map(|packet| match packet.fate {
            Fate::Old(arrives) => Some(arrives),
            _ => None,
        });
        arrivals.max()
    }

    /// An ACK up to `ack`, and with these blocks. `is_old` judges whether a copy that left the sender so long ago
    /// cannot have come over the new link. `early` judges whether one that left then cannot have come over the old one.
    /// `late` says how late a packet is that the old link should deliver then.
    pub fn acknowledge(
        &mut self,
        ack: u32,
        blocks: &[(u32, u32)],
        now: Nanos,
        is_old: impl Fn(Nanos) -> bool,
        early: impl Fn(Nanos) -> bool,
        late: impl Fn(Nanos) -> Nanos,
    ) -> News {
        let mut news = News::default();
        // When the last packet left that has arrived over the old link.
        let mut old_until = None;
        let (from, cumulative) = (self.una, ack.min(self.end()));
        let sacked = blocks.iter().map(|&(left, right)| (left.max(from), right.min(self.end())));
        let ranges: Vec<_> = std::iter::once((from, cumulative)).chain(sacked).collect();
        for (left, right) in ranges {
            for seq in left..right {
                let index = (seq - from) as usize;
                let Packet { fate, sent, again } = self.packets[index];
                match fate {
                    Fate::Sacked => continue,
                    Fate::Lost => {}
                    Fate::Old(_) if early(sent) => {
                        news.arrived += 1;
                        news.on_new_since = Some(news.on_new_since.unwrap_or(sent).min(sent));
                    }
                    Fate::Old(arrives) => {
                        // An ACK that comes for this packet, and not for one that had kept it from being acknowledged.
                        if seq + 1 == cumulative && cumulative - from <= 2 {
                            news.slip = late(arrives);
                        }
                        old_until = old_until.max(Some(sent));
                    }
                    Fate::Out(_) if again && is_old(now - sent) => {}
                    Fate::Out(number) => {
                        news.arrived += 1;
                        if !again && number > news.number {
                            (news.rtt, news.number) = (Some(now - sent), number);
                        }
                        self.note_arrival(number);
                    }
                }
                self.set(index, Fate::Sacked);
            }
        }
        if cumulative > from {
            self.packets.drain(..(cumulative - from) as usize);
            self.una = cumulative;
            self.backoff = 0;
        }
        for index in 0..self.packets.len() {
            let Packet { fate, sent, .. } = self.packets[index];
            match fate {
                // A packet sent before then was to arrive before (4.2).
                Fate::Old(_) if old_until.is_some_and(|until| sent < until) => self.set(index, Fate::Lost),
                // Three later copies have arrived (5.1).
                Fate::Out(number) if number < self.arrived[2] => {
                    self.set(index, Fate::Lost);
                    news.congested |= number > self.answered;
                }
                _ => {}
            }
        }
        news
    }

    /// Packets that were taken to be on the old link, and left then or later, are on the new one. They are there before
    /// all copies of the claim.
    pub fn on_new(&mut self, since: Nanos) {
        for index in 0..self.packets.len() {
            let Packet { fate, sent, .. } = self.packets[index];
            if matches!(fate, Fate::Old(_)) && sent >= since {
                self.set(index, Fate::Out(0));
            }
        }
    }

    fn note_arrival(&mut self, number: u32) {
        let Some(place) = self.arrived.iter().position(|&other| number > other) else { return };
        self.arrived[place..].rotate_right(1);
        self.arrived[place] = number;
    }

    /// Everything that is out is lost.
    pub fn expire(&mut self) {
        for index in 0..self.packets.len() {
            if matches!(self.packets[index].fate, Fate::Out(_)) {
                self.set(index, Fate::Lost);
            }
        }
        self.backoff += 1;
        self.expires = None;
    }
}
