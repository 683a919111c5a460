//! What a grammar file says, as the parser gives it: tables, rules, classes, with their places.

use std::fmt;
use std::sync::Arc;

/// Where something stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    /// file, as it was named
    pub file: Arc<str>,
    /// from 1
    pub line: usize,
    /// from 1, in characters
    pub column: usize,
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Why a grammar cannot be used: place, expected, got.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct GrammarError {
    /// where
    pub place: SourcePosition,
    /// what is wrong there
    pub what: String,
}

/// A piece of what is said.
#[derive(Clone, Debug, PartialEq)]
pub enum SpokenPattern {
    /// a word, in lower case
    Word(String),
    /// a table, a rule or a built-in part, under a name
    Part {
        /// as the written side calls it
        name: String,
        /// what it is
        of: String,
        /// where it is named
        place: SourcePosition,
    },
    /// all of them, in order
    Seq(Vec<SpokenPattern>),
    /// one of them
    Any(Vec<SpokenPattern>),
    /// it, or nothing
    Perhaps(Box<SpokenPattern>),
    /// it, once or more often
    Many(Box<SpokenPattern>, SourcePosition),
}

/// A piece of how it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenPattern {
    /// as it stands
    Text(String),
    /// what a part wrote, through filters
    Part {
        /// the part's name
        name: String,
        /// applied in order
        filters: Vec<String>,
        /// where it is used
        place: SourcePosition,
    },
}

/// One way to say and write something.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// what is said
    pub said: SpokenPattern,
    /// how it is written
    pub written: Vec<WrittenPattern>,
    /// thousandths; more is a later choice
    pub cost: u32,
    /// where it begins
    pub place: SourcePosition,
}

/// A table's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// words
    pub said: Vec<String>,
    /// text
    pub written: String,
    /// its place in the table's file
    pub place: SourcePosition,
}

/// Something with a name.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// rows of said and written
    Table(Vec<Row>),
    /// alternatives, the first preferred
    Rule(Vec<Alternative>),
}

/// What one file defines.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// names, where they are defined, and what they are
    pub items: Vec<(String, SourcePosition, Item)>,
    /// classes
    pub classes: Vec<Class>,
    /// labels of the tagger
    pub labels: Vec<Label>,
    /// dictionaries
    pub dictionaries: Vec<Dictionary>,
}

/// What spans with one of the tagger's labels are tried as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// as the tagger calls it
    pub label: String,
    /// labels of classes: the first that accepts a span writes it
    pub classes: Vec<String>,
    /// where it stands
    pub place: SourcePosition,
}

/// Words and how they are written where nothing else formats them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dictionary {
    /// its name, for messages
    pub name: String,
    /// its rows
    pub rows: Vec<Row>,
    /// letters stay as the rows have them, even at the beginning of a sentence
    pub exact: bool,
    /// each row is also said and written in the plural
    pub plurals: bool,
}

/// A class of spans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// as the tagger calls it
    pub label: String,
    /// the rule that writes it
    pub rule: String,
    /// found wherever its words are said, without a tagger, and before everything else
    pub recipe: bool,
    /// thousandths that a span of it costs in a sentence, where leaving a word as it is costs [`PLAIN_COST`]
    pub cost: u32,
    /// where it stands
    pub place: SourcePosition,
}

/// What a word costs that is left as spoken in a sentence, thousandths.
pub const PLAIN_COST: u32 = 1000;
/// What a span costs in a sentence where its class does not say, thousandths.
pub const SPAN_COST: u32 = 500;
/// What a recipe costs where it does not say: of those that could match, the ones that take more words win.
pub const RECIPE_COST: u32 = 100;
