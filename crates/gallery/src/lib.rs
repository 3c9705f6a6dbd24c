//! The papers' figures: drawn ([`figures`], [`lcfd`], [`tcp_ho`]), as numbers (`rows`), and on one page beside what the
//! papers state and the verdict ([`page`]). `segue reproduce` and `segue model` print what stands here.

mod buffers;
pub mod figures;
pub mod lcfd;
pub mod page;
mod rows;
pub mod tcp_ho;

pub use rows::{
    ClaimRow, GainRow, LcfdRow, WaitDocument, buffers_csv, claims_json, figure_csv, gain_rows, lcfd_csv,
    lcfd_json, lcfd_rows, lcfd_windows_csv, mode_name, tcp_ho_csv, tcp_ho_json,
};
