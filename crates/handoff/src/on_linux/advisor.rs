//! The way between a scheme's stack and its programs on Linux ([`OnLinux`](super::OnLinux)) is the same for
//! all schemes. So its methods are macros.

/// The methods of [`Advisor`](segue_tcp::Advisor) by which a sender on Linux tells its programs. They are for a scheme
/// with an [`OnLinux`](super::OnLinux) in `linux` and a policy that [`Decides`](super::Decides).
macro_rules! tells_programs {
    () => {
        fn on_fast_retransmit(&mut self, view: &View) -> Advice {
            let action = self.at_fast_retransmit(&sender(view));
            let advice = self.answer(&action);
            self.linux.on_recovery(advice)
        }

        fn on_cut(&mut self, view: &View) -> Advice {
            self.linux.on_marks(view);
            Advice::default()
        }

        $crate::on_linux::follows_programs!();
    };
}
pub(crate) use tells_programs;

/// Those of them that do not depend on how the policy answers reductions: an ACK, and what follows from it.
macro_rules! follows_programs {
    () => {
        #[inline]
        fn watching(&self) -> bool {
            self.linux.is_watching()
        }

        fn on_ack(&mut self, view: &View) -> Advice {
            let mut linux = std::mem::take(&mut self.linux);
            let advice = linux.on_ack(view, self);
            self.applied = linux.applied;
            self.linux = linux;
            advice
        }

        fn hides_slow_start(&self, recovers: bool) -> bool {
            self.linux.hides_slow_start(recovers)
        }

        fn on_undo(&mut self, view: &View, cwnd: u32) -> u32 {
            self.linux.on_undo(view, cwnd)
        }

        fn on_open(&mut self, view: &View) -> Option<u32> {
            self.linux.on_open(view)
        }

        fn on_loss(&mut self) {
            self.linux.on_loss();
        }

        fn rto_bound_ms(&self) -> Option<u32> {
            self.linux.rto_bound_ms()
        }

        fn kept(&self, before: u32, cut: u32, prior_cwnd: u32) -> u32 {
            match self.enactment {
                Enactment::Paper => before,
                Enactment::Linux => self.linux.kept(before, cut, prior_cwnd),
            }
        }
    };
}
pub(crate) use follows_programs;

/// A notice's way through a scheme that [`Decides`]: by the programs where a kernel's stack enacts, else as on paper.
macro_rules! hears_notices {
    () => {
        fn on_notice(&mut self, view: &View, notice: &Notice) -> Advice {
            if self.enactment == Enactment::Linux && view.kernel.is_some() {
                let mut linux = std::mem::take(&mut self.linux);
                let advice = linux.on_notice(view, notice, self);
                self.applied = linux.applied;
                self.linux = linux;
                return advice;
            }
            let tcp = sender(view);
            let (action, _) = self.decide(&tcp, notice, notice);
            self.answer(&self.enactment.believed(&tcp, notice, action))
        }

        fn pend(&mut self, view: &View, notice: &Notice) -> bool {
            self.enactment == Enactment::Linux && self.linux.pend(view, notice)
        }

        fn pending(&self) -> Option<Notice> {
            self.linux.pending()
        }
    };
}
pub(crate) use hears_notices;
