//! From the list of congestion controls to everything that must know each of them.

/// `file::Control` stands for the control of that name in `file.rs`; `file` is its name on the command line, too.
///
/// Makes the modules, [`CongestionRules`](super::CongestionRules) and [`AnyControl`](super::AnyControl), which
/// calls a control without a virtual call.
macro_rules! controls {
    ($($file:ident::$Control:ident,)*) => {
        $(mod $file;)*

        /// The controls that a profile can choose.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum CongestionRules {
            $(#[doc = concat!("`congestion/", stringify!($file), ".rs`.")] $Control,)*
        }

        impl CongestionRules {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$Control),*];
            /// Their names in a sentence.
            pub const NAMES: &str = one_of!($($file)*);

            /// The control of that name.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $(stringify!($file) => Some(Self::$Control),)*
                    _ => None,
                }
            }
        }

        /// A congestion control, dispatched statically.
        #[derive(Clone, Debug)]
        pub enum AnyControl {
            $(#[doc = concat!("`congestion/", stringify!($file), ".rs`.")] $Control($file::$Control),)*
        }

        impl AnyControl {
            /// Fresh state.
            pub fn new(rules: CongestionRules, start: &Start) -> Self {
                match rules {
                    $(CongestionRules::$Control => Self::$Control($file::$Control::new(start)),)*
                }
            }
        }

        macro_rules! each {
            ($any:expr, $control:ident => $call:expr) => {
                match $any {
                    $(AnyControl::$Control($control) => $call,)*
                }
            };
        }

        impl CongestionControl for AnyControl {
            fn on_established(&mut self, initial_window: u32, rtt: Option<Nanos>) {
                each!(self, c => c.on_established(initial_window, rtt));
            }

            #[inline]
            fn on_ack(&mut self, ack: &Ack) {
                each!(self, c => c.on_ack(ack));
            }

            fn on_congestion(&mut self, event: Congestion, flight: u32, now: Nanos) {
                each!(self, c => c.on_congestion(event, flight, now));
            }

            fn on_recovery_exit(&mut self, flight: u32, most: u32) {
                each!(self, c => c.on_recovery_exit(flight, most));
            }

            fn on_spurious(&mut self) {
                each!(self, c => c.on_spurious());
            }

            #[inline]
            fn watches_use(&self) -> bool {
                each!(self, c => c.watches_use())
            }

            #[inline]
            fn on_start(&mut self, now: Nanos, idle: Nanos) {
                each!(self, c => c.on_start(now, idle));
            }

            fn set_window(&mut self, cwnd: Option<Window256>, ssthresh: Option<Window256>) {
                each!(self, c => c.set_window(cwnd, ssthresh));
            }

            #[inline]
            fn cwnd(&self) -> Window256 {
                each!(self, c => c.cwnd())
            }

            #[inline]
            fn ssthresh(&self) -> Window256 {
                each!(self, c => c.ssthresh())
            }

            #[inline]
            fn window(&self) -> u32 {
                each!(self, c => c.window())
            }

            #[inline]
            fn pacing_rate(&self) -> Option<u64> {
                each!(self, c => c.pacing_rate())
            }

            fn sets_cwnd_in_recovery(&self) -> bool {
                each!(self, c => c.sets_cwnd_in_recovery())
            }
        }
    };
}

/// `a, b or c`.
macro_rules! one_of {
    ($last:ident) => { stringify!($last) };
    ($one:ident $last:ident) => { concat!(stringify!($one), " or ", stringify!($last)) };
    ($one:ident $($rest:ident)+) => { concat!(stringify!($one), ", ", one_of!($($rest)+)) };
}
