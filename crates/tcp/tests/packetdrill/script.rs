//! The language of packetdrill, as far as scripts of a TCP sender use it.
//!
//! Source: packetdrill's lexer.l, parser.y and its documentation, "packetdrill Linux reference".

use segue_tcp::Nanos;
use segue_tcp::segment::Ecn;

/// A script.
#[derive(Debug, Default)]
pub struct Script {
    /// By how much packets may be early or late (`--tolerance_usecs`).
    pub tolerance: Option<Nanos>,
    pub events: Vec<Event>,
}

/// An event, and where it stands.
#[derive(Debug)]
pub struct Event {
    pub line: usize,
    /// Commands before the first event have no time.
    pub time: Option<Time>,
    pub kind: Kind,
}

/// When something happens, or within which span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// From the event before it, not from the start of the script.
    pub relative: bool,
    pub from: Nanos,
    pub to: Nanos,
}

#[derive(Debug)]
pub enum Kind {
    /// Text between backticks.
    Command(String),
    /// Text between `%{` and `}%`.
    Code(String),
    Call(Call),
    In(Packet),
    Out(Packet),
    /// ICMP "unreachable", which quotes the segment that starts with this byte.
    Unreachable(u32),
}

/// A system call: only what is written is told apart.
#[derive(Debug, PartialEq, Eq)]
pub enum Call {
    Connect,
    Write(u32),
    Close,
    Congestion(String),
    /// It changes nothing here.
    Other,
}

/// A segment; numbers count bytes from the SYN's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    pub syn: bool,
    pub fin: bool,
    pub has_ack: bool,
    /// Marks, and what is said of them; that an ACK could be marked says nothing.
    pub ecn: Ecn,
    pub seq: u32,
    pub len: u32,
    pub ack: u32,
    pub window: Option<u32>,
    pub options: Options,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub mss: Option<u32>,
    pub sack_ok: bool,
    pub wscale: u32,
    pub sack: Vec<(u32, u32)>,
    /// TSval, TSecr.
    pub stamps: Option<(u32, u32)>,
}

/// The script in `text`; the error names the line.
pub fn parse(text: &str) -> Result<Script, String> {
    let mut script = Script::default();
    let mut rest = Rest { text, line: 1 };
    while rest.skip_blanks() {
        let line = rest.line;
        let event = event(&mut rest, &mut script).map_err(|what| format!("line {line}: {what}"))?;
        script.events.extend(event.map(|(time, kind)| Event { line, time, kind }));
    }
    Ok(script)
}

/// The rest of a script.
struct Rest<'a> {
    text: &'a str,
    line: usize,
}

impl<'a> Rest<'a> {
    fn skip(&mut self, bytes: usize) -> &'a str {
        let (skipped, text) = self.text.split_at(bytes);
        self.line += skipped.matches('\n').count();
        self.text = text;
        skipped
    }

    /// Goes on to what is neither blank nor comment; false at the end.
    fn skip_blanks(&mut self) -> bool {
        loop {
            let blanks = self.text.len() - self.text.trim_start().len();
            self.skip(blanks);
            if !self.text.starts_with("//") {
                return !self.text.is_empty();
            }
            self.line_left();
        }
    }

    /// The rest of the line without its comment.
    fn line_left(&mut self) -> &'a str {
        let end = self.text.find('\n').unwrap_or(self.text.len());
        let line = self.skip(end);
        line.split_once("//").map_or(line, |(code, _)| code).trim()
    }

    /// Text between here and `close`, which is skipped, too.
    fn until(&mut self, open: &str, close: &str) -> Result<&'a str, String> {
        self.skip(open.len());
        let end = self.text.find(close).ok_or(format!("`{open}` without `{close}`"))?;
        let inner = self.skip(end);
        self.skip(close.len());
        Ok(inner)
    }

    fn word(&mut self) -> &'a str {
        let end = self.text.find(char::is_whitespace).unwrap_or(self.text.len());
        self.skip(end)
    }
}

