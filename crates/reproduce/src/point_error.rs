//! Why a point cannot be simulated.

use segue_handoff::SchemeError;
use segue_model::lcfd::BadInput;
use segue_study::RequestError;
use segue_world::LinkError;
use segue_world::drive::cells::CellsError;
use segue_world::drive::mobility::DriveError;

/// Why a point cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PointError {
    /// The links are not two.
    #[error("links `{0}`; expected OLDKBPS/OLDMS NEWKBPS/NEWMS")]
    Links(String),
    /// A link is malformed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The request is refused.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A sender's buffer, or access delays, are malformed.
    #[error("`{word}`; expected {expected}")]
    Download {
        /// The word.
        word: String,
        /// The words that could stand there.
        expected: &'static str,
    },
    /// A route is malformed.
    #[error(transparent)]
    Route(#[from] DriveError),
    /// Cells are refused.
    #[error(transparent)]
    Cells(#[from] CellsError),
    /// The chain is refused.
    #[error(transparent)]
    Model(#[from] BadInput),
    /// No such scheme.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// Nothing to run.
    #[error("no schemes")]
    NoSchemes,
}
