//! From the list of controls to everything that must know each of them.

/// `file::Control` stands for the control of that name in `file.rs`; `file` is its name on the command line, too.
///
/// Makes the modules, [`CcName`](super::CcName) and [`Control`](super::Control), which calls a control without a
/// virtual call.
macro_rules! controls {
    ($($file:ident::$Control:ident,)*) => {
        $(pub mod $file;)*

        /// The controls that can be chosen.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum CcName {
            $(#[doc = concat!("`cc/", stringify!($file), ".rs`.")] $Control,)*
        }

        impl CcName {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$Control),*];

            /// The control of that name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|control| control.name() == name)
            }

            /// Its name (`tcp_congestion_ops.name`).
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$Control => stringify!($file),)*
                }
            }
        }

        /// A congestion control's private state, dispatched statically.
        #[derive(Clone, Debug)]
        pub enum Control {
            $(#[doc = concat!("`cc/", stringify!($file), ".rs`.")] $Control($file::$Control),)*
        }

        impl Control {
            /// Fresh state. Random draws of a control follow from `seed` alone.
            pub fn new(name: CcName, seed: u64) -> Self {
                match name {
                    $(CcName::$Control => Self::$Control($file::$Control::new(seed)),)*
                }
            }

            /// Which it is.
            pub fn name(&self) -> CcName {
                match self {
                    $(Self::$Control(_) => CcName::$Control,)*
                }
            }
        }

        macro_rules! each {
            ($any:expr, $control:ident => $call:expr) => {
                match $any {
                    $(Control::$Control($control) => $call,)*
                }
            };
        }

        impl CongestionOps for Control {
            fn init(&mut self, sk: &mut Sock) {
                each!(self, c => c.init(sk));
            }

            #[inline]
            fn pkts_acked(&mut self, sk: &mut Sock, sample: &AckSample) {
                each!(self, c => c.pkts_acked(sk, sample));
            }

            fn skb_marked_lost(&mut self, sk: &mut Sock, stamp: &TxStamp) {
                each!(self, c => c.skb_marked_lost(sk, stamp));
            }

            fn ssthresh(&mut self, sk: &Sock) -> u32 {
                each!(self, c => c.ssthresh(sk))
            }

            fn set_state(&mut self, sk: &mut Sock, new: CaState) {
                each!(self, c => c.set_state(sk, new));
            }

            #[inline]
            fn cwnd_event(&mut self, sk: &mut Sock, event: CaEvent) {
                each!(self, c => c.cwnd_event(sk, event));
            }

            #[inline]
            fn has_cong_control(&self) -> bool {
                each!(self, c => c.has_cong_control())
            }

            #[inline]
            fn cong_avoid(&mut self, sk: &mut Sock, acked: u32) {
                each!(self, c => c.cong_avoid(sk, acked));
            }

            #[inline]
            fn cong_control(&mut self, sk: &mut Sock, rs: &RateSample) {
                each!(self, c => c.cong_control(sk, rs));
            }

            fn start_anew(&mut self, sk: &mut Sock, why: Anew) {
                each!(self, c => c.start_anew(sk, why));
            }

            fn keep_w_max(&mut self, keeps: bool) {
                each!(self, c => c.keep_w_max(keeps));
            }

            fn path_changes_soon(&mut self, is_near: bool) {
                each!(self, c => c.path_changes_soon(is_near));
            }

            fn full_bw_reached(&self) -> bool {
                each!(self, c => c.full_bw_reached())
            }

            fn set_min_rtt(&mut self, sk: &Sock, min_rtt_us: u32) {
                each!(self, c => c.set_min_rtt(sk, min_rtt_us));
            }

            fn undo_cwnd(&mut self, sk: &Sock) -> u32 {
                each!(self, c => c.undo_cwnd(sk))
            }

            fn hystart_end(&self) -> Option<HyStartEnd> {
                each!(self, c => c.hystart_end())
            }

            #[inline]
            fn min_tso_segs(&self, sk: &Sock) -> Option<u32> {
                each!(self, c => c.min_tso_segs(sk))
            }
        }
    };
}
