//! `faircopy run`: the service.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{SignalKind, signal};

use super::{Cli, Failure, runtime, start_admin, start_log};
use crate::health::Health;
use crate::pipeline::{self, Shared};

/// Runs until a signal; the first drains, the second ends at once.
pub fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    let settings = cli.settings()?;
    start_log(&settings)?;
    let runtime = runtime();
    let health = Arc::<Health>::default();
    let (admin, telemetry) = start_admin(&settings, &runtime, &health)?;
    let mut shared = Shared::load(settings)?;
    (shared.health, shared.settings_file) = (health.clone(), cli.config.clone());
    let shared = Arc::new(shared);
    tracing::info!(models = ?shared.models.names(), version = env!("CARGO_PKG_VERSION"), "model loaded");
    admin.loaded(shared.clone());
    let stop = Arc::new(AtomicBool::new(false));
    runtime.spawn(stop_on_signal(stop.clone(), health));
    let result = pipeline::run(shared, runtime.handle(), stop);
    runtime.block_on(admin.close());
    telemetry.stop();
    result?;
    tracing::info!("drained: everything that was made is committed");
    Ok(ExitCode::SUCCESS)
}

async fn stop_on_signal(stop: Arc<AtomicBool>, health: Arc<Health>) {
    let mut terminate = signal(SignalKind::terminate()).expect("signals can be handled");
    let mut interrupt = signal(SignalKind::interrupt()).expect("signals can be handled");
    let mut next = async || {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    next().await;
    tracing::info!("stopping: drains what is under way; a second signal ends at once");
    health.stopping(); // comes first, so that probes send no work here any more
    stop.store(true, Ordering::Relaxed);
    next().await;
    std::process::exit(130);
}
