//! Threads round the queue: partition tasks push requests, workers take batches while the others are busy.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::mpsc::UnboundedSender;

use super::queue::{BatchLimits, Lane, Queue};
use super::{ModelError, Row, Tagger};
use crate::events;
use crate::tags::Tags;
use crate::trace::{self, Link};

/// What a partition task asks for.
pub struct Request {
    /// the stream, by the partition task's own name
    pub stream: u64,
    /// the request, by the stream's own name
    pub ask: u64,
    /// what to tag
    pub row: Row,
    /// when its turn comes
    pub lane: Lane,
    /// after this nobody waits for it
    pub due: Instant,
    /// the trace of the record that brought its last word, if that is traced
    pub trace: Option<Link>,
    /// where the answer goes. At most `max_in_flight_per_partition` answers are ever under way to one task.
    pub reply: UnboundedSender<Answer>,
}

/// What comes back: one entry in `tags` per word of the row, or none where inference failed.
#[derive(Debug)]
pub struct Answer {
    /// as in the request
    pub stream: u64,
    /// as in the request
    pub ask: u64,
    /// tags of the row's words, in order
    pub tags: Option<Vec<Tags>>,
}

struct Waiting {
    request: Request,
    since: Instant,
}

#[derive(Default)]
struct State {
    queue: Queue<Waiting>,
    oldest: Option<Instant>,
    closed: bool,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    limits: BatchLimits,
    max_wait: Duration,
}

/// The inference service of a process. Dropping it ends the workers after their batch.
pub struct Infer {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

impl Infer {
    /// One worker thread per tagger. An idle worker waits up to `max_wait` for a batch to fill.
    pub fn start(taggers: Vec<Box<dyn Tagger>>, limits: BatchLimits, max_wait: Duration) -> Infer {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), limits, max_wait });
        let workers = taggers
            .into_iter()
            .enumerate()
            .map(|(i, tagger)| {
                let shared = shared.clone();
                std::thread::Builder::new()
                    .name(format!("infer-{i}"))
                    .spawn(move || work(&shared, tagger))
                    .expect("the system starts threads")
            })
            .collect();
        Infer { shared, workers }
    }

    /// Queues a request. Its answer comes on `request.reply`, unless the receiver is gone by then.
    pub fn submit(&self, request: Request) {
        let mut state = self.shared.state.lock().expect("workers do not panic");
        let (tokens, lane) = (request.row.tokens.len(), request.lane);
        let since = Instant::now();
        if state.queue.len() % PURGE_EVERY == PURGE_EVERY - 1 {
            // A device that hangs takes no batch; what nobody waits for any more must not pile up.
            state.queue.purge(|w| nobody_waits(&w.request, since));
        }
        state.oldest.get_or_insert(since);
        state.queue.push(Waiting { request, since }, tokens, lane);
        self.shared.changed.notify_one();
    }
}

