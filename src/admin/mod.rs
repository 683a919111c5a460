//! HTTP for operators: probes, metrics, the settings in force, and the live page. It has a port of its own, on the
//! loopback by default.
//!
//! | path | what it says |
//! | --- | --- |
//! | `/livez` | 200 unless a restart is the only remedy |
//! | `/readyz` | 200 while records are taken and words come out; else 503 and why not |
//! | `/metrics` | Prometheus text |
//! | `/version` | version and models |
//! | `/config` | settings in force, secrets removed |
//! | `/streams` | partitions of this worker: lag, open streams, words that wait |
//! | `/page` | the [`page`], if it is on |

pub mod page;
mod playground;

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Json, Redirect, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::json;
use subtle::ConstantTimeEq;

use crate::config::Settings;
use crate::health::Health;
use crate::pipeline::Shared;
use crate::telemetry::Telemetry;
use page::PageFeed;

/// Largest body taken.
const MAX_BODY_BYTES: usize = 64 << 10;

/// What handlers share.
pub struct Admin {
    settings: Settings,
    health: Arc<Health>,
    telemetry: Arc<Telemetry>,
    /// set once the model is loaded
    shared: OnceLock<Arc<Shared>>,
    live: PageFeed,
    address: OnceLock<SocketAddr>,
}

impl Admin {
    /// The admin port before the model is loaded.
    pub fn new(settings: Settings, health: Arc<Health>, telemetry: Arc<Telemetry>) -> Arc<Admin> {
        Arc::new(Admin {
            settings,
            health,
            telemetry,
            shared: OnceLock::new(),
            live: PageFeed::default(),
            address: OnceLock::new(),
        })
    }

    /// The model is loaded. From now on the page follows the topics, if it is on.
    pub fn loaded(self: &Arc<Admin>, shared: Arc<Shared>) {
        if self.shared.set(shared).is_ok() && self.settings.admin.page {
            page::follow(self.clone());
        }
    }

    /// The address on which it listens; before that, the address in the settings.
    pub fn address(&self) -> String {
        self.address.get().map_or(self.settings.admin.listen.clone(), ToString::to_string)
    }

    /// Takes the port, if the settings name one.
    ///
    /// # Errors
    /// The port cannot be taken; the message says what to do.
    pub fn bind(&self) -> Result<Option<TcpListener>, String> {
        let address = &self.settings.admin.listen;
        if address.is_empty() {
            return Ok(None);
        }
        let taken = |e: std::io::Error| {
            format!("admin.listen = {address:?}: {e}; give another port, or \"\" where another worker on this machine has it")
        };
        let listener = TcpListener::bind(address).map_err(taken)?;
        listener.set_nonblocking(true).map_err(taken)?;
        self.address.get_or_init(|| listener.local_addr().expect("it is bound"));
        Ok(Some(listener))
    }

    /// Serves until the process ends.
    pub async fn serve(self: Arc<Admin>, listener: TcpListener) {
        tracing::info!(address = self.address(), page = self.settings.admin.page, "admin port");
        let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
        if let Err(error) = axum::serve(listener, self.router()).await {
            tracing::error!(%error, "the admin port is closed");
        }
    }

    /// Waits until the live page misses no segment that is published from now on, at most `patience`.
    pub async fn page_follows(&self, patience: Duration) {
        self.live.follows(patience).await;
    }

    /// Gives the browsers that show the live page what is still to be read, and tells them that the worker stops. After
    /// that the page asks the broker for nothing.
    pub async fn close(&self) {
        self.live.close().await;
    }

    /// All paths.
    pub fn router(self: Arc<Admin>) -> Router {
        let mut guarded = Router::new()
            .route("/metrics", get(metrics))
            .route("/version", get(version))
            .route("/config", get(config))
            .route("/streams", get(streams));
        if self.settings.admin.page {
            guarded = guarded
                .route("/", get(|| async { Redirect::to("/page") }))
                .route("/page", get(page::html))
                .route("/page/app.js", get(page::script))
                .route("/page/style.css", get(page::style))
                .route("/page/sessions", get(page::sessions))
                .route("/page/events", get(page::events))
                .route("/page/profiles", get(playground::profiles))
                .route("/page/format", post(playground::format));
        }
        guarded
            .layer(middleware::from_fn_with_state(self.clone(), guard))
            .route("/livez", get(live))
            .route("/readyz", get(ready))
            .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
            .with_state(self)
    }
}

