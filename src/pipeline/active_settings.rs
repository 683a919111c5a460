//! The settings that may change while the service runs: profiles, tenants, quotas and record limits, and the profiles'
//! formatting.

use std::path::Path;
use std::time::Instant;

use crate::config::{Profiles, Settings, SettingsError};
use crate::format::Styles;
use crate::infer::Models;
use crate::rate_limit::WordQuotas;
use crate::record::RecordLimits;

/// One generation of these settings. Code that takes a record asks for the present generation, so a change takes effect
/// between two records.
pub struct ActiveSettings {
    /// profiles by tenant
    pub profiles: Profiles,
    /// quotas
    pub quotas: WordQuotas,
    /// limits of raw records
    pub limits: RecordLimits,
}

impl ActiveSettings {
    /// The first generation, from the settings and the loaded models; and the profiles' formatting.
    ///
    /// # Errors
    /// A style that a model does not know, or a grammar, pack or list that is wrong.
    pub fn new(settings: &Settings, mut profiles: Profiles, models: &Models) -> Result<(ActiveSettings, Styles), SettingsError> {
        profiles.bind(models)?;
        let mut styles = settings.styles(&profiles)?;
        if settings.output.origin {
            profiles.bind_origins(models, &settings.infer.model_dir.join(&settings.infer.second_model))?;
            let files = &settings.format;
            styles.bind_origins(&files.grammar_dir, &files.pack_dirs, profiles.format_specs()).map_err(SettingsError)?;
        }
        profiles.bind_styles(&styles, models.second.as_ref().map(|second| second.spec.context_words));
        let quotas = WordQuotas::new(profiles.quotas());
        Ok((ActiveSettings { profiles, quotas, limits: settings.limits.clone() }, styles))
    }

    /// The next generation, from a changed settings file and the settings with which the process began; and the names
    /// of changed sections that wait for a restart. `now`: words that were said before count as used, less what their
    /// time since has given back.
    ///
    /// # Errors
    /// The file cannot be used, or asks for something that needs a restart.
    pub fn next(
        &self,
        file: Option<&Path>,
        began_with: &Settings,
        models: &Models,
        now: Instant,
    ) -> Result<(ActiveSettings, Styles, Vec<String>), SettingsError> {
        let mut settings = Settings::load(file)?;
        let waiting = waiting(&settings, began_with);
        // What the recogniser writes is part of every profile, and waits for a restart as its section does.
        settings.input = began_with.input.clone();
        settings.output = began_with.output.clone();
        let profiles = settings.profiles()?;
        let known: Vec<&str> = models.keys().collect();
        if let Some(model) = profiles.models().into_iter().find(|m| !known.contains(&m.as_str())) {
            return Err(SettingsError(format!(
                "model {model:?} is not loaded: expected one of {known:?}; a profile with another one needs a restart"
            )));
        }
        if profiles.any_asks_second() && models.second.is_none() {
            return Err(SettingsError(
                "a profile has a second_stage, and its model is not loaded: expected second_stage = \"off\"; another value needs a restart".into(),
            ));
        }
        if let Some(gone) = self.profiles.all().find(|p| profiles.all().all(|q| q.name != p.name)) {
            return Err(SettingsError(format!(
                "profiles.{} is gone, and calls may be open with it: keep it until the next restart",
                gone.name
            )));
        }
        let (mut next, styles) = ActiveSettings::new(&settings, profiles, models)?;
        next.quotas = self.quotas.followed_by(next.profiles.quotas(), now);
        Ok((next, styles, waiting))
    }
}

/// Names of changed sections that are not taken over.
fn waiting(new: &Settings, old: &Settings) -> Vec<String> {
    let table = |s: &Settings| toml::Table::try_from(s).expect("settings are TOML");
    let (new, old) = (table(new), table(old));
    let taken_over = ["profiles", "tenants", "unknown_tenant", "limits"];
    new.into_iter()
        .filter(|(name, value)| !taken_over.contains(&name.as_str()) && old.get(name) != Some(value))
        .map(|(n, _)| n)
        .collect()
}
