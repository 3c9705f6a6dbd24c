//! The server: which address gives which answer, and how it begins and ends.

use crate::large::LargeAnswers;
use crate::question::{Endpoint, Question};
use crate::refusal::{Refusal, quoted};
use crate::traces::Traces;
use crate::work::{Cancellation, LONGEST, Turn, Workers, cores};
use crate::{answer, connections, growing, guard, lines, page, schema};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{StatusCode, Uri};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use segue_export::file_name;
use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Answers that are kept, bytes.
const KEPT: u64 = 64 << 20;
/// How many of them, about.
const KEPT_ANSWERS: usize = 256;
/// How long open connections are waited for at the end.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A server that listens and does not yet answer.
pub struct Explorer {
    runtime: Runtime,
    /// SIGINT, SIGTERM and SIGHUP, which are heard from the beginning.
    ends: Vec<Signal>,
    listener: TcpListener,
    program: &'static str,
    traces: Traces,
}

impl Explorer {
    /// Listens at `address`; port 0 is any free one. `program` is the version that answers tell, `traces` the measured
    /// links that questions may name.
    pub fn bind(address: SocketAddr, program: &'static str, traces: Traces) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let ends = {
            let _inside = runtime.enter();
            let hangup = (!ignores_hangups()).then(SignalKind::hangup);
            let kinds = [SignalKind::interrupt(), SignalKind::terminate()].into_iter().chain(hangup);
            kinds.map(signal).collect::<io::Result<_>>()?
        };
        Ok(Self { runtime, ends, listener, program, traces })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until SIGINT, SIGTERM or SIGHUP.
    pub fn serve(self) -> io::Result<()> {
        let mut ends = self.ends;
        self.runtime.block_on(async {
            let house = Arc::new(House::new(self.program, LONGEST, self.traces));
            let (end, ended) = tokio::sync::oneshot::channel::<()>();
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let serving = tokio::spawn(connections::serve(listener, routes(house.clone()), ended));
            poll_fn(|context| match ends.iter_mut().any(|end| end.poll_recv(context).is_ready()) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            })
            .await;
            house.workers.close();
            let _ = end.send(());
            // A client that keeps its connection open is not waited for.
            let _ = tokio::time::timeout(LAST_WORDS, serving).await;
            Ok(())
        })
    }
}

/// Whether this process was started to outlive its terminal, as nohup(1) does it. Bit 0 of the mask is signal 1, SIGHUP
/// (proc_pid_status(5)).
fn ignores_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or_default();
    u64::from_str_radix(mask.trim(), 16)
        .is_ok_and(|mask| mask & 1 << (SignalKind::hangup().as_raw_value() - 1) != 0)
}

/// Everything the explorer answers, for tests without a network; no answer is worked on for longer than `longest`.
pub fn router(longest: Duration, traces: Traces) -> Router {
    routes(Arc::new(House::new("test", longest, traces)))
}

/// State that requests share.
struct House {
    answers: Cache<String, Arc<str>, Bytes>,
    workers: Workers,
    captures: Workers,
    large: LargeAnswers,
    /// Version of Segue.
    program: &'static str,
    traces: Traces,
}

impl House {
    fn new(program: &'static str, longest: Duration, traces: Traces) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            answers: Cache::with_weighter(KEPT_ANSWERS, KEPT, Bytes),
            workers: Workers::new(cores, longest),
            // They are large.
            captures: Workers::new(1, longest),
            large: LargeAnswers::new(),
            program,
            traces,
        }
    }

    /// An answer in text: the one that is kept, the one that is being computed for somebody else, or a new one.
    async fn text(
        &self,
        kind: &str,
        question: Question,
        work: impl FnOnce(&Question, &Cancellation) -> Result<Option<String>, Refusal> + Send + 'static,
    ) -> Result<String, Refusal> {
        let name = kept_as(kind, &question);
        let answer = self.answers.get_or_insert_async(name.as_str(), async {
            let text = self.workers.run(move |cancellation| work(&question, cancellation)).await?;
            Ok::<Arc<str>, Refusal>(text.into())
        });
        Ok(answer.await?.to_string())
    }
}

/// The name under which an answer of a kind is kept.
fn kept_as(kind: &str, question: &Question) -> String {
    format!("{kind} {}", question.name)
}

/// Weighs answers by their length.
#[derive(Clone)]
struct Bytes;

impl Weighter<String, Arc<str>> for Bytes {
    fn weight(&self, name: &String, answer: &Arc<str>) -> u64 {
        (name.len() + answer.len()) as u64
    }
}

