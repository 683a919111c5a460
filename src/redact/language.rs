//! What redaction compares words with in one language: the folder `redaction/` of the language's folder.
//!
//! Nothing may be open by silence. So a folder is complete or refused: each file and each section must be there, and a
//! section without words says so with a single `-`.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use super::cues::{self, CueTexts};
use super::lists::{FILES, List, ListSet, SECTIONS};
use super::number::{MIN_GLUED, Role, glued};
use crate::format::itn::source::text_of;

/// The folder below the language's folder.
pub const FOLDER: &str = "redaction";
/// The list of frequent words: no sections.
const COMMON: &str = "common.txt";
/// What is said before a secret.
const CUES: &str = "cues.txt";
/// Number words.
const NUMBERS: &str = "numbers.txt";
/// What a section without words has.
const NONE: &str = "-";
/// Largest size of a file, bytes.
const MAX_BYTES: usize = 1 << 20;
/// Most words of one section.
const MAX_WORDS: usize = 10_000;
/// Longest word, bytes.
const MAX_WORD_BYTES: usize = 100;
/// Sections of number words with values: the largest value of each.
const VALUES: [(&str, u64); 6] = [("digits", 9), ("teens", 19), ("tens", 90), ("wholes", 999), ("scales", 1000), ("times", 9)];

/// What redaction compares words with, in one language.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RedactionWords {
    lists: HashMap<Box<str>, ListSet>,
    /// what words begin with, and their lists
    beginnings: Vec<(Box<str>, ListSet)>,
    /// what words end with, and their lists
    ends: Vec<(Box<str>, ListSet)>,
    /// phrases of the lists that have some, with their parts
    phrases: Vec<(List, Vec<Box<str>>)>,
    /// number words
    roles: HashMap<Box<str>, Role>,
    /// what is said before secrets
    pub(super) cues: Vec<CueTexts>,
}

/// English as it was when the program was built: for tests, and for what the program knows of English alone.
static ENGLISH: LazyLock<Arc<RedactionWords>> = LazyLock::new(|| {
    let text = |file: &str| {
        Ok(match file {
            "addresses.txt" => include_str!("../../grammars/en/redaction/addresses.txt"),
            "answers.txt" => include_str!("../../grammars/en/redaction/answers.txt"),
            COMMON => include_str!("../../grammars/en/redaction/common.txt"),
            CUES => include_str!("../../grammars/en/redaction/cues.txt"),
            "email.txt" => include_str!("../../grammars/en/redaction/email.txt"),
            "inside.txt" => include_str!("../../grammars/en/redaction/inside.txt"),
            "kinds.txt" => include_str!("../../grammars/en/redaction/kinds.txt"),
            "names.txt" => include_str!("../../grammars/en/redaction/names.txt"),
            NUMBERS => include_str!("../../grammars/en/redaction/numbers.txt"),
            "questions.txt" => include_str!("../../grammars/en/redaction/questions.txt"),
            "reasons.txt" => include_str!("../../grammars/en/redaction/reasons.txt"),
            "words.txt" => include_str!("../../grammars/en/redaction/words.txt"),
            other => return Err(format!("{other}: no such file")),
        }
        .to_string())
    };
    Arc::new(RedactionWords::of(Path::new(""), text).expect("a test reads the files of English"))
});

impl RedactionWords {
    /// English as it was when the program was built.
    pub fn english() -> Arc<RedactionWords> {
        ENGLISH.clone()
    }

