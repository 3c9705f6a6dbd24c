//! A router without buffers of its own.

use segue_netsim::LinkId;

/// Where a router sends what comes out of a link.
#[derive(Clone, Debug)]
#[repr(u8)] // the variant in a byte of its own, read for every packet
pub enum Route {
    /// Nothing comes this way.
    None,
    /// Everything to one link.
    To(LinkId),
    /// Each flow to a link of its own; those beyond the list go where its last goes.
    ByFlow(Vec<LinkId>),
}

/// A router: routes by the link that packets come from.
#[derive(Clone, Debug, Default)]
pub struct Router {
    routes: Vec<Route>,
}

impl Router {
    /// Sets where packets from `from` go.
    pub fn route(&mut self, from: LinkId, route: Route) {
        let index = usize::from(from.0);
        if self.routes.len() <= index {
            self.routes.resize(index + 1, Route::None);
        }
        self.routes[index] = route;
    }

    /// Takes over the routes of another router, whose links lead here now.
    pub(crate) fn adopt(&mut self, other: &Self) {
        for (from, route) in (0u16..).map(LinkId).zip(&other.routes) {
            if !matches!(route, Route::None) {
                self.route(from, route.clone());
            }
        }
    }

    /// Where a packet of `flow` that came out of `from` goes.
    #[inline]
    pub(crate) fn out(&self, from: LinkId, flow: u16) -> Option<LinkId> {
        match &self.routes[usize::from(from.0)] {
            Route::To(out) => Some(*out),
            Route::ByFlow(outs) => outs.get(usize::from(flow)).or(outs.last()).copied(),
            Route::None => None,
        }
    }
}
