//! OpenTelemetry: where metrics and spans are sent. [`events`](crate::events) makes the metrics, [`trace`] the spans.
//!
//! Metrics are always kept for Prometheus (`/metrics`); with `telemetry.otlp` set, or the variables that OpenTelemetry specifies
//! (`OTEL_EXPORTER_OTLP_ENDPOINT` and others), they and spans are also sent to a collector, by OTLP over HTTP or HTTPS.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::{Key, KeyValue, global};
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

/// Whether an environment variable says something.
fn told(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !value.is_empty())
}

/// A name that no other process has: containers all have process number 1.
fn instance() -> String {
    use std::hash::{BuildHasher, RandomState};
    let random = || RandomState::new().hash_one(std::process::id());
    let (a, b) = (random(), random());
    // As a UUID of version 4, which the semantic conventions recommend.
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        a >> 32,
        a >> 16 & 0xffff,
        a & 0xfff,
        b >> 48 & 0x3fff | 0x8000,
        b & 0xffff_ffff_ffff
    )
}

/// Who sends. What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say comes before what is known here.
fn resource(instance: &str, told: &dyn Fn(&str) -> bool) -> Resource {
    let given = Resource::builder().build();
    let says = |name: &'static str| given.get(&Key::from_static_str(name)).is_some();
    let mut resource = Resource::builder();
    // The detectors give an "unknown_service" where nobody names one.
    let named = told("OTEL_SERVICE_NAME")
        || given.get(&Key::from_static_str("service.name")).is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    if !named {
        resource = resource.with_service_name("faircopy");
    }
    for (name, value) in [("service.version", env!("CARGO_PKG_VERSION")), ("service.instance.id", instance)] {
        if !says(name) {
            resource = resource.with_attribute(KeyValue::new(name, value.to_string()));
        }
    }
    resource.build()
}

/// Where metrics and spans are sent.
enum Collector {
    /// to the address of the settings
    Settings(String),
    /// to where OTEL_EXPORTER_OTLP_… say
    Environment,
}

impl Collector {
    /// `None`: nothing is sent. An address in the settings comes before the environment's.
    fn of(otlp: &str, told: &dyn Fn(&str) -> bool) -> Option<Collector> {
        let disabled = std::env::var("OTEL_SDK_DISABLED").is_ok_and(|value| value.eq_ignore_ascii_case("true"));
        let variables =
            ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
        match otlp {
            _ if disabled => None,
            "" => variables.iter().any(|name| told(name)).then_some(Collector::Environment),
            address => Some(Collector::Settings(address.trim_end_matches('/').to_string())),
        }
    }

    /// An exporter that sends there. Headers, compression and what else OTEL_EXPORTER_OTLP_… say it reads itself.
    fn reach<E: WithExportConfig>(&self, exporter: E, path: &str, told: &dyn Fn(&str) -> bool) -> E {
        let exporter = match self {
            Collector::Settings(address) => exporter.with_endpoint(format!("{address}/{path}")),
            Collector::Environment => exporter,
        };
        if told("OTEL_EXPORTER_OTLP_TIMEOUT") { exporter } else { exporter.with_timeout(EXPORT_TIMEOUT) }
    }
}

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
        let resource = resource(&instance(), &told);
        let registry = Registry::new();
        let prometheus = opentelemetry_prometheus::exporter()
            .with_registry(registry.clone())
            .scope_info_enabled(false)
            .build()
            .map_err(|e| format!("metrics cannot be kept: {e}"))?;
        // Fails only where the registry has them already.
        #[cfg(feature = "process-metrics")]
        let _ = registry.register(Box::new(prometheus::process_collector::ProcessCollector::for_self()));
        let mut meters = SdkMeterProvider::builder().with_resource(resource.clone()).with_reader(prometheus);
        let mut tracers = None;
        let wrong = |e: &dyn std::fmt::Display| {
            format!(
                "telemetry.otlp = {:?}: {e}; expected a collector's address such as http://collector:4318 or https://collector:4318, there or in \
                 OTEL_EXPORTER_OTLP_ENDPOINT",
                t.otlp
            )
        };
        if let Some(collector) = Collector::of(&t.otlp, &told) {
            let exporter = MetricExporter::builder().with_http();
            let metrics = collector.reach(exporter, "v1/metrics", &told).build().map_err(|e| wrong(&e))?;
            let reader = PeriodicReader::builder(metrics);
            let reader = match told("OTEL_METRIC_EXPORT_INTERVAL") {
                true => reader, // it reads the variable itself
                false => reader.with_interval(Duration::from_millis(t.interval_ms)),
            };
            meters = meters.with_reader(reader.build());
            let exporter = SpanExporter::builder().with_http();
            let spans = collector.reach(exporter, "v1/traces", &told).build().map_err(|e| wrong(&e))?;
            let mut provider = SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(spans);
            if !told("OTEL_TRACES_SAMPLER") {
                provider = provider.with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(t.sampled))));
            }
            let provider = provider.build();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_has_a_name_of_its_own_unless_the_environment_names_it() {
        let (one, other) = (instance(), instance());
        assert!(one != other && one.len() == 36 && one.as_bytes()[14] == b'4', "{one}");
        let resource = resource(&one, &|_| false);
        let value = |name: &'static str| resource.get(&Key::from_static_str(name)).map(|v| v.to_string());
        assert_eq!((value("service.name"), value("service.instance.id")), (Some("faircopy".into()), Some(one)));
    }

    #[test]
    fn a_collector_is_named_by_the_settings_or_else_by_the_environment() {
        let endpoint = |name: &str| name == "OTEL_EXPORTER_OTLP_ENDPOINT";
        assert!(Collector::of("", &|_| false).is_none());
        assert!(matches!(Collector::of("", &endpoint), Some(Collector::Environment)));
        assert!(matches!(Collector::of("https://c:4318/", &endpoint), Some(Collector::Settings(a)) if a == "https://c:4318"));
    }
}
