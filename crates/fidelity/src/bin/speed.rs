//! `speed`: delivered packets per wall second, ours and the real ns-2's, in the same call; and the time that ten thousand
//! handoffs take.

use clap::Parser;
use segue_fidelity::race::{self, COURSES, Course, Lap, PACKETS, RATIO};
use segue_fidelity::{Error, reference_folder};
use std::path::PathBuf;
use std::process::ExitCode;

/// How fast the engine delivers packets, beside ns-2, on one core.
#[derive(Parser)]
struct Arguments {
    /// Cases to run
    #[arg(default_values_t = ['a', 'b', 'c', HANDOFFS_LETTER, 'e', 'f', 'g', 'h', WEATHER_LETTER], value_parser = parse_letter)]
    cases: Vec<char>,
    /// Runs of each side
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    laps: u32,
    /// Simulated time, in percent of what delivers ten million packets
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1000))]
    percent: u64,
    /// Leave ns-2 out
    #[arg(long)]
    ours_only: bool,
    /// Folder of ns-2's scripts
    #[arg(long, value_name = "DIR", default_value_os_t = reference_folder())]
    reference: PathBuf,
}

/// The case that is measured in handoffs.
const HANDOFFS_LETTER: char = 'd';
/// The one with losses and jitter.
const WEATHER_LETTER: char = 'i';

fn parse_letter(text: &str) -> Result<char, String> {
    let letters = COURSES.iter().map(|course| course.letter).chain([HANDOFFS_LETTER, WEATHER_LETTER]);
    let known = letters.into_iter().find(|letter| text == letter.to_string());
    known.ok_or_else(|| "expected a letter of a to i".to_string())
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("speed: {error}");
            ExitCode::from(1)
        }
    }
}

fn run(arguments: &Arguments) -> Result<bool, Error> {
    println!("million delivered packets per wall second, median (least to most) of {} runs", arguments.laps);
    let mut missed = Vec::new();
    for course in COURSES.iter().filter(|course| arguments.cases.contains(&course.letter)) {
        missed.extend(race(course, arguments)?);
    }
    if arguments.cases.contains(&HANDOFFS_LETTER) {
        for scheme in race::HANDOFF_SCHEMES {
            missed.extend(time_handoffs(scheme, arguments)?);
        }
    }
    if arguments.cases.contains(&WEATHER_LETTER) {
        missed.extend(time_weather(arguments)?);
    }
    match missed.is_empty() {
        true => println!("all targets met"),
        false => missed.iter().for_each(|what| println!("MISSED  {what}")),
    }
    Ok(missed.is_empty())
}

/// Runs one case, prints its line, and says what is missed.
fn race(course: &Course, arguments: &Arguments) -> Result<Vec<String>, Error> {
    let seconds = (course.seconds * arguments.percent).div_ceil(100);
    let (mut ours, mut ns2, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..arguments.laps {
        ours.push(race::ours(course, seconds)?);
        if let Some((case, _)) = course.over {
            plain.push(race::ours(&Course { case, ..*course }, seconds)?);
        }
        if course.beside_ns2 && !arguments.ours_only {
            ns2.push(race::ns2(course, seconds, &arguments.reference)?);
        }
    }
    let letter = course.letter;
    let pace = race::median_pace(&ours);
    println!("{letter}: {}, {seconds} simulated seconds", course.what);
    print_laps("ours", &ours);
    let mut missed = Vec::new();
    let mut check = |met: bool, what: String| {
        if !met {
            missed.push(format!("{letter}: {what}"));
        }
    };
    if let Some(least) = course.pace {
        check(pace >= least * 1e6, format!("{:.2} million packets/s, at least {least}", pace / 1e6));
    }
    if arguments.percent >= 100 {
        let delivered = ours[0].delivered;
        check(delivered >= PACKETS, format!("{delivered} packets delivered, at least {PACKETS}"));
    }
    if let Some((_, most)) = course.over {
        print_laps("plain", &plain);
        let cost = race::median_ratio(&plain, &ours);
        println!("   a packet costs {cost:.2} times as much as with a drop-tail queue");
        check(cost <= most, format!("a packet costs {cost:.2} times as much, at most {most}"));
    }
    if !ns2.is_empty() {
        print_laps("ns-2", &ns2);
        let ratio = race::median_ratio(&ours, &ns2);
        let difference = ours[0].delivered as f64 / ns2[0].delivered as f64 - 1.0;
        println!("   ours / ns-2: {ratio:.2} times the pace; delivered packets {:+.3} %", 100.0 * difference);
        check(ratio >= RATIO, format!("{ratio:.2} times the pace of ns-2, at least {RATIO}"));
        let same = difference.abs() <= race::SAME;
        check(same, format!("delivered packets differ by {:.2} %, at most 1 %", 100.0 * difference));
    }
    Ok(missed)
}

/// Runs the two cells with one scheme, prints its line, and says what is missed.
fn time_handoffs(scheme: &str, arguments: &Arguments) -> Result<Option<String>, Error> {
    let count = u64::from(race::HANDOFFS) * arguments.percent / 100;
    let count = u32::try_from(count.max(1)).unwrap_or(u32::MAX);
    let laps: Result<Vec<Lap>, Error> = (0..arguments.laps).map(|_| race::handoffs(scheme, count)).collect();
    let mut laps = laps?;
    laps.sort_by(|one, other| one.wall.total_cmp(&other.wall));
    let (least, most) = (laps[0].wall, laps[laps.len() - 1].wall);
    let median = laps[laps.len() / 2].wall;
    println!("{HANDOFFS_LETTER}: {count} handoffs between two cells, mean sojourn 27 RTT, {scheme}");
    println!("   ours  {:>11} packets {median:>7.2} s ({least:.2} to {most:.2})", laps[0].delivered);
    let limit = race::HANDOFFS_WALL * f64::from(count) / f64::from(race::HANDOFFS);
    let missed = median > limit;
    Ok(missed.then(|| format!("{HANDOFFS_LETTER}: {scheme}, {median:.2} s, at most {limit} s")))
}

/// Runs handoffs through weather, prints the line, and says what is missed.
fn time_weather(arguments: &Arguments) -> Result<Option<String>, Error> {
    let days = (u64::from(race::DAYS) * arguments.percent).div_ceil(100) as u32;
    let laps: Result<Vec<Lap>, Error> = (0..arguments.laps).map(|_| race::weather(days)).collect();
    let mut laps = laps?;
    laps.sort_by(|one, other| one.wall.total_cmp(&other.wall));
    let (least, most) = (laps[0].wall, laps[laps.len() - 1].wall);
    let median = laps[laps.len() / 2].wall;
    println!("{WEATHER_LETTER}: {days} days of 200 handoffs, leo -> 5g with losses and jitter");
    println!("   ours  {:>11} packets {median:>7.2} s ({least:.2} to {most:.2})", laps[0].delivered);
    let limit = race::WEATHER_WALL * f64::from(days) / f64::from(race::DAYS);
    Ok((median > limit).then(|| format!("{WEATHER_LETTER}: {median:.2} s, at most {limit} s")))
}

fn print_laps(who: &str, laps: &[Lap]) {
    let mut paces: Vec<f64> = laps.iter().map(|lap| lap.pace() / 1e6).collect();
    paces.sort_by(f64::total_cmp);
    let (least, most) = (paces[0], paces[paces.len() - 1]);
    let median = race::median_pace(laps) / 1e6;
    println!("   {who:<5} {:>11} packets {median:>7.2} ({least:.2} to {most:.2})", laps[0].delivered);
}
