//! Label selectors as Kubernetes writes them (S5, R-H3).

use std::collections::BTreeMap;
use std::fmt;

/// A parsed `byLabel` selector: every requirement must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selector {
    /// The text as it was written.
    pub text: String,
    /// What must hold; nothing means everybody.
    pub requirements: Vec<Requirement>,
}

/// One requirement of a selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Requirement {
    /// `k=v`, `k==v`, `k in (a,b)`.
    In(String, Vec<String>),
    /// `k!=v`, `k notin (a,b)`; also holds where the key is absent.
    NotIn(String, Vec<String>),
    /// `k`.
    Exists(String),
    /// `!k`.
    DoesNotExist(String),
}

/// Why a selector was refused, and where in its text (character, from 0).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectorError {
    /// What is wrong.
    pub message: String,
    /// Where in the selector, in characters from 0.
    pub at: usize,
}

impl Selector {
    /// Reads a selector. The empty text selects everybody; `k=` and `k in ()` mean the empty value
    /// (R-H3).
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let length = text.chars().count();
        if length > 512 {
            let message = format!("a selector has at most 512 characters, this one has {length}");
            return Err(SelectorError { message, at: 512 });
        }
        let mut parser = Reader { tokens: tokens(text), next: 0, end: length };
        let mut requirements = vec![];
        while parser.next < parser.tokens.len() {
            requirements.push(parser.requirement()?);
            match parser.take() {
                None => break,
                Some((Token::Comma, at)) if parser.next == parser.tokens.len() => {
                    return Err(SelectorError::new("a requirement is missing after the comma", at));
                }
                Some((Token::Comma, _)) => {}
                Some((token, at)) => {
                    return Err(SelectorError::new(
                        format!("a comma is missing before {token}"),
                        at,
                    ));
                }
            }
        }
        Ok(Self { text: text.to_owned(), requirements })
    }

    /// Whether a member with these labels is selected.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.requirements.iter().all(|requirement| match requirement {
            Requirement::In(key, values) => labels.get(key).is_some_and(|v| values.contains(v)),
            Requirement::NotIn(key, values) => labels.get(key).is_none_or(|v| !values.contains(v)),
            Requirement::Exists(key) => labels.contains_key(key),
            Requirement::DoesNotExist(key) => !labels.contains_key(key),
        })
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl SelectorError {
    fn new(message: impl Into<String>, at: usize) -> Self {
        Self { message: message.into(), at }
    }
}

/// A piece of a selector's text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Equals,
    NotEquals,
    Not,
    Comma,
    Open,
    Close,
    /// A character that begins nothing.
    Other(char),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(f, "`{word}`"),
            Self::Equals => f.write_str("`=`"),
            Self::NotEquals => f.write_str("`!=`"),
            Self::Not => f.write_str("`!`"),
            Self::Comma => f.write_str("`,`"),
            Self::Open => f.write_str("`(`"),
            Self::Close => f.write_str("`)`"),
            Self::Other(c) => write!(f, "`{c}`"),
        }
    }
}

fn tokens(text: &str) -> Vec<(Token, usize)> {
    let mut tokens = vec![];
    let mut chars = text.chars().enumerate().peekable();
    while let Some((at, c)) = chars.next() {
        let token = match c {
            _ if c.is_whitespace() => continue,
            '=' => {
                chars.next_if(|(_, next)| *next == '=');
                Token::Equals
            }
            '!' if chars.next_if(|(_, next)| *next == '=').is_some() => Token::NotEquals,
            '!' => Token::Not,
            ',' => Token::Comma,
            '(' => Token::Open,
            ')' => Token::Close,
            '<' | '>' => Token::Other(c),
            _ => {
                let mut word = String::from(c);
                let goes_on = |c: char| !c.is_whitespace() && !"=!,()<>".contains(c);
                while let Some((_, next)) = chars.next_if(|(_, next)| goes_on(*next)) {
                    word.push(next);
                }
                Token::Word(word)
            }
        };
        tokens.push((token, at));
    }
    tokens
}

