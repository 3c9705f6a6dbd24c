//! A headless Chromium, driven through its DevTools protocol: one page at one width in one colour scheme.

mod accessibility;

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(600);
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/// A process that does not outlive its test.
struct Bounded(Child);

impl Drop for Bounded {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running browser with one tab.
pub struct Browser {
    _process: Bounded,
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    session: String,
    last_id: u64,
    /// Complaints of the page, and its requests to the network.
    pub complaints: Vec<String>,
    loaded: bool,
    /// Prefix of the addresses that pages may load from.
    own: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    pub fn start() -> Self {
        let profile = tempfile::tempdir().expect("a folder");
        let process = NAMES.into_iter().find_map(|name| {
            Command::new(name)
                .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
                .args(["--remote-debugging-port=0", "--no-first-run", "about:blank"])
                .arg(format!("--user-data-dir={}", profile.path().display()))
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .ok()
        });
        let mut process = process.map(Bounded).expect("one of chromium, chromium-browser, google-chrome");
        let mut lines = BufReader::new(process.0.stderr.take().expect("piped")).lines();
        let address = loop {
            let line = lines.next().expect("Chromium says where it listens").expect("text");
            if let Some(address) = line.strip_prefix("DevTools listening on ") {
                break address.trim().to_string();
            }
        };
        // Later output must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let (socket, _) = tungstenite::connect(&address).expect("DevTools answer");
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        }
        let mut browser = Self {
            _process: process,
            socket,
            session: String::new(),
            last_id: 0,
            complaints: Vec::new(),
            loaded: false,
            own: "file:".into(),
            _profile: profile,
        };
        let tab = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached =
            browser.call("Target.attachToTarget", json!({ "targetId": tab["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].as_str().expect("a session").to_string();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Opens a file at a width in px, in light or dark.
    #[allow(dead_code, reason = "of the two tests that have a browser, one opens files")]
    pub fn open(&mut self, file: &Path, width: u32, dark: bool) {
        self.own = "file:".into();
        self.visit(&format!("file://{}", file.display()), width, dark);
    }

    /// Opens a page of a server, which may ask that server for more.
    #[allow(dead_code, reason = "of the two tests that have a browser, one asks a server")]
    pub fn ask(&mut self, server: &str, path: &str, width: u32, dark: bool) {
        self.own = server.into();
        self.visit(&format!("{server}{path}"), width, dark);
    }

    /// A picture of the screen, PNG, from the top of the page on.
    #[allow(dead_code, reason = "of the two tests that have a browser, one takes pictures")]
    pub fn screenshot(&mut self, height: u32) -> Vec<u8> {
        use base64::Engine;
        let width = self.evaluate("innerWidth");
        let clip = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
        let asked = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let picture = self.call("Page.captureScreenshot", asked);
        let text = picture["data"].as_str().expect("a picture");
        base64::engine::general_purpose::STANDARD.decode(text).expect("base64")
    }

    /// Presses and releases a key, by its DOM name and its code of Windows.
    #[allow(dead_code, reason = "of the two tests that have a browser, one has controls")]
    pub fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Moves the mouse over these points of the window; a button is held from the first to the last if `held`.
    #[allow(dead_code, reason = "of the two tests that have a browser, one has graphs")]
    pub fn drag(&mut self, points: &[(f64, f64)], held: bool) {
        let mut tell = |kind: &str, (x, y): (f64, f64)| {
            let button = if held { "left" } else { "none" };
            let buttons = u8::from(held && kind != "mouseReleased");
            let event = json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        };
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
        if held {
            tell("mousePressed", *first);
        }
        points.iter().for_each(|point| tell("mouseMoved", *point));
        if held {
            tell("mouseReleased", *last);
        }
    }

    /// Gives the page that is open another width, in light or dark.
    pub fn resize(&mut self, width: u32, dark: bool) {
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    fn visit(&mut self, address: &str, width: u32, dark: bool) {
        self.resize(width, dark);
        self.loaded = false;
        self.complaints.clear();
        self.call("Page.navigate", json!({ "url": address }));
        let begun = Instant::now();
        while !self.loaded {
            assert!(begun.elapsed() < PATIENCE, "the page does not load");
            self.listen();
        }
    }

    /// The value of an expression in the page.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.socket.send(Message::text(message.to_string())).expect("sent");
        loop {
            if let Some(answer) = self.listen()
                && answer["id"] == json!(id)
            {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    /// The next message: an answer, or an event that is noted.
    fn listen(&mut self) -> Option<Value> {
        let message = self.socket.read().expect("DevTools speak within a minute");
        let Message::Text(text) = message else { return None };
        let message: Value = serde_json::from_str(&text).expect("JSON");
        let Some(event) = message["method"].as_str() else { return Some(message) };
        let told = &message["params"];
        match event {
            "Page.loadEventFired" => self.loaded = true,
            "Runtime.exceptionThrown" => self.complaints.push(format!("exception: {told}")),
            "Runtime.consoleAPICalled" => self.complaints.push(format!("console: {told}")),
            "Log.entryAdded" => self.complaints.push(format!("log: {told}")),
            "Network.requestWillBeSent" => {
                let address = told["request"]["url"].as_str().unwrap_or_default();
                if !address.starts_with(&self.own) && !address.starts_with("data:") {
                    self.complaints.push(format!("asks the network for {address}"));
                }
            }
            _ => {}
        }
        None
    }
}
