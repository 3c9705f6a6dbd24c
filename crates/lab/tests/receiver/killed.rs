//! The owner is killed while windows are closed and ACKs are held: both end by themselves.

use super::bench::Bench;
use super::lasting::{Running, tc};
use super::{DEVICE, OPEN, attached, connections, give, said};
use segue_kernel::receiver::detach;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const AT_MOST: Duration = Duration::from_millis(1500);

/// Not a test by itself: the owner, in the namespace of the one who starts it.
#[test]
#[ignore = "a part of another test"]
fn owner() {
    if std::env::var_os("SEGUE_TEST_OWNER").is_none() {
        return;
    }
    let mut receiver = attached();
    let mut line = String::new();
    println!("attached");
    std::io::stdout().flush().expect("it is heard");
    std::io::stdin().read_line(&mut line).expect("a word");
    receiver.hold(AT_MOST).expect("it holds");
    println!("{} closed", receiver.close(AT_MOST).expect("it closes"));
    std::io::stdout().flush().expect("it is heard");
    sleep(Duration::from_secs(60));
}

#[test]
#[ignore = "needs kernel"]
fn connections_live_on() {
    let bench = Bench::new();
    let mut owner = Command::new(std::env::current_exe().expect("this test"))
        .args(["killed::owner", "--ignored", "--exact", "--nocapture", "--test-threads=1"])
        .env("SEGUE_TEST_OWNER", "yes")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(owner.stdout.take().expect("a pipe")).lines();
    let mut heard = |word: &str| {
        let line = lines.by_ref().map_while(Result::ok).find(|line| line.ends_with(word));
        line.unwrap_or_else(|| panic!("the owner never said `{word}`"))
    };
    heard("attached");
    let listener = bench.listen();
    let [(mut peer, mut stream), _] = connections(&bench, &listener);
    give(&mut peer, &mut stream);
    assert!(said(&mut peer).iter().all(|segment| segment.window > OPEN));
    let told = peer.seq;

    owner.stdin.take().expect("a pipe").write_all(b"now\n").expect("it hears");
    assert!(heard("closed").ends_with("2 closed"));
    owner.kill().expect("it dies");
    owner.wait().expect("it has died");
    let closed = said(&mut peer);
    assert!(!closed.is_empty() && closed.iter().all(|segment| segment.window == 0), "{closed:?}");
    give(&mut peer, &mut stream);
    give(&mut peer, &mut stream);
    let held = said(&mut peer);
    assert!(held.iter().all(|segment| segment.ack == told), "{held:?}");

    sleep(AT_MOST);
    // A probe or a retransmission of the sender: the host answers as if we had never been.
    peer.send_data(told, &[7; 1]);
    let open = said(&mut peer);
    assert!(open.iter().all(|segment| segment.window > OPEN && segment.ack == peer.seq), "{open:?}");
    assert!(!open.is_empty());

    assert!(tc("filter show dev bench egress").contains("receiver_egress"), "left by who was killed");
    let running = Running::now();
    assert!(detach(DEVICE).expect("it detaches"));
    assert_eq!(tc("filter show dev bench egress"), "");
    assert!(!tc("qdisc show dev bench").contains("clsact"));
    running.ends();
    give(&mut peer, &mut stream);
    assert!(said(&mut peer).iter().all(|segment| segment.window > OPEN));
}
