//! The ledger fits its schema, and says nothing that cannot be run or found.

use segue_handoff::Scheme;
use segue_reproduce::downloads::{curves, handover};
use segue_reproduce::judge::schemes;
use segue_reproduce::ledger::{Check, Expect, Form, Paper};
use segue_reproduce::papers::papers;
use segue_reproduce::points::Point;
use segue_reproduce::progress::progress;
use segue_reproduce::settings::scheme_of;
use segue_tcp::StackProfile;
use segue_tcp::profile::{RFC, STACK_SETTINGS};
use segue_world::fmip::Download;
use std::collections::BTreeSet;
use std::path::Path;

fn all() -> Vec<Paper> {
    papers().unwrap_or_else(|error| panic!("{error}"))
}

fn runs(paper: &Paper, point: &Point, names: &[String]) {
    let planned = match point {
        Point::Handoffs(handoffs) => handoffs
            .request(names.to_vec(), Vec::new(), vec![1_000_000_000])
            .and_then(|request| Ok(request.plan().map(|_| ())?)),
        Point::Cell(cell) => cell.cells(1).check().map_err(Into::into),
        Point::Download(download) => {
            names.iter().try_for_each(|name| download.plan(&paper.defaults, name, &[]).map(drop))
        }
        Point::Drive(drive) => drive.plan(&paper.defaults, names, &[], paper.defaults.seeds).map(drop),
    };
    planned.unwrap_or_else(|error| panic!("{}: {error}", paper.id));
}

#[test]
fn every_point_of_every_claim_can_be_run() {
    for paper in all() {
        for claim in &paper.claims {
            let names = schemes(claim);
            for name in &names {
                assert!(paper.defaults.schemes.contains_key(*name), "{}: unknown scheme {name}", claim.id);
            }
            if claim.check != Check::Sim || claim.cannot.is_some() {
                assert!(claim.expect.is_empty(), "{}: nothing is run for it", claim.id);
                continue;
            }
            assert!(!claim.expect.is_empty(), "{}: expects nothing", claim.id);
            let points = claim.all_points(&paper.defaults);
            assert!(!points.is_empty(), "{}: no points", claim.id);
            let kinds = [
                claim.points.is_some(),
                claim.drives.is_some(),
                claim.cells.is_some(),
                claim.downloads.is_some(),
            ];
            assert!(kinds.iter().filter(|kind| **kind).count() == 1, "{}: two kinds of points", claim.id);
            let own: Vec<String> =
                names.iter().map(|name| paper.own(name)).collect::<BTreeSet<_>>().into_iter().collect();
            for point in points {
                runs(&paper, &point, &own);
            }
            let of_one = claim.expect.iter().any(|e| matches!(e, Expect::Event { .. } | Expect::Fact { .. }));
            let at = claim.points.as_ref().and_then(|points| points.at_s);
            assert!(!of_one || at.is_some(), "{}: an event or a fact is of one handoff", claim.id);
        }
    }
}

