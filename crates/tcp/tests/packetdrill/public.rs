//! The public scripts of TCP's sender: 32 files, an index of which is here.
//!
//! `SEGUE_PACKETDRILL` names a folder with them: `gtests/net/tcp` of google/packetdrill, or
//! `tools/testing/selftests/net/packetdrill` of Linux, where their names have the folder in front. Without it they are
//! taken out of /usr/src/linux-source-*.tar.xz (Debian's package); that of Linux 6.12 has those of slow start alone.

use std::path::{Path, PathBuf};

use crate::run::{self, Host};
use crate::script;

/// Folders, and the scripts in them.
const INDEX: [(&str, &[&str]); 7] = [
    (
        "slow_start",
        &[
            "slow-start-ack-per-1pkt",
            "slow-start-ack-per-2pkt",
            "slow-start-ack-per-2pkt-send-5pkt",
            "slow-start-ack-per-2pkt-send-6pkt",
            "slow-start-ack-per-4pkt",
            "slow-start-after-idle",
            "slow-start-after-win-update",
            "slow-start-app-limited",
            "slow-start-app-limited-9-packets-out",
            "slow-start-fq-ack-per-2pkt",
        ],
    ),
    (
        "cwnd_moderation",
        &["cwnd-moderation-disorder-no-moderation", "cwnd-moderation-ecn-enter-cwr-no-moderation-700"],
    ),
    ("limited_transmit", &["limited-transmit-no-sack", "limited-transmit-sack"]),
    ("fast_retransmit", &["fr-4pkt", "fr-4pkt-sack", "fr-4pkt-fack-last-byte", "fr-4pkt-fack-last-mss"]),
    (
        "fast_recovery",
        &[
            "prr-ss-10pkt-lost-1",
            "prr-ss-30pkt-lost1_4",
            "prr-ss-30pkt-lost-1_4-11_16",
            "prr-ss-ack-below-snd_una-cubic",
        ],
    ),
    (
        "sack",
        &[
            "sack-route-refresh-ip-tos",
            "sack-shift-sacked-2-6-8-3-9-nofack",
            "sack-shift-sacked-7-3-4-8-9-fack",
            "sack-shift-sacked-7-5-6-8-9-fack",
        ],
    ),
    (
        "cubic",
        &[
            "cubic-bulk-166k",
            "cubic-bulk-166k-idle-restart",
            "cubic-hystart-delay-min-rtt-jumps-downward",
            "cubic-hystart-delay-rtt-jumps-upward",
            "cubic-rack-reo-timeout-retrans-failed-incoming-data",
            "cubic-rto-ss-ca-cwnd-bump",
        ],
    ),
];

/// Scripts that cannot hold, and what they end with. The test fails if one of them holds after all.
///
/// * The two of 166 kbit/s expect the HyStart of before January 2025, which began no round while cwnd was below 16.
///   Linux changed it in "tcp_cubic: fix incorrect HyStart round start detection". Linux 6.18 leaves slow start at 36,
///   too: our own script `hystart` is recorded from it. With the old rule the first of the two holds to its end.
/// * The one of ECN expects the PRR of before Linux 5.14, by which an ACK that moves snd_una adds nothing. In 6.12
///   (`tcp_cwnd_reduction`) cwnd is 3 in flight + min(ssthresh 7 - 3, 1 delivered + 1) = 5. Linux 6.18 fails it, too.
const EXCEPTIONS: [(&str, &str); 3] = [
    ("cubic-bulk-166k", "tcpi_snd_cwnd is 36"),
    ("cubic-bulk-166k-idle-restart", "tcpi_snd_cwnd is 36"),
    ("cwnd-moderation-ecn-enter-cwr-no-moderation-700", "tcpi_snd_cwnd is 5"),
];

/// Where the scripts are; what was unpacked goes with it.
struct Folder {
    root: PathBuf,
    unpacked: bool,
}

impl Folder {
    fn find() -> Self {
        if let Some(root) = std::env::var_os("SEGUE_PACKETDRILL") {
            return Self { root: root.into(), unpacked: false };
        }
        let sources = std::fs::read_dir("/usr/src").into_iter().flatten().flatten().map(|entry| entry.path());
        let is_source = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
            name.starts_with("linux-source-") && name.ends_with(".tar.xz")
        };
        let source =
            sources.filter(is_source).max().expect("SEGUE_PACKETDRILL, or /usr/src/linux-source-*.tar.xz");
        let root = std::env::temp_dir().join(format!("segue-packetdrill-{}", std::process::id()));
        std::fs::create_dir(&root).expect("a folder of its own");
        let folder = Self { root, unpacked: true };
        let tar = std::process::Command::new("tar")
            .args(["--extract", "--xz", "--wildcards", "--strip-components=6", "--file"])
            .args([&source, Path::new("--directory"), &folder.root])
            .arg("*/tools/testing/selftests/net/packetdrill/*.pkt")
            .status();
        assert!(tar.is_ok_and(|status| status.success()), "{} has no scripts", source.display());
        folder
    }

    /// As google/packetdrill or as Linux names it.
    fn script(&self, folder: &str, name: &str) -> Option<PathBuf> {
        let google = self.root.join(folder).join(format!("{name}.pkt"));
        let linux = self.root.join(format!("tcp_{folder}_{name}.pkt"));
        [google, linux].into_iter().find(|path| path.is_file())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.unpacked {
            let _ = std::fs::remove_dir_all(&self.root);
        }
    }
}

#[test]
#[ignore = "needs packetdrill-scripts"]
fn the_public_scripts() {
    let folder = Folder::find();
    let mut found = 0;
    let mut faults = Vec::new();
    for (group, names) in INDEX {
        for &name in names {
            let Some(path) = folder.script(group, name) else { continue };
            found += 1;
            let text = std::fs::read_to_string(&path).expect("a script");
            let result = script::parse(&text).and_then(|script| run::play(&script, Host::default()));
            let exception = EXCEPTIONS.iter().find(|(which, _)| *which == name).map(|(_, end)| *end);
            match (result, exception) {
                (Ok(()), None) => {}
                (Err(what), Some(end)) if what.contains(end) => {}
                (Ok(()), Some(_)) => faults.push(format!("{name} holds: it is no exception")),
                (Err(what), _) => faults.push(format!("{name}: {what}")),
            }
        }
    }
    assert!(found > 0, "{} has none of the scripts", folder.root.display());
    assert!(faults.is_empty(), "{} of {found} scripts:\n{}", faults.len(), faults.join("\n"));
}
