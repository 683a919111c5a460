//! The generated calls in Spanish, by workers without a model: half of them in a profile of Spain, half in one of Mexico.
//! `FAIRCOPY_LEAKS=all` prints each leak.

use super::*;
use speech::SPANISH;

const LOCALES: [&str; 2] = ["es-ES", "es-MX"];

/// A worker for each locale, with a tenant for all classes and for each class alone.
fn workers() -> Vec<(Bank, Arc<Shared>)> {
    let worker = |locale: &str| {
        let profile = format!("[profiles.default]\nlocale = {locale:?}\n");
        let settings = talk_around::settings(Some("none"), false).replacen("[profiles.default]\n", &profile, 1);
        let bank = Bank::new(SPANISH.list("names"), &settings, "");
        let shared = Arc::new(Shared::with_taggers(bank.settings(), |_| Ok(vec![])).unwrap());
        (bank, shared)
    };
    LOCALES.into_iter().map(worker).collect()
}

/// A call in which secrets are said as they usually are, in whose profile, and what of.
fn usual_call(seed: u64) -> (&'static str, String, Layout, Call) {
    let classes = classes(&SPANISH, seed);
    // By rounds of all classes: every second round has the class alone in the profile.
    let is_alone = classes.len() == 1 && (seed / 22).is_multiple_of(2);
    let tenant = if is_alone { classes[0].split(" (").next().unwrap() } else { "all" };
    let how = if is_alone { "alone in the profile" } else { "with all classes" };
    let what = format!("{}, {how}", if classes.len() == 1 { classes[0] } else { "all together" });
    (tenant, what, USUAL.layout, call::call(&SPANISH, seed, &classes, USUAL))
}

/// Plays calls and gives leaks by class, locale and layout, with an example of each.
fn play(
    seeds: std::ops::Range<u64>,
    call_of: impl Fn(u64) -> (&'static str, String, Layout, Call),
) -> BTreeMap<(String, String), (usize, String)> {
    let workers = workers();
    let prints = std::env::var("FAIRCOPY_LEAKS").is_ok_and(|v| v == "all");
    let mut leaks: BTreeMap<(String, String), (usize, String)> = BTreeMap::new();
    for seed in seeds {
        let (tenant, what, layout, call) = call_of(seed);
        let locale = (seed / 5) as usize % LOCALES.len();
        if let Some(example) = leak(&workers[locale].1, &SPANISH, tenant, &call, seed) {
            if prints {
                println!("LEAK {what}, {} {layout:?}, seed {seed}: {example}", LOCALES[locale]);
            }
            let found = leaks.entry((what, format!("{} {layout:?}", LOCALES[locale]))).or_default();
            found.0 += 1;
            found.1 = format!("seed {seed}: {example}");
        }
    }
    leaks
}

fn count(leaks: &BTreeMap<(String, String), (usize, String)>) -> usize {
    leaks.values().map(|(n, _)| n).sum()
}

#[test]
fn every_generated_call_in_spanish_has_a_secret_that_the_checker_knows() {
    let open = "[profiles.default]\nmodel = \"none\"\nlocale = \"es-ES\"\n";
    let bank = Bank::new(SPANISH.list("names"), open, "");
    let shared = Arc::new(Shared::with_taggers(bank.settings(), |_| Ok(vec![])).unwrap());
    for seed in 0..60 {
        for (.., call) in [usual_call(seed), around_call(&SPANISH, seed)] {
            assert!(leak(&shared, &SPANISH, NOBODY, &call, seed).is_some(), "seed {seed}");
        }
    }
}

#[test]
fn nothing_redacted_is_in_any_record_of_2000_generated_calls_in_spanish() {
    let leaks = play(seeds(0..2_000), usual_call);
    assert_eq!(count(&leaks), 0, "{}", table(&leaks));
}

#[test]
fn hardly_anybody_talks_around_redaction_in_1000_generated_calls_in_spanish() {
    let leaks = play(seeds(0..1_026), |seed| around_call(&SPANISH, seed));
    assert!(count(&leaks) <= MAX_LEAKS, "{} leaks\n{}", count(&leaks), table(&leaks));
}

mod chaos {
    use super::*;

    #[test]
    #[ignore = "long: make chaos"]
    fn nothing_redacted_is_in_any_record_of_2000_other_calls_in_spanish() {
        let leaks = play(seeds(3_000_000..3_002_000), usual_call);
        assert!(count(&leaks) <= MAX_LEAKS, "{} leaks\n{}", count(&leaks), table(&leaks));
    }

    #[test]
    #[ignore = "long: make chaos"]
    fn hardly_anybody_talks_around_redaction_in_2000_other_calls_in_spanish() {
        let leaks = play(seeds(4_000_000..4_002_000), |seed| around_call(&SPANISH, seed));
        assert!(count(&leaks) <= 3 * MAX_LEAKS, "{} leaks\n{}", count(&leaks), table(&leaks));
    }
}
