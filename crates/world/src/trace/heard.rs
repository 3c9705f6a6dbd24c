//! Events as they are heard, of which a fast link has many. They lie in parts that copies of a network share, and that
//! do not move while there come more.

use super::Event;
use segue_netsim::Nanos;
use std::sync::Arc;

/// Events of a part.
const PART: usize = 512;

/// Events in a row, the older ones in full parts.
#[derive(Clone, Debug, Default)]
struct Parts {
    full: Vec<Arc<Vec<Event>>>,
    last: Vec<Event>,
}

impl Parts {
    fn push(&mut self, event: Event) {
        if self.last.len() >= PART {
            self.full.push(Arc::new(std::mem::take(&mut self.last)));
        }
        if self.last.is_empty() {
            self.last.reserve_exact(PART);
        }
        self.last.push(event);
    }

    /// Takes out the latest of those that `is_it`, and says whether there was one.
    fn remove(&mut self, is_it: impl Fn(&Event) -> bool) -> bool {
        if let Some(index) = self.last.iter().rposition(&is_it) {
            self.last.remove(index);
            return true;
        }
        for part in self.full.iter_mut().rev() {
            if let Some(index) = part.iter().rposition(&is_it) {
                Arc::make_mut(part).remove(index);
                return true;
            }
        }
        false
    }

    fn len(&self) -> usize {
        self.full.iter().map(|part| part.len()).sum::<usize>() + self.last.len()
    }

    fn into_events(self) -> impl Iterator<Item = Event> {
        let full = self.full.into_iter().flat_map(Arc::unwrap_or_clone);
        full.chain(self.last)
    }
}

/// All that was heard.
#[derive(Clone, Debug, Default)]
pub(super) struct Heard {
    /// By their times.
    timely: Parts,
    /// Those that were heard of after something later: a managed queue tells of an arrival when the transmission
    /// begins.
    late: Parts,
    /// Time of the last that was timely, also if it was removed.
    latest: Nanos,
    count: usize,
}

impl Heard {
    /// One more. Nothing is heard of before it has happened.
    pub fn push(&mut self, event: Event) {
        self.count += 1;
        if event.at < self.latest {
            self.late.push(event);
        } else {
            self.latest = event.at;
            self.timely.push(event);
        }
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The one that was heard last, unless that was late.
    pub fn last_mut(&mut self) -> Option<&mut Event> {
        self.timely.last.last_mut()
    }

    /// Takes out the latest of those that `is_it`, and says whether there was one.
    pub fn remove(&mut self, is_it: impl Fn(&Event) -> bool) -> bool {
        let removed = self.late.remove(&is_it) || self.timely.remove(&is_it);
        self.count -= usize::from(removed);
        removed
    }

    /// All by their times behind `earlier`, which are; at one time in the order in which they were heard.
    pub fn behind(self, earlier: Vec<Event>) -> Vec<Event> {
        let mut events = Vec::with_capacity(earlier.len() + self.timely.len() + self.late.len());
        events.extend(earlier);
        let mut late: Vec<Event> = self.late.into_events().collect();
        late.sort_by_key(|event| event.at);
        let mut late = late.into_iter().peekable();
        for event in self.timely.into_events() {
            // A late event was heard after all timely ones of its time.
            while let Some(before) = late.next_if(|late| late.at < event.at) {
                events.push(before);
            }
            events.push(event);
        }
        events.extend(late);
        events
    }
}

#[cfg(test)]
mod tests {
    use super::super::What;
    use super::*;

    fn event(at: Nanos, head: u32) -> Event {
        Event { at, what: What::Timeout { flow: 0, head, copy: 0 } }
    }

    fn heads(events: &[Event]) -> Vec<(Nanos, u32)> {
        let head = |event: &Event| match event.what {
            What::Timeout { head, .. } => head,
            _ => unreachable!("all are timeouts"),
        };
        events.iter().map(|event| (event.at, head(event))).collect()
    }

    /// Times that go back now and then, as those of a managed queue do. The events are numbered as they are heard.
    fn heard(count: u32) -> (Heard, Vec<Event>) {
        let mut heard = Heard::default();
        let mut all = Vec::new();
        for number in 0..count {
            let now = Nanos::from(number / 3);
            let at = if number % 5 == 4 { now.saturating_sub(Nanos::from(number % 97)) } else { now };
            heard.push(event(at, number));
            all.push(event(at, number));
        }
        (heard, all)
    }

    #[test]
    fn the_order_is_that_of_a_stable_sort() {
        for count in [0, 1, 2, 600, 5_000] {
            let (heard, mut all) = heard(count);
            assert_eq!(heard.count(), all.len());
            all.sort_by_key(|event| event.at);
            let earlier = vec![event(0, u32::MAX)];
            let expected = [heads(&earlier), heads(&all)].concat();
            assert_eq!(heads(&heard.behind(earlier)), expected, "{count}");
        }
    }

    /// The last part is empty then.
    #[test]
    fn an_event_behind_one_that_was_removed_keeps_its_place() {
        let mut heard = Heard::default();
        let all = (PART as u32) + 1;
        (0..all).for_each(|number| heard.push(event(Nanos::from(number), number)));
        assert!(heard.remove(|event| event.at == Nanos::from(all - 1)));
        heard.push(event(7, all));
        let told = heads(&heard.behind(Vec::new()));
        assert!(told.is_sorted_by_key(|&(at, _)| at), "{told:?}");
    }

    #[test]
    fn copies_go_on_by_themselves() {
        let (mut heard, all) = heard(3_000);
        let copy = heard.clone();
        heard.push(event(1_000, 3_000));
        assert!(heard.remove(|event| heads(std::slice::from_ref(event))[0].1 == 7));
        assert!(heard.remove(|event| heads(std::slice::from_ref(event))[0].1 == 2_999));
        assert!(!heard.remove(|event| heads(std::slice::from_ref(event))[0].1 == 7));
        assert_eq!(heard.count(), all.len() - 1);
        assert_eq!(heard.behind(Vec::new()).len(), all.len() - 1);
        assert_eq!(copy.behind(Vec::new()).len(), all.len());
    }
}
