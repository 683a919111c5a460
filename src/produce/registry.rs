//! The schema registry: which number the JSON Schema of segments has there.
//!
//! The calls and answers are those of Confluent's documentation (`POST /subjects/…`, `POST /subjects/…/versions`), which other registries have as well. They are tested
//! against these documented answers, not against a registry.

use reqwest::blocking::RequestBuilder;
use schemars::schema_for;
use serde::Deserialize;
use serde_json::{Value, json};

use super::serializer::SchemaIds;
use crate::config::{SchemaRegistry, Settings};
use crate::kafka::{files, http};
use crate::record::{Framing, Segment};

/// What a registry answers; which of it, its status says.
#[derive(Deserialize)]
struct Answer {
    id: Option<u32>,
    error_code: Option<i64>,
    message: Option<String>,
}

/// "Subject not found", "schema not found".
const UNKNOWN: [i64; 2] = [40401, 40403];

/// The numbers of the schemas of the formatted and the partial topic. A registry that does not know a schema is asked to take it. Blocks. Asks nothing unless
/// `output.framing` wants it.
///
/// # Errors
/// The registry does not answer, refuses, or finds the schema incompatible with what the subject has; says what to do.
pub fn schema_ids(settings: &Settings) -> Result<SchemaIds, String> {
    if settings.output.framing == Framing::None {
        return Ok(SchemaIds::default());
    }
    let mut ids = SchemaIds::default();
    let schema = schema_for!(Segment).to_value();
    ids.formatted = Some(schema_id(&settings.schema_registry, &settings.topics.formatted, &schema)?);
    if settings.partials.enabled {
        ids.partial = Some(schema_id(&settings.schema_registry, &settings.topics.partial, &schema)?);
    }
    Ok(ids)
}

fn schema_id(registry: &SchemaRegistry, topic: &str, schema: &Value) -> Result<u32, String> {
    let subject = format!("{topic}-value");
    let place = format!("schema registry {}, subject {subject:?}", registry.url);
    let authorities = Some(registry.ca_file.as_path()).filter(|path| !path.as_os_str().is_empty());
    let client = http::client(authorities).map_err(|why| format!("{place}: {why} (schema_registry.ca_file)"))?;
    let password = match registry.username.as_str() {
        "" => None,
        _ => Some(
            files::secret(&registry.password_file).map_err(|why| format!("{place}: {why} (schema_registry.password_file)"))?,
        ),
    };
    let body = json!({"schemaType": "JSON", "schema": schema.to_string()}).to_string();
    let ask = |path: &str| {
        let url = format!("{}/subjects/{}{path}", registry.url.trim_end_matches('/'), escaped(&subject));
        let mut asked: RequestBuilder =
            client.post(url).header("content-type", "application/vnd.schemaregistry.v1+json").body(body.clone());
        if let Some(password) = &password {
            asked = asked.basic_auth(&registry.username, Some(password));
        }
        let answer =
            asked.send().map_err(|e| format!("{place}: {}; check schema_registry.url and the network", http::reasons(&e)))?;
        let status = answer.status().as_u16();
        let body = http::body(answer).map_err(|e| format!("{place}: its answer breaks off: {e}"))?;
        Ok::<_, String>((status, serde_json::from_slice::<Answer>(&body).ok()))
    };
    let known = ask("")?;
    let unknown = known.1.as_ref().and_then(|a| a.error_code).is_some_and(|code| UNKNOWN.contains(&code));
    let (status, answer) = if unknown { ask("/versions")? } else { known };
    match (status, answer) {
        (200, Some(Answer { id: Some(id), .. })) => Ok(id),
        (status, answer) => {
            let said = http::shown(&answer.and_then(|a| a.message).unwrap_or_default());
            Err(format!(
                "{place}: HTTP {status}, {said:?}; expected the number of a schema. 401 and 403: check schema_registry.username and password_file; 409: the subject has an \
                 incompatible schema, so register docs/schemas/formatted.json by hand or choose another topic"
            ))
        }
    }
}

/// A subject as a part of a path: a topic's name has letters, digits, dots, underscores and hyphens, and nothing else is left as it is.
fn escaped(subject: &str) -> String {
    let mut out = String::new();
    for byte in subject.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' => out.push(byte.into()),
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpListener;
    use std::sync::mpsc::{Receiver, channel};

    /// A server that gives documented answers, one after the other, and what it was asked.
    fn registry(answers: Vec<(u16, &'static str)>) -> (String, Receiver<(String, Value)>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (asked, seen) = channel();
        std::thread::spawn(move || {
            for (status, body) in answers {
                let mut reader = BufReader::new(listener.accept().unwrap().0);
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    reader.read_line(&mut head).unwrap();
                }
                let length =
                    head.to_lowercase().split("content-length: ").nth(1).unwrap().split('\r').next().unwrap().parse().unwrap();
                let mut text = vec![0; length];
                reader.read_exact(&mut text).unwrap();
                asked.send((head, serde_json::from_slice(&text).unwrap())).unwrap();
                let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
                reader.get_mut().write_all(answer.as_bytes()).unwrap();
            }
        });
        (url, seen)
    }

    fn settings(url: String) -> Settings {
        let mut settings = Settings::load(None).unwrap();
        settings.output.framing = Framing::Confluent;
        settings.schema_registry.url = url;
        settings
    }

    #[test]
    fn a_schema_that_the_registry_knows_is_looked_up_and_another_is_registered() {
        let known = r#"{"subject":"asr.formatted-value","id":7,"version":2,"schema":"{}"}"#;
        let unknown = r#"{"error_code":40401,"message":"Subject 'asr.partial-value' not found."}"#;
        let (url, seen) = registry(vec![(200, known), (404, unknown), (200, r#"{"id":8}"#)]);
        let ids = schema_ids(&settings(url)).unwrap();
        assert_eq!((ids.formatted, ids.partial), (Some(7), Some(8)));
        for line in [
            "POST /subjects/asr.formatted-value ",
            "POST /subjects/asr.partial-value ",
            "POST /subjects/asr.partial-value/versions ",
        ] {
            let (head, body) = seen.recv().unwrap();
            assert!(head.starts_with(line) && !head.to_lowercase().contains("authorization"), "{head}");
            let schema: Value = serde_json::from_str(body["schema"].as_str().unwrap()).unwrap();
            assert_eq!((body["schemaType"].as_str(), schema["title"].as_str()), (Some("JSON"), Some("Segment")));
        }
    }

    #[test]
    fn what_a_registry_refuses_is_said_with_a_remedy_and_its_password_is_read_from_a_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "hunter2\n").unwrap();
        let conflict = r#"{"error_code":409,"message":"Schema being registered is incompatible with an earlier schema"}"#;
        let (url, seen) =
            registry(vec![(404, r#"{"error_code":40403,"message":"Schema not found"}"#), (409, conflict), (401, "")]);
        let mut settings = settings(url);
        (settings.schema_registry.username, settings.schema_registry.password_file) = ("me".into(), file.path().into());
        let error = schema_ids(&settings).unwrap_err();
        assert!(
            error.contains("HTTP 409") && error.contains("incompatible with an earlier") && error.contains("by hand"),
            "{error}"
        );
        assert!(seen.recv().unwrap().0.to_lowercase().contains("authorization: basic bwu6ahvudgvymg=="));
        let error = schema_ids(&settings).unwrap_err();
        assert!(error.contains("HTTP 401") && !error.contains("hunter2"), "{error}");
        settings.output.framing = Framing::None;
        assert_eq!(schema_ids(&settings).unwrap().formatted, None, "nothing is asked");
    }
}