#[test]
fn figures_are_whole() {
    let mut count = 0;
    for paper in all() {
        let ids: BTreeSet<&str> = paper.claims.iter().map(|claim| claim.id.as_str()).collect();
        assert_eq!(ids.len(), paper.claims.len(), "{}: an id stands twice", paper.id);
        let names: BTreeSet<&str> = paper.figures.iter().map(|figure| figure.id.as_str()).collect();
        assert_eq!(names.len(), paper.figures.len(), "{}: a figure stands twice", paper.id);
        for figure in &paper.figures {
            count += 1;
            assert!(!figure.panels.is_empty(), "{}", figure.id);
            for id in &figure.supports {
                assert!(ids.contains(id.as_str()), "{}: no claim {id}", figure.id);
            }
            for panel in &figure.panels {
                match figure.form {
                    Form::Sequence => {
                        let handoff =
                            panel.handoff.as_ref().unwrap_or_else(|| panic!("{}: no handoff", figure.id));
                        let point = Point::Handoffs(handoff.single(&paper).point);
                        runs(&paper, &point, &[paper.own(&handoff.scheme)]);
                    }
                    Form::Quartiles | Form::Means => {
                        assert!(!panel.labels.is_empty() && panel.series_count() > 0, "{}", figure.id);
                        let several =
                            panel.drives.is_some() || panel.cells.is_some() || panel.downloads.is_some();
                        assert_eq!(several, figure.form == Form::Means, "{}", figure.id);
                        let drives = panel.drives.as_ref().map(|drives| drives.all().len());
                        let points =
                            drives.or(panel.downloads.as_ref().map(|downloads| downloads.all().len()));
                        assert!(points.is_none_or(|points| points == panel.labels.len()), "{}", figure.id);
                        for (series, position) in panel.bars() {
                            let point = panel.point(&paper, series, position);
                            let point = point.unwrap_or_else(|| panic!("{}: no point for a bar", figure.id));
                            runs(&paper, &point, &[paper.own(panel.sender(series))]);
                        }
                    }
                    Form::Gains => {
                        assert!(!panel.model.is_empty() && !panel.sigma_percent.is_empty(), "{}", figure.id);
                    }
                    Form::Saving => {
                        assert!(panel.senders.is_empty() && panel.route.is_empty(), "{}", figure.id)
                    }
                    Form::Progress => {
                        let all =
                            progress(&paper, panel).unwrap_or_else(|error| panic!("{}: {error}", figure.id));
                        assert!(all.len() == panel.senders.len() && all.len() > 1, "{}", figure.id);
                        assert!(all.iter().all(|(_, points)| points.len() > 100), "{}", figure.id);
                    }
                    Form::Chain => assert!(panel.chain.is_some(), "{}", figure.id),
                    Form::Comeback => {}
                    Form::Steps => {
                        let cells = panel.cells.as_ref().map(|cells| cells.all().len());
                        assert_eq!((cells, panel.senders.len()), (Some(1), 1), "{}", figure.id);
                    }
                    Form::Download => {
                        let all =
                            curves(&paper, panel).unwrap_or_else(|error| panic!("{}: {error}", figure.id));
                        assert!(all.len() > 1 && panel.shows.is_some(), "{}", figure.id);
                        assert!(all.iter().all(|curve| curve.points.len() > 20), "{}", figure.id);
                    }
                    Form::Signalling => {
                        let record =
                            handover(&paper, panel).unwrap_or_else(|error| panic!("{}: {error}", figure.id));
                        assert!(record.signals.len() > 8 && record.states.len() == 2, "{}", figure.id);
                        assert_eq!(record.sent_in_handoff().count() as u32, record.injected, "{}", figure.id);
                    }
                    Form::Windows => {
                        assert!(panel.model.len() == 1 && panel.estimate.is_some(), "{}", figure.id);
                    }
                }
            }
        }
    }
    assert_eq!(count, 65, "the figures that can be drawn again");
}

/// `crates/policy/tests/suite/ledger.rs, etcp1_a4_rule`: the file and a test in it.
#[test]
fn what_shows_a_claim_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for paper in all() {
        for claim in paper.claims.iter().filter(|claim| claim.check != Check::Sim) {
            let Some(by) = &claim.by else { continue };
            for shown in by.split("; ") {
                // A cited result has only the paper's own section.
                if claim.check == Check::Doc && shown.starts_with("Sec. ") {
                    continue;
                }
                let (file, name) = shown.split_once(", ").unwrap_or((shown, ""));
                let text = std::fs::read_to_string(root.join(file));
                let text = text.unwrap_or_else(|error| panic!("{}: {file}: {error}", claim.id));
                assert!(text.contains(name), "{}: no {name} in {file}", claim.id);
            }
        }
    }
}

#[test]
fn readings_are_settings() {
    for paper in all() {
        for reading in &paper.readings {
            let (key, value) = reading.set.split_once('=').unwrap_or_else(|| panic!("{}", reading.set));
            let setting = [(key.to_string(), value.to_string())];
            let mut schemes = paper.defaults.schemes.values().map(|name| scheme_of(name));
            let known = schemes.any(|scheme| Scheme::build(scheme, &setting).is_ok())
                || Download::new(RFC).set(key, value) == Some(Ok(()));
            let of_stack = StackProfile::named("rfc").expect("a stack").set(key, value).is_ok();
            assert!(known || of_stack, "{}: neither a scheme nor a stack takes {}", paper.id, reading.set);
        }
    }
}

/// Readings of the ledger are the schemes' own defaults. A stack belongs to no paper: the settings of a paper's
/// computers stand in its file alone. So it is with the downloads of paper 002, a scenario of their own.
#[test]
fn readings_are_the_defaults_of_their_paper() {
    for paper in all() {
        for reading in &paper.readings {
            let (key, value) = reading.set.split_once('=').unwrap_or_else(|| panic!("{}", reading.set));
            let of_stack = STACK_SETTINGS.iter().any(|setting| setting.name == key);
            if of_stack || paper.claims.iter().any(|claim| claim.downloads.is_some()) {
                continue;
            }
            for scheme in paper.defaults.schemes.values().filter(|scheme| *scheme != "sack") {
                let known = Scheme::settings_of(scheme);
                let setting = known.iter().find(|setting| setting.name == key);
                let default = setting.map_or("none", |setting| setting.default.as_str());
                let same = default == value || (default, value) == ("3000ms", "3s");
                assert!(same, "{}: {key} of {scheme} is {default}, not {value}", paper.id);
            }
        }
    }
}
