//! The connection loop. `axum::serve` installs no timer, so that a client which sends its headers one
//! byte a minute would hold its connection for ever; hyper has one.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use super::Bounds;

/// After an accept that failed for want of file descriptors: some will come free, and asking again at
/// once would only burn the processor.
const PAUSE: Duration = Duration::from_millis(50);

/// Accepts connections until `stop` turns true, then lets those that are open finish.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    bounds: Bounds,
    mut stop: watch::Receiver<bool>,
) {
    let room = Arc::new(Semaphore::new(bounds.connections));
    let open = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(bounds.headers);

    loop {
        let accepted = tokio::select! {
            biased;
            _ = stop.wait_for(|stop| *stop) => break,
            accepted = accept(&listener, &room) => accepted,
        };
        let (stream, permit) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let service = TowerToHyperService::new(router.clone());
        let connection = open.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // A client that breaks off or sends no HTTP is its own business.
            if let Err(error) = connection.await {
                tracing::debug!(%error, "connection");
            }
            drop(permit);
        });
    }
    drop(listener);
    if tokio::time::timeout(bounds.shutdown, open.shutdown()).await.is_err() {
        tracing::warn!("connections were still open when the time to stop was up");
    }
}

type Permit = tokio::sync::OwnedSemaphorePermit;

async fn accept(listener: &TcpListener, room: &Arc<Semaphore>) -> io::Result<(TcpStream, Permit)> {
    let permit = Arc::clone(room).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    // Answers are small; waiting to fill a packet would only delay them.
    stream.set_nodelay(true)?;
    Ok((stream, permit))
}
