//! Profiles: the formatting policy of a tenant.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::sections::InferSettings;
use super::values::{LookaheadSetting, MaskSetting, RedactSetting, ReleaseSetting};
use super::{Settings, SettingsError, text};
use crate::format::Styles;
use crate::format::numbers::Numbers;
use crate::format::style::FormatSpec;
use crate::infer::Models;
use crate::infer::row::{MAX_TOKENS, MAX_TOKENS_PER_WORD, MAX_WINDOW_WORDS, RowTemplate};
use crate::rate_limit::WordQuota;
use crate::redact::AnswerWindow;
use crate::session::policy::{Lookahead, Mask, Policy, ReleaseRule, Settling};
use crate::tags::Tilt;

/// `[profiles.NAME]`. Settings that are left out come from `[profiles.default]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "each key is described in deploy/faircopy.toml")]
pub struct ProfileSettings {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub style: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tilt: Option<BTreeMap<String, f32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lookahead: Option<LookaheadSetting>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_words: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_words: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mask: Option<MaskSetting>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<ReleaseSetting>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trailing_words: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_delay_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utterance_delay_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_release_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verbatim: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "text::list")]
    pub languages: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "text::list")]
    pub packs: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "text::list")]
    pub itn_off: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "text::list")]
    pub keep: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vocabulary: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redact_names: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profanity: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota: Option<WordQuota>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redact_asked: Option<AnswerWindow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redact_after: Option<BTreeMap<String, Vec<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redact: Option<BTreeMap<String, RedactSetting>>,
}

/// A profile as the service uses it.
#[derive(Clone, Debug)]
pub struct Profile {
    /// its name
    pub name: Arc<str>,
    /// decoding
    pub policy: Arc<Policy>,
    /// its model, a directory in `infer.model_dir`
    pub model: String,
    /// the kind of speech that the model is told of
    pub style: String,
    /// its quota, in words a second
    pub quota: WordQuota,
    /// formatting
    pub format: FormatSpec,
    /// languages served: primary subtags in lower case
    pub languages: Vec<String>,
}

impl Profile {
    /// Whether words of `lang` are formatted. A record without a language counts as the profile's first language.
    pub fn serves(&self, lang: Option<&str>) -> bool {
        let Some(lang) = lang else { return true };
        let primary = lang.split(['-', '_']).next().unwrap_or(lang);
        self.languages.iter().any(|l| l.eq_ignore_ascii_case(primary))
    }
}

/// All profiles, by tenant.
#[derive(Clone, Debug)]
pub struct Profiles {
    by_name: HashMap<String, Arc<Profile>>,
    tenants: BTreeMap<String, String>,
    unknown: String,
}

const DEFAULT: &str = "default";

impl Profiles {
    /// Resolves the profiles of `settings`.
    pub fn new(settings: &Settings) -> Result<Profiles, SettingsError> {
        let mut by_name = HashMap::new();
        let base = settings.profiles.get(DEFAULT).cloned().unwrap_or_default();
        for (name, own) in &settings.profiles {
            by_name.insert(name.clone(), Arc::new(resolve(name, own, &base, settings)?));
        }
        let unknown = settings.unknown_tenant.profile.clone();
        for (key, name) in settings
            .tenants
            .iter()
            .map(|(tenant, name)| (format!("tenants.{tenant}"), name))
            .chain([("unknown_tenant.profile".to_string(), &unknown)])
        {
            if !by_name.contains_key(name) {
                let known: Vec<_> = settings.profiles.keys().collect();
                return Err(SettingsError(format!("{key} = {name:?}: no such profile; expected one of {known:?}")));
            }
        }
        Ok(Profiles { by_name, tenants: settings.tenants.clone(), unknown })
    }

    /// The profile of a record's tenant. An unknown tenant gets the one set for that; no tenant gets `default`.
    pub fn of(&self, tenant: Option<&str>) -> &Arc<Profile> {
        let name = match tenant {
            None => DEFAULT,
            Some(tenant) => self.tenants.get(tenant).unwrap_or(&self.unknown),
        };
        &self.by_name[name]
    }

    /// The profile of that name. If a reload has removed the profile: the profile of unknown tenants.
    pub fn named(&self, name: &str) -> &Arc<Profile> {
        self.by_name.get(name).unwrap_or_else(|| &self.by_name[&self.unknown])
    }

    /// The models that profiles ask for, each once, in the order of their names.
    pub fn models(&self) -> BTreeSet<String> {
        self.by_name.values().map(|p| p.model.clone()).collect()
    }

    /// Gives every profile what it needs to know of its model.
    ///
    /// # Errors
    /// A style that a profile's model does not know.
    pub fn bind(&mut self, models: &Models) -> Result<(), SettingsError> {
        for (name, profile) in &mut self.by_name {
            let bound = models.template(&profile.model, &profile.style, profile.policy.template.tilt);
            let (template, model, files) = bound.map_err(|e| SettingsError(format!("profiles.{name}.{e}")))?;
            let profile = Arc::make_mut(profile);
            let settling = profile.policy.settling.map(|settling| Settling { style: template.style, ..settling });
            profile.policy = Arc::new(Policy { template, settling, ..(*profile.policy).clone() });
            profile.format.model = model;
            profile.format.lexicon = Some(files.dir.join("lexicon.tsv"));
        }
        Ok(())
    }

