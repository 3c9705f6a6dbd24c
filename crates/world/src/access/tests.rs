//! Meanings of links, and faults of others.

use super::*;
use segue_netsim::delay::{JitterShape, Order, Shift};
use segue_netsim::loss::gilbert_elliott::GilbertElliottConfig;
use segue_netsim::service::Changes;

const MS: Nanos = 1_000_000;

fn parse(text: &str) -> AccessLink {
    AccessLink::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn words_become_features() {
    let features = |text: &str| parse(&format!("1mbit/10ms,{text}")).features;
    let [down, up] = features("loss=0.5%,jitter=5ms,reorder=1%,queue=pie,arq=10%/8ms");
    assert_eq!(down, up);
    assert_eq!(down.loss, Some(Loss::Random(5_000)));
    assert_eq!(down.jitter, Some((JitterShape::Normal, 5 * MS)));
    assert_eq!((down.order, down.queue), (Order::Skips(10_000), QueueWord::Pie));
    assert_eq!(down.arq, Some((100_000, 8 * MS)));
    let [down, up] =
        features("loss=ge(0.5%,30%),up-loss=ge(1%,20%,70%,0.1%),jitter=pareto(5ms),up-jitter=0ms");
    assert_eq!(down.loss, Some(Loss::GilbertElliott(GilbertElliottConfig::gilbert(5_000, 300_000))));
    let channel =
        GilbertElliottConfig { worsens: 10_000, mends: 200_000, lost_in_bad: 700_000, lost_in_good: 1_000 };
    assert_eq!(up.loss, Some(Loss::GilbertElliott(channel)));
    let timed = features("loss=ge(1%,20%,70%,0.1%)/1ms,up-loss=ge(0.5%,30%)/0.5ms").map(|way| way.loss);
    let gilbert = GilbertElliottConfig::gilbert(5_000, 300_000);
    assert_eq!(timed, [Some(Loss::Timed(channel, MS)), Some(Loss::Timed(gilbert, MS / 2))]);
    assert_eq!((down.jitter, up.jitter), (Some((JitterShape::Pareto, 5 * MS)), None));
    let [down, _] = features("vary=markov(20%,2%,10%),reconfigure=15s@12s(80ms,10ms),police=5mbit/64kB");
    assert_eq!(down.changes, Some(Changes::Markov { bad: 200_000, worsens: 20_000, mends: 100_000 }));
    let shift = Shift { every: 15_000 * MS, first: 12_000 * MS, gap: 80 * MS, most: 10 * MS };
    assert_eq!(down.shift, Some(shift));
    assert_eq!(down.policer, Some(Tokens { rate: 5_000_000, burst: 64_000 }));
    assert_eq!(features("loss=0%"), features("jitter=0ms"), "nothing is nothing");
    let jittered = |text: &str| parse(text).with_jitter(5 * MS).features;
    assert_eq!(jittered("6400kbit/9ms,loss=1%"), features("loss=1%,jitter=5ms"));
    assert_eq!(jittered("6400kbit/9ms,up-jitter=1ms"), features("jitter=5ms,up-jitter=1ms"));
    let plain = parse("6400kbit/9ms");
    assert_eq!(plain.clone().with_jitter(0), plain);
    assert_eq!(features("loss=0%"), [Features::default(); 2]);
}

/// 10 Mbit/s and 2 * 30 ms are 50 packets of 1500 bytes; 100 ms are 83.
#[test]
fn queues_have_lengths() {
    let queues = |text: &str| {
        let link = parse(&format!("10mbit/30ms{text}"));
        (link.features[0].queue, link.queue, link.up_queue)
    };
    assert_eq!(queues(""), (QueueWord::DropTail, 50, None));
    assert_eq!(queues(",queue=7p"), (QueueWord::DropTail, 7, None));
    assert_eq!(queues(",queue=100ms"), (QueueWord::DropTail, 83, None));
    assert_eq!(queues(",queue=2bdp"), (QueueWord::DropTail, 100, None));
    assert_eq!(queues(",queue=0.5bdp,up=1mbit"), (QueueWord::DropTail, 25, Some(3)));
    assert_eq!(queues(",up=1mbit/90ms"), (QueueWord::DropTail, 50, Some(15)));
    assert_eq!(queues(",queue=codel"), (QueueWord::Codel, 1000, None));
    assert_eq!(queues(",queue=fq_codel"), (QueueWord::FqCodel, 10_240, None));
    assert_eq!(queues(",queue=pie,50p"), (QueueWord::Pie, 50, None));
    assert_eq!(queues(",queue=red,up-queue=droptail"), (QueueWord::Red, 60, Some(50)));
    assert_eq!(queues(",queue=droptail,1bdp"), (QueueWord::DropTail, 50, None));
}

#[test]
fn presets_take_words() {
    let link = parse("hsdpa,loss=1%");
    assert_eq!((link.text.as_str(), link.down.mean_rate()), ("hsdpa,loss=1%", 2_000_000));
    assert_eq!(link.features[0].loss, Some(Loss::Random(10_000)));
    assert_eq!(link.rate_and_delay, Some(("2000kbit".into(), "50ms".into())));
    assert_eq!(parse("9mbit/3ms,up=1mbit").rate_and_delay, Some(("9mbit".into(), "3ms".into())));
}

/// Two users in one process may mean different links by one name.
#[test]
fn names_are_of_their_value() {
    let name = |name: &str, link: &str| (name.to_string(), link.to_string());
    let names = |link: &str| LinkNames::of(vec![name("home", link)]).expect("a name");
    let parse = |text: &str, names: &LinkNames| AccessLink::parse_in(text, Path::new(""), names);
    let slow = parse("home,loss=1%", &names("9mbit/4ms,queue=50p")).expect("a link");
    assert_eq!((slow.down.mean_rate(), slow.queue, slow.names_queue()), (9_000_000, 50, true));
    assert_eq!(slow.meaning.as_deref(), Some("9mbit/4ms,queue=50p"));
    let fast = parse("home", &names("dsl,loss=0.5%")).expect("a link");
    assert_eq!((fast.down.mean_rate(), fast.names_queue()), (16_000_000, true));
    assert_eq!(fast.rate_and_delay, Some(("16mbit".into(), "15ms".into())));
    assert!(!parse("home", &names("9mbit/4ms")).expect("a link").names_queue());
    assert!(parse("home", &LinkNames::default()).is_err());

    let once =
        names("9mbit/4ms").adopting([name("home", "1mbit/1ms"), name("car", "5mbit/3ms")]).expect("names");
    let twice = once.adopting([name("train", "1mbit/1ms"), name("boat", "2mbit/2ms")]).expect("names");
    assert_eq!(twice.adopted(), [name("car", "5mbit/3ms"), name("boat", "2mbit/2ms")]);
    assert_eq!(
        parse("home", &twice).expect("a link").down.mean_rate(),
        9_000_000,
        "their own keeps its meaning"
    );
    assert_eq!(parse("boat", &twice).expect("a link").down.mean_rate(), 2_000_000);
}

/// The order of names has no meaning, so that none may stand on another.
#[test]
fn names_do_not_stand_for_names() {
    let own =
        [("home", "4mbit/10ms"), ("cafe", "Home,loss=1%")].map(|(name, link)| (name.into(), link.into()));
    for own in [own.to_vec(), own.iter().rev().cloned().collect()] {
        let error = LinkNames::of(own.clone()).expect_err("a name of a name");
        assert_eq!((own[error.index].0.as_str(), error.of_name), ("cafe", false));
        assert!(
            error
                .problem
                .to_string()
                .contains("stands for a name of your own; expected RATE/DELAY or a preset")
        );
    }
}

#[test]
fn all_presets_can_be_read() {
    for preset in &TODAY {
        for (variant, meaning) in presets::VARIANTS.iter().zip(preset.links) {
            let (named, written) = (parse(&format!("{}{variant}", preset.name)), parse(meaning));
            assert_eq!(named.meaning.as_deref(), Some(meaning));
            assert_eq!(AccessLink { text: written.text.clone(), meaning: None, ..named }, written);
        }
        let rates = preset.links.map(|link| parse(link).down.mean_rate());
        assert!(rates.is_sorted(), "{}: {rates:?}", preset.name);
    }
}

/// Grants are of the direction from the mobile; aggregates of both.
#[test]
fn grants_are_for_what_the_mobile_sends() {
    let link = parse("20mbit/9ms,grant=10ms/4ms");
    let grant = Grant { cycle: 10 * MS, answer: 4 * MS };
    assert_eq!(link.features.map(|features| features.grant), [None, Some(grant)]);
    let link = parse("300mbit/1ms,aggregate=64/200us,up-aggregate=8/300us");
    let most = link.features.map(|features| features.aggregation.map(|aggregation| aggregation.most));
    assert_eq!(most, [Some(64), Some(8)]);
}

/// A trace of a link carries what the link does, to a packet, at any time, and never earlier.
#[test]
fn a_written_trace_is_the_link() {
    for text in ["7mbit/9ms", "leo", "train-low", "5g-mmwave-low,up=3mbit", "2mbit/5ms,shape=500kbit/15kB"] {
        let link = parse(text);
        for up in [false, true] {
            let place = LinkSeed { seed: 3, link: 1 };
            let stamps: Vec<u64> = opportunities_ms(&link, place, up, 40 * SECOND).collect();
            assert!(stamps.is_sorted() && stamps.last().is_some_and(|last| *last <= 40_000));
            let mut service = link.service(place, up);
            let mut departure = 0;
            for stamp in stamps {
                departure = service.departure(departure, 1500);
                assert!(
                    (departure..departure + MS).contains(&(stamp * MS)),
                    "{text}: {stamp} ms, {departure} ns"
                );
            }
            assert!(service.departure(departure, 1500) > 39_999 * MS, "{text}: to the end");
        }
    }
    let mut slow = opportunities_ms(&parse("10bit/9ms"), LinkSeed { seed: 1, link: 1 }, false, SECOND);
    assert_eq!(slow.next(), None);
}

/// mahimahi's rule (`link_queue.cc`, `rationalize`). Each stamp takes 1504 bytes from the head of a queue that is never
/// empty. A packet of its device has 4 bytes more than its IP packet. The next round begins at the last stamp. Returns
/// the IP bytes that have left in each second of `rounds` rounds.
fn replayed_by_mahimahi(stamps: &[u64], rounds: u64, ip_bytes: u64) -> Vec<u64> {
    let (period, packet) = (*stamps.last().unwrap(), ip_bytes + 4);
    let (mut left, mut seconds) = (packet, vec![0; (rounds * period).div_ceil(1000) as usize + 1]);
    for round in 0..rounds {
        for stamp in stamps {
            let mut opportunity = 1504;
            while opportunity > 0 {
                let taken = opportunity.min(left);
                (opportunity, left) = (opportunity - taken, left - taken);
                if left == 0 {
                    seconds[((round * period + stamp) / 1000) as usize] += ip_bytes;
                    left = packet;
                }
            }
        }
    }
    seconds
}

/// A trace that mahimahi replays carries the link's bytes: in each second to a packet, and over 40 s within 1 %. So does
/// its second round. Small packets share an opportunity.
#[test]
fn mahimahi_replays_a_written_trace_as_the_link() {
    for text in ["7mbit/9ms", "leo", "train-low", "5g", "2mbit/5ms,shape=500kbit/15kB"] {
        let link = parse(text);
        let place = LinkSeed { seed: 3, link: 1 };
        for up in [false, true] {
            let stamps: Vec<u64> = opportunities_ms(&link, place, up, 40 * SECOND).collect();
            let period = *stamps.last().unwrap();
            let mut service = link.service(place, up);
            let (mut departure, mut of_link) = (0, vec![0_u64; 41]);
            for _ in &stamps {
                departure = service.departure(departure, 1500);
                of_link[(departure / SECOND) as usize] += 1500;
            }
            let replay = replayed_by_mahimahi(&stamps, 2, 1500);
            // A stamp is rounded up, so that what leaves in the last ms of a second may count in the next.
            let in_one_ms = 1500 + of_link.iter().max().unwrap() / 500;
            for (second, (theirs, ours)) in replay.iter().zip(&of_link).take(39).enumerate() {
                assert!(theirs.abs_diff(*ours) <= in_one_ms, "{text}: second {second}: {theirs}, {ours}");
            }
            let near = |theirs: u64, ours: u64| theirs.abs_diff(ours) * 100 <= ours;
            let all: u64 = of_link.iter().sum();
            assert!(near(replay.iter().sum(), 2 * all), "{text}: two rounds of {period} ms");
            let small: u64 = replayed_by_mahimahi(&stamps, 1, 500).iter().sum();
            assert!(near(small * 504 / 500, all * 1504 / 1500), "{text}: {small} bytes of small packets");
        }
    }
}

#[test]
fn a_measured_link_takes_words() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a(1"), "1\n2\n").unwrap();
    let link = AccessLink::parse_in(
        "trace:a(1,up=a(1,loss=ge(1%,20%),delay=7ms,queue=codel,9p",
        folder.path(),
        &LinkNames::default(),
    );
    let link = link.unwrap();
    assert_eq!((link.delay.min(), link.queue, link.features[1].queue), (7 * MS, 9, QueueWord::Codel));
    assert!(matches!(link.features[0].loss, Some(Loss::GilbertElliott(_))));
    let message = |text: &str| {
        AccessLink::parse_in(text, folder.path(), &LinkNames::default()).unwrap_err().to_string()
    };
    assert!(message("trace:a(1,vary=walk(3%)").contains("are for links of a rate"));
    assert!(message("trace:a(1,strat=3s").contains("did you mean `start`?"));
}

#[test]
fn wrong_words_are_refused() {
    for (words, part) in [
        ("loss=100%", "bad loss `100%`; expected 0% to less than 100%"),
        ("loss=1", "bad loss `1`"),
        ("loss=ge(0%,30%)", "with p and r above 0%"),
        ("loss=ge(1%,30%,100%,100%)", "some packet that gets through"),
        ("loss=ge(1%)", "bad loss `ge(1%)`"),
        ("loss=ge(1%,30%)/0ms", "bad loss `ge(1%,30%)/0ms`; expected a time of 10us to 1s after the slash"),
        ("loss=ge(1%,30%)/2s", "a time of 10us to 1s after the slash"),
        ("loss=ge(1%,30%)/", "a time of 10us to 1s after the slash"),
        ("loss=ge(0%,30%)/1ms", "with p and r above 0%"),
        ("loss=1%/1ms", "bad loss `1%/1ms`"),
        ("jitter=-5ms", "bad jitter `-5ms`"),
        ("jitter=gamma(5ms)", "bad jitter `gamma(5ms)`"),
        ("reorder=1%", "`reorder=` without `jitter=`"),
        ("jitter=5ms,reorder=150%", "bad reorder `150%`"),
        ("queue=coddle", "unknown queue `coddle`; expected droptail"),
        ("queue=cdel", "did you mean `codel`?"),
        ("queue=0p", "bad queue `0p`"),
        ("queue=codel,0bdp", "bad queue `0bdp`"),
        ("queue=-3p", "bad queue `-3p`"),
        ("lss=1%", "unknown option `lss=1%`; expected one of up=, loss=, "),
        ("lss=1%", "did you mean `loss`?"),
        ("up-lss=1%", "did you mean `up-loss`?"),
        ("loss=eg(1%,30%)", "did you mean `ge`?"),
        ("jitter=paretto(5ms)", "did you mean `pareto`?"),
        ("jitter=5ms,reorder=al", "did you mean `all`?"),
        ("vary=wlak(30%)", "did you mean `walk`?"),
        ("vary=walk(300%)", "with p and r above 0%"),
        ("loss", "such as loss=1%"),
        ("loss=1%,loss=2%", "`loss=` is given twice"),
        ("up=5", "bad rate in up= `5`"),
        ("up=5mbit/0ms", "bad delay in up= `0ms`"),
        ("down-loss=1%", "unknown option `down-loss=1%`"),
        ("ecn", "`ecn` marks where a queue would drop early; expected queue=codel"),
        ("queue=codel,ecn=on", "`ecn=on`: expected `ecn` without a value"),
        ("queue=codel,ecn,ecn", "`ecn=` is given twice"),
        ("arq=100%/8ms", "bad arq"),
        ("vary=walk(-1%)", "bad vary"),
        ("vary=markov(20%,0%,10%)", "bad vary"),
        ("reconfigure=7s@1s(1ms,1ms)", "bad reconfigure"),
        ("reconfigure=15s@1s(8s,1ms)", "bad reconfigure"),
        ("vary=walk(10%),shape=1mbit/9kB", "`shape=` needs a constant rate"),
        ("police=1mbit/100B", "bad police"),
        ("aggregate=0/200us", "bad aggregate `0/200us`; expected PACKETS/TIME"),
        ("aggregate=64", "bad aggregate `64`"),
        ("aggregate=64/5ms", "bad aggregate `64/5ms`"),
        ("grant=0ms/4ms", "bad grant `0ms/4ms`; expected CYCLE/ANSWER"),
        ("grant=10ms", "bad grant `10ms`"),
        ("aggregate=64/200us,vary=walk(10%)", "need a constant rate"),
        ("aggregate=64/200us,grant=10ms/4ms", "expected one of the two"),
        ("aggragate=64/200us", "did you mean `aggregate`?"),
        ("", "unknown option ``"),
    ] {
        let message = AccessLink::parse(&format!("1mbit/5ms,{words}")).unwrap_err().to_string();
        assert!(message.contains(part) && !message.contains('\n'), "{words}: {message}");
    }
    let message = AccessLink::parse("queue=codel").unwrap_err().to_string();
    assert!(message.starts_with("unknown link `queue=codel`; expected RATE/DELAY"), "{message}");
    assert!(message.ends_with(", train; wifi6 to train also with -low or -high"), "{message}");
    for preset in TODAY {
        assert!(AccessLink::parse(&format!("{}-low", preset.name)).is_ok(), "{}", preset.name);
    }
    for (word, preset) in [
        ("wlam,loss=1%", "wlan"),
        ("starlink", "leo"),
        ("Starlink,loss=1%", "leo"),
        ("wifi", "wifi6"),
        ("wi-fi", "wifi6"),
        ("4g", "lte"),
        ("nr", "5g"),
    ] {
        let message = AccessLink::parse(word).unwrap_err().to_string();
        assert!(message.ends_with(&format!("; did you mean `{preset}`?")), "{message}");
        assert!(AccessLink::parse(preset).is_ok(), "{preset}");
    }
}

#[test]
fn queues_of_the_papers() {
    let queue = |text: &str| AccessLink::parse(text).unwrap().queue;
    // BDP of the link if above 5 packets, else 5; examples.txt names qo and qn.
    assert_eq!(queue("6400kbit/9ms"), 10);
    assert_eq!(queue("200kbit/300ms"), 10);
    assert_eq!(queue("1600kbit/75ms"), 20);
    assert_eq!(queue("1600kbit/300ms"), 80);
    assert_eq!(queue("6400kbit/300ms"), 320);
    assert_eq!(queue("1600kbit/1ms"), 5);
    assert_eq!(queue("700kbit/75ms"), 9);
}

#[test]
fn the_name_of_a_trace_is_printable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a\u{1b}[31m\nb");
    std::fs::write(&path, "1\n2\n").unwrap();
    let link = AccessLink::parse(&format!("trace:{}", path.display())).unwrap();
    assert!(link.text.ends_with("a\\u{1b}[31m\\u{a}b"), "{}", link.text);
}

#[test]
fn spellings() {
    let link = AccessLink::parse("54Mbit/2ms").unwrap();
    assert_eq!((link.down.mean_rate(), link.delay), (54_000_000, LinkDelay::Fixed(2_000_000)));
    assert_eq!(AccessLink::parse("wlan").unwrap().down.mean_rate(), 54_000_000);
    assert_eq!(parse_rate("0kbit"), None);
    assert_eq!(parse_rate("-1kbit"), None);
}

#[test]
fn fixed_links_can_be_read_back() {
    for (rate, delay, text) in [
        (200_000, 150_000_000, "200kbit/150ms"),
        (7_000_000, 10_000_000, "7mbit/10ms"),
        (777_778, 1_000_000_500, "777778bit/1000000500ns"),
    ] {
        let link = AccessLink::fixed(rate, delay, 20);
        assert_eq!(link.text, text);
        assert_eq!(AccessLink { queue: 20, ..AccessLink::parse(text).unwrap() }, link);
    }
}

#[test]
fn errors_name_the_word_and_the_expectation() {
    let message = |text: &str| AccessLink::parse(text).unwrap_err().to_string();
    assert!(message("wlam").contains("did you mean `wlan`"), "{}", message("wlam"));
    assert!(!message("umts").contains("did you mean"), "a wrong guess: {}", message("umts"));
    assert!(message("64kbots/9ms").contains("bad rate `64kbots`"));
    assert!(message("64kbit/0ms").contains("bad delay `0ms`"));
    assert!(message("trace:/nowhere").contains("cannot read /nowhere"));
    assert!(message("trace:/nowhere,queue=0").contains("bad queue `0`"));
    assert!(message("trace:/nowhere,color=red").contains("unknown option `color=red`"));
}
