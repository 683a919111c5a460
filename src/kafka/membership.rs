//! The consumer's side of a commit.

use rdkafka::TopicPartitionList;
use rdkafka::consumer::ConsumerGroupMetadata;
use rdkafka::error::KafkaResult;

/// What proves to the broker that this worker is a member of the group: its member id and epoch at one moment (KIP-447). Offsets that are sent with a
/// stale proof are refused.
pub type Proof = ConsumerGroupMetadata;

/// A member of the consumer group.
pub trait Membership {
    /// The proof of this moment; `None` outside the group.
    fn proof(&self) -> Option<Proof>;

    /// Commits offsets outside any transaction, and waits for the broker's answer.
    ///
    /// # Errors
    /// The broker refuses: among others where this worker is no member any more.
    fn commit(&self, offsets: &TopicPartitionList) -> KafkaResult<()>;
}
