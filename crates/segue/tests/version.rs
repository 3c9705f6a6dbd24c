//! The commit in `segue --version`: where git keeps it, and that a build does not need it.

#[path = "../build/commit.rs"]
mod commit;

use commit::of_sources;
use std::path::Path;
use std::process::Command;

const HASH: &str = "0123456789abcdef0123456789abcdef01234567";
const OTHER: &str = "fedcba9876543210fedcba9876543210fedcba98";

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
}

fn short(folder: &Path) -> Option<String> {
    of_sources(folder).map(|commit| commit.short)
}

#[test]
fn the_commit_is_found_wherever_git_keeps_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let sources = folder.path();
    assert_eq!(short(sources), None, "sources without a repository");
    write(sources, &[(".git/HEAD", "ref: refs/heads/main\n")]);
    assert_eq!(short(sources), None, "before the first commit");
    let packed =
        format!("# pack-refs with: peeled\n{OTHER} refs/heads/other\n{HASH} refs/heads/main\n^{OTHER}\n");
    write(sources, &[(".git/packed-refs", &packed)]);
    assert_eq!(short(sources).as_deref(), Some("0123456"), "a packed branch");
    write(sources, &[(".git/refs/heads/main", &format!("{OTHER}\n")), (".git/logs/HEAD", "")]);
    assert_eq!(
        short(sources).as_deref(),
        Some("fedcba9"),
        "a branch of its own is newer than the packed one"
    );
    write(sources, &[(".git/HEAD", &format!("{HASH}\n"))]);
    assert_eq!(short(sources).as_deref(), Some("0123456"), "no branch");
    write(sources, &[(".git/HEAD", "nonsense, and no hash\n")]);
    assert_eq!(short(sources), None);
}

#[test]
fn a_work_tree_has_a_head_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let git = folder.path().join("main/.git");
    write(
        folder.path(),
        &[
            ("main/.git/HEAD", "ref: refs/heads/main\n"),
            ("main/.git/refs/heads/main", OTHER),
            ("main/.git/refs/heads/side", HASH),
            ("main/.git/worktrees/side/HEAD", "ref: refs/heads/side\n"),
            ("main/.git/worktrees/side/commondir", "../..\n"),
            ("side/.git", &format!("gitdir: {}/worktrees/side\n", git.display())),
        ],
    );
    assert_eq!(short(&folder.path().join("side")).as_deref(), Some("0123456"));
}

/// Cargo runs a build script in every build if a file that it names is missing.
#[test]
fn only_files_that_exist_are_watched() {
    let folder = tempfile::tempdir().expect("a folder");
    let branch = (".git/refs/heads/main", &*format!("{HASH}\n"));
    write(folder.path(), &[(".git/HEAD", "ref: refs/heads/main\n"), branch]);
    let found = of_sources(folder.path()).expect("a commit");
    assert_eq!(found.files, [".git/HEAD", ".git/refs/heads/main"].map(|file| folder.path().join(file)));
}

/// The version of any build: `segue 0.2.0`, and the commit if there is one; `--version` has a line of features, too.
#[test]
fn the_version_names_the_commit_and_the_features() {
    let said = |word: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_segue")).arg(word).output().expect("segue starts");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let plain = format!("segue {}", env!("CARGO_PKG_VERSION"));
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a workspace");
    let expected = match short(sources) {
        Some(commit) => format!("{plain} ({commit})\n"),
        None => format!("{plain}\n"),
    };
    assert_eq!(said("-V"), expected);
    let features = [
        ("explore", cfg!(feature = "explore")),
        ("files", cfg!(feature = "files")),
        ("live", cfg!(feature = "live")),
        ("papers", cfg!(feature = "papers")),
        ("report", cfg!(feature = "report")),
        ("static", cfg!(feature = "static")),
        ("tables", cfg!(feature = "tables")),
    ];
    let built_in: Vec<_> = features.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
    let list = if built_in.is_empty() { "none".to_string() } else { built_in.join(", ") };
    assert_eq!(said("--version"), format!("{expected}features: {list}\n"));
}

/// Citation and changelog have this version.
#[test]
fn the_version_is_told_everywhere() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a workspace");
    let read = |name: &str| std::fs::read_to_string(sources.join(name)).expect("a file");
    let version = env!("CARGO_PKG_VERSION");
    assert!(read("CITATION.cff").contains(&format!("\nversion: {version}\n")), "CITATION.cff");
    let changes = read("CHANGELOG.md");
    let newest = changes.lines().find_map(|line| line.strip_prefix("## ")).expect("a version");
    assert_eq!(newest, version, "CHANGELOG.md");
}
