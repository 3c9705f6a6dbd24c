//! The mobile host: capability, reports, notices.
