//! The capitals of a name that was spelled.

/// Capitals of a name: at its beginning, after an apostrophe that follows its first letter, after Mc, and after hyphens.
pub fn surname(text: &str) -> String {
    let capital = |text: &str| {
        let mut chars = text.chars();
        chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
    };
    let part = |part: &str| match part.split_once('\'') {
        Some((first, rest)) if first.chars().count() == 1 && rest.chars().count() > 1 => {
            format!("{}'{}", first.to_uppercase(), capital(rest))
        }
        _ => match part.strip_prefix("mc") {
            Some(rest) if rest.len() > 2 => format!("Mc{}", capital(rest)),
            _ => capital(part),
        },
    };
    text.split('-').map(part).collect::<Vec<_>>().join("-")
}
