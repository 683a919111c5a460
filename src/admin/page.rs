//! The live page: calls as their text forms. The page reads the formatted and the partial topic like any other reader.
//! So what a profile redacts is not on the page.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::extract::{Query, State};
use axum::http::header;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Json};
use futures_util::{Stream, StreamExt, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{broadcast, watch};

use super::Admin;
use crate::consume::follower::TopicFollower;
use crate::record::decode::segment;
use crate::record::{Kind, Segment};

/// Sessions that the page remembers: those that spoke last.
const MAX_SESSIONS: usize = 200;
/// Segments that the page remembers of one session.
const MAX_SEGMENTS: usize = 500;
/// Segments that a slow browser may fall behind before it misses some.
const BEHIND: usize = 1024;
/// Time between two lines of figures.
const SECOND: Duration = Duration::from_secs(1);
/// The thread that reads for the page sees within this time that the page closes.
const LOOK_UP: Duration = Duration::from_millis(100);
/// A worker that stops waits so long until its browsers have been told.
const FAREWELL: Duration = Duration::from_secs(1);

/// A segment and when it was read.
#[derive(Clone)]
struct PageSegment {
    session: Arc<str>,
    json: Arc<str>,
}

#[derive(Default)]
struct Session {
    finals: VecDeque<PageSegment>,
    /// the latest tail of each channel
    tails: HashMap<Arc<str>, PageSegment>,
    open: HashMap<Arc<str>, bool>,
    heard_ms: u64,
}

/// What the page knows.
pub struct PageFeed {
    sessions: Mutex<HashMap<Arc<str>, Session>>,
    news: broadcast::Sender<PageSegment>,
    /// True once the worker stops. Every browser that follows a call holds a receiver.
    closing: watch::Sender<bool>,
    reader: Mutex<Option<JoinHandle<()>>>,
}

impl Default for PageFeed {
    fn default() -> PageFeed {
        PageFeed {
            sessions: Mutex::default(),
            news: broadcast::channel(BEHIND).0,
            closing: watch::channel(false).0,
            reader: Mutex::default(),
        }
    }
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64)
}

impl PageFeed {
    fn heard(&self, segment: &Segment) {
        let json = json!({ "at": now_ms(), "segment": segment }).to_string();
        let line = PageSegment { session: segment.session.clone(), json: json.into() };
        let mut sessions = self.sessions.lock().expect("no holder panics");
        if !sessions.contains_key(&segment.session) && sessions.len() >= MAX_SESSIONS {
            let oldest = sessions.iter().min_by_key(|(_, s)| s.heard_ms).map(|(key, _)| key.clone());
            oldest.map(|key| sessions.remove(&key));
        }
        let session = sessions.entry(segment.session.clone()).or_default();
        session.heard_ms = now_ms();
        session.open.insert(segment.channel.clone(), segment.kind != Kind::End);
        if segment.kind == Kind::Partial {
            session.tails.insert(segment.channel.clone(), line.clone());
        } else {
            session.tails.remove(&segment.channel);
            session.finals.push_back(line.clone());
            if session.finals.len() > MAX_SEGMENTS {
                session.finals.pop_front();
            }
        }
        let _ = self.news.send(line); // fails only if no browser is looking
    }

    fn so_far(&self, session: &str) -> Vec<PageSegment> {
        let sessions = self.sessions.lock().expect("no holder panics");
        let Some(s) = sessions.get(session) else { return Vec::new() };
        s.finals.iter().chain(s.tails.values()).cloned().collect()
    }

    /// Tells all browsers that the worker stops, and ends the thread that reads the topics.
    pub(super) async fn close(&self) {
        self.closing.send_replace(true);
        let _ = tokio::time::timeout(FAREWELL, self.closing.closed()).await;
        let reader = self.reader.lock().expect("no holder panics").take();
        if let Some(reader) = reader {
            let _ = tokio::task::spawn_blocking(move || reader.join()).await;
        }
    }
}

/// Reads the topics from now on, until the page is closed.
pub(super) fn follow(admin: Arc<Admin>) {
    let reading = admin.clone();
    let read = move || {
        let topics = &reading.settings.topics;
        let closing = || *reading.live.closing.borrow();
        while !closing() {
            match TopicFollower::follow(&reading.settings, &[&topics.formatted, &topics.partial]) {
                Ok(tail) => {
                    while !closing() {
                        let Some((_, payload)) = tail.next(LOOK_UP) else { continue };
                        if let Some(segment) = segment(&payload, reading.settings.output.framing) {
                            reading.live.heard(&segment);
                        }
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "the live page cannot read the topics yet; the page tries again");
                    std::thread::sleep(SECOND);
                }
            }
        }
    };
    let thread = std::thread::Builder::new().name("page".into()).spawn(read).expect("the system starts threads");
    *admin.live.reader.lock().expect("no holder panics") = Some(thread);
}

pub(super) async fn html() -> impl IntoResponse {
    // The page loads nothing from elsewhere and may not be framed.
    let policy = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, include_str!("page/index.html"))
}

pub(super) async fn script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("page/app.js"))
}

pub(super) async fn style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("page/style.css"))
}

/// The remembered sessions; the one that spoke last is first.
pub(super) async fn sessions(State(admin): State<Arc<Admin>>) -> Json<Value> {
    let sessions = admin.live.sessions.lock().expect("no holder panics");
    let mut all: Vec<(&Arc<str>, &Session)> = sessions.iter().collect();
    all.sort_by_key(|(_, s)| std::cmp::Reverse(s.heard_ms));
    let row = |(key, s): (&Arc<str>, &Session)| json!({ "session": key, "open": s.open.values().any(|open| *open), "heard": s.heard_ms });
    Json(all.into_iter().map(row).collect())
}

#[derive(Deserialize)]
pub(super) struct PageQuery {
    session: String,
}

/// A session from its beginning, as far as it is remembered, then as it goes on; and the worker's figures every second.
/// The last event says that the worker stops.
pub(super) async fn events(
    State(admin): State<Arc<Admin>>,
    Query(wanted): Query<PageQuery>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let mut closing = admin.live.closing.subscribe();
    let news = admin.live.news.subscribe(); // subscribed before the remembered segments are read, so that no segment is missed
    let past = stream::iter(admin.live.so_far(&wanted.session));
    let coming = stream::unfold((news, wanted.session), |(mut news, session)| async move {
        loop {
            match news.recv().await {
                Ok(line) if *line.session == *session => return Some((line, (news, session))),
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    });
    let segments = past.chain(coming).map(|line| Event::default().event("segment").data(&*line.json));
    let figures = stream::unfold(admin, |admin| async move {
        tokio::time::sleep(SECOND).await;
        let (words, delay_ms) = crate::events::frozen_so_far();
        let lag: u64 = admin.health.partitions().values().map(|p| p.lag).sum();
        let line = json!({ "words": words, "delay_ms": delay_ms, "lag": lag }).to_string();
        Some((Event::default().event("figures").data(line), admin))
    });
    // The stream holds a receiver until the browser has been told: `PageFeed::close` waits for that.
    let last = stream::unfold((closing.clone(), false), |(closing, told)| async move {
        (!told).then(|| (Event::default().event("stopped").data("the worker stops"), (closing, true)))
    });
    let stopped = async move {
        let _ = closing.wait_for(|closing| *closing).await;
    };
    let all = stream::select(segments.boxed(), figures.boxed()).take_until(stopped).chain(last).map(Ok);
    Sse::new(all).keep_alive(KeepAlive::default())
}
