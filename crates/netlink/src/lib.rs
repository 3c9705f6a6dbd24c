//! Netlink (netlink(7)): questions and their whole answers ([`Client`]), and what the kernel tells by itself
//! ([`Listener`]). Without a runtime or a thread; what messages mean is their readers' business.

mod client;
mod listener;
mod message;

pub use client::{Answer, Client};
pub use listener::{Listener, News};
pub use message::{Message, attribute, attributes, half, put_attribute, word};
pub use netlink_sys::protocols;
