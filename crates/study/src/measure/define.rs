//! Items made from the table of measures: the row of a comparison, the same row flat, and the row of one handoff.
//! Further items are the columns that a table can show, and the list of all measures for whoever writes, compares or
//! explains them.

/// Makes all of these from the entries of `table.rs`, which says how an entry reads.
macro_rules! measures {
    ($(
        $(#[doc = $doc:literal])+
        $field:ident: $Field:ty = $of_all:expr $(, each $Each:ty = $of_one:expr)? => {$(
            $head:ident $(. $part:ident)? as $csv:ident: $Number:ty, $unit:ident, $noise:ident, $about:literal
            $(, column $Column:ident $word:literal $heading:literal $($title:literal)?)?;
        )+}
    )+
    optional {$(
        $(#[doc = $maybe_doc:literal])+
        $maybe:ident: $Maybe:ty = $of_some:expr => {$(
            $some:ident as $maybe_csv:ident, $maybe_unit:ident, $maybe_about:literal;
        )+}
    )+}) => {
        /// One row of a comparison: the JSON contract of docs/reference/results.md and docs/reference/measures.md.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct Row {
            /// Link before, as asked for.
            pub old: String,
            /// Link after.
            pub new: String,
            /// `mbb` or `bbm`.
            pub kind: String,
            /// s; 0 for `mbb`.
            pub disconnect_s: f64,
            /// Number of flows.
            pub flows: usize,
            /// Which handoff of its run, from 1, where a run has several.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub handoff: Option<u32>,
            /// Scheme.
            pub scheme: String,
            /// Its stack.
            pub stack: String,
            /// `instant` or `in-band`.
            pub notice: String,
            /// `after-highest` or `after-ack`.
            pub definition: String,
            /// First seed.
            pub seed: u64,
            /// Number of seeds, if several.
            #[serde(skip_serializing_if = "is_one", default = "one")]
            pub seeds: u64,
            /// Settings that concern this scheme.
            pub settings: BTreeMap<String, String>,
            /// P.
            pub packets: u32,
            /// Number of handoffs.
            pub points: usize,
            $(
                $(#[doc = $maybe_doc])+
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $maybe: Option<$Maybe>,
            )+
            $($(#[doc = $doc])+ pub $field: $Field,)+
        }

        impl Row {
            /// The row of one scheme.
            pub(crate) fn new(
                plan: &Plan,
                experiment: &Experiment,
                scheme: &PlannedScheme,
                all: &Sample<'_>,
            ) -> Self {
                let request = &plan.request;
                Self {
                    old: experiment.old.text.clone(),
                    new: experiment.new.text.clone(),
                    kind: experiment.kind.word().into(),
                    disconnect_s: seconds(experiment.kind.disconnection()),
                    flows: experiment.flows,
                    handoff: None,
                    scheme: scheme.name.clone(),
                    stack: scheme.stack.name.into(),
                    notice: request.notice.word().into(),
                    definition: request.definition.word().into(),
                    seed: request.seed,
                    seeds: request.seeds,
                    settings: scheme.settings.iter().cloned().collect(),
                    packets: request.packets,
                    points: all.handoffs.len(),
                    $($maybe: {
                        let of_some: fn(&Sample<'_>) -> Option<$Maybe> = $of_some;
                        of_some(all)
                    },)+
                    $($field: {
                        let of_all: fn(&Sample<'_>) -> $Field = $of_all;
                        of_all(all)
                    },)+
                }
            }
        }

        /// A [`Row`] without nesting, as CSV and columns have it; an empty field is infinite.
        #[derive(Deserialize, Serialize)]
        pub struct FlatRow<'a> {
            old: &'a str,
            new: &'a str,
            kind: &'a str,
            disconnect_s: f64,
            flows: usize,
            #[serde(skip_serializing_if = "Option::is_none")]
            handoff: Option<u32>,
            scheme: &'a str,
            stack: &'a str,
            notice: &'a str,
            definition: &'a str,
            seed: u64,
            seeds: u64,
            settings: String,
            packets: u32,
            points: usize,
            $($($csv: $Number,)+)+
            $($(#[serde(skip_serializing_if = "Option::is_none")] $maybe_csv: Option<Option<f64>>,)+)+
        }

        impl<'a> From<&'a Row> for FlatRow<'a> {
            fn from(row: &'a Row) -> Self {
                let settings: Vec<String> =
                    row.settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
                Self {
                    old: &row.old,
                    new: &row.new,
                    kind: &row.kind,
                    disconnect_s: row.disconnect_s,
                    flows: row.flows,
                    handoff: row.handoff,
                    scheme: &row.scheme,
                    stack: &row.stack,
                    notice: &row.notice,
                    definition: &row.definition,
                    seed: row.seed,
                    seeds: row.seeds,
                    settings: settings.join(" "),
                    packets: row.packets,
                    points: row.points,
                    $($($csv: row.$head $(.$part)?,)+)+
                    $($($maybe_csv: row.$maybe.as_ref().map(|some| some.$some.number()),)+)+
                }
            }
        }

        /// One handoff with one scheme, flat, as `--rows` writes it.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct HandoffRow {
            /// Link before.
            pub old: String,
            /// Link after.
            pub new: String,
            /// `mbb` or `bbm`.
            pub kind: &'static str,
            /// s.
            pub disconnect_s: f64,
            /// Number of flows.
            pub flows: usize,
            /// Which handoff of its run, from 1, where a run has several.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub handoff: Option<u32>,
            /// Scheme.
            pub scheme: String,
            /// Its stack.
            pub stack: &'static str,
            /// Seed.
            pub seed: u64,
            /// T, s.
            pub at_s: f64,
            $($(#[doc = concat!("[`Row::", stringify!($field), "`] of one handoff.")] pub $field: $Each,)?)+
        }

        impl HandoffRow {
            /// One handoff of an experiment.
            pub fn new(experiment: &Experiment, scheme: &PlannedScheme, seed: u64, record: &RunRecord) -> Self {
                Self {
                    old: experiment.old.text.clone(),
                    new: experiment.new.text.clone(),
                    kind: experiment.kind.word(),
                    disconnect_s: seconds(experiment.kind.disconnection()),
                    flows: experiment.flows,
                    handoff: None,
                    scheme: scheme.name.clone(),
                    stack: scheme.stack.name,
                    seed,
                    at_s: seconds(record.at),
                    $($($field: {
                        let of_one: fn(&RunRecord) -> $Each = $of_one;
                        of_one(record)
                    },)?)+
                }
            }
        }

        /// A column that the table of a comparison can show: a measure, or where the new link's time went.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
        pub enum Column {
            $($($(#[doc = $about] #[serde(rename = $word)] $Column,)?)+)+
            /// how the new link spent the time, as a bar
            #[serde(rename = "new_link")]
            NewLink,
        }

        impl Column {
            /// All of them.
            pub const ALL: &'static [Self] = &[$($($(Self::$Column,)?)+)+ Self::NewLink];
        }

        /// Fields of [`Row`] that hold measures, and their definitions, in order.
        pub const FIELDS: &[(&str, &str)] = &[$((stringify!($field), concat!($($doc),+)),)+];

        /// Every number of a [`Row`] that is measured, in order.
        pub const MEASURES: &[Measure] = &[$($(
            Measure {
                field: stringify!($head),
                name: concat!(stringify!($head) $(, ".", stringify!($part))?),
                csv: stringify!($csv),
                unit: Unit::$unit,
                noise: Noise::$noise,
                kind: <$Number as Number>::KIND,
                about: $about,
                shown: {
                    const SHOWN: &[Shown] = &[$(Shown {
                        column: Column::$Column,
                        word: $word,
                        heading: $heading,
                        title: {
                            const TITLE: &[&str] = &[$($title)?];
                            TITLE.first().copied()
                        },
                    })?];
                    SHOWN.first()
                },
                of: |row| row.$head $(.$part)?.number(),
            },
        )+)+];

        /// Fields of [`Row`] that hold measures of what not every question has, and their definitions, in order.
        pub const OPTIONAL_FIELDS: &[(&str, &str)] = &[$((stringify!($maybe), concat!($($maybe_doc),+)),)+];

        /// The numbers of these fields, in order.
        pub const OPTIONAL: &[Measure] = &[$($(
            Measure {
                field: stringify!($maybe),
                name: concat!(stringify!($maybe), ".", stringify!($some)),
                csv: stringify!($maybe_csv),
                unit: Unit::$maybe_unit,
                noise: Noise::Unknown,
                kind: EachKind::MaybeInfinite,
                about: $maybe_about,
                shown: None,
                of: |row| row.$maybe.as_ref()?.$some.number(),
            },
        )+)+];

        /// The numbers of these fields that a single handoff has, by their names in CSV; `None` = infinite, or there was
        /// nothing to measure.
        pub fn optional_of(record: &RunRecord) -> Vec<(&'static str, Option<f64>)> {
            let one = [record];
            let all = &Sample { handoffs: &one, first: &one };
            let mut numbers = Vec::new();
            $({
                let of_some: fn(&Sample<'_>) -> Option<$Maybe> = $of_some;
                if let Some(some) = of_some(all) {
                    $(numbers.push((stringify!($maybe_csv), some.$some.number()));)+
                }
            })+
            numbers
        }

        /// Whether a row has the field of that name, of those that not every question has.
        pub fn has(row: &Row, field: &str) -> bool {
            match field {
                $(stringify!($maybe) => row.$maybe.is_some(),)+
                _ => false,
            }
        }

        /// The measures that a single handoff has, in the order of [`HandoffRow`].
        pub const EACH: &[EachMeasure] = &[$($(
            EachMeasure {
                name: stringify!($field),
                kind: <$Each as Number>::KIND,
                of: |row| row.$field.number(),
            },
        )?)+];
    };
}

pub(crate) use measures;
