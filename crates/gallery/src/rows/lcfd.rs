//! Results of the Markov chain of Chou and Shin as CSV and JSON (docs/papers/models.md). Numbers with six decimals.

use segue_export::Origin;
use segue_model::lcfd::Equation7;
use segue_model::lcfd::figures::{Compared, Figure, Figure3, RTT_S};
use serde::{Deserialize, Serialize};

/// Two schemes in one setting.
#[derive(Deserialize, Serialize)]
pub struct LcfdRow {
    figure: Option<u8>,
    mode: &'static str,
    w_max: u32,
    buffer: u32,
    p: f64,
    sojourn_from_rtt: f64,
    sojourn_to_rtt: f64,
    mean_sojourn_s: f64,
    scheme: &'static str,
    against: &'static str,
    packets_per_rtt: f64,
    against_packets_per_rtt: f64,
    packets_per_s: f64,
    against_packets_per_s: f64,
    gain_percent: f64,
}

/// A round trip of Figure 3.
#[derive(Serialize)]
struct Window {
    time_s: f64,
    conventional: u32,
    proposed: u32,
}

fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// As the command line has it.
pub fn mode_name(equation: Equation7) -> &'static str {
    match equation {
        Equation7::Corrected => "corrected",
        Equation7::Printed => "printed",
    }
}

/// One row per setting and pair of schemes (docs/papers/models.md).
pub fn lcfd_rows(
    blocks: &[(Option<Figure>, Vec<Compared>)],
    equation: Equation7,
) -> impl Iterator<Item = LcfdRow> {
    blocks.iter().flat_map(move |(figure, all)| {
        all.iter().map(move |compared| {
            let (setting, (scheme, against)) = (compared.setting, compared.schemes);
            let (own, other) = compared.throughputs;
            LcfdRow {
                figure: figure.map(Figure::number),
                mode: mode_name(equation),
                w_max: setting.largest(),
                buffer: setting.buffer(),
                p: rounded(setting.p()),
                sojourn_from_rtt: rounded(setting.sojourn().0),
                sojourn_to_rtt: rounded(setting.sojourn().1),
                mean_sojourn_s: rounded(compared.mean_sojourn_s()),
                scheme: scheme.name(),
                against: against.name(),
                packets_per_rtt: rounded(own),
                against_packets_per_rtt: rounded(other),
                packets_per_s: rounded(own / RTT_S),
                against_packets_per_s: rounded(other / RTT_S),
                gain_percent: rounded(compared.gain_percent()),
            }
        })
    })
}

/// Throughputs and gains, one line per setting and pair of schemes.
pub fn lcfd_csv(
    blocks: &[(Option<Figure>, Vec<Compared>)],
    equation: Equation7,
) -> Result<String, csv::Error> {
    segue_export::csv_text(lcfd_rows(blocks, equation))
}

/// The same as JSON, one row a line, with a final line feed.
pub fn lcfd_json(
    blocks: &[(Option<Figure>, Vec<Compared>)],
    equation: Equation7,
    origin: &Origin,
) -> Result<String, serde_json::Error> {
    let rows: Vec<String> =
        lcfd_rows(blocks, equation).map(|row| serde_json::to_string(&row)).collect::<Result<_, _>>()?;
    let rows = rows.join(",\n");
    Ok(format!(
        "{{\"version\":1,\"model\":\"lcfd\",\"mode\":\"{}\",\"rows\":[\n{rows}\n],\n\"origin\":{}}}\n",
        mode_name(equation),
        origin.json()
    ))
}

/// A figure of the paper as the corrected model has it; nothing if the model does not draw it.
pub(crate) fn lcfd_figure_csv(number: u8) -> Result<String, csv::Error> {
    let equation = Equation7::Corrected;
    let figure = Figure::ALL.into_iter().find(|figure| figure.number() == number);
    let compared = |figure: Figure| -> Option<Vec<Compared>> {
        let settings = figure.settings(equation).ok()?.into_iter();
        settings.map(|setting| Compared::new(setting, figure.schemes(), equation).ok()).collect()
    };
    let block = figure.and_then(|figure| Some((Some(figure), compared(figure)?)));
    lcfd_csv(&block.into_iter().collect::<Vec<_>>(), equation)
}

/// Figure 3: the two windows, a line per round trip, from the end of the handoff on.
pub fn lcfd_windows_csv(figure: Figure3) -> Result<String, csv::Error> {
    let [conventional, proposed] = figure.comebacks.map(|comeback| comeback.windows(figure.largest));
    let both = conventional.zip(proposed).take(figure.round_trips);
    segue_export::csv_text(both.enumerate().map(|(index, (conventional, proposed))| Window {
        time_s: rounded(figure.resumes_s + RTT_S * index as f64),
        conventional,
        proposed,
    }))
}
