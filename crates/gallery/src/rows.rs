//! The numbers behind the figures, as CSV and JSON.

mod buffers;
mod claims;
mod figure;
mod lcfd;
mod tcp_ho;

pub use buffers::buffers_csv;
pub use claims::{ClaimRow, claims_json};
pub use figure::figure_csv;
pub use lcfd::{LcfdRow, lcfd_csv, lcfd_json, lcfd_rows, lcfd_windows_csv, mode_name};
pub use tcp_ho::{GainRow, WaitDocument, gain_rows, tcp_ho_csv, tcp_ho_json};
