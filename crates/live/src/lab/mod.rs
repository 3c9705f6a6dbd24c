//! Two hosts in namespaces, a link emulator between them, real programs on them.
