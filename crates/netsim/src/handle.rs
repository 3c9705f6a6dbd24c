//! Handles of the parts of a network, in the order in which they were added.

/// Handle of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkId(pub u16);

/// Handle of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeId(pub u16);

/// Handle of a timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimerId(pub u16);
