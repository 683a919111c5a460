//! Whether the broker knows KIP-848. Asked over the wire, since librdkafka joins a broker without it, gets nothing assigned and
//! reports no error.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// API key of ConsumerGroupHeartbeat.
const CONSUMER_GROUP_HEARTBEAT: i16 = 68;
const TIMEOUT: Duration = Duration::from_secs(5);
/// Largest answer taken; a broker lists some 100 APIs of 6 bytes.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// Asks the first of `brokers` that answers. `None`: none did, or the listener wants TLS.
pub fn knows_kip_848(brokers: &str) -> Option<bool> {
    brokers.split(',').find_map(|broker| api_keys(broker.trim()).ok()).map(|keys| keys.contains(&CONSUMER_GROUP_HEARTBEAT))
}

/// The API keys a broker lists: an ApiVersions request, version 0, which every broker answers before authentication.
fn api_keys(broker: &str) -> std::io::Result<Vec<i16>> {
    let bad = |what: &str| std::io::Error::new(std::io::ErrorKind::InvalidData, what.to_string());
    let broker = broker.rsplit_once("://").map_or(broker, |(_, host)| host);
    let address = broker.to_socket_addrs()?.next().ok_or_else(|| bad("no address"))?;
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let client = b"faircopy";
    let mut request = Vec::new();
    request.extend(18i16.to_be_bytes()); // ApiVersions
    request.extend(0i16.to_be_bytes()); // version
    request.extend(1i32.to_be_bytes()); // correlation id
    request.extend((client.len() as i16).to_be_bytes());
    request.extend(client);
    stream.write_all(&(request.len() as i32).to_be_bytes())?;
    stream.write_all(&request)?;
    let mut size = [0; 4];
    stream.read_exact(&mut size)?;
    let size = usize::try_from(i32::from_be_bytes(size)).map_err(|_| bad("negative size"))?;
    if !(10..=MAX_ANSWER_BYTES).contains(&size) {
        return Err(bad("no Kafka answer"));
    }
    let mut answer = vec![0; size];
    stream.read_exact(&mut answer)?;
    parse(&answer).ok_or_else(|| bad("no ApiVersions answer"))
}

fn parse(answer: &[u8]) -> Option<Vec<i16>> {
    let i16_at = |at: usize| Some(i16::from_be_bytes(answer.get(at..at + 2)?.try_into().ok()?));
    if answer.get(..4)? != 1i32.to_be_bytes() || i16_at(4)? != 0 {
        return None;
    }
    let count = i32::from_be_bytes(answer.get(6..10)?.try_into().ok()?);
    (0..usize::try_from(count).ok()?).map(|i| i16_at(10 + 6 * i)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_lists_its_api_keys_and_nonsense_is_none() {
        let mut answer = vec![0, 0, 0, 1, 0, 0, 0, 0, 0, 2];
        answer.extend([0, 18, 0, 0, 0, 4, 0, 68, 0, 0, 0, 1]);
        assert_eq!(parse(&answer), Some(vec![18, 68]));
        assert_eq!(parse(&answer[..answer.len() - 5]), None);
        assert_eq!(parse(b"HTTP/1.1 400 Bad Request"), None);
        answer[9] = 255;
        assert_eq!(parse(&answer), None);
    }
}
