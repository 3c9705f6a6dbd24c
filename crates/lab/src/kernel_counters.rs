//! The kernel's counters per network namespace: `/proc/net/snmp` and `/proc/net/netstat`.

use super::Error;
use std::collections::BTreeMap;
use std::fs;

/// `Tcp` and `TcpExt` of a process's namespace.
///
/// # Errors
/// The process is gone.
pub fn read(process: u32) -> Result<BTreeMap<String, u64>, Error> {
    let mut all = BTreeMap::new();
    for table in ["snmp", "netstat"] {
        let path = format!("/proc/{process}/net/{table}");
        all.extend(parse(&fs::read_to_string(&path).map_err(Error::system(path))?));
    }
    Ok(all)
}

/// Counters that have grown, and by how much.
pub fn growth(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    after
        .iter()
        .filter_map(|(name, &now)| {
            let grown = now.checked_sub(*before.get(name)?)?;
            (grown > 0).then(|| (name.clone(), grown))
        })
        .collect()
}

/// Pairs of lines with the same first word: names, then values.
fn parse(text: &str) -> BTreeMap<String, u64> {
    let lines: Vec<_> =
        text.lines().filter(|line| line.starts_with("Tcp: ") || line.starts_with("TcpExt: ")).collect();
    let pairs = lines.chunks_exact(2).flat_map(|pair| pair[0].split(' ').zip(pair[1].split(' ')).skip(1));
    pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_stand_in_two_lines() {
        let text = |n| format!("Ip: a b\nIp: 1 2\nTcp: RtoMax RetransSegs MaxConn\nTcp: 120000 {n} -1\n");
        let (before, after) = (parse(&text(3)), parse(&text(10)));
        assert_eq!(before["RetransSegs"], 3);
        assert_eq!(growth(&before, &after), BTreeMap::from([("RetransSegs".to_owned(), 7)]));
    }
}
