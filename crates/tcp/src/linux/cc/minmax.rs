//! Largest or smallest value of a sliding window, kept in three samples (`lib/win_minmax.c`).

/// A value and when it was measured, in the window's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sample {
    t: u32,
    v: u32,
}

/// The best sample, the best of what came after it, and the best after that.
///
/// An approximation: a value that is overtaken and not among the three is forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MinMax([Sample; 3]);

impl MinMax {
    /// A window that has seen `v` at time `t` (`minmax_reset`).
    pub fn new(t: u32, v: u32) -> Self {
        Self([Sample { t, v }; 3])
    }

    /// The extreme value.
    #[inline]
    pub fn get(&self) -> u32 {
        self.0[0].v
    }

    /// Takes `v` of time `t` and returns the largest of the last `win` (`minmax_running_max`).
    #[inline]
    pub fn running_max(&mut self, win: u32, t: u32, v: u32) -> u32 {
        self.running(win, Sample { t, v }, |new, old| new >= old)
    }

    /// Takes `v` of time `t` and returns the smallest of the last `win` (`minmax_running_min`).
    #[inline]
    pub fn running_min(&mut self, win: u32, t: u32, v: u32) -> u32 {
        self.running(win, Sample { t, v }, |new, old| new <= old)
    }

    #[inline]
    fn running(&mut self, win: u32, new: Sample, beats: impl Fn(u32, u32) -> bool) -> u32 {
        let s = &mut self.0;
        if beats(new.v, s[0].v) || new.t.wrapping_sub(s[2].t) > win {
            *s = [new; 3];
            return new.v;
        }
        if beats(new.v, s[1].v) {
            (s[1], s[2]) = (new, new);
        } else if beats(new.v, s[2].v) {
            s[2] = new;
        }
        self.expire(win, new)
    }

    /// Drops what has left the window, or takes later choices so that one is left (`minmax_subwin_update`).
    fn expire(&mut self, win: u32, new: Sample) -> u32 {
        let s = &mut self.0;
        let age = new.t.wrapping_sub(s[0].t);
        if age > win {
            *s = [s[1], s[2], new];
            if new.t.wrapping_sub(s[0].t) > win {
                *s = [s[1], s[2], new];
            }
        } else if s[1].t == s[0].t && age > win / 4 {
            (s[1], s[2]) = (new, new);
        } else if s[2].t == s[1].t && age > win / 2 {
            s[2] = new;
        }
        s[0].v
    }
}

#[cfg(test)]
mod tests;
