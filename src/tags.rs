//! The tag set of the joint tagger: the labels that a pass gives to each word.
//!
//! The same four heads as in training (`models/training/faircopy_training/labels.py`); `models/en/labels.json` carries
//! the label names in logit order, and [`Labels::check`] refuses a model whose order differs from this file's. New labels
//! are added at the end of a head's list only, so that a model which was trained before goes on working.

use serde::{Deserialize, Serialize};

/// The mark after a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Punct {
    /// No mark.
    #[default]
    O,
    /// `,`
    Comma,
    /// `.`
    Period,
    /// `?`
    Question,
}

impl Punct {
    /// All labels in logit order.
    pub const ALL: [Punct; 4] = [Punct::O, Punct::Comma, Punct::Period, Punct::Question];

    /// Whether the mark ends a sentence.
    pub fn ends_sentence(self) -> bool {
        matches!(self, Punct::Period | Punct::Question)
    }

    /// The mark as written, empty for none.
    pub fn written(self) -> &'static str {
        match self {
            Punct::O => "",
            Punct::Comma => ",",
            Punct::Period => ".",
            Punct::Question => "?",
        }
    }
}

/// The case of a word. A lone capital letter ("I") is `Cap`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Case {
    /// as it is said
    #[default]
    Lower,
    /// first letter
    Cap,
    /// every letter
    Upper,
    /// by the lexicon (iPhone, McKay)
    Mixed,
}

impl Case {
    /// All labels in logit order.
    pub const ALL: [Case; 4] = [Case::Lower, Case::Cap, Case::Upper, Case::Mixed];
}

/// The class of an ITN entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ItnClass {
    /// 42
    Cardinal,
    /// 42nd
    Ordinal,
    /// 42%
    Percent,
    /// $42
    Money,
    /// 1942
    Year,
    /// April 2, 1942
    Date,
    /// 4:20 PM
    Time,
    /// 212-555-0142
    Phone,
    /// Q4, AB 1234
    Alphanumeric,
    /// 4-5
    Range,
    /// example.com
    Website,
    /// a@example.com
    Email,
    /// 12 Oak Street, Springfield
    Address,
    /// the day on which somebody was born
    Dob,
    /// a personal identification number
    Pin,
    /// a password or passphrase
    Password,
}

impl ItnClass {
    /// All classes in the order of the label table.
    pub const ALL: [ItnClass; 16] = [
        ItnClass::Cardinal,
        ItnClass::Ordinal,
        ItnClass::Percent,
        ItnClass::Money,
        ItnClass::Year,
        ItnClass::Date,
        ItnClass::Time,
        ItnClass::Phone,
        ItnClass::Alphanumeric,
        ItnClass::Range,
        ItnClass::Website,
        ItnClass::Email,
        ItnClass::Address,
        ItnClass::Dob,
        ItnClass::Pin,
        ItnClass::Password,
    ];

    /// Classes that models without the later ones have: the first so many of [`ItnClass::ALL`].
    pub const FIRST: usize = 12;

    /// The class of a name in the label table.
    pub fn named(label: &str) -> Option<ItnClass> {
        ItnClass::ALL.into_iter().find(|c| c.label() == label)
    }

    /// The name in the label table.
    pub fn label(self) -> &'static str {
        match self {
            ItnClass::Cardinal => "CARDINAL",
            ItnClass::Ordinal => "ORDINAL",
            ItnClass::Percent => "PERCENT",
            ItnClass::Money => "MONEY",
            ItnClass::Year => "YEAR",
            ItnClass::Date => "DATE",
            ItnClass::Time => "TIME",
            ItnClass::Phone => "PHONE",
            ItnClass::Alphanumeric => "ALPHANUMERIC",
            ItnClass::Range => "RANGE",
            ItnClass::Website => "WEBSITE",
            ItnClass::Email => "EMAIL",
            ItnClass::Address => "ADDRESS",
            ItnClass::Dob => "DOB",
            ItnClass::Pin => "PIN",
            ItnClass::Password => "PASSWORD",
        }
    }

    /// The class of redaction that a span with this label is of, whatever its words are.
    pub fn secret(self) -> Option<&'static str> {
        match self {
            ItnClass::Address => Some("address"),
            ItnClass::Dob => Some("dob"),
            ItnClass::Pin => Some("pin"),
            ItnClass::Password => Some("password"),
            _ => None,
        }
    }
}

/// A word's place in an ITN span, in BIO notation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Itn {
    /// outside
    #[default]
    O,
    /// begins a span
    B(ItnClass),
    /// goes on in the span of the word before
    I(ItnClass),
}

