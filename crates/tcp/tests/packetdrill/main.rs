//! Scripts of packetdrill against Linux's sender.
//!
//! Our own lie beside this file; most of their expectations were recorded from a running kernel. The public ones are
//! the kernel's and Google's, under the GPL, so they are not copied but looked for on the machine: see [`public`].

mod code;
mod own;
mod public;
mod run;
mod script;