    /// Whether a language's folder has words of redaction.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(FOLDER).is_dir()
    }

    /// Reads the words of a language's folder.
    ///
    /// # Errors
    /// A file is missing, is not UTF-8 or has more than 1 MiB; a section is missing, unknown, there twice or without
    /// words; a word is said to be two things in numbers or inside answers; cues are not in the order of the program. The
    /// message has the file, the line where there is one, and what is expected.
    pub fn read(folder: &Path) -> Result<RedactionWords, String> {
        let folder = folder.join(FOLDER);
        RedactionWords::of(&folder, |file| {
            let path = folder.join(file);
            if !path.is_file() {
                return Err(format!("{}: no such file: expected one, as docs/how-to/add-a-language.md says", path.display()));
            }
            text_of(&path)
        })
    }

    /// Of the files' texts.
    fn of(folder: &Path, text: impl Fn(&str) -> Result<String, String>) -> Result<RedactionWords, String> {
        let mut words = RedactionWords::default();
        let named = |file: &str| folder.join(file).display().to_string();
        let sized = |file: &str| {
            let text = text(file)?;
            let is_small = text.len() <= MAX_BYTES;
            if is_small { Ok(text) } else { Err(format!("{}: expected at most {MAX_BYTES} bytes, got {}", named(file), text.len())) }
        };
        let mut section = Section { name: COMMON.into(), line: 0, words: Vec::new() };
        for (at, line) in sized(COMMON)?.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
            section.words.extend(line.split_whitespace().map(|word| (at + 1, word.to_string())));
        }
        section.check(&named(COMMON))?;
        words.add(List::Common, &section, &named(COMMON))?;
        for file in FILES.iter() {
            let name = named(file);
            let mut wanted: Vec<&str> = SECTIONS.iter().filter(|(of, ..)| of == file).map(|(_, section, _)| *section).collect();
            if *file == NUMBERS {
                wanted.extend(VALUES.iter().map(|(section, _)| *section));
            }
            for section in sections(&sized(file)?, &name, &wanted)? {
                match SECTIONS.iter().find(|(of, name, _)| of == file && **name == *section.name) {
                    Some((.., list)) => words.add(*list, &section, &name)?,
                    None => words.add_numbers(&section, &name)?,
                }
            }
        }
        words.cues = cues::read(&sized(CUES)?, &named(CUES))?;
        Ok(words)
    }

    /// Adds a list's words.
    fn add(&mut self, list: List, section: &Section, file: &str) -> Result<(), String> {
        for (line, word) in &section.words {
            let wrong = |what: &str| format!("{file}:{line}: [{}]: {word:?}: {what}", section.name);
            if is_inside(list) && self.lists.get(&**word).is_some_and(|lists| INSIDE.iter().any(|other| lists.has(*other))) {
                return Err(wrong("expected in one section of this file only: a word stands inside an answer for one reason"));
            }
            if word.contains('_') {
                self.phrases.push((list, word.split('_').map(Box::from).collect()));
                continue;
            }
            let lists = match (word.strip_suffix('*'), word.strip_prefix('*')) {
                (Some(""), _) => return Err(wrong("expected letters beside the *")),
                (Some(of), None) => with_key(&mut self.beginnings, of),
                (None, Some(of)) => with_key(&mut self.ends, of),
                (None, None) => self.lists.entry(word.as_str().into()).or_default(),
                (Some(_), Some(_)) => return Err(wrong("expected one * at most")),
            };
            lists.add(list);
        }
        Ok(())
    }

    /// Adds number words: a value at the beginning of each line.
    fn add_numbers(&mut self, section: &Section, file: &str) -> Result<(), String> {
        let most = VALUES.iter().find(|(name, _)| **name == *section.name).map_or(0, |(_, most)| *most);
        let mut value: Option<(usize, u64)> = None;
        for (line, word) in &section.words {
            let wrong = |what: String| format!("{file}:{line}: [{}]: {word:?}: {what}", section.name);
            let Some((_, value)) = value.filter(|(of, _)| of == line) else {
                let expected = || wrong(format!("expected a line that begins with a value of at most {most}"));
                value = Some((*line, word.parse().ok().filter(|value| *value <= most).ok_or_else(expected)?));
                continue;
            };
            let role = match (&*section.name, value) {
                ("digits", n) => Role::Digit(n as u8),
                ("teens", n @ 10..) => Role::Teen(n as u8),
                ("tens", n @ 20..) if n.is_multiple_of(10) => Role::Tens(n as u8),
                ("wholes", n @ 21..) => Role::Whole(n as u16),
                ("scales", 100) => Role::Hundred,
                ("scales", 1000) => Role::Thousand,
                ("times", n @ 2..) => Role::Times(n as usize),
                (_, value) => return Err(wrong(format!("{value} is no value of this section"))),
            };
            if self.roles.insert(word.as_str().into(), role).is_some() {
                return Err(wrong("expected once: a number word has one value".into()));
            }
        }
        Ok(())
    }

    /// The lists that have a word.
    pub(super) fn lists(&self, text: &str) -> ListSet {
        let mut lists = self.lists.get(text).copied().unwrap_or_default();
        self.beginnings.iter().filter(|(of, _)| text.starts_with(&**of)).for_each(|(_, more)| lists.add_all(*more));
        self.ends.iter().filter(|(of, _)| text.ends_with(&**of)).for_each(|(_, more)| lists.add_all(*more));
        lists
    }

    /// Whether a list has a word.
    pub(super) fn has(&self, text: &str, list: List) -> bool {
        self.lists(text).has(list)
    }

    /// The words of a list's phrases.
    pub(super) fn phrases(&self, list: List) -> impl Iterator<Item = &[Box<str>]> {
        self.phrases.iter().filter(move |(of, _)| *of == list).map(|(_, words)| &**words)
    }

    /// The role of a part by itself.
    pub fn role(&self, part: &str) -> Role {
        if let Some(role) = self.roles.get(part) {
            return *role;
        }
        let lists = self.lists(part);
        match part {
            _ if lists.has(List::NumberNear) => Role::Near,
            _ if INSIDE.iter().any(|list| lists.has(*list)) => Role::Joint,
            _ if part.bytes().all(|b| b.is_ascii_digit()) && !part.is_empty() => Role::Written(part.len()),
            _ if glued(part) >= MIN_GLUED => Role::Glued(glued(part)),
            _ => Role::Other,
        }
    }
}

