//! Gets the schemas of raw values in Avro from the registry before the values are read.
//!
//! A registry that is away comes back, so a value waits for its schema, and with it its partition. Only what the
//! registry itself denies is refused.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Shared;
use crate::events;
use crate::kafka::registry::avro_schema;
use crate::record::{ERASE, Framing, RawRecord};

/// Wait before the registry is asked again.
const AGAIN: Duration = Duration::from_secs(1);
/// How often a command asks a registry that does not answer. The service asks for as long as it takes.
const TRIES: usize = 5;

impl Shared {
    /// The schema without which this record cannot be read yet.
    pub fn missing_schema(&self, record: &RawRecord) -> Option<u32> {
        if self.settings.input.framing != Framing::Avro || record.has(ERASE) {
            return None;
        }
        self.schemas.missing(record.payload.as_deref()?, Instant::now())
    }

    /// Asks the registry once; gives whether it has answered. Blocks.
    fn ask_for_schema(&self, id: u32) -> bool {
        match avro_schema(&self.settings.schema_registry, id) {
            Ok(said) => {
                self.schemas.learn(id, said.as_deref().map_err(Clone::clone), Instant::now());
                true
            }
            Err(why) => {
                events::ClientProblem { reason: &why }.emit();
                false
            }
        }
    }

    /// Asks the registry for the schemas of these records, a few times where the registry does not answer. Blocks.
    ///
    /// # Errors
    /// The number of the first schema about which the registry said nothing.
    pub fn learn_schemas<'a>(&self, records: impl Iterator<Item = &'a RawRecord>) -> Result<(), u32> {
        for record in records {
            let mut tries = 0;
            while let Some(id) = self.missing_schema(record) {
                if !self.ask_for_schema(id) {
                    tries += 1;
                    if tries == TRIES {
                        return Err(id);
                    }
                    std::thread::sleep(AGAIN);
                }
            }
        }
        Ok(())
    }

    /// Blocks until this record can be read.
    pub fn wait_for_schema(&self, record: &RawRecord) {
        while let Some(id) = self.missing_schema(record) {
            if !self.ask_for_schema(id) {
                std::thread::sleep(AGAIN);
            }
        }
    }
}

/// Ends when the registry has said what it knows of a schema. Dropped, it asks no more.
pub async fn arrival(shared: Arc<Shared>, id: u32) {
    loop {
        let asking = shared.clone();
        if let Ok(true) = tokio::task::spawn_blocking(move || asking.ask_for_schema(id)).await {
            return;
        }
        tokio::time::sleep(AGAIN).await;
    }
}
