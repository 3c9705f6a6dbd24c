//! Enums of words: each variant with its word in command lines, files and results, and with what it means.

/// A word out of a few.
pub trait Choice: Copy + Eq + 'static {
    /// All of them.
    const ALL: &'static [Self];

    /// The word.
    fn word(self) -> &'static str;

    /// What it means, in a sentence.
    fn meaning(self) -> &'static str;

    /// The one that is written so.
    fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|choice| choice.word() == word)
    }
}

/// Makes an enum of words, with [`Choice`] and, by its words, serde and `Display`.
#[macro_export]
macro_rules! choices {
    ($(#[$meta:meta])* pub enum $Name:ident {$($(#[doc = $doc:literal])+ $Variant:ident = $word:literal,)+}) => {
        $(#[$meta])*
        #[derive(
            Clone,
            Copy,
            Debug,
            PartialEq,
            Eq,
            PartialOrd,
            Ord,
            Hash,
            $crate::serde::Deserialize,
            $crate::serde::Serialize,
        )]
        #[serde(crate = "segue_words::serde")]
        pub enum $Name {$(
            $(#[doc = $doc])+
            #[serde(rename = $word)]
            $Variant,
        )+}

        impl $crate::Choice for $Name {
            const ALL: &'static [Self] = &[$(Self::$Variant),+];

            fn word(self) -> &'static str {
                match self {$(Self::$Variant => $word,)+}
            }

            fn meaning(self) -> &'static str {
                match self {$(Self::$Variant => concat!($($doc),+).trim_ascii(),)+}
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad($crate::Choice::word(*self))
            }
        }
    };
}
