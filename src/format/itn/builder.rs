//! A small kit to build word-level transducers with rustfst: input labels are spoken words, output labels pieces of text.

use std::collections::HashMap;

use rustfst::algorithms::closure::{ClosureType, closure};
use rustfst::algorithms::compose::compose;
use rustfst::algorithms::concat::concat;
use rustfst::algorithms::rm_epsilon::rm_epsilon;
use rustfst::algorithms::union::union;
use rustfst::algorithms::{connect, shortest_path, tr_sort};
use rustfst::prelude::*;

/// A transducer over the kit's symbols.
pub type Grammar = VectorFst<TropicalWeight>;

/// Input label of a word that no grammar names.
const OTHER: Label = 1;
/// Output label that stands for the input word itself.
const ITSELF: Label = 1;

/// Symbols shared by all grammars of a language, and the operations that build them. Operations take and give whole
/// grammars: they are a few hundred states and built once.
pub struct Kit {
    inputs: HashMap<String, Label>,
    outputs: Vec<String>,
    output_ids: HashMap<String, Label>,
}

impl Default for Kit {
    fn default() -> Self {
        // 0 is epsilon, 1 the word itself.
        Kit { inputs: HashMap::new(), outputs: vec![String::new(), String::new()], output_ids: HashMap::new() }
    }
}

fn cost(w: f32) -> TropicalWeight {
    TropicalWeight::new(w)
}

impl Kit {
    fn input(&mut self, word: &str) -> Label {
        let next = self.inputs.len() as Label + 2;
        *self.inputs.entry(word.to_string()).or_insert(next)
    }

    fn output(&mut self, text: &str) -> Label {
        if text.is_empty() {
            return EPS_LABEL;
        }
        if let Some(&id) = self.output_ids.get(text) {
            return id;
        }
        let id = self.outputs.len() as Label;
        self.outputs.push(text.to_string());
        self.output_ids.insert(text.to_string(), id);
        id
    }

    /// Accepts the words of `spoken` and writes `written`; either may be empty.
    pub fn say(&mut self, spoken: &str, written: &str) -> Grammar {
        self.say_at(spoken, written, 0.0)
    }

    /// As [`Kit::say`], at a cost that makes it a second choice.
    pub fn say_at(&mut self, spoken: &str, written: &str, weight: f32) -> Grammar {
        let mut labels: Vec<(Label, Label)> = spoken.split_whitespace().map(|w| (self.input(w), EPS_LABEL)).collect();
        let out = self.output(written);
        match labels.first_mut() {
            Some(first) => first.1 = out,
            None => labels.push((EPS_LABEL, out)),
        }
        line(&labels, weight)
    }

    /// Accepts one word that no other rule names, and writes it as it is.
    pub fn other(&self) -> Grammar {
        line(&[(OTHER, ITSELF)], 0.0)
    }

    /// Accepts any word some rule names, and writes it as it is, at a cost.
    pub fn named(&self, weight: f32) -> Grammar {
        let words: Vec<Grammar> = self.inputs.values().map(|&label| line(&[(label, ITSELF)], weight)).collect();
        any(&words.iter().collect::<Vec<_>>())
    }

    /// One of the rows of a table, `spoken<TAB>written`.
    ///
    /// # Panics
    /// If a row has no tab: tables are part of the program, and a test reads them all.
    pub fn table(&mut self, tsv: &str) -> Grammar {
        self.table_with(tsv, |w| w.to_string())
    }

    /// As [`Kit::table`], writing what `written` makes of the second column.
    pub fn table_with(&mut self, tsv: &str, written: impl Fn(&str) -> String) -> Grammar {
        let rows: Vec<Grammar> = rows(tsv).map(|(spoken, text)| self.say(spoken, &written(text))).collect();
        any(&rows.iter().collect::<Vec<_>>())
    }

    /// The cheapest reading of `words`, as text; `None` where the grammar does not accept them all.
    pub fn write(&self, grammar: &Grammar, words: &[&str]) -> Option<String> {
        let labels: Vec<(Label, Label)> =
            words.iter().map(|w| self.inputs.get(*w).copied().unwrap_or(OTHER)).map(|label| (label, label)).collect();
        let lattice: Grammar = compose::<_, Grammar, Grammar, _, _, _>(line(&labels, 0.0), grammar.clone()).ok()?;
        let best: Grammar = shortest_path(&lattice).ok()?;
        let mut state = best.start()?;
        let (mut text, mut at) = (String::new(), 0);
        while let Some(tr) = best.get_trs(state).ok()?.trs().first() {
            match tr.olabel {
                EPS_LABEL => {}
                ITSELF => text.push_str(words[at]),
                label => text.push_str(&self.outputs[label]),
            }
            at += usize::from(tr.ilabel != EPS_LABEL);
            state = tr.nextstate;
        }
        (at == words.len() && !text.is_empty()).then_some(text)
    }
}

/// The rows of a table.
pub fn rows(tsv: &str) -> impl Iterator<Item = (&str, &str)> {
    tsv.lines().map(|line| line.split_once('\t').expect("a table row is spoken<TAB>written"))
}

fn line(labels: &[(Label, Label)], weight: f32) -> Grammar {
    let mut fst = Grammar::new();
    let mut state = fst.add_state();
    fst.set_start(state).expect("the state exists");
    for &(input, output) in labels {
        let next = fst.add_state();
        fst.add_tr(state, Tr::new(input, output, cost(0.0), next)).expect("the state exists");
        state = next;
    }
    fst.set_final(state, cost(weight)).expect("the state exists");
    fst
}

/// One after the other.
pub fn seq(parts: &[&Grammar]) -> Grammar {
    let mut all = parts[0].clone();
    for part in &parts[1..] {
        concat(&mut all, *part).expect("grammars are sound");
    }
    all
}

/// One of them.
pub fn any(parts: &[&Grammar]) -> Grammar {
    let mut all = parts[0].clone();
    for part in &parts[1..] {
        union(&mut all, *part).expect("grammars are sound");
    }
    all
}

/// It, or nothing.
pub fn opt(part: &Grammar) -> Grammar {
    any(&[part, &line(&[], 0.0)])
}

/// It, once or more often.
pub fn many(part: &Grammar) -> Grammar {
    let mut all = part.clone();
    closure(&mut all, ClosureType::ClosurePlus);
    all
}

/// The same, at a cost.
pub fn at_cost(part: &Grammar, weight: f32) -> Grammar {
    seq(&[&line(&[], weight), part])
}

/// Ready to be composed with an input: no empty transitions, sorted.
pub fn finish(part: &Grammar) -> Grammar {
    let mut all = part.clone();
    rm_epsilon(&mut all).expect("grammars are sound");
    connect(&mut all).expect("grammars are sound");
    tr_sort(&mut all, ILabelCompare {});
    all
}