    /// Gives every profile its redaction rules with their lists. Streams need the rules so that they release nothing
    /// redacted in halves.
    pub fn bind_redaction(&mut self, styles: &Styles) {
        for (name, profile) in &mut self.by_name {
            let profile = Arc::make_mut(profile);
            profile.policy = Arc::new(Policy { redaction: styles.of(name).redaction.clone(), ..(*profile.policy).clone() });
        }
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Profile>> {
        self.by_name.values()
    }

    /// What each profile allows, by name.
    pub fn quotas(&self) -> impl Iterator<Item = (&Arc<str>, WordQuota)> {
        self.all().map(|p| (&p.name, p.quota))
    }

    /// What each profile says of formatting, by name.
    pub fn format_specs(&self) -> impl Iterator<Item = (&str, &FormatSpec)> {
        self.by_name.iter().map(|(name, profile)| (name.as_str(), &profile.format))
    }

    /// Whether some profile redacts anything.
    pub fn any_redacts(&self) -> bool {
        self.by_name.values().any(|p| p.format.redacts())
    }
}

/// Largest tilt of a label, up or down.
const MAX_TILT: f32 = 20.0;

/// A profile's own tilts over those of `[profiles.default.tilt]`.
fn tilt(profile: &str, own: BTreeMap<String, f32>, base: &BTreeMap<String, f32>) -> Result<Tilt, SettingsError> {
    let mut tilt = Tilt::default();
    for (label, &by) in base.iter().chain(&own) {
        let refuse = |why: String| Err(SettingsError(format!("profiles.{profile}.tilt.{label}{why}")));
        let place = match label.as_str() {
            "comma" => &mut tilt.comma,
            "period" => &mut tilt.period,
            "question" => &mut tilt.question,
            "disfluency" => &mut tilt.disfluency,
            _ => return refuse(": expected comma, period, question or disfluency".into()),
        };
        if !(-MAX_TILT..=MAX_TILT).contains(&by) {
            return refuse(format!(" = {by}: expected a number from -{MAX_TILT} (never) to {MAX_TILT} (always)"));
        }
        *place = by;
    }
    Ok(tilt)
}

/// A profile's own styles of numbers over those of `[profiles.default.numbers]`.
fn numbers(
    profile: &str,
    own: BTreeMap<String, String>,
    base: Option<&BTreeMap<String, String>>,
) -> Result<Numbers, SettingsError> {
    let mut all = base.cloned().unwrap_or_default();
    all.extend(own);
    let values = all.into_iter().map(|(key, value)| (key, value.into())).collect();
    serde_json::from_value(serde_json::Value::Object(values))
        .map_err(|e| SettingsError(format!("profiles.{profile}.numbers: {e}")))
}

/// How a profile's streams keep states. `S` and `G` come from the settings. They are rounded up, so that every settling
/// pass is a pass of the profile and every key pass is a settling pass. With unlimited lookahead no word is settled.
fn settling(infer: &InferSettings, policy: &Policy) -> Option<Settling> {
    let Lookahead::Words(lookahead) = policy.lookahead else { return None };
    let words = infer.settle_words.checked_next_multiple_of(policy.pass_words)?;
    let key_words = infer.key_words.checked_next_multiple_of(words.max(1))?;
    (words > 0).then_some(Settling {
        words,
        key_words,
        lookahead: u64::from(lookahead),
        masked: policy.mask == Mask::Lookahead,
        slots: infer.state_slots as u32,
        style: 0,
    })
}

/// Words between two passes with unlimited lookahead, where nobody waits for words. As many as fit into a row with its
/// history, and at most two thirds of the buffer: the last third holds the later words that a word sees.
fn long_pass(policy: &Policy) -> u64 {
    let room = MAX_WINDOW_WORDS.saturating_sub(policy.history_words).saturating_sub(policy.max_buffer_words);
    (room / 2).min(policy.max_buffer_words * 2 / 3)
}

fn resolve(name: &str, own: &ProfileSettings, base: &ProfileSettings, settings: &Settings) -> Result<Profile, SettingsError> {
    fn need<T>(key: &str, value: Option<T>) -> Result<T, SettingsError> {
        value.ok_or_else(|| SettingsError(format!("profiles.default.{key} is missing; it is every profile's base")))
    }
    let (d, own) = (&settings.decode, own.clone());
    let lookahead = match need("lookahead", own.lookahead.or(base.lookahead))? {
        LookaheadSetting::Words(n) => Lookahead::Words(n),
        LookaheadSetting::Unlimited(_) => Lookahead::Unlimited,
    };
    let format = FormatSpec {
        verbatim: need("verbatim", own.verbatim.or(base.verbatim))?,
        locale: need("locale", own.locale.or_else(|| base.locale.clone()))?,
        numbers: numbers(name, own.numbers.unwrap_or_default(), base.numbers.as_ref())?,
        packs: own.packs.or_else(|| base.packs.clone()).unwrap_or_default(),
        off: own.itn_off.or_else(|| base.itn_off.clone()).unwrap_or_default(),
        keep: own.keep.or_else(|| base.keep.clone()).unwrap_or_default(),
        vocabulary: own.vocabulary.or_else(|| base.vocabulary.clone()),
        redact: own.redact.or_else(|| base.redact.clone()).unwrap_or_default().into_iter().map(|(c, r)| (c, r.rule())).collect(),
        asked: own.redact_asked.or(base.redact_asked),
        redact_after: own.redact_after.or_else(|| base.redact_after.clone()).unwrap_or_default(),
        names: own.redact_names.or_else(|| base.redact_names.clone()),
        profanity: own.profanity.or_else(|| base.profanity.clone()),
        lexicon: None,
        model: "".into(),
    };
    let tilt = tilt(name, own.tilt.unwrap_or_default(), base.tilt.as_ref().unwrap_or(&BTreeMap::new()))?;
    let trailing = need("trailing_words", own.trailing_words.or(base.trailing_words))?;
    let mut policy = Policy {
        template: RowTemplate { tilt, ..RowTemplate::default() },
        lookahead,
        mask: match need("mask", own.mask.or(base.mask))? {
            MaskSetting::Open => Mask::Open,
            MaskSetting::Lookahead => Mask::Lookahead,
        },
        rule: match need("release", own.release.or(base.release))? {
            ReleaseSetting::Frozen => ReleaseRule::Frozen,
            ReleaseSetting::Predicted => ReleaseRule::Predicted { trailing },
            ReleaseSetting::Flow => ReleaseRule::Flow,
        },
        pass_words: need("pass_words", own.pass_words.or(base.pass_words))?,
        history_words: need("history_words", own.history_words.or(base.history_words))?,
        settling: None,
        max_buffer_words: d.max_buffer_words,
        max_delay_ms: need("max_delay_ms", own.max_delay_ms.or(base.max_delay_ms))?,
        utterance_delay_ms: need("utterance_delay_ms", own.utterance_delay_ms.or(base.utterance_delay_ms))?,
        max_release_ms: need("max_release_ms", own.max_release_ms.or(base.max_release_ms))?,
        inference_timeout_ms: settings.infer.timeout_ms,
        backlog_timeout_ms: settings.infer.backlog_timeout_ms,
        verbatim: format.verbatim,
        redaction: None,
        partials: settings.partials.enabled,
    };
    let refuse = |key: &str, why: String| Err(SettingsError(format!("profiles.{name}.{key}{why}")));
    if policy.pass_words == 0 {
        return refuse("pass_words", " = 0: expected at least 1".into());
    }
    if policy.lookahead == Lookahead::Unlimited {
        policy.pass_words = policy.pass_words.max(long_pass(&policy));
    }
    policy.settling = settling(&settings.infer, &policy);
    let step = policy.settling.map_or(0, |settling| settling.words).max(policy.pass_words);
    let most = [policy.history_words, d.max_buffer_words, step, step];
    let window = most.into_iter().fold(0u64, u64::saturating_add);
    if window > MAX_WINDOW_WORDS {
        return refuse(
            "history_words",
            format!(
                " + decode.max_buffer_words + 2 × pass_words (or infer.settle_words) = {window}: expected at most {MAX_WINDOW_WORDS}, the words that fit \
                 {MAX_TOKENS} tokens at two each (a word has up to {MAX_TOKENS_PER_WORD})"
            ),
        );
    }
    if d.max_buffer_words <= policy.pass_words {
        return refuse(
            "pass_words",
            format!(" = {}: expected less than decode.max_buffer_words = {}", policy.pass_words, d.max_buffer_words),
        );
    }
    let room = d.max_buffer_words - policy.pass_words;
    if let Lookahead::Words(n) = lookahead
        && u64::from(n) > room
    {
        return refuse(
            "lookahead",
            format!(" = {n}: expected at most decode.max_buffer_words − pass_words = {room}; lower it or say \"unlimited\""),
        );
    }
    if policy.utterance_delay_ms > policy.max_delay_ms {
        return refuse(
            "utterance_delay_ms",
            format!(
                " = {}: expected at most max_delay_ms = {}, since words are frozen by then",
                policy.utterance_delay_ms, policy.max_delay_ms
            ),
        );
    }
    let languages = need("languages", own.languages.or_else(|| base.languages.clone()))?;
    if languages.is_empty() {
        return refuse("languages", " is empty: expected at least one, such as [\"en\"]".into());
    }
    Ok(Profile {
        name: name.into(),
        quota: own.quota.or(base.quota).unwrap_or_default(),
        model: need("model", own.model.or_else(|| base.model.clone()))?,
        style: need("style", own.style.or_else(|| base.style.clone()))?,
        format,
        policy: Arc::new(policy),
        languages: languages.iter().map(|l| l.to_lowercase()).collect(),
    })
}
