//! Handoffs to another address, `--address`, as a user meets them.

use crate::folder::{asked as segue, rows, stdout};

const LINKS: [&str; 5] = ["compare", "4mbit/20ms", "2mbit/30ms", "--at", "2s..5s/1s"];
/// The same as a file.
const FILE: &str = "old = '4mbit/20ms'\nnew = '2mbit/30ms'\nat = '2s..5s/1s'\n";

/// Option, setting and file ask for the same; a connection that begins anew has its handshake in transfer and bound.
#[test]
fn connections_begin_anew() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let asked = |more: &[&str]| stdout(&segue(here, &[&LINKS[..], &["--json", "-"], more].concat()));
    let of = |text: &str| {
        let mut rows = rows(text);
        for row in &mut rows {
            row["settings"].as_object_mut().unwrap().remove("address");
        }
        rows
    };
    let plain = of(&asked(&[]));
    assert_eq!(of(&asked(&["--address", "keep"])), plain);
    let anew = of(&asked(&["--address", "new"]));
    assert_eq!(of(&asked(&["--set", "address=new"])), anew);
    for words in ["address = 'new'\n", "[settings]\naddress = 'new'\n"] {
        std::fs::write(here.join("anew.toml"), format!("{FILE}{words}")).unwrap();
        assert_eq!(of(&stdout(&segue(here, &["run", "anew.toml", "--json", "-"]))), anew, "{words}");
    }

    let median = |row: &serde_json::Value| row["transfer_s"]["median"].as_f64().unwrap();
    assert_eq!(median(&anew[0]), median(&anew[1]), "no notice reaches the connection");
    for (row, before) in anew.iter().zip(&plain) {
        assert!(median(row) > median(before) + 3.0 * 0.034, "{row}");
        assert_eq!(row["incomplete"], 0);
    }

    let table = stdout(&segue(here, &[&LINKS[..], &["--address", "new", "--report", "page.html"]].concat()));
    assert!(table.contains("2mbit/30ms, make-before-break, new address, 1 flow"), "{table}");
    let page = std::fs::read_to_string(here.join("page.html")).unwrap();
    assert!(page.contains("new: connections end, and others begin"));
    let trace =
        ["trace", "4mbit/20ms", "2mbit/30ms", "--at", "3s", "--story", "--address", "new", "--kind", "bbm"];
    let story = stdout(&segue(here, &trace));
    let words = story.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("4.000 the mobile's address is another: its connections end"), "{story}");
}

#[test]
fn what_has_no_place_beside_it_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ask = |more: &[&'static str]| [&LINKS[..], &["--address", "new"], more].concat();
    for (asked, said) in [
        ([&LINKS[..], &["--address", "news"]].concat(), "keep, new"),
        ([&LINKS[..], &["--set", "address=news"]].concat(), "--address: bad `news`; expected keep or new"),
        (ask(&["--set", "address=new"]), "`address` is given twice"),
        (ask(&["--kind", "mbb,soft"]), "--address: `new` does not go with --kind soft; expected mbb or bbm"),
        (ask(&["--kind", "ping-pong"]), "does not go with --kind ping-pong"),
        (ask(&["--traffic", "both"]), "does not go with --traffic"),
        (ask(&["--neighbours", "2"]), "does not go with --neighbours"),
        (ask(&["--handoffs", "2", "--every", "9s"]), "does not go with --handoffs"),
        (ask(&["--notice", "in-band"]), "does not go with --notice in-band, for nobody hears"),
        (ask(&["--notice-error", "rate=2x"]), "does not go with --notice-error"),
        (ask(&["--set", "notice-delay=1s"]), "does not go with notice-delay"),
        (ask(&["--schemes", "sack,mobile"]), "`new` ends the connections that `mobile` prepares or helps"),
        (ask(&["--schemes", "freeze", "--kind", "bbm"]), "`freeze` prepares or helps"),
    ] {
        let output = segue(folder.path(), &asked);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{asked:?}: {message}");
        assert!(message.contains(said) && message.trim_end().lines().count() == 1, "{asked:?}: {message}");
    }
}