impl Itn {
    /// Label number `n` of the head: `O`, then `B-` and `I-` of each class.
    pub fn from_index(n: usize) -> Option<Itn> {
        if n == 0 {
            return Some(Itn::O);
        }
        let class = *ItnClass::ALL.get((n - 1) / 2)?;
        Some(if n % 2 == 1 { Itn::B(class) } else { Itn::I(class) })
    }

    /// The label's number in the head.
    pub fn index(self) -> usize {
        let class = |c: ItnClass| ItnClass::ALL.iter().position(|&other| other == c).expect("ALL has every class");
        match self {
            Itn::O => 0,
            Itn::B(c) => 2 * class(c) + 1,
            Itn::I(c) => 2 * class(c) + 2,
        }
    }

    /// Number of labels of the head.
    pub const COUNT: usize = 1 + 2 * ItnClass::ALL.len();

    /// Whether this word continues the span of `before`. An `I` of another class begins a new span.
    pub fn continues(self, before: Itn) -> bool {
        match (before, self) {
            (Itn::B(a) | Itn::I(a), Itn::I(b)) => a == b,
            _ => false,
        }
    }

    /// The class, inside a span.
    pub fn class(self) -> Option<ItnClass> {
        match self {
            Itn::O => None,
            Itn::B(c) | Itn::I(c) => Some(c),
        }
    }
}

/// `O`, `B-MONEY`, `I-MONEY`, as in the label table.
impl std::fmt::Display for Itn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Itn::O => f.write_str("O"),
            Itn::B(class) => write!(f, "B-{}", class.label()),
            Itn::I(class) => write!(f, "I-{}", class.label()),
        }
    }
}

/// The disfluency type of a word. Words with any type but `O` and `Rp` are removed from readable text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Disfluency {
    /// fluent
    #[default]
    O,
    /// filled pause
    F,
    /// editing term ("I mean")
    E,
    /// discourse marker ("you know")
    D,
    /// reparandum that is said again word for word
    Rep,
    /// any other reparandum
    Rm,
    /// what is said in a reparandum's place (the repair of Switchboard's labels, the correction of Four-in-One's)
    Rp,
}

impl Disfluency {
    /// All labels in logit order.
    pub const ALL: [Disfluency; 7] =
        [Disfluency::O, Disfluency::F, Disfluency::E, Disfluency::D, Disfluency::Rep, Disfluency::Rm, Disfluency::Rp];

    /// Labels that models without the later ones have: the first so many of [`Disfluency::ALL`].
    pub const FIRST: usize = 6;

    /// Whether a word of this type stays in readable text.
    pub fn stays(self) -> bool {
        matches!(self, Disfluency::O | Disfluency::Rp)
    }
}

/// The four labels that a pass gives to a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tags {
    /// the mark after it
    pub punct: Punct,
    /// its case
    pub case: Case,
    /// its place in an ITN span
    pub itn: Itn,
    /// its disfluency type
    pub disfluency: Disfluency,
}

impl Tags {
    /// Each head's label by its number in the table.
    pub fn to_bytes(self) -> [u8; 4] {
        [self.punct as u8, self.case as u8, self.itn.index() as u8, self.disfluency as u8]
    }

    /// Of [`Tags::to_bytes`]; `None` where a number names no label.
    pub fn from_bytes([punct, case, itn, disfluency]: [u8; 4]) -> Option<Tags> {
        Some(Tags {
            punct: *Punct::ALL.get(usize::from(punct))?,
            case: *Case::ALL.get(usize::from(case))?,
            itn: Itn::from_index(usize::from(itn))?,
            disfluency: *Disfluency::ALL.get(usize::from(disfluency))?,
        })
    }
}

/// `labels.json` of a model: label names per head in logit order.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Labels {
    /// name of the model, sent in every segment
    pub model: String,
    /// marks
    pub punct: Vec<String>,
    /// cases
    pub case: Vec<String>,
    /// ITN spans
    pub itn: Vec<String>,
    /// disfluencies
    pub disfluency: Vec<String>,
    /// kinds of speech that the model knows; the first, "any", stands for a kind that is not known
    pub styles: Vec<String>,
    /// what each step from one ITN label to the next adds to a path's score ([`crate::infer::path`])
    pub itn_follows: Vec<Vec<f32>>,
    /// the tokenizer's and the encoder's special tokens
    pub tokens: SpecialTokens,
    /// what the model takes of the boundaries before words ([`Labels::INPUTS`]); older models take none
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
}

/// Tokens of an encoder that stand for no word.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct SpecialTokens {
    /// id of the first token of every row
    pub cls: u32,
    /// id of the last token of a row whose speaker has stopped
    pub sep: u32,
    /// the tokenizer's name of a word that it cannot divide
    pub unknown: String,
}

impl Labels {
    /// What a model may take of the boundary before each word: [`Prosody`](crate::infer::prosody::Prosody)'s parts in their order.
    pub const INPUTS: [&str; 3] = ["pauses", "gaps", "speakers"];

