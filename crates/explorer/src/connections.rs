//! Connections: so many at once, and none for long with a client that says nothing or reads nothing.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use socket2::SockRef;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};
use tokio_io_timeout::TimeoutStream;

/// How long a client may take to send the head of a request, and to read any part of its answer.
const SILENCE: Duration = Duration::from_secs(10);
/// Octets of an answer that wait in a connection. The kernel tells that more may be written once a good part of them is
/// gone. With its own many, a client that reads slowly would seem to read nothing.
const WAITING: usize = 64 << 10;
/// Connections at once; others wait to be accepted.
const MOST: usize = 512;
/// Between two attempts to accept where the system has no descriptor left.
const BREATH: Duration = Duration::from_millis(100);

/// Answers until `end`, then until the answers that were asked for before it have been given.
pub async fn serve(listener: TcpListener, routes: Router, mut end: oneshot::Receiver<()>) {
    let workers = Arc::new(Semaphore::new(MOST));
    let open = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(SILENCE);
    loop {
        let client = async {
            let place = workers.clone().acquire_owned().await.ok()?;
            Some((place, listener.accept().await))
        };
        let (place, accepted) = tokio::select! {
            _ = &mut end => break,
            Some(client) = client => client,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(BREATH).await;
            continue;
        };
        // If it cannot be set, slow readers are sent away.
        let _ = SockRef::from(&stream).set_send_buffer_size(WAITING);
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(SILENCE));
        let service = TowerToHyperService::new(routes.clone());
        let connection = open.watch(http.serve_connection(TokioIo::new(Box::pin(stream)), service));
        tokio::spawn(async move {
            let _place = place;
            // A client that goes away, or is sent away, has nothing to be told.
            let _ = connection.await;
        });
    }
    open.shutdown().await;
}
