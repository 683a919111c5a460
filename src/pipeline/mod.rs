//! The service: model, formatter, one task a partition, delivery and the polling thread. The only module that knows all others.
//!
//! ```text
//!  poll thread ──ToPartition──▶ partition task (Partition) ──Effect──▶ delivery ──▶ Kafka
//!       ▲                          │        ▲                          │
//!       │                       Request   Answer                    Progress
//!       │                          ▼        │                          │
//!       │                        inference workers                     │
//!       └────────────────────────── commits ──────────────────────────┘
//! ```

pub mod clock;
#[cfg(any(test, feature = "simulation"))]
pub mod oracle;
pub mod partition;
mod reload;
pub mod replay;
mod task;

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::config::{Profiles, Settings, SettingsError};
use crate::consume::assignment::{Assignment, Spawn};
use crate::consume::group::{StartError, join};
use crate::consume::poll::{self, ConsumeError};
use crate::format::Formatter;
use crate::infer::onnx::{OnnxTagger, init_runtime};
use crate::infer::{LoadError, Model, ModelFiles, Models, Tagger};
use crate::limit::PartialLimit;
use crate::produce::delivery::{Command, Delivery, DeliveryError};
use crate::session::output::{Release, StreamRef};

/// Effects between partition tasks and delivery.
const COMMANDS: usize = 1024;

/// Why the service did not start or did not go on. Each kind has an exit code of its own.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// 2
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// 3
    #[error(transparent)]
    Model(#[from] LoadError),
    /// 4 (no broker), 5 (no topic), 2 (properties)
    #[error(transparent)]
    Start(#[from] StartError),
    /// 6
    #[error(transparent)]
    Consume(#[from] ConsumeError),
    /// 6
    #[error(transparent)]
    Deliver(#[from] DeliveryError),
}

impl RunError {
    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            RunError::Settings(_) | RunError::Start(StartError::Properties(_)) => 2,
            RunError::Model(_) => 3,
            RunError::Start(StartError::Unreachable { .. }) => 4,
            RunError::Start(StartError::NoTopic { .. }) => 5,
            RunError::Consume(_) | RunError::Deliver(_) => 6,
        }
    }
}

/// Told of every release, before it is formatted.
pub type OnRelease = Box<dyn Fn(&StreamRef, &Release) + Send + Sync>;

/// What all partitions share.
pub struct Shared {
    /// all settings
    pub settings: Settings,
    /// profiles by tenant
    pub profiles: Profiles,
    /// words to tags
    pub models: Models,
    /// tags to text
    pub formatter: Formatter,
    /// partials
    pub partial_limit: PartialLimit,
    /// who looks on: the demo's summary, the evaluation
    pub on_release: Option<OnRelease>,
}

impl Shared {
    /// Loads the models that profiles ask for, and what they format with, and starts the inference workers.
    pub fn load(settings: Settings) -> Result<Shared, RunError> {
        let i = settings.infer.clone();
        let mut runtime_is_there = false;
        Shared::with_taggers(settings, |files| {
            if !std::mem::replace(&mut runtime_is_there, true) {
                init_runtime(&absolute(&i.runtime))?;
            }
            let load = |_| Ok(Box::new(OnnxTagger::load(files, i.device, i.threads_per_worker)?) as Box<dyn Tagger>);
            (0..i.worker_count()).map(load).collect()
        })
    }

    /// As [`Shared::load`], with taggers of the caller's: all workers of a model.
    pub fn with_taggers(
        settings: Settings,
        mut taggers: impl FnMut(&ModelFiles) -> Result<Vec<Box<dyn Tagger>>, LoadError>,
    ) -> Result<Shared, RunError> {
        let mut profiles = settings.profiles()?;
        let mut models = Vec::new();
        for key in profiles.models() {
            let files = ModelFiles::open(&settings.infer.model_dir.join(&key))?;
            let taggers = taggers(&files)?;
            let max_wait = Duration::from_micros(settings.infer.max_wait_us);
            models.push(Model::start(&key, files, taggers, settings.infer.batch_limits(), max_wait)?);
        }
        let models = Models::new(models);
        profiles.bind(&models)?;
        let styles = settings.styles(&profiles, false)?;
        let per_second = NonZeroU32::new(settings.partials.per_session_per_second).unwrap_or(NonZeroU32::MIN);
        Ok(Shared {
            profiles,
            models,
            formatter: Formatter::new(styles),
            partial_limit: PartialLimit::new(per_second),
            on_release: None,
            settings,
        })
    }
}

/// dlopen looks a bare relative name up elsewhere than in the working directory.
fn absolute(path: &std::path::Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Runs the service until `stop` is set or something fails for good. Blocks; call it from a thread that may.
pub fn run(shared: Arc<Shared>, runtime: &Handle, stop: Arc<AtomicBool>) -> Result<(), RunError> {
    let settings = &shared.settings;
    let (commands, inbox) = mpsc::channel::<Command>(COMMANDS);
    let delivery = Delivery::new(settings, shared.profiles.any_redacts()).map_err(StartError::Properties)?;
    let spawn: Spawn = {
        let (shared, runtime) = (shared.clone(), runtime.clone());
        Box::new(move |partition, inbox, progress| {
            runtime.spawn(task::run(shared.clone(), partition, inbox, commands.clone(), progress))
        })
    };
    let deadline = Duration::from_millis(settings.delivery.drain_deadline_ms);
    let assignment = Arc::new(Assignment::new(settings.topics.raw.clone(), spawn, runtime.clone(), deadline));
    let consumer = join(settings, assignment)?;
    runtime.spawn(reload::watch(shared.clone()));
    // A producer that gives up stops the consumer too: consuming on would lose nothing, but deliver nothing either.
    let sending = runtime.spawn({
        let stop = stop.clone();
        async move {
            let result = delivery.run(inbox).await;
            if result.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            result
        }
    });
    let polled = poll::run(consumer, Duration::from_millis(settings.delivery.commit_interval_ms), &stop);
    // The consumer is gone, and with it every sender of commands: delivery ends by itself.
    let sent = runtime.block_on(async { tokio::time::timeout(deadline, sending).await });
    polled?;
    match sent {
        Ok(Ok(result)) => Ok(result?),
        Ok(Err(panic)) => Err(ConsumeError::Fatal(format!("delivery ended on its own: {panic}")).into()),
        Err(_) => {
            tracing::warn!("drain deadline passed with outputs not acknowledged; their input is read again");
            Ok(())
        }
    }
}