fn routes(house: Arc<House>) -> Router {
    let document = page::page(&house.traces);
    let schema = schema::schema(&house.traces).to_string();
    let script = || text("text/javascript; charset=utf-8", page::script());
    let style = || text("text/css; charset=utf-8", page::style());
    Router::new()
        .route("/", get(async move || Html(document)))
        .route("/explorer.js", get(async move || script()))
        .route("/explorer.css", get(async move || style()))
        .route("/api/schema", get(async move || text("application/json", schema)))
        .route("/api/compare", get(compare))
        .route("/api/trace", get(trace))
        .route("/api/pcapng", get(pcapng))
        .route("/view/compare", get(compare_view))
        .route("/view/handoff", get(handoff_view))
        .fallback(nothing)
        .method_not_allowed_fallback(async || Refusal {
            status: StatusCode::METHOD_NOT_ALLOWED,
            sentence: "nothing can be changed here; expected GET".into(),
        })
        .layer(middleware::from_fn(guard::guard))
        .with_state(house)
}

fn text(kind: &'static str, content: String) -> Response {
    ([(CONTENT_TYPE, kind)], content).into_response()
}

async fn nothing(request: Request) -> Refusal {
    let path = quoted(request.uri().path());
    Refusal {
        status: StatusCode::NOT_FOUND,
        sentence: format!(
            "there is no {path}; expected /, /api/compare, /api/trace, /api/pcapng or /api/schema"
        ),
    }
}

async fn compare(State(house): State<Arc<House>>, uri: Uri) -> Result<Response, Refusal> {
    let question = Question::parse(uri.query().unwrap_or_default(), Endpoint::Compare, &house.traces)?;
    let (program, folder) = (house.program, house.traces.folder().to_path_buf());
    let work = move |question: &Question, cancellation: &Cancellation| {
        answer::rows(question, cancellation, program, &folder)
    };
    Ok(text("application/json", house.text("rows", question, work).await?))
}

async fn trace(State(house): State<Arc<House>>, uri: Uri) -> Result<Response, Refusal> {
    let question = Question::parse(uri.query().unwrap_or_default(), Endpoint::Trace, &house.traces)?;
    // Too long to be kept.
    let permit = house.large.permit().await.map_err(Refusal::ours)?;
    let (program, folder) = (house.program, house.traces.folder().to_path_buf());
    let work = move |cancellation: &Cancellation| answer::lines(&question, cancellation, program, &folder);
    let lines = house.captures.run(work).await?;
    Ok(([(CONTENT_TYPE, "application/x-ndjson")], permit.body(lines)).into_response())
}

async fn compare_view(State(house): State<Arc<House>>, uri: Uri) -> Result<Response, Refusal> {
    let question = Question::parse(uri.query().unwrap_or_default(), Endpoint::Page, &house.traces)?;
    let in_lines = question.within.is_some() || question.drawn.is_some();
    let kind = if in_lines { "application/x-ndjson" } else { "application/json" };
    if let Some(kept) = house.answers.get(&kept_as("comparison", &question)) {
        return Ok(text(kind, format!("{kept}\n")));
    }
    let own = house.clone();
    let work = move |turn: &mut Turn| {
        let shelf = growing::Shelf {
            folder: own.traces.folder(),
            handoff: &|drawn| own.answers.get(&kept_as("handoff", drawn)),
            keep: &|kind, question, view| own.answers.insert(kept_as(kind, question), view.into()),
        };
        growing::comparison(&question, turn, &shelf)
    };
    let mut parts = house.workers.parts(work).await?;
    // The status waits for it.
    let first = parts.next().await.ok_or_else(|| Refusal::ours("nothing was answered"))??;
    Ok(([(CONTENT_TYPE, kind)], lines::body(first, parts)).into_response())
}

async fn handoff_view(State(house): State<Arc<House>>, uri: Uri) -> Result<Response, Refusal> {
    let question = Question::parse(uri.query().unwrap_or_default(), Endpoint::Trace, &house.traces)?;
    let folder = house.traces.folder().to_path_buf();
    let work = move |question: &Question, cancellation: &Cancellation| {
        answer::handoff_view(question, cancellation, &cores()?, &folder, |_| {})
    };
    Ok(text("application/json", house.text("handoff", question, work).await?))
}

async fn pcapng(State(house): State<Arc<House>>, uri: Uri) -> Result<Response, Refusal> {
    let question = Question::parse(uri.query().unwrap_or_default(), Endpoint::Capture, &house.traces)?;
    let file =
        question.plan.schemes.first().map(|scheme| file_name(&scheme.name, "pcapng")).unwrap_or_default();
    let permit = house.large.permit().await.map_err(Refusal::ours)?;
    let packets = house.captures.run(move |cancellation| answer::packets(&question, cancellation)).await?;
    let headers = [
        (CONTENT_TYPE, "application/x-pcapng".to_string()),
        (CONTENT_DISPOSITION, format!("attachment; filename=\"{file}\"")),
    ];
    Ok((headers, permit.body(packets)).into_response())
}