    /// The labels this program knows, under the name `model`.
    pub fn ours(model: &str) -> Labels {
        let strings = |names: &[&str]| names.iter().map(|n| n.to_string()).collect();
        let mut itn = vec!["O".to_string()];
        for class in ItnClass::ALL {
            itn.push(format!("B-{}", class.label()));
            itn.push(format!("I-{}", class.label()));
        }
        Labels {
            model: model.to_string(),
            punct: strings(&["O", "COMMA", "PERIOD", "QUESTION"]),
            case: strings(&["LOWER", "CAP", "UPPER", "MIXED"]),
            itn,
            disfluency: strings(&["O", "F", "E", "D", "REP", "RM", "RP"]),
            styles: strings(&["any"]),
            itn_follows: vec![vec![0.0; Itn::COUNT]; Itn::COUNT],
            tokens: SpecialTokens { cls: 101, sep: 102, unknown: "[UNK]".to_string() },
            inputs: Vec::new(),
        }
    }

    /// Checks that the labels are those of this program. The lists of ITN labels and of disfluencies may lack the labels
    /// that were added last. The error names the head that differs, what was expected and what was got.
    pub fn check(&self) -> Result<(), String> {
        let ours = Labels::ours(&self.model);
        for (head, want, got, first) in [
            ("punct", &ours.punct, &self.punct, Punct::ALL.len()),
            ("case", &ours.case, &self.case, Case::ALL.len()),
            ("itn", &ours.itn, &self.itn, 1 + 2 * ItnClass::FIRST),
            ("disfluency", &ours.disfluency, &self.disfluency, Disfluency::FIRST),
        ] {
            if want != got && want[..first] != got[..] {
                let or = if first < want.len() { format!(", or the first {first} of them") } else { String::new() };
                return Err(format!("head {head:?}: expected {want:?}{or}, got {got:?}"));
            }
        }
        if self.styles.first().is_none_or(|s| s != "any") {
            return Err(format!("styles: expected \"any\" and then the kinds of speech, got {:?}", self.styles));
        }
        let twice = |i: usize| self.inputs[..i].contains(&self.inputs[i]);
        if (0..self.inputs.len()).any(|i| !Labels::INPUTS.contains(&self.inputs[i].as_str()) || twice(i)) {
            return Err(format!("inputs: expected some of {:?}, each once, got {:?}", Labels::INPUTS, self.inputs));
        }
        Ok(())
    }

    /// The place of each head among the logits of a token.
    pub fn heads(&self) -> Heads {
        Heads { itn: self.itn.len(), disfluency: self.disfluency.len() }
    }
}

/// The place of each head among the logits of a token. The heads stand side by side: marks, case, ITN, disfluency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    /// labels of the ITN head
    itn: usize,
    /// labels of the disfluency head
    disfluency: usize,
}

impl Heads {
    const ITN_FROM: usize = Punct::ALL.len() + Case::ALL.len();

    /// Place of the ITN head.
    pub fn itn(self) -> std::ops::Range<usize> {
        Heads::ITN_FROM..Heads::ITN_FROM + self.itn
    }

    /// Number of logits of one token.
    pub fn width(self) -> usize {
        Heads::ITN_FROM + self.itn + self.disfluency
    }

    /// The best label of each head, from one token's logits ([`Heads::width`] of them). A tie goes to the lower label. The
    /// ITN label is the best one for this word alone; [`crate::infer::path`] fits the labels of several words together.
    pub fn best(self, logits: &[f32], tilt: Tilt) -> Tags {
        debug_assert_eq!(logits.len(), self.width());
        let (marks, rest) = logits.split_at(Punct::ALL.len());
        let top = |part: &[f32]| (1..part.len()).fold(0, |top, i| if part[i] > part[top] { i } else { top });
        let (case, rest) = rest.split_at(Case::ALL.len());
        let (itn, disfluency) = rest.split_at(self.itn);
        let mark = top(&[marks[0], marks[1] + tilt.comma, marks[2] + tilt.period, marks[3] + tilt.question]);
        let tilted = |(&logit, label): (&f32, Disfluency)| if label.stays() { logit - tilt.disfluency } else { logit };
        let disfluency: Vec<f32> = disfluency.iter().zip(Disfluency::ALL).map(tilted).collect();
        Tags {
            punct: Punct::ALL[mark],
            case: Case::ALL[top(case)],
            itn: Itn::from_index(top(itn)).unwrap_or_default(),
            disfluency: Disfluency::ALL[top(&disfluency)],
        }
    }
}

