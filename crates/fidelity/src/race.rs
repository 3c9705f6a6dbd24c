//! Speed
