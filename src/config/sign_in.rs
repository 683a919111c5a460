//! How this program shows the broker who it is, as far as librdkafka does not do it by itself: secrets that stand in files, and OAUTHBEARER by OIDC.
//!
//! The properties have the names that librdkafka gives them. Its build here has no HTTP client and refuses those of OIDC, so faircopy takes them out of
//! what it hands on, and fetches the token itself ([`crate::kafka::token`]).

use std::path::PathBuf;

use super::Kafka;

/// The properties that choose the SASL mechanism: two names of one.
const MECHANISM: [&str; 2] = ["sasl.mechanism", "sasl.mechanisms"];
const METHOD: &str = "sasl.oauthbearer.method";
const ENDPOINT: &str = "sasl.oauthbearer.token.endpoint.url";
const CLIENT_ID: [&str; 2] = ["sasl.oauthbearer.client.id", "sasl.oauthbearer.client.credentials.client.id"];
const CLIENT_SECRET: [&str; 2] = ["sasl.oauthbearer.client.secret", "sasl.oauthbearer.client.credentials.client.secret"];
const SCOPE: &str = "sasl.oauthbearer.scope";
const EXTENSIONS: &str = "sasl.oauthbearer.extensions";
const GRANT: &str = "sasl.oauthbearer.grant.type";
const AUTHORITY: &str = "https.ca.location";
/// librdkafka's own tokens, which nobody signs: for trying things out.
const UNSIGNED: &str = "enable.sasl.oauthbearer.unsecure.jwt";

/// A secret: in the settings, or in a file that is read whenever the secret is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Secret {
    /// itself
    Value(String),
    /// where it stands
    File(PathBuf),
}

/// What OIDC client credentials need (RFC 6749, section 4.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oidc {
    /// the token endpoint: http or https
    pub endpoint: String,
    /// who asks
    pub client_id: String,
    /// and proves it so
    pub client_secret: Secret,
    /// what for
    pub scope: Option<String>,
    /// for the broker, beside the token: names and values (KIP-342)
    pub extensions: Vec<(String, String)>,
    /// certificates to trust at the token endpoint, PEM; `None`: the system's
    pub authority: Option<PathBuf>,
}

impl Kafka {
    /// Whether a property is faircopy's to act on, and not librdkafka's.
    pub fn is_own(property: &str) -> bool {
        [METHOD, ENDPOINT, SCOPE, EXTENSIONS, GRANT, AUTHORITY].contains(&property)
            || CLIENT_ID.contains(&property)
            || CLIENT_SECRET.contains(&property)
    }