/// Lists of what may stand inside an answer. A word is in one of them.
pub(super) const INSIDE: [List; 4] =
    [List::InsideSigns, List::InsideCorrections, List::InsideLeads, List::InsideBackChannels];

fn is_inside(list: List) -> bool {
    INSIDE.contains(&list)
}

fn with_key<'a>(all: &'a mut Vec<(Box<str>, ListSet)>, key: &str) -> &'a mut ListSet {
    let at = all.iter().position(|(of, _)| **of == *key).unwrap_or_else(|| {
        all.push((key.into(), ListSet::default()));
        all.len() - 1
    });
    &mut all[at].1
}

/// A section of a file: its name, the line of its head, and its words with their lines.
struct Section {
    name: String,
    line: usize,
    words: Vec<(usize, String)>,
}

impl Section {
    /// Whether the section says something, in words that can be heard.
    fn check(&mut self, file: &str) -> Result<(), String> {
        let name = self.name.clone();
        let wrong = |line: usize, what: String| Err(format!("{file}:{line}: [{name}]: {what}"));
        if self.words.is_empty() {
            return wrong(self.line, format!("no words: expected some, or a line {NONE} where the language has none"));
        }
        if let [(_, word)] = &self.words[..]
            && word == NONE
        {
            self.words.clear();
        }
        if self.words.len() > MAX_WORDS {
            return wrong(self.line, format!("expected at most {MAX_WORDS} words, got {}", self.words.len()));
        }
        for (line, word) in &self.words {
            if word == NONE {
                return wrong(*line, format!("expected {NONE} alone: it says that the language has no such words"));
            }
            if word.len() > MAX_WORD_BYTES {
                return wrong(*line, format!("expected words of at most {MAX_WORD_BYTES} bytes"));
            }
            if *word != word.to_lowercase() {
                return wrong(*line, format!("{word:?}: expected lower case"));
            }
        }
        Ok(())
    }
}

/// The sections of a file, each of which is wanted.
fn sections(text: &str, file: &str, wanted: &[&str]) -> Result<Vec<Section>, String> {
    let mut found: Vec<Section> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let (number, line) = (at + 1, line.trim());
        let wrong = |what: String| Err(format!("{file}:{number}: {what}"));
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            if !wanted.contains(&name) {
                return wrong(format!("no section is called [{name}]: expected one of {}", wanted.join(", ")));
            }
            if let Some(section) = found.iter().find(|section| section.name == name) {
                return wrong(format!("[{name}] is there already, in line {}: expected each section once", section.line));
            }
            found.push(Section { name: name.to_string(), line: number, words: Vec::new() });
            continue;
        }
        let Some(section) = found.last_mut() else {
            return wrong("expected a section such as [signs] before the first words".into());
        };
        section.words.extend(line.split_whitespace().map(|word| (number, word.to_string())));
    }
    found.iter_mut().try_for_each(|section| section.check(file))?;
    match wanted.iter().find(|wanted| !found.iter().any(|section| section.name == **wanted)) {
        Some(missing) => Err(format!("{file}: no section [{missing}]: expected one, with a line {NONE} where the language has no such words")),
        None => Ok(found),
    }
}
