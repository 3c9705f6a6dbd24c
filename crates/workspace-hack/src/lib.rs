//! Nothing: this crate only names features (Cargo.toml).