    fn any_of<'a>(&'a self, names: &[&'a str]) -> Option<&'a str> {
        names.iter().find_map(|name| self.properties.get(*name)).map(String::as_str)
    }

    /// What is needed to fetch tokens, where the settings ask for OAUTHBEARER by OIDC.
    ///
    /// # Errors
    /// OAUTHBEARER is asked for, and what it takes is missing or unknown.
    pub fn oidc(&self) -> Result<Option<Oidc>, String> {
        if !self.any_of(&MECHANISM).is_some_and(|m| m.eq_ignore_ascii_case("OAUTHBEARER")) {
            return Ok(None);
        }
        let unsigned = self.any_of(&[UNSIGNED]) == Some("true");
        match self.any_of(&[METHOD]) {
            Some("oidc") => {}
            None | Some("default") if unsigned => return Ok(None),
            other => {
                return Err(format!(
                    "kafka.properties.{METHOD:?} = {:?}: expected \"oidc\", since sasl.mechanism is OAUTHBEARER; faircopy then fetches tokens from {ENDPOINT:?} by \
                     client credentials",
                    other.unwrap_or("(none)")
                ));
            }
        }
        if let Some(grant) = self.any_of(&[GRANT]).filter(|g| *g != "client_credentials") {
            return Err(format!(
                "kafka.properties.{GRANT:?} = {grant:?}: expected \"client_credentials\", the one that faircopy knows"
            ));
        }
        let endpoint = self.any_of(&[ENDPOINT]).unwrap_or_default();
        if !["http://", "https://"].iter().any(|scheme| endpoint.starts_with(scheme)) {
            return Err(format!(
                "kafka.properties.{ENDPOINT:?} = {endpoint:?}: expected the address of the token endpoint, such as https://login.example/oauth2/token"
            ));
        }
        let missing = |name: &str| {
            format!("kafka.properties.{name:?} is missing: expected with sasl.mechanism = OAUTHBEARER and {METHOD} = oidc")
        };
        let client_id = self.any_of(&CLIENT_ID).ok_or_else(|| missing(CLIENT_ID[0]))?;
        let in_file = || CLIENT_SECRET.iter().find_map(|name| self.property_files.get(*name)).cloned().map(Secret::File);
        let client_secret =
            self.any_of(&CLIENT_SECRET).map(|value| Secret::Value(value.to_string())).or_else(in_file).ok_or_else(|| {
                format!(
                    "{}; or give kafka.property_files.{:?} the path of a file with it",
                    missing(CLIENT_SECRET[0]),
                    CLIENT_SECRET[0]
                )
            })?;
        let pair = |text: &str| match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_string(), value.trim().to_string())),
            _ => Err(format!("kafka.properties.{EXTENSIONS:?}: {text:?}: expected name=value, with commas between several")),
        };
        let listed = self.any_of(&[EXTENSIONS]).unwrap_or_default();
        Ok(Some(Oidc {
            endpoint: endpoint.to_string(),
            client_id: client_id.to_string(),
            client_secret,
            scope: self.any_of(&[SCOPE]).map(str::to_string),
            extensions: listed.split(',').filter(|p| !p.trim().is_empty()).map(pair).collect::<Result<_, _>>()?,
            authority: self.any_of(&[AUTHORITY]).map(PathBuf::from),
        }))
    }

    /// Refuses what contradicts itself in how this program signs in.
    pub(super) fn check_sign_in(&self) -> Result<(), String> {
        if let Some(name) = self.property_files.keys().find(|name| self.properties.contains_key(*name)) {
            return Err(format!(
                "kafka.property_files.{name:?}: expected in one place only, and it is in kafka.properties as well"
            ));
        }
        if let Some(name) = self.property_files.keys().find(|n| Kafka::is_own(n) && !CLIENT_SECRET.contains(&n.as_str())) {
            return Err(format!("kafka.property_files.{name:?}: expected in kafka.properties; it is no secret"));
        }
        self.oidc().map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    fn kafka(properties: &[(&str, &str)], files: &[(&str, &str)]) -> Kafka {
        let mut kafka = Settings::load(None).unwrap().kafka;
        kafka.properties = properties.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        kafka.property_files = files.iter().map(|(k, v)| (k.to_string(), PathBuf::from(v))).collect();
        kafka
    }

    const WHOLE: [(&str, &str); 6] = [
        ("sasl.mechanism", "OAUTHBEARER"),
        ("sasl.oauthbearer.method", "oidc"),
        ("sasl.oauthbearer.token.endpoint.url", "https://login.example/token"),
        ("sasl.oauthbearer.client.id", "faircopy"),
        ("sasl.oauthbearer.scope", "kafka"),
        ("sasl.oauthbearer.extensions", "logicalCluster=lkc-1, identityPoolId=pool-2"),
    ];

    #[test]
    fn oidc_is_read_from_librdkafkas_own_properties_and_its_secret_may_stand_in_a_file() {
        let file = [("sasl.oauthbearer.client.secret", "/run/secrets/kafka")];
        let oidc = kafka(&WHOLE, &file).oidc().unwrap().unwrap();
        assert_eq!((oidc.client_id.as_str(), oidc.scope.as_deref()), ("faircopy", Some("kafka")));
        assert_eq!(oidc.client_secret, Secret::File("/run/secrets/kafka".into()));
        assert_eq!(oidc.extensions[1], ("identityPoolId".to_string(), "pool-2".to_string()));
        assert_eq!(kafka(&[("sasl.mechanism", "PLAIN")], &[]).oidc(), Ok(None));
        let unsigned = [("sasl.mechanisms", "OAUTHBEARER"), ("enable.sasl.oauthbearer.unsecure.jwt", "true")];
        assert_eq!(kafka(&unsigned, &[]).oidc(), Ok(None), "librdkafka makes those tokens");
    }

    #[test]
    fn what_oauthbearer_lacks_is_named() {
        let error = |leave_out: &str, more: &[(&str, &str)]| {
            let properties: Vec<_> = WHOLE.iter().filter(|(k, _)| *k != leave_out).chain(more).copied().collect();
            kafka(&properties, &[]).check_sign_in().unwrap_err()
        };
        assert!(error("", &[]).contains("kafka.property_files.\"sasl.oauthbearer.client.secret\""));
        assert!(error("sasl.oauthbearer.client.id", &[]).contains("client.id"));
        assert!(error("sasl.oauthbearer.method", &[]).contains("expected \"oidc\""));
        assert!(error("sasl.oauthbearer.token.endpoint.url", &[]).contains("token.endpoint.url"));
        let assertion = [("sasl.oauthbearer.grant.type", "urn:ietf:params:oauth:grant-type:jwt-bearer")];
        assert!(error("", &assertion).contains("client_credentials"));
        let both = kafka(&[("sasl.password", "x")], &[("sasl.password", "/x")]);
        assert!(both.check_sign_in().unwrap_err().contains("in one place only"));
    }
}
