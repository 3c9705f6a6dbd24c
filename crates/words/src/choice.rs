//! Enums of words: each variant with its word in command lines, files and results, and with what it means.

/// A word out of a few.
pub trait Choice: Copy + Eq + 'static {
    /// Name of the enum.
    const NAME: &'static str;

    /// The quantity that is chosen, in a sentence.
    const ABOUT: &'static str;

    /// All words.
    const ALL: &'static [Self];

    /// The word.
    fn word(self) -> &'static str;

    /// Its meaning, in a sentence.
    fn meaning(self) -> &'static str;

    /// The one that is written so.
    fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|choice| choice.word() == word)
    }
}

/// Makes an enum of words, with [`Choice`] and, by its words, serde and `Display`.
#[macro_export]
macro_rules! choices {
    ($(#[doc = $about:literal])+ pub enum $Name:ident {$($(#[doc = $doc:literal])+ $Variant:ident = $word:literal,)+}) => {
        $(#[doc = $about])+
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

        impl $Name {
            /// As command lines, files and results have it.
            pub const fn word(self) -> &'static str {
                match self {$(Self::$Variant => $word,)+}
            }
        }

        impl $crate::Choice for $Name {
            const NAME: &'static str = stringify!($Name);
            const ABOUT: &'static str = concat!($($about),+).trim_ascii();
            const ALL: &'static [Self] = &[$(Self::$Variant),+];

            fn word(self) -> &'static str {
                self.word()
            }

            fn meaning(self) -> &'static str {
                match self {$(Self::$Variant => concat!($($doc),+).trim_ascii(),)+}
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.word())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::choices! {
    /// Ways to go.
    pub enum Way {
        /// Up the
        /// stairs.
        Up = "up",
        /// Down.
        DownHill = "down-hill",
    }
    }

    #[test]
    fn words_are_those_of_files_and_results() {
        assert_eq!((Way::NAME, Way::ABOUT, Way::Up.meaning()), ("Way", "Ways to go.", "Up the stairs."));
        for way in Way::ALL {
            assert_eq!((Way::of(way.word()), way.to_string().as_str()), (Some(*way), way.word()));
            let read = serde::de::value::StrDeserializer::<serde::de::value::Error>::new(way.word());
            assert_eq!(<Way as serde::Deserialize>::deserialize(read), Ok(*way));
        }
        assert_eq!((Way::of("DownHill"), Way::of("")), (None, None));
    }
}
