//! Keys by which names are compared, searched and ordered.
//!
//! A key forgives spelling, never meaning: case, marks of Latin, Greek, Cyrillic, Hebrew and Arabic letters, kinds of hyphens and quotes,
//! `&` and `and`, and punctuation do not count; the marks of Kana and of the Indic scripts are letters and do.
//! A name that is nothing but punctuation keeps a key of its own, so that `!!!` and `???` stay two bands.

pub use super::version::{Title, Version, split_title, split_version};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The leading words that ordering skips, separated by spaces, as `getArtists` announces them.
pub const IGNORED_ARTICLES: &str = "The A An Der Die Das La Le Les El Los Las";

/// The comparison key of a name: equal keys mean that people would call it the same name. Empty only for a name that shows nothing.
///
/// ```
/// use segue_core::catalog::normalise::fold;
/// assert_eq!(fold("Blink\u{2011}182"), fold("blink-182"));
/// assert_eq!(fold("Simon & Garfunkel"), "simon and garfunkel");
/// assert_ne!(fold("!!!"), fold("???"));
/// ```
pub fn fold(name: &str) -> String {
    let mut key = Folder::with_capacity(name.len());
    if name.is_ascii() {
        name.chars().for_each(|c| key.push(c));
        return key.finish(name);
    }
    // Before the decomposition, which turns a free-standing accent used as an apostrophe into a blank.
    let visible = name.chars().filter(|c| !is_apostrophe(*c));
    visible.nfkd().for_each(|c| key.push(c));
    let key = key.finish(name);
    if key.is_ascii() {
        key
    } else {
        key.nfc().collect()
    }
}

/// The key by which a name is ordered: [`fold`] without a leading article, be it written `The Band` or `Band, The`.
pub fn sort_key(name: &str) -> String {
    let name = name.trim();
    let without = leading_article(name).or_else(|| trailing_article(name).map(|(rest, _)| rest));
    match without.map(fold) {
        Some(rest) if !rest.is_empty() => rest,
        Some(_) | None => fold(name),
    }
}

/// The index letter of a [`sort_key`]: its first letter in upper case for scripts that have cases, `#` for all else.
pub fn index_letter(sort_key: &str) -> String {
    match sort_key.chars().next() {
        Some(first) if !first.to_uppercase().eq(std::iter::once(first)) => {
            first.to_uppercase().collect()
        }
        Some(_) | None => "#".to_owned(),
    }
}

/// A name as it is shown: in NFC, without control characters and surrounding blanks.
pub fn display(name: &str) -> String {
    let name = name.trim();
    if name.is_ascii() && !name.bytes().any(|b| b.is_ascii_control()) {
        return name.to_owned();
    }
    name.nfc().filter(|c| !c.is_control()).collect()
}

fn is_article(word: &str) -> bool {
    IGNORED_ARTICLES
        .split(' ')
        .any(|article| article.eq_ignore_ascii_case(word))
}

/// What follows a leading article. `A-ha` and `A.C. Newman` have none: an article is a word by itself.
fn leading_article(name: &str) -> Option<&str> {
    let (head, rest) = name.split_once(char::is_whitespace)?;
    is_article(head).then_some(rest)
}

/// `Beatles, The` as (`Beatles`, `The`).
pub(super) fn trailing_article(name: &str) -> Option<(&str, &str)> {
    let (rest, tail) = name.rsplit_once(',')?;
    is_article(tail.trim()).then_some((rest, tail.trim()))
}

/// Builds a key character by character from decomposed text.
struct Folder {
    key: String,
    /// A blank is due before the next letter.
    gap: bool,
    /// Letters since the last blank or dropped point; decides whether a point abbreviates.
    run: usize,
    /// Something that is no punctuation was seen.
    named: bool,
    has_plus: bool,
}

impl Folder {
    fn with_capacity(capacity: usize) -> Self {
        Folder {
            key: String::with_capacity(capacity),
            gap: false,
            run: 0,
            named: false,
            has_plus: false,
        }
    }

    fn push(&mut self, c: char) {
        if is_apostrophe(c) || is_invisible(c) || is_accent(c) {
            return;
        }
        if c.is_alphanumeric() {
            self.letter(c);
        } else if is_combining_mark(c) {
            self.key.push(c);
        } else if is_symbol(c) {
            self.has_plus |= c == '+';
            self.word(|key| key.push(c));
        } else if c == '&' {
            self.gap = true;
            self.blank();
            self.key.push_str("and");
            self.gap = true;
        } else if matches!(c, '.' | '*')
            && self.run == 1
            && !self.gap
            && self.key.ends_with(char::is_alphabetic)
        {
            // R.E.M. and N*E*R*D are one word.
            self.run = 0;
        } else {
            self.gap = true;
        }
    }

