//! What this machine can do for the programs of `bpf/`, and what is missing.