struct Reader {
    tokens: Vec<(Token, usize)>,
    next: usize,
    /// Where the text ends, for errors about what is missing there.
    end: usize,
}

impl Reader {
    fn take(&mut self) -> Option<(Token, usize)> {
        let token = self.tokens.get(self.next).cloned();
        self.next += 1;
        token
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(token, _)| token)
    }

    fn requirement(&mut self) -> Result<Requirement, SelectorError> {
        let absent = self.peek() == Some(&Token::Not);
        if absent {
            self.next += 1;
        }
        let key = self.key()?;
        if absent {
            return Ok(Requirement::DoesNotExist(key));
        }
        match self.peek() {
            None | Some(Token::Comma) => Ok(Requirement::Exists(key)),
            Some(Token::Equals) => Ok(Requirement::In(key, vec![self.value_after()?])),
            Some(Token::NotEquals) => Ok(Requirement::NotIn(key, vec![self.value_after()?])),
            Some(Token::Word(word)) if word == "in" => Ok(Requirement::In(key, self.values()?)),
            Some(Token::Word(word)) if word == "notin" => {
                Ok(Requirement::NotIn(key, self.values()?))
            }
            Some(Token::Other(c)) => {
                let message = format!("`{c}` is not among the operators: =, ==, !=, in, notin");
                Err(SelectorError::new(message, self.tokens[self.next].1))
            }
            Some(token) => {
                let message =
                    format!("{token} cannot follow the key `{key}`: an operator or a comma must");
                Err(SelectorError::new(message, self.tokens[self.next].1))
            }
        }
    }

    fn key(&mut self) -> Result<String, SelectorError> {
        match self.take() {
            Some((Token::Word(key), _)) if is_label_key(&key) => Ok(key),
            Some((Token::Word(key), at)) => {
                let message = format!(
                    "`{key}` is not a label key: at most 63 letters, digits, `-`, `_` and `.`, a \
                     letter or digit at both ends, perhaps after a DNS prefix and `/`"
                );
                Err(SelectorError::new(message, at))
            }
            Some((token, at)) => {
                Err(SelectorError::new(format!("a label key is missing before {token}"), at))
            }
            None => Err(SelectorError::new("a label key is missing at the end", self.end)),
        }
    }

    fn value_after(&mut self) -> Result<String, SelectorError> {
        self.next += 1;
        match self.peek() {
            None | Some(Token::Comma) => Ok(String::new()),
            _ => self.value(),
        }
    }

    fn value(&mut self) -> Result<String, SelectorError> {
        match self.take() {
            Some((Token::Word(value), _)) if is_label_value(&value) => Ok(value),
            Some((Token::Word(value), at)) => {
                let message = format!(
                    "`{value}` is not a label value: at most 63 letters, digits, `-`, `_` and `.`, \
                     a letter or digit at both ends"
                );
                Err(SelectorError::new(message, at))
            }
            Some((token, at)) => Err(SelectorError::new(format!("{token} is not a value"), at)),
            None => Err(SelectorError::new("a value is missing at the end", self.end)),
        }
    }

    /// The values in brackets after `in` or `notin`; nothing between two commas is the empty value.
    fn values(&mut self) -> Result<Vec<String>, SelectorError> {
        self.next += 1;
        match self.take() {
            Some((Token::Open, _)) => {}
            Some((_, at)) => {
                return Err(SelectorError::new("values stand in brackets: (a, b)", at));
            }
            None => return Err(SelectorError::new("values stand in brackets: (a, b)", self.end)),
        }
        let mut values = vec![];
        loop {
            match self.peek() {
                Some(Token::Comma | Token::Close) => values.push(String::new()),
                _ => values.push(self.value()?),
            }
            match self.take() {
                Some((Token::Close, _)) => return Ok(values),
                Some((Token::Comma, _)) => {}
                Some((token, at)) => {
                    let message = format!("a comma or `)` is missing before {token}");
                    return Err(SelectorError::new(message, at));
                }
                None => return Err(SelectorError::new("a `)` is missing at the end", self.end)),
            }
        }
    }
}