    fn letter(&mut self, c: char) {
        self.word(|key| match c {
            'ß' | 'ẞ' => key.push_str("ss"),
            'ø' | 'Ø' => key.push('o'),
            'æ' | 'Æ' => key.push_str("ae"),
            'œ' | 'Œ' => key.push_str("oe"),
            'ł' | 'Ł' => key.push('l'),
            'đ' | 'Đ' | 'ð' | 'Ð' => key.push('d'),
            'þ' | 'Þ' => key.push_str("th"),
            'ħ' | 'Ħ' => key.push('h'),
            'ŧ' | 'Ŧ' => key.push('t'),
            'ŋ' | 'Ŋ' => key.push('n'),
            'ı' => key.push('i'),
            'ς' => key.push('σ'),
            c if c.is_ascii() => key.push(c.to_ascii_lowercase()),
            c => key.extend(c.to_lowercase()),
        });
    }

    fn word(&mut self, push: impl FnOnce(&mut String)) {
        self.blank();
        self.named = true;
        self.run += 1;
        push(&mut self.key);
    }

    /// Writes the blank that is due, unless it would be the first character.
    fn blank(&mut self) {
        if std::mem::take(&mut self.gap) {
            self.run = 0;
            if !self.key.is_empty() {
                self.key.push(' ');
            }
        }
    }

    fn finish(self, name: &str) -> String {
        if !self.named {
            return punctuation_key(name);
        }
        if self.has_plus {
            spell_plus(&self.key)
        } else {
            self.key
        }
    }
}

/// `florence + the machine`: a plus between words is the word "and"; anywhere else it is part of a name.
fn spell_plus(key: &str) -> String {
    let words: Vec<&str> = key.split(' ').collect();
    let last = words.len() - 1;
    let spelt = words.iter().enumerate().map(|(at, word)| {
        if *word == "+" && at > 0 && at < last {
            "and"
        } else {
            word
        }
    });
    spelt.collect::<Vec<&str>>().join(" ")
}

/// The key of a name without a letter, digit or symbol: itself, in one spelling. It never equals a key of letters.
fn punctuation_key(name: &str) -> String {
    let one_spelling = |c| {
        if is_hyphen(c) {
            '-'
        } else if is_apostrophe(c) {
            '\''
        } else {
            c
        }
    };
    let visible: String = name
        .nfkc()
        .filter(|c| !is_invisible(*c))
        .map(one_spelling)
        .collect();
    visible.split_whitespace().collect::<Vec<&str>>().join(" ")
}

fn is_apostrophe(c: char) -> bool {
    matches!(
        c,
        '\'' | '`' | '´' | '‘' | '’' | '‛' | '′' | 'ʹ' | 'ʻ' | 'ʼ' | 'ʽ' | '＇'
    )
}

fn is_hyphen(c: char) -> bool {
    matches!(
        c,
        '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE58}' | '\u{FE63}' | '\u{FF0D}'
    )
}

/// Characters that show nothing: joiners, direction marks, selectors, controls. Tabs and line ends are blanks.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}' | '\u{FE00}'..='\u{FE0F}')
        || (c.is_control() && !c.is_whitespace())
}

/// Marks that writers leave out without meaning something else: the accents of Latin, Greek and Cyrillic, Hebrew points, Arabic vowels.
pub(crate) fn is_accent(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{36F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}'
            | '\u{591}'..='\u{5BD}' | '\u{64B}'..='\u{65F}' | '\u{670}'
    )
}

/// Signs that are part of a name, not punctuation: `A$AP`, `+44`, a heart.
fn is_symbol(c: char) -> bool {
    matches!(
        c,
        '$' | '+' | '¢'..='¦' | '©' | '¬' | '®' | '°' | '±' | '×' | '÷' | '\u{20A0}'..='\u{20CF}' | '\u{2100}'..='\u{214F}'
            | '\u{2190}'..='\u{2767}' | '\u{2776}'..='\u{27BF}' | '\u{2900}'..='\u{297F}' | '\u{2999}'..='\u{2BFF}' | '\u{1F000}'..='\u{1FAFF}'
    )
}