fn event(rest: &mut Rest<'_>, script: &mut Script) -> Result<Option<(Option<Time>, Kind)>, String> {
    if rest.text.starts_with("--") {
        let option = rest.line_left();
        let tolerance =
            option.strip_prefix("--tolerance_usecs=").ok_or(format!("unknown option `{option}`"))?;
        script.tolerance = Some(Nanos::from(number(tolerance)?) * 1_000);
        return Ok(None);
    }
    let mut time = None;
    if !rest.text.starts_with('`') {
        time = Some(parse_time(rest.word())?);
        if !rest.skip_blanks() {
            return Err("a time without an event".into());
        }
    }
    let kind = match rest.text.chars().next() {
        Some('`') => Kind::Command(rest.until("`", "`")?.into()),
        Some('%') => Kind::Code(rest.until("%{", "}%")?.into()),
        Some('<') => {
            let text = rest.line_left()[1..].trim();
            match text.strip_prefix("icmp unreachable") {
                Some(icmp) => Kind::Unreachable(quoted(icmp)?),
                None => Kind::In(packet(text)?),
            }
        }
        Some('>') => Kind::Out(packet(rest.line_left()[1..].trim())?),
        _ => Kind::Call(call(rest.line_left())?),
    };
    Ok(Some((time, kind)))
}

/// `0`, `.1`, `+.1`, `+.1~+.2`, `1~2`, and `+0...0.01` of calls that block.
fn parse_time(word: &str) -> Result<Time, String> {
    let word = word.split_once("...").map_or(word, |(start, _)| start);
    let (from, to) = word.split_once('~').unwrap_or((word, word));
    let relative = from.starts_with('+');
    let bare = |text: &str| seconds(text.strip_prefix('+').unwrap_or(text));
    let time = Time { relative, from: bare(from)?, to: bare(to)? };
    if time.to < time.from { Err(format!("`{word}` ends before it begins")) } else { Ok(time) }
}

fn seconds(text: &str) -> Result<Nanos, String> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if part.len() > 9 || text.is_empty() || text == "." || !digits(whole) || !digits(part) {
        return Err(format!("`{text}` is not a time in seconds"));
    }
    let number = |text: &str| text.parse::<Nanos>().unwrap_or(0);
    Ok(number(whole) * 1_000_000_000 + number(part) * 10u64.pow(9 - part.len() as u32))
}

fn number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

/// A call as `write(4, ..., 1000) = 1000`.
fn call(text: &str) -> Result<Call, String> {
    let (name, rest) = text.split_once('(').ok_or(format!("`{text}` is no call"))?;
    let (arguments, result) = rest.rsplit_once(')').ok_or(format!("`{text}` has no `)`"))?;
    let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
    match name {
        "socket" | "bind" | "listen" | "accept" => Ok(Call::Other),
        "connect" => Ok(Call::Connect),
        "close" => Ok(Call::Close),
        "setsockopt" if arguments.get(2) == Some(&"TCP_CONGESTION") => {
            let name = arguments.get(3).ok_or("TCP_CONGESTION has no value")?;
            Ok(Call::Congestion(name.trim_matches(['"', '[', ']']).into()))
        }
        "setsockopt" => Ok(Call::Other),
        "write" => {
            let bytes = number(arguments.last().unwrap_or(&""))?;
            match result.trim().strip_prefix('=').map(str::trim) {
                Some(written) if number(written)? == bytes => Ok(Call::Write(bytes)),
                _ => Err(format!("`{text}` does not write all")),
            }
        }
        _ => Err(format!("unknown call `{name}`")),
    }
}

/// A segment as `P. 1:1001(1000) ack 1 win 257 <nop,nop,sack 1:2>`.
fn packet(text: &str) -> Result<Packet, String> {
    let (text, options) = match text.split_once('<') {
        Some((text, options)) => (text, options.strip_suffix('>').ok_or("options without `>`")?),
        None => (text, ""),
    };
    let mut packet = Packet { options: parse_options(options)?, ..Packet::default() };
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next_if(|word| word.starts_with('[')) {
        match word {
            "[noecn]" | "[ect0]" | "[ect1]" | "[ect01]" => {}
            "[ce]" => packet.ecn = packet.ecn.and(Ecn::CE),
            _ => return Err(format!("unknown field `{word}`")),
        }
    }
    for flag in words.next().ok_or("a packet without flags")?.chars() {
        match flag {
            'S' => packet.syn = true,
            'F' => packet.fin = true,
            '.' => packet.has_ack = true,
            'E' => packet.ecn = packet.ecn.and(Ecn::ECE),
            'W' => packet.ecn = packet.ecn.and(Ecn::CWR),
            'P' => {}
            _ => return Err(format!("unknown flag `{flag}`")),
        }
    }
    (packet.seq, packet.len) = range(words.next().unwrap_or(""))?;
    while let Some(word) = words.next() {
        let value = number(words.next().unwrap_or(""))?;
        match word {
            "ack" => packet.ack = value,
            "win" => packet.window = Some(value),
            _ => return Err(format!("unknown field `{word}`")),
        }
    }
    Ok(packet)
}

