//! Conditions of a laboratory's path that the simulator beside it does not have.

/// Directions of a link that go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dead {
    /// Both at once.
    #[default]
    Both,
    /// The downlink; the uplink goes once all ACKs have arrived.
    DownFirst,
}

/// Routers before the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gateway {
    /// None.
    #[default]
    None,
    /// A NAT and a stateful firewall.
    Nat,
}

/// All of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Which direction goes first.
    pub dead: Dead,
    /// Share of the mobile's ICMP messages that are lost.
    pub lost_icmp: f64,
    /// Share of the mobile's packets that are lost after link-up, until the server sends data.
    pub lost_messages: f64,
    /// A router before the server.
    pub gateway: Gateway,
}

impl Conditions {
    /// Those that differ from the usual, as plans say them.
    pub fn words(&self) -> String {
        let mut words = Vec::new();
        if self.dead == Dead::DownFirst {
            words.push("dead = down-first".to_string());
        }
        if self.gateway == Gateway::Nat {
            words.push("gateway = nat".to_string());
        }
        for (name, share) in [("lost-icmp", self.lost_icmp), ("lost-messages", self.lost_messages)] {
            if share > 0.0 {
                words.push(format!("{name} = {share}"));
            }
        }
        words.join(", ")
    }
}
