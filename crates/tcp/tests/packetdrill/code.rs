//! The Python in scripts: `assert A == B, text`, `NAME = A`, `NAME += A`; `print` says nothing here.

use std::collections::HashMap;

/// Names and their values.
pub type Names = HashMap<String, i64>;

/// Runs `code`; the error says which statement is at fault.
pub fn run(code: &str, names: &mut Names) -> Result<(), String> {
    for line in code.lines() {
        let line = line.split_once('#').map_or(line, |(code, _)| code);
        for statement in line.split(';').map(str::trim).filter(|statement| !statement.is_empty()) {
            run_statement(statement, names)?;
        }
    }
    Ok(())
}

fn run_statement(statement: &str, names: &mut Names) -> Result<(), String> {
    if statement.starts_with("print") || statement.parse::<i64>().is_ok() {
        return Ok(());
    }
    if let Some(claim) = statement.strip_prefix("assert ") {
        let claim = claim.split_once(',').map_or(claim, |(claim, _)| claim);
        return check(claim.trim(), names);
    }
    let unknown = || format!("unknown statement `{statement}`");
    let (name, expression) = statement.split_once('=').ok_or_else(unknown)?;
    let more = name.strip_suffix('+');
    let name = more.unwrap_or(name).trim();
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(unknown());
    }
    let mut result = value(expression, names)?;
    if more.is_some() {
        result += value(name, names)?;
    }
    names.insert(name.into(), result);
    Ok(())
}

fn check(claim: &str, names: &Names) -> Result<(), String> {
    for sign in ["==", "!=", "<=", ">=", "<", ">"] {
        let Some((left, right)) = claim.split_once(sign) else { continue };
        let (a, b) = (value(left, names)?, value(right, names)?);
        let holds = match sign {
            "==" => a == b,
            "!=" => a != b,
            "<=" => a <= b,
            ">=" => a >= b,
            "<" => a < b,
            _ => a > b,
        };
        let fault = || format!("{claim}: {} is {a}, {} is {b}", left.trim(), right.trim());
        return if holds { Ok(()) } else { Err(fault()) };
    }
    Err(format!("`{claim}` compares nothing"))
}

fn value(text: &str, names: &Names) -> Result<i64, String> {
    let text = text.trim();
    let hexadecimal = text.strip_prefix("0x").and_then(|digits| i64::from_str_radix(digits, 16).ok());
    let number = hexadecimal.or_else(|| text.parse().ok()).or_else(|| names.get(text).copied());
    number.ok_or(format!("`{text}` is neither a number nor a known name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements() {
        let mut names = Names::from([("tcpi_snd_cwnd".into(), 10)]);
        let mut run = |code| run(code, &mut names);
        assert_eq!(run("assert tcpi_snd_cwnd == 10, 'cwnd=%d' % tcpi_snd_cwnd"), Ok(()));
        assert_eq!(
            run("\n# a comment\nprint(tcpi_snd_cwnd); cwnd = 9; cwnd += 1\nassert tcpi_snd_cwnd == cwnd"),
            Ok(())
        );
        assert_eq!(run("X = 0x7fffffff\nassert tcpi_snd_cwnd < X"), Ok(()));
        let fault = "tcpi_snd_cwnd == 11: tcpi_snd_cwnd is 10, 11 is 11";
        assert_eq!(run("assert tcpi_snd_cwnd == 11"), Err(fault.into()));
        for fault in ["assert cwnd", "assert other == 1", "import os", "x.y = 1"] {
            assert!(run(fault).is_err(), "{fault}");
        }
    }
}