/// A profile's tilt, which is added to logits. Above 0 there are more marks, or more words taken for disfluent; below 0
/// fewer. Where logits are calibrated, a mark with tilt x is taken if it is at least e^-x times as probable as no mark.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tilt {
    /// commas
    pub comma: f32,
    /// full stops
    pub period: f32,
    /// question marks
    pub question: f32,
    /// all types of disfluency alike
    pub disfluency: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_itn_label_has_the_index_that_its_name_has_in_the_table() {
        let labels = Labels::ours("m");
        for (n, name) in labels.itn.iter().enumerate() {
            let made = match Itn::from_index(n).expect("in range") {
                Itn::O => "O".to_string(),
                Itn::B(c) => format!("B-{}", c.label()),
                Itn::I(c) => format!("I-{}", c.label()),
            };
            assert_eq!(&made, name);
            assert_eq!(Itn::from_index(n).unwrap().index(), n);
        }
        assert_eq!(Itn::from_index(Itn::COUNT), None);
    }

    #[test]
    fn a_label_table_in_another_order_is_refused_by_name() {
        let mut labels = Labels::ours("m");
        labels.case.swap(0, 1);
        assert!(labels.check().unwrap_err().starts_with("head \"case\""));
    }

    #[test]
    fn a_model_may_lack_the_labels_that_were_added_last_and_no_others() {
        let mut older = Labels::ours("m");
        older.itn.truncate(1 + 2 * ItnClass::FIRST);
        older.disfluency.truncate(Disfluency::FIRST);
        assert_eq!(older.check(), Ok(()));
        assert_eq!((older.heads().width(), Labels::ours("m").heads().width()), (8 + 25 + 6, 8 + 33 + 7));
        let mut some = Labels::ours("m");
        some.itn.truncate(1 + 2 * ItnClass::FIRST + 2);
        assert!(some.check().unwrap_err().contains("or the first 25 of them, got"));
        let mut more = Labels::ours("m");
        more.disfluency.push("X".into());
        assert!(more.check().unwrap_err().starts_with("head \"disfluency\""));
        older.case.pop();
        assert!(older.check().unwrap_err().starts_with("head \"case\""));
    }

    #[test]
    fn a_model_that_takes_what_nobody_measures_is_refused() {
        let of = |inputs: &[&str]| Labels { inputs: inputs.iter().map(|i| i.to_string()).collect(), ..Labels::ours("m") };
        assert_eq!(of(&Labels::INPUTS).check(), Ok(()));
        assert_eq!(of(&["gaps"]).check(), Ok(()));
        for wrong in [&["pitch"][..], &["pauses", "pauses"], &["Pauses"]] {
            let error = of(wrong).check().unwrap_err();
            assert!(
                error.starts_with("inputs: expected some of [\"pauses\", \"gaps\", \"speakers\"], each once, got"),
                "{error}"
            );
        }
        let older: Labels = serde_json::from_value(serde_json::to_value(of(&[])).unwrap()).unwrap();
        assert!(older.inputs.is_empty() && !serde_json::to_string(&older).unwrap().contains("inputs"));
    }

    #[test]
    fn a_repair_is_tilted_with_the_fluent_words() {
        let heads = Labels::ours("m").heads();
        let mut logits = vec![0.0; heads.width()];
        let disfluency = heads.itn().end;
        (logits[disfluency + 6], logits[disfluency + 5]) = (1.0, 0.5); // RP, RM
        assert_eq!(heads.best(&logits, Tilt::default()).disfluency, Disfluency::Rp);
        assert_eq!(heads.best(&logits, Tilt { disfluency: 1.0, ..Tilt::default() }).disfluency, Disfluency::Rm);
        assert!(Disfluency::Rp.stays() && !Disfluency::Rm.stays());
    }

    #[test]
    fn best_takes_each_heads_own_maximum() {
        let heads = Labels::ours("m").heads();
        let best = |logits: &[f32], tilt| heads.best(logits, tilt);
        let mut logits = vec![0.0; heads.width()];
        logits[3] = 1.0; // QUESTION
        logits[4 + 2] = 1.0; // UPPER
        logits[8 + 4] = 1.0; // I-ORDINAL
        logits[8 + Itn::COUNT + 5] = 1.0; // RM
        let none = Tilt::default();
        let tags = best(&logits, none);
        assert_eq!(best(&logits, Tilt { question: -1.5, ..none }).punct, Punct::O, "a tilt against questions");
        assert_eq!(best(&logits, Tilt { period: 1.5, ..none }).punct, Punct::Period, "a tilt towards full stops");
        assert_eq!(best(&logits, Tilt { disfluency: -1.5, ..none }).disfluency, Disfluency::O, "a tilt against disfluencies");
        assert_eq!(tags.punct, Punct::Question);
        assert_eq!(tags.case, Case::Upper);
        assert_eq!(tags.itn, Itn::I(ItnClass::Ordinal));
        assert_eq!(tags.disfluency, Disfluency::Rm);
    }
}
