//! Settings of a Linux sender that differ from the papers' (docs/internals/kernel.md), and nothing else.

use segue_policy::{SCHEMES, SETTINGS, Settings};

#[test]
fn what_differs_on_linux_is_what_the_page_lists() {
    let page = include_str!("../../../../docs/internals/kernel.md");
    for name in SCHEMES {
        let paper = Settings::adopted(name).unwrap();
        let linux = paper.on_linux();
        assert_eq!(linux.algorithms, paper.algorithms);
        for setting in SETTINGS {
            let [before, after] = [&paper, &linux].map(|settings| settings.get(setting.name).unwrap());
            let line = format!("| `{}` | `{before}` | `{after}` |", setting.name);
            assert_eq!(before != after, page.contains(&line), "{name}: {line}");
        }
        assert_eq!(linux.on_linux(), linux);
    }
}