#[derive(Deserialize)]
struct TokenQuery {
    token: Option<String>,
}

/// Lets requests through that carry the token: as a bearer token, or in the query on the page, where a browser cannot
/// send a bearer token.
async fn guard(State(admin): State<Arc<Admin>>, Query(given): Query<TokenQuery>, request: Request, next: Next) -> Response {
    let wanted = admin.settings.admin.token.as_bytes();
    let bearer = request.headers().get(header::AUTHORIZATION).and_then(|v| v.to_str().ok()?.strip_prefix("Bearer "));
    let on_page = request.uri().path().starts_with("/page");
    let given = bearer.or(given.token.as_deref().filter(|_| on_page)).unwrap_or_default().as_bytes();
    if wanted.is_empty() {
        // Another site may have its name point to this address. A browser would then send that site's name as the host,
        // and the site's script could read the calls.
        let host = request.headers().get(header::HOST).and_then(|h| h.to_str().ok()).unwrap_or_default();
        if on_page && !is_here(host) {
            return (StatusCode::FORBIDDEN, "expected the worker's address, or admin.token\n").into_response();
        }
        return next.run(request).await;
    }
    if same(wanted, given) {
        return next.run(request).await;
    }
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], "expected Authorization: Bearer and admin.token\n")
        .into_response()
}

/// Whether a Host header is an address or localhost, and not a name that another site has chosen.
fn is_here(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, port)| if port.ends_with(']') { host } else { name });
    name == "localhost" || name.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok()
}

/// Compares in a time that does not depend on where they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}

fn probe(result: Result<(), String>) -> (StatusCode, String) {
    match result {
        Ok(()) => (StatusCode::OK, "ok\n".into()),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
    }
}

async fn live(State(admin): State<Arc<Admin>>) -> impl IntoResponse {
    probe(admin.health.live())
}

async fn ready(State(admin): State<Arc<Admin>>) -> impl IntoResponse {
    probe(admin.health.ready())
}

async fn metrics(State(admin): State<Arc<Admin>>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], admin.telemetry.prometheus())
}

async fn version(State(admin): State<Arc<Admin>>) -> impl IntoResponse {
    let models = admin.shared.get().map(|s| s.models.names()).unwrap_or_default();
    Json(json!({ "version": env!("CARGO_PKG_VERSION"), "models": models }))
}

async fn config(State(admin): State<Arc<Admin>>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/toml")], admin.settings.print())
}

async fn streams(State(admin): State<Arc<Admin>>) -> impl IntoResponse {
    let partitions = admin.health.partitions();
    let open: u64 = partitions.values().map(|p| p.streams).sum();
    let rows: Vec<_> = partitions
        .into_iter()
        .map(|(number, p)| {
            json!({ "partition": number, "restored": p.restored, "lag_records": p.lag, "lag_seconds": p.lag_time.as_secs_f64(),
                    "streams": p.streams, "pending_words": p.pending_words })
        })
        .collect();
    Json(json!({ "streams": open, "partitions": rows }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_a_token_is_for_addresses_and_localhost() {
        assert!(["localhost:9464", "127.0.0.1:9464", "[::1]:9464", "[::1]", "10.0.0.3"].iter().all(|h| is_here(h)));
        assert!(["", "evil.example:9464", "localhost.evil.example", "127.0.0.1.evil.example:9464"].iter().all(|h| !is_here(h)));
    }

    #[test]
    fn tokens_are_compared_whole() {
        assert!(same(b"abc", b"abc") && !same(b"abc", b"abd") && !same(b"abc", b"ab") && !same(b"abc", b""));
    }
}
