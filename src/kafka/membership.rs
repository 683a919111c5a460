//! The consumer's side of a commit.

use rdkafka::TopicPartitionList;
use rdkafka::consumer::ConsumerGroupMetadata;
use rdkafka::error::KafkaResult;

/// Proof that this worker is a member of the group: its member id and epoch at one moment (KIP-447). The broker refuses
/// offsets that are sent with a stale proof.
pub type Proof = ConsumerGroupMetadata;

/// A member of the consumer group.
pub trait Membership {
    /// The present proof; `None` outside the group.
    fn proof(&self) -> Option<Proof>;

    /// Commits offsets outside any transaction, and waits for the broker's answer.
    ///
    /// # Errors
    /// The broker refuses the commit, for example because this worker is no member any more.
    fn commit(&self, offsets: &TopicPartitionList) -> KafkaResult<()>;
}
