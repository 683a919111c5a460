//! OpenTelemetry: where metrics and spans are sent. [`events`](crate::events) makes the metrics, [`trace`] the spans.
//!
//! Metrics are always kept for Prometheus (`/metrics`). With `telemetry.otlp` set, metrics and spans are also sent to a
//! collector, by OTLP over HTTP.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::{KeyValue, global};
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use prometheus::{Encoder, Registry, TextEncoder};

use crate::config::Settings;
use crate::events;
use crate::health::Health;
use crate::trace;

/// Time-out of a collector, so that a collector that does not answer holds nothing up.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);

/// The exporters that were started. Stop them before the process ends.
pub struct Telemetry {
    registry: Registry,
    meters: SdkMeterProvider,
    tracers: Option<SdkTracerProvider>,
}

impl Telemetry {
    /// Starts exporters and sets the process's providers. Once per process, before the first event.
    ///
    /// # Errors
    /// An exporter does not start; says which setting is wrong.
    pub fn start(settings: &Settings, health: &Arc<Health>) -> Result<Telemetry, String> {
        let t = &settings.telemetry;
        let resource = Resource::builder()
            .with_service_name("faircopy")
            .with_attributes([
                KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
                KeyValue::new("service.instance.id", format!("{}-{}", settings.kafka.group, std::process::id())),
            ])
            .build();
        let wrong = |e: &dyn std::fmt::Display| {
            format!("telemetry.otlp = {:?}: {e}; expected a collector's address such as http://collector:4318", t.otlp)
        };
        let registry = Registry::new();
        let prometheus = opentelemetry_prometheus::exporter()
            .with_registry(registry.clone())
            .scope_info_enabled(false)
            .build()
            .map_err(|e| format!("metrics cannot be kept: {e}"))?;
        let mut meters = SdkMeterProvider::builder().with_resource(resource.clone()).with_reader(prometheus);
        let mut tracers = None;
        if !t.otlp.is_empty() {
            let base = t.otlp.trim_end_matches('/');
            let metrics = MetricExporter::builder()
                .with_http()
                .with_endpoint(format!("{base}/v1/metrics"))
                .with_timeout(EXPORT_TIMEOUT)
                .build()
                .map_err(|e| wrong(&e))?;
            let reader = PeriodicReader::builder(metrics).with_interval(Duration::from_millis(t.interval_ms)).build();
            meters = meters.with_reader(reader);
            let spans = SpanExporter::builder()
                .with_http()
                .with_endpoint(format!("{base}/v1/traces"))
                .with_timeout(EXPORT_TIMEOUT)
                .build()
                .map_err(|e| wrong(&e))?;
            let sampler = Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(t.sampled)));
            let provider =
                SdkTracerProvider::builder().with_resource(resource).with_sampler(sampler).with_batch_exporter(spans).build();
            global::set_tracer_provider(provider.clone());
            trace::switch_on();
            tracers = Some(provider);
        }
        let meters = meters.build();
        global::set_meter_provider(meters.clone());
        events::observe(health);
        Ok(Telemetry { registry, meters, tracers })
    }

    /// All metrics in Prometheus's text format.
    pub fn prometheus(&self) -> String {
        let mut text = Vec::new();
        // Fails only if two metrics have the same name. A test checks that none have.
        let _ = TextEncoder::new().encode(&self.registry.gather(), &mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    /// Sends what is left. If the collector does not answer, the wait is short.
    pub fn stop(&self) {
        let _ = self.meters.shutdown_with_timeout(EXPORT_TIMEOUT);
        if let Some(tracers) = &self.tracers {
            let _ = tracers.shutdown_with_timeout(EXPORT_TIMEOUT);
        }
    }
}
