//! `--set KEY=VALUE`, of every command that has it.

use crate::Failure;

/// The last of two values would win without a word.
pub fn only_once(settings: &[(String, String)]) -> Result<(), Failure> {
    for (index, (key, _)) in settings.iter().enumerate() {
        if settings[..index].iter().any(|(other, _)| other == key) {
            return Err(Failure::User(format!("--set: `{key}` is given twice; expected it once")));
        }
    }
    Ok(())
}