/// First byte and length of `1:1001(1000)`.
fn range(text: &str) -> Result<(u32, u32), String> {
    let fault = || format!("`{text}` is no range such as 1:1001(1000)");
    let (first, rest) = text.split_once(':').ok_or_else(fault)?;
    let (end, length) = rest.split_once('(').ok_or_else(fault)?;
    let (first, end) = (number(first)?, number(end)?);
    let length = number(length.strip_suffix(')').ok_or_else(fault)?)?;
    if first.checked_add(length) == Some(end) { Ok((first, length)) } else { Err(fault()) }
}

/// The first byte that ` host_unreachable [1:1001(1000)]` quotes.
fn quoted(text: &str) -> Result<u32, String> {
    let (_, quote) = text.split_once('[').ok_or("ICMP quotes no segment")?;
    Ok(range(quote.strip_suffix(']').ok_or("`[` without `]`")?)?.0)
}

/// Options between `<` and `>`; `...` stands for anything.
fn parse_options(text: &str) -> Result<Options, String> {
    let mut options = Options::default();
    for option in text.split(',').map(str::trim) {
        let words: Vec<&str> = option.split_whitespace().collect();
        match words[..] {
            [] | ["nop" | "..."] => {}
            ["sackOK"] => options.sack_ok = true,
            ["mss", value] => options.mss = Some(number(value)?),
            ["wscale", value] => options.wscale = number(value)?,
            ["TS", "val", value, "ecr", echo] => options.stamps = Some((number(value)?, number(echo)?)),
            ["sack", ref blocks @ ..] => {
                for block in blocks {
                    let (left, right) = block.split_once(':').ok_or(format!("`{block}` is no block"))?;
                    options.sack.push((number(left)?, number(right)?));
                }
            }
            _ => return Err(format!("unknown option `{option}`")),
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let time = |relative, from, to| Ok(Time { relative, from, to });
        assert_eq!(parse_time("0"), time(false, 0, 0));
        assert_eq!(parse_time("+.105"), time(true, 105_000_000, 105_000_000));
        assert_eq!(parse_time("+1.2~+1.240"), time(true, 1_200_000_000, 1_240_000_000));
        assert_eq!(parse_time("+0...0.010"), time(true, 0, 0));
        for fault in ["+", "1.2.3", "x", "+.3~+.2", "."] {
            assert!(parse_time(fault).is_err(), "{fault}");
        }
    }

    #[test]
    fn segments() {
        let text = ". 1:1(0) ack 1001 win 320 <sack 2001:3001 5001:6001,nop,nop>";
        let sack = vec![(2001, 3001), (5001, 6001)];
        let expected = Packet {
            has_ack: true,
            seq: 1,
            ack: 1001,
            window: Some(320),
            options: Options { sack, ..Options::default() },
            ..Packet::default()
        };
        assert_eq!(packet(text), Ok(expected));
        let syn = packet("S 0:0(0) win 65535 <mss 1012,sackOK,TS val 1000 ecr 0,nop,wscale 7>").unwrap();
        let options =
            Options { mss: Some(1012), sack_ok: true, wscale: 7, stamps: Some((1000, 0)), sack: vec![] };
        assert_eq!((syn.syn, syn.options), (true, options));
        for fault in ["", "X 0:0(0)", "P. 1:1001(999) ack 1", "P. 1:1001(1000) ack", "P. 1:2(1) <sack 1>"] {
            assert!(packet(fault).is_err(), "{fault}");
        }
    }

    #[test]
    fn events_and_their_lines() {
        let text = "// a comment\n`one\ntwo`\n\n  0 socket(...) = 3\n +.1 write(4, ..., 30) = 30 // some\n\
                    +0 %{\nassert a == 1\n}%\n+0 < icmp unreachable host_unreachable [1:1001(1000)]\n";
        let script = parse(text).unwrap();
        let lines: Vec<usize> = script.events.iter().map(|event| event.line).collect();
        assert_eq!(lines, [2, 5, 6, 7, 10]);
        assert!(matches!(&script.events[0].kind, Kind::Command(text) if text == "one\ntwo"));
        assert!(matches!(script.events[2].kind, Kind::Call(Call::Write(30))));
        assert!(matches!(&script.events[3].kind, Kind::Code(text) if text.trim() == "assert a == 1"));
        assert!(matches!(script.events[4].kind, Kind::Unreachable(1)));
        assert_eq!(parse("0 fork() = 0\n").unwrap_err(), "line 1: unknown call `fork`");
        assert_eq!(parse("\n+0 %{ x\n").unwrap_err(), "line 2: `%{` without `}%`");
    }
}
