//! Flows of one mobile share the new link by how far each is behind the others (docs/reference/near.md, 8.9).
//!
//! Source: bpf/sender/group.h.

use segue_policy::Link;

/// A flow tells this to its group, or it is the sum (`Claim`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    /// Packets by which it is behind.
    pub behind: i32,
    /// Its weight.
    pub weight: u32,
}

/// The flows of one remote host whose claim is of the same link (`struct segue_host_flows`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Flows in it.
    claims: u32,
    /// The sum of their parts.
    all: Part,
    /// Their new link.
    link: Link,
}

/// One flow's part of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Member {
    /// It is in the group.
    joined: bool,
    /// The group has this of it.
    own: Part,
    /// The others in the group.
    pub others: u32,
    /// The sum of their parts.
    pub others_part: Part,
}

impl Member {
    /// `segue_meet_group`, `segue_tell_group` and `segue_leave_group`: a flow tells how far it is behind, and learns how
    /// far the others are. `claim`: the link and the flow's part, as long as it belongs to a group.
    pub fn meet(&mut self, group: &mut Group, claim: Option<(Link, Part)>) {
        if self.joined && claim.is_none_or(|(link, _)| link != group.link) {
            group.claims -= 1;
            group.all = less(group.all, self.own);
            *self = Self::default();
        }
        let Some((link, own)) = claim else { return };
        if group.claims == 0 {
            group.link = link;
        }
        if group.link != link {
            return;
        }
        group.claims += u32::from(!self.joined);
        let others_part = less(group.all, self.own);
        group.all = Part { behind: others_part.behind + own.behind, weight: others_part.weight + own.weight };
        *self = Self { joined: true, own, others: group.claims - 1, others_part };
    }
}

fn less(all: Part, own: Part) -> Part {
    Part { behind: all.behind - own.behind, weight: all.weight - own.weight }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: Link = Link { rate_kbps: 6_400, delay_us: 9_000 };
    const SLOW: Link = Link { rate_kbps: 200, delay_us: 9_000 };

    fn part(behind: i32, weight: u32) -> Part {
        Part { behind, weight }
    }

    fn others(of: &Member) -> (u32, Part) {
        (of.others, of.others_part)
    }

    /// A flow that leaves takes its part with it.
    #[test]
    fn flows_of_one_link_know_how_far_the_others_are_behind() {
        let (mut group, none) = (Group::default(), Part::default());
        let (mut one, mut two) = (Member::default(), Member::default());
        one.meet(&mut group, Some((FAST, part(60, 256))));
        assert_eq!(others(&one), (0, none));
        two.meet(&mut group, Some((FAST, part(20, 206))));
        one.meet(&mut group, Some((FAST, part(60, 305))));
        assert_eq!((others(&one), others(&two)), ((1, part(20, 206)), (1, part(60, 256))));
        two.meet(&mut group, Some((FAST, part(-5, 1))));
        one.meet(&mut group, Some((FAST, part(60, 305))));
        assert_eq!(others(&one), (1, part(-5, 1)));
        two.meet(&mut group, None);
        one.meet(&mut group, Some((FAST, part(60, 305))));
        assert_eq!(others(&one), (0, none));
        one.meet(&mut group, None);
        assert_eq!((group.claims, group.all), (0, none));
    }

    /// The group is that of the first link until all its flows have left.
    #[test]
    fn another_link_is_another_group() {
        let mut group = Group::default();
        let (mut one, mut two) = (Member::default(), Member::default());
        one.meet(&mut group, Some((FAST, part(60, 256))));
        two.meet(&mut group, Some((SLOW, part(20, 256))));
        one.meet(&mut group, Some((FAST, part(60, 256))));
        assert_eq!((one.others, two.others), (0, 0));
        one.meet(&mut group, Some((SLOW, part(60, 256))));
        two.meet(&mut group, Some((SLOW, part(20, 256))));
        one.meet(&mut group, Some((SLOW, part(60, 256))));
        assert_eq!((one.others, two.others), (1, 1));
        assert_eq!((one.others_part.behind, two.others_part.behind), (20, 60));
    }
}
