//! Texts of a JSON file and their escapes.

use super::JsonError;
use super::parse::Reader;

impl Reader<'_> {
    /// A text, and whether half a surrogate pair was replaced in it.
    pub(super) fn string(&mut self) -> Result<(String, bool), JsonError> {
        self.offset += 1;
        let (mut text, mut lone) = (String::new(), false);
        loop {
            let plain =
                self.rest().bytes().take_while(|b| !matches!(b, b'"' | b'\\' | 0..0x20)).count();
            text.push_str(self.text.get(self.offset..self.offset + plain).unwrap_or_default());
            self.offset += plain;
            match self.peek() {
                Some(b'"') => {
                    self.offset += 1;
                    return Ok((text, lone));
                }
                Some(b'\\') => {
                    let c = self.escape()?;
                    lone |= c.is_none();
                    text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                Some(_) => {
                    return Err(self.error(
                        "a control character stands in a text",
                        "write it as an escape: `\\n`, `\\t`, `\\u0000`",
                    ));
                }
                None => return Err(self.expected("the closing double quote")),
            }
        }
    }

    /// The character of an escape; `None` of half a surrogate pair.
    fn escape(&mut self) -> Result<Option<char>, JsonError> {
        let kind = self.text.as_bytes().get(self.offset + 1);
        let c = match kind {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => {
                return Err(
                    self.error("this escape is none of JSON's", "write `\\\\` for a backslash")
                );
            }
        };
        self.offset += 2;
        Ok(Some(c))
    }

    fn unicode(&mut self) -> Result<Option<char>, JsonError> {
        let Some(first) = self.hex(self.offset) else {
            return Err(self.error("`\\u` needs four hexadecimal digits", "write all four"));
        };
        self.offset += 6;
        if (0xd800..0xdc00).contains(&first)
            && self.rest().starts_with("\\u")
            && let Some(second @ 0xdc00..0xe000) = self.hex(self.offset)
        {
            self.offset += 6;
            return Ok(char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)));
        }
        Ok(char::from_u32(first))
    }

    /// The four digits of the `\u` at an offset.
    fn hex(&self, at: usize) -> Option<u32> {
        let digits = self.text.get(at + 2..at + 6)?;
        let plain = digits.bytes().all(|b| b.is_ascii_hexdigit());
        plain.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
    }
}