/// 1–63 letters, digits, `-`, `_`, `.`, a letter or digit at both ends.
fn is_label_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    bytes.len() <= 63
        && ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn is_label_value(value: &str) -> bool {
    value.is_empty() || is_label_name(value)
}

fn is_label_key(key: &str) -> bool {
    let Some((prefix, name)) = key.split_once('/') else { return is_label_name(key) };
    let is_dns_label = |label: &str| {
        let bytes = label.as_bytes();
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
    };
    is_label_name(name) && prefix.len() <= 253 && prefix.split('.').all(is_dns_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn s5_every_operator_selects_as_kubernetes_does() {
        let prod = labels(&[("env", "prod"), ("tier", "web")]);
        let bare = labels(&[]);
        for (text, on_prod, on_bare) in [
            ("env=prod", true, false),
            ("env==prod", true, false),
            ("env!=prod", false, true),
            ("env != dev", true, true),
            ("env in (dev, prod)", true, false),
            ("env notin (dev,prod)", false, true),
            ("env notin (dev)", true, true),
            ("env", true, false),
            ("!env", false, true),
            ("! env", false, true),
            ("env=prod,tier=web", true, false),
            ("env=prod, tier!=web", false, false),
            ("", true, true),
            ("   ", true, true),
        ] {
            let selector = Selector::parse(text).unwrap();
            assert_eq!(selector.matches(&prod), on_prod, "{text} on prod");
            assert_eq!(selector.matches(&bare), on_bare, "{text} on a member without labels");
        }
    }

    #[test]
    fn r_h3_corners_are_read_as_kubernetes_reads_them() {
        let empty = || vec![String::new()];
        let one = |text: &str| Selector::parse(text).unwrap().requirements.remove(0);
        assert_eq!(one("k="), Requirement::In("k".into(), empty()));
        assert_eq!(one("k!="), Requirement::NotIn("k".into(), empty()));
        assert_eq!(one("k in ()"), Requirement::In("k".into(), empty()));
        assert_eq!(one("k in (a,)"), Requirement::In("k".into(), vec!["a".into(), String::new()]));
        assert_eq!(one("in in (in)"), Requirement::In("in".into(), vec!["in".into()]));
        assert_eq!(one("notin"), Requirement::Exists("notin".into()));
        assert_eq!(one("k=in"), Requirement::In("k".into(), vec!["in".into()]));
        assert_eq!(one("a.io/k=v"), Requirement::In("a.io/k".into(), vec!["v".into()]));
        assert_eq!(Selector::parse("k=,j").unwrap().requirements.len(), 2);
    }

    #[test]
    fn r_h3_what_kubernetes_refuses_is_refused_at_its_place() {
        for (text, at) in [
            ("a,", 1),
            (",a", 0),
            ("a b", 2),
            ("a=b c", 4),
            ("a>1", 1),
            ("a <1", 2),
            ("=b", 0),
            ("a in b", 5),
            ("a in", 4),
            ("a in (b", 7),
            ("a in (b c)", 8),
            ("!a=b", 2),
            ("!", 1),
            ("a=-b", 2),
            ("-a=b", 0),
            ("A.io/k", 0),
            ("a.io/k/j", 0),
            ("a=(b)", 2),
            ("a,,b", 2),
        ] {
            let error = Selector::parse(text).expect_err(text);
            assert_eq!(error.at, at, "{text}: {error}");
        }
        let long = format!("k={}", "v".repeat(64));
        assert!(Selector::parse(&long).is_err());
        let many = vec!["key"; 129].join(",");
        assert!(Selector::parse(&many).unwrap_err().message.contains("512"));
    }
}
