//! The programs whose flows cross the link: iperf3, or nginx and curl, for a file or for a page. Thin flows have ends
//! of our own.

use super::Error;
use super::bulk::compare;
use super::child::Child;
use super::host::Role;
use super::hosts::Hosts;
use super::page::{AT_A_TIME, Page};
use super::traffic;
use segue_words::lab::{Family, Program};
use serde::Deserialize;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

const IPERF3_PORT: u16 = 5201;
const HTTP_PORT: u16 = 8080;
/// The longest time that iperf3 takes, s.
const LONG: u32 = 86_400;
/// iperf3's server tells more when it sees its client leave than when it is asked to end itself.
const LEAVE: Duration = Duration::from_secs(10);

/// Counts of a run that the programs themselves report.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// Octets that the client received.
    pub received: u64,
    /// For how long, s, where the program tells; of several flows the last.
    pub seconds: f64,
    /// Congestion control of the sending sockets, where the program tells.
    pub congestion_control: Option<String>,
    /// Whether every octet was the right one, where it was compared.
    pub intact: Option<bool>,
}

/// A download under way.
pub struct Download {
    program: Program,
    server: Child,
    clients: Vec<Child>,
    /// For curl: what it should receive.
    bulk: Option<PathBuf>,
    /// The same of a page, and where each client puts it.
    page: Option<(Page, Vec<PathBuf>)>,
}

/// The server's place in a URL.
fn host(family: Family) -> String {
    let address = Role::Server.address(family);
    SocketAddr::new(address, HTTP_PORT).to_string()
}

impl Download {
    /// Starts the server's program, then `flows` flows of bulk data to the mobile for `seconds`, or until they are
    /// ended. A flow that ends by its own clock could do so before a run that waited for a busy machine. `bulk`: the
    /// file that nginx serves.
    ///
    /// # Errors
    /// A program is missing, ends at once or does not listen.
    pub fn start(
        hosts: Hosts<'_>,
        program: Program,
        flows: u32,
        family: Family,
        seconds: Option<u32>,
        bulk: Option<&Path>,
    ) -> Result<Self, Error> {
        let address = Role::Server.address(family);
        let version = format!("-{family}");
        match (program, bulk) {
            (Program::Nginx, Some(bulk)) => {
                let server = nginx(hosts, bulk.parent().unwrap_or(Path::new("/")), "")?;
                let url = format!("http://{}/bulk", host(family));
                let args = ["-q", "--silent", "--show-error", "--globoff", "--noproxy", "*", &url];
                let clients =
                    (0..flows).map(|flow| hosts.start(Role::Mobile, &format!("curl-{flow}"), "curl", &args));
                let clients = clients.collect::<Result<_, _>>()?;
                Ok(Self { program, server, clients, bulk: Some(bulk.into()), page: None })
            }
            _ => {
                let port = IPERF3_PORT.to_string();
                let server = hosts.serve(
                    "iperf3-server",
                    "iperf3",
                    &["-s", "-1", "-J", &version, "-p", &port],
                    &[IPERF3_PORT],
                )?;
                let (flows, seconds, address) =
                    (flows.to_string(), seconds.unwrap_or(LONG).to_string(), address.to_string());
                // -R: the server sends. -i 0: one report, at the end.
                let args = ["-c", &address, "-p", &port, "-R", "-J", "-i", "0", "-P", &flows, "-t", &seconds];
                let client = hosts.start(Role::Mobile, "iperf3-client", "iperf3", &args)?;
                Ok(Self { program: Program::Iperf3, server, clients: vec![client], bulk: None, page: None })
            }
        }
    }

    /// Starts so many clients that each fetch the page.
    ///
    /// # Errors
    /// A program is missing, ends at once or does not listen.
    pub fn page(hosts: Hosts<'_>, count: u32, family: Family, page: &Page) -> Result<Self, Error> {
        let server = nginx(hosts, page.folder(), "keepalive_timeout 0;")?;
        let most = AT_A_TIME.to_string();
        let (mut clients, mut folders) = (Vec::new(), Vec::new());
        for client in 0..count {
            let folder = hosts.folder.join(format!("came-{client}"));
            let orders = page.orders(&folder, &host(family))?.to_string_lossy().into_owned();
            let args = ["-q", "--silent", "--show-error", "--globoff", "--noproxy", "*"];
            let more = ["--parallel", "--parallel-immediate", "--parallel-max", &most, "--config", &orders];
            let args = [&args[..], &more].concat();
            clients.push(hosts.start(Role::Mobile, &format!("curl-{client}"), "curl", &args)?);
            folders.push(folder);
        }
        let page = Some((page.clone(), folders));
        Ok(Self { program: Program::Nginx, server, clients, bulk: None, page })
    }