impl Drop for Infer {
    fn drop(&mut self) {
        self.shared.state.lock().expect("workers do not panic").closed = true;
        self.shared.changed.notify_all();
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

/// Requests in the queue between looks for abandoned ones.
const PURGE_EVERY: usize = 1024;

fn nobody_waits(request: &Request, now: Instant) -> bool {
    request.due < now || request.reply.is_closed()
}

fn work(shared: &Shared, mut tagger: Box<dyn Tagger>) {
    while let Some(batch) = next_batch(shared) {
        let (began, wall) = (Instant::now(), SystemTime::now());
        let (batch, dispatch) = batch;
        let rows: Vec<&Row> = batch.iter().map(|w| &w.request.row).collect();
        let longest = rows.iter().map(|r| r.tokens.len()).max().unwrap_or(0);
        let tokens: usize = rows.iter().map(|r| r.tokens.len()).sum();
        // A model that panics must not take the words of every partition with it.
        let result = catch_unwind(AssertUnwindSafe(|| tagger.tag(&rows)))
            .unwrap_or_else(|_| Err(ModelError("the model panicked".into())))
            .and_then(|tags| {
                let fits = tags.len() == rows.len() && tags.iter().zip(&rows).all(|(t, r)| t.len() == r.first.len());
                if fits { Ok(tags) } else { Err(ModelError("the model gave another number of tags than words".into())) }
            });
        events::Batch {
            rows: rows.len(),
            tokens,
            padded: longest * rows.len(),
            queued: batch.iter().map(|w| began.duration_since(w.since)).max().unwrap_or_default(),
            took: began.elapsed(),
            dispatch,
            error: result.as_ref().err().map(ToString::to_string),
        }
        .emit();
        trace::inferred(batch.iter().filter_map(|w| w.request.trace.clone()).collect(), wall, rows.len());
        let mut tags = result.ok().map(Vec::into_iter);
        for waiting in batch {
            let r = waiting.request;
            let answer = Answer { stream: r.stream, ask: r.ask, tags: tags.as_mut().and_then(Iterator::next) };
            let _ = r.reply.send(answer); // a task whose partition was revoked is gone
        }
    }
}

/// The next batch, and why it goes off now: nobody waited for it to fill, it is `full`, or its oldest row has waited `long` enough.
fn next_batch(shared: &Shared) -> Option<(Vec<Waiting>, &'static str)> {
    let mut state = shared.state.lock().expect("workers do not panic");
    loop {
        if state.closed {
            return None;
        }
        if state.queue.is_empty() {
            state.oldest = None;
            state = shared.changed.wait(state).expect("workers do not panic");
            continue;
        }
        let waited = state.oldest.map_or(Duration::MAX, |t| t.elapsed());
        if state.queue.len() < shared.limits.max_batch_items && waited < shared.max_wait {
            state = shared.changed.wait_timeout(state, shared.max_wait - waited).expect("workers do not panic").0;
            continue;
        }
        let now = Instant::now();
        let full = state.queue.len() >= shared.limits.max_batch_items;
        let dispatch = if shared.max_wait.is_zero() {
            "at_once"
        } else if full {
            "full"
        } else {
            "long"
        };
        let batch = state.queue.take(shared.limits, |w| nobody_waits(&w.request, now));
        state.oldest = (!state.queue.is_empty()).then_some(now);
        if !batch.is_empty() {
            return Some((batch, dispatch));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::row::Frame;
    use tokio::sync::mpsc::unbounded_channel;

    fn request(ask: u64, reply: &UnboundedSender<Answer>, due: Instant) -> Request {
        let row = Row::pack(Frame::default(), &[&[7], &[8]], 0, None, false);
        Request { stream: 1, ask, row, lane: Lane::Live, due, trace: None, reply: reply.clone() }
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(30)
    }

    const LIMITS: BatchLimits = BatchLimits { max_batch_tokens: 1000, max_batch_items: 8 };

    #[test]
    fn every_request_gets_its_own_answer_and_a_panic_costs_one_batch() {
        let mut calls = 0;
        let model = move |row: &Row| {
            calls += 1;
            assert!(calls != 1, "first call fails");
            vec![Tags::default(); row.first.len()]
        };
        let infer = Infer::start(vec![Box::new(model)], LIMITS, Duration::ZERO);
        let (reply, mut answers) = unbounded_channel();
        infer.submit(request(1, &reply, soon()));
        assert!(answers.blocking_recv().unwrap().tags.is_none());
        infer.submit(request(2, &reply, soon()));
        let second = answers.blocking_recv().unwrap();
        assert_eq!((second.ask, second.tags.unwrap().len()), (2, 2));
    }

    #[test]
    fn a_model_that_gives_too_few_tags_is_a_failure() {
        let infer = Infer::start(vec![Box::new(|_: &Row| Vec::new())], LIMITS, Duration::ZERO);
        let (reply, mut answers) = unbounded_channel();
        infer.submit(request(1, &reply, soon()));
        assert!(answers.blocking_recv().unwrap().tags.is_none());
    }

    #[test]
    fn batches_form_while_the_device_is_busy() {
        let (started, go) = (std::sync::mpsc::channel(), std::sync::mpsc::channel::<()>());
        struct Slow(std::sync::mpsc::Sender<usize>, std::sync::mpsc::Receiver<()>);
        impl Tagger for Slow {
            fn tag(&mut self, rows: &[&Row]) -> Result<Vec<Vec<Tags>>, ModelError> {
                self.0.send(rows.len()).unwrap();
                self.1.recv().unwrap();
                Ok(rows.iter().map(|r| vec![Tags::default(); r.first.len()]).collect())
            }
        }
        let infer = Infer::start(vec![Box::new(Slow(started.0, go.1))], LIMITS, Duration::ZERO);
        let (reply, mut answers) = unbounded_channel();
        infer.submit(request(0, &reply, soon()));
        assert_eq!(started.1.recv().unwrap(), 1);
        for ask in 1..6 {
            infer.submit(request(ask, &reply, soon()));
        }
        infer.submit(request(6, &reply, Instant::now())); // abandoned before its turn
        go.0.send(()).unwrap();
        assert_eq!(started.1.recv().unwrap(), 5);
        go.0.send(()).unwrap();
        let asks: Vec<u64> = (0..6).map(|_| answers.blocking_recv().unwrap().ask).collect();
        assert_eq!(asks, [0, 1, 2, 3, 4, 5]);
    }
}