    /// Starts thin flows in place of bulk data: 200 octets each 100 ms. `end`: the words of the program that plays
    /// both ends.
    ///
    /// # Errors
    /// It ends at once or does not listen.
    pub fn thin(hosts: Hosts<'_>, end: &[String], flows: u32, family: Family) -> Result<Self, Error> {
        let [program, words @ ..] = end else {
            return Err(Error::Plan("thin flows without a program; expected its words".into()));
        };
        let (address, count) = (Role::Server.address(family).to_string(), flows.to_string());
        let args = |what| {
            let words = words.iter().map(String::as_str);
            words.chain([what, address.as_str(), count.as_str()]).collect::<Vec<_>>()
        };
        let server = hosts.serve("thin-server", program, &args("tick"), &[traffic::PORTS[0]])?;
        let client = hosts.start(Role::Mobile, "thin-client", program, &args("hear"))?;
        Ok(Self { program: Program::Thin, server, clients: vec![client], bulk: None, page: None })
    }

    /// Process id of the server's program.
    pub fn server_id(&self) -> u32 {
        self.server.id()
    }

    /// All must be running still.
    ///
    /// # Errors
    /// One has ended.
    pub fn check(&mut self) -> Result<(), Error> {
        self.server.check()?;
        self.clients.iter_mut().try_for_each(Child::check)
    }

    /// Whether all have ended by themselves.
    ///
    /// # Errors
    /// One has failed.
    pub fn ended(&mut self) -> Result<bool, Error> {
        let mut ended = self.server.ended()?;
        for client in &mut self.clients {
            ended &= client.ended()?;
        }
        Ok(ended)
    }

    /// Whether every client has what it came for: the server stays.
    ///
    /// # Errors
    /// One has failed.
    pub fn fetched(&mut self) -> Result<bool, Error> {
        self.server.check()?;
        let mut all = true;
        for client in &mut self.clients {
            all &= client.ended()?;
        }
        Ok(all)
    }

    /// Ends them and returns what they measured.
    ///
    /// # Errors
    /// Their words cannot be read.
    pub fn finish(self) -> Result<Said, Error> {
        let Self { program, server, clients, bulk, page } = self;
        let mut said = Said::default();
        if program == Program::Thin {
            return Ok(said);
        }
        if let Some((page, folders)) = page {
            for (client, folder) in clients.into_iter().zip(folders) {
                client.finish(Duration::ZERO)?;
                let (octets, right) = page.compared(&folder)?;
                said.received += octets;
                said.intact = Some(right && said.intact.unwrap_or(true));
            }
            return Ok(said);
        }
        for client in clients {
            let output = client.finish(Duration::ZERO)?;
            match &bulk {
                None => {
                    if let Some(sum) = iperf3("iperf3 client", &output)?.end.sum_received {
                        said.received += sum.bytes;
                        said.seconds = sum.seconds;
                    }
                }
                Some(bulk) => {
                    let (octets, right) = compare(&output, bulk)?;
                    said.received += octets;
                    said.intact = Some(right && said.intact.unwrap_or(true));
                }
            }
        }
        if bulk.is_none() {
            said.congestion_control =
                iperf3("iperf3 server", &server.finish(LEAVE)?)?.end.sender_tcp_congestion;
        }
        Ok(said)
    }
}

#[derive(Deserialize)]
struct Iperf3 {
    end: Iperf3End,
}

#[derive(Default, Deserialize)]
struct Iperf3End {
    sum_received: Option<Iperf3Sum>,
    sender_tcp_congestion: Option<String>,
}

#[derive(Deserialize)]
struct Iperf3Sum {
    bytes: u64,
    seconds: f64,
}

fn iperf3(program: &str, output: &Path) -> Result<Iperf3, Error> {
    let text = fs::read_to_string(output).map_err(Error::system(output.display().to_string()))?;
    serde_json::from_str(&text).map_err(|error| Error::Program {
        program: program.into(),
        what: format!("printed no JSON as expected ({error})"),
        said: text.chars().take(80).collect(),
    })
}

/// nginx at the server, which shows the files of `root`. `more`: of its configuration.
fn nginx(hosts: Hosts<'_>, root: &Path, more: &str) -> Result<Child, Error> {
    let prefix = nginx_folder(hosts.folder, root, more)?;
    let prefix = prefix.to_string_lossy();
    hosts.serve("nginx-server", "nginx", &["-p", &prefix, "-c", "nginx.conf", "-e", "stderr"], &[HTTP_PORT])
}

/// nginx as one process, without logs, everything it writes below one folder.
fn nginx_folder(folder: &Path, root: &Path, more: &str) -> Result<PathBuf, Error> {
    let prefix = folder.join("nginx");
    let path = prefix.display();
    let mut paths = String::new();
    for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        paths.push_str(&format!("    {name}_temp_path {path}/{name};\n"));
    }
    let root = root.display();
    let config = format!(
        "daemon off;\nmaster_process off;\nerror_log stderr;\npid {path}/pid;\nevents {{}}\nhttp {{\n{paths}    access_log off;\n    \
         sendfile on;\n    {more}\n    server {{\n        listen {HTTP_PORT};\n        listen [::]:{HTTP_PORT};\n        root {root};\n    }}\n}}\n"
    );
    fs::create_dir_all(&prefix)
        .and_then(|()| fs::write(prefix.join("nginx.conf"), config))
        .map_err(Error::system(prefix.display().to_string()))?;
    Ok(prefix)
}
