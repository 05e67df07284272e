//! Reads a text that someone signed, ours or a stranger's, to show what it says.
//!
//! Nothing is ever decided from what is read here. A login compares whole texts by their fingerprints, and a
//! program's text is written again and compared ([`ProgramText`](super::ProgramText)). So the reader accepts
//! anything that resembles a message of ERC-4361 or CAIP-122, and drops none of its lines.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::KIND;
use super::text_key::MAX_TEXT;
use crate::wallet::AccountKind;

/// What a text says. All of it is only a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadText<'a> {
    /// The domain that asks, as written: a host, perhaps with a scheme in front.
    pub domain: &'a str,
    /// The kind of account that signs, for example `Ethereum`.
    pub account_kind: &'a str,
    /// The address that signs.
    pub address: Option<&'a str>,
    /// What the signer agrees to. It has more than one line only if the author ignored the standard.
    pub statement: Option<String>,
    /// What the signature is for.
    pub uri: Option<&'a str>,
    /// The version of the message.
    pub version: Option<&'a str>,
    /// The chain, as the family writes it.
    pub chain_id: Option<&'a str>,
    /// The nonce of the message.
    pub nonce: Option<&'a str>,
    /// When the text was issued.
    pub issued_at: Option<&'a str>,
    /// When it expires.
    pub expiration_time: Option<&'a str>,
    /// When it becomes valid.
    pub not_before: Option<&'a str>,
    /// The author's id for the request.
    pub request_id: Option<&'a str>,
    /// The resources: what else the signer agrees to.
    pub resources: Vec<&'a str>,
    /// Lines that are not in the standard, or that repeat a field.
    pub other_lines: Vec<&'a str>,
}

impl<'a> ReadText<'a> {
    /// Reads a text. `None` if it does not start like such a message, because then its parts cannot be
    /// separated, or if it is longer than 8 KiB.
    pub fn read(text: &'a str) -> Option<Self> {
        if text.len() > MAX_TEXT {
            return None;
        }
        let mut lines = text.lines().map(str::trim_end).skip_while(|line| line.is_empty());
        let (domain, rest) = lines.next()?.split_once(" wants you to sign in with your ")?;
        let account_kind = rest.strip_suffix(" account:")?;
        if domain.trim().is_empty() {
            return None;
        }
        let address = lines.next().map(str::trim).filter(|address| !address.is_empty());
        let mut read = Self { domain: domain.trim(), account_kind, address, ..Self::default() };
        let mut statement = Vec::new();
        let mut part = Part::Statement;
        for line in lines.filter(|line| !line.is_empty()) {
            if line == "Resources:" && part != Part::Resources {
                part = Part::Resources;
            } else if let (Part::Resources, Some(resource)) = (part, line.strip_prefix("- ")) {
                read.resources.push(resource);
            } else if let Some((field, value)) = read.field(line) {
                *field = Some(value);
                part = Part::Fields;
            } else if part == Part::Statement {
                statement.push(line);
            } else {
                read.other_lines.push(line);
            }
        }
        read.statement = (!statement.is_empty()).then(|| statement.join("\n"));
        Some(read)
    }

    /// The domain without a scheme in front.
    pub fn host(&self) -> &'a str {
        self.domain.split_once("://").map_or(self.domain, |(_, host)| host)
    }

    /// Whether a key or a contract must sign, from our entry among the resources. `None` unless there is
    /// exactly one such entry and it is valid.
    pub fn signer_kind(&self) -> Option<AccountKind> {
        let mut words = self.resources.iter().filter_map(|resource| resource.strip_prefix(KIND));
        let kind = AccountKind::parse(words.next()?)?;
        words.next().is_none().then_some(kind)
    }

    /// The resources that access tokens are for, in a text like ours: those after client and scopes. In other
    /// texts they cannot be separated from the rest.
    pub fn access_to(&self) -> &[&'a str] {
        let words = self.resources.iter().rposition(|resource| resource.starts_with("urn:countersign:"));
        words.and_then(|last| self.resources.get(last + 1..)).unwrap_or_default()
    }

    /// When the text expires by its own words, if they are a valid time.
    pub fn expires_at(&self) -> Option<OffsetDateTime> {
        OffsetDateTime::parse(self.expiration_time?, &Rfc3339).ok()
    }

    /// The field that a line fills, if the line is a field and the field is still empty.
    fn field(&mut self, line: &'a str) -> Option<(&mut Option<&'a str>, &'a str)> {
        let (name, value) = line.split_once(": ")?;
        let field = match name {
            "URI" => &mut self.uri,
            "Version" => &mut self.version,
            "Chain ID" => &mut self.chain_id,
            "Nonce" => &mut self.nonce,
            "Issued At" => &mut self.issued_at,
            "Expiration Time" => &mut self.expiration_time,
            "Not Before" => &mut self.not_before,
            "Request ID" => &mut self.request_id,
            _ => return None,
        };
        field.is_none().then_some((field, value))
    }
}

/// The part of the text that a line belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Statement,
    Fields,
    Resources,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::challenge::tests::text;

    fn cases(file: &str) -> Vec<Value> {
        let document: Value = serde_json::from_str(file).unwrap();
        document["cases"].as_object().unwrap().values().cloned().collect()
    }

    #[test]
    fn our_own_texts_are_read_field_by_field() {
        let text = text([1; 12]);
        let read = ReadText::read(&text).unwrap();
        assert_eq!(
            (read.domain, read.host(), read.account_kind),
            ("auth.example", "auth.example", "Ethereum")
        );
        assert_eq!(read.address, Some("0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"));
        let statement = "Sign in to photos.example. This costs nothing and cannot move funds.";
        assert_eq!(read.statement.as_deref(), Some(statement));
        assert_eq!(read.uri, Some("https://auth.example/oauth/login"));
        assert_eq!((read.version, read.chain_id), (Some("1"), Some("1")));
        assert_eq!(read.nonce.map(str::len), Some(56));
        assert_eq!(read.issued_at, Some("2025-06-25T10:12:36Z"));
        assert_eq!(read.expires_at().unwrap().unix_timestamp(), 1_750_846_356 + 300);
        assert_eq!(read.request_id, Some("00000000-0000-0000-0000-000000000005"));
        assert_eq!(read.resources.first(), Some(&"https://photos.example"));
        assert_eq!((read.resources.len(), read.other_lines.len()), (3, 0));
    }

    #[test]
    fn the_texts_of_other_libraries_are_read_as_they_read_them() {
        let cases = cases(include_str!("../../../../../tests/vectors/siwe/parsing_positive.json"));
        assert!(cases.len() > 5);
        for case in cases {
            let read = ReadText::read(case["message"].as_str().unwrap()).unwrap_or_else(|| panic!("{case}"));
            let told = |name: &str| case["fields"][name].as_str();
            let chain_id = case["fields"]["chainId"].as_u64().unwrap().to_string();
            assert_eq!(Some(read.host()), told("domain"), "{case}");
            assert_eq!(read.address, told("address"), "{case}");
            assert_eq!(
                read.statement.as_deref(),
                told("statement").filter(|text| !text.is_empty()),
                "{case}"
            );
            assert_eq!((read.uri, read.version), (told("uri"), told("version")), "{case}");
            assert_eq!((read.chain_id, read.nonce), (Some(chain_id.as_str()), told("nonce")), "{case}");
            assert_eq!((read.issued_at, read.expiration_time), (told("issuedAt"), told("expirationTime")));
            assert_eq!((read.not_before, read.request_id), (told("notBefore"), told("requestId")), "{case}");
            let resources: Vec<_> = case["fields"]["resources"].as_array().into_iter().flatten().collect();
            assert_eq!(read.resources, resources, "{case}");
            assert_eq!(read.other_lines, [""; 0], "{case}");
        }
    }

    #[test]
    fn a_text_that_is_no_such_message_has_no_fields() {
        let long = format!("a wants you to sign in with your b account:\n{}", "c".repeat(MAX_TEXT));
        let others = [
            "",
            "\n\n",
            "I agree",
            " wants you to sign in with your Ethereum account:",
            "evil.example wants you to sign in with your Ethereum",
            "evil.example wants your Ethereum account:\n0xA",
            &long,
        ];
        for text in others {
            assert_eq!(ReadText::read(text), None, "{:.60}", text);
        }
    }

    #[test]
    fn what_a_stranger_wrote_carelessly_is_read_all_the_same() {
        let text = "\r\nhttps://evil.example wants you to sign in with your Solana account:\r\n  4dex  \r\nGive me\r\nall \
                    of it\r\nNonce: 1\r\nURI: https://evil.example/a\r\nColor: red\r\nResources:\r\n- ipfs://a\r\n\r\n";
        let read = ReadText::read(text).unwrap();
        assert_eq!((read.domain, read.host()), ("https://evil.example", "evil.example"));
        assert_eq!((read.address, read.statement.as_deref()), (Some("4dex"), Some("Give me\nall of it")));
        assert_eq!((read.nonce, read.uri), (Some("1"), Some("https://evil.example/a")));
        assert_eq!((read.resources, read.other_lines), (vec!["ipfs://a"], vec!["Color: red"]));
        let shortest = ReadText::read("a wants you to sign in with your b account:").unwrap();
        assert_eq!((shortest.domain, shortest.account_kind, shortest.address), ("a", "b", None));
    }

    /// B-010.
    #[test]
    fn a_line_that_comes_twice_is_shown_and_not_dropped() {
        let text = "a wants you to sign in with your b account:\nc\n\nURI: https://one.example\n. Really.\n\
                    URI: https://two.example\nResources:\n- d\nResources:\n- e";
        let read = ReadText::read(text).unwrap();
        assert_eq!(read.uri, Some("https://one.example"));
        assert_eq!(read.other_lines, [". Really.", "URI: https://two.example", "Resources:"]);
        assert_eq!(read.resources, ["d", "e"]);
    }

    #[test]
    fn f_15_the_kind_of_the_signer_is_read_where_the_text_says_one() {
        let kind = |resources: &str| {
            let text = format!("a wants you to sign in with your b account:\nc\n\nResources:\n{resources}");
            ReadText::read(&text).unwrap().signer_kind()
        };
        assert_eq!(kind("- https://a\n- urn:countersign:kind:contract"), Some(AccountKind::Contract));
        assert_eq!(kind("- urn:countersign:kind:key"), Some(AccountKind::Key));
        for resources in [
            "",
            "- urn:countersign:kind:",
            "- urn:countersign:kind:Key",
            "- urn:countersign:other-kind:key",
            "- urn:countersign:kind:key\n- urn:countersign:kind:contract",
        ] {
            assert_eq!(kind(resources), None, "{resources}");
        }
    }

    /// B-009.
    #[test]
    fn an_expiration_that_is_no_time_is_none() {
        for words in ["", "soon", "2025-02-30T00:00:00Z", "9999999-01-01T00:00:00Z", "2025-06-25"] {
            let text = format!("a wants you to sign in with your b account:\nc\n\nExpiration Time: {words}");
            assert_eq!(ReadText::read(&text).unwrap().expires_at(), None, "{words}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_read_stood_in_the_text_and_no_line_is_lost(
            lines in prop::collection::vec(
                "(URI|Nonce|Chain ID|Expiration Time|Resources|Color|-)?:? ?.{0,20}\r?", 0..12,
            ),
        ) {
            let text = format!("a wants you to sign in with your b account:\nc\n{}", lines.join("\n"));
            let read = ReadText::read(&text).unwrap();
            let _ = read.expires_at();
            let told = [read.uri, read.chain_id, read.nonce, read.expiration_time, read.version, read.issued_at];
            let told: Vec<&str> = told.into_iter().chain([read.not_before, read.request_id]).flatten().collect();
            let statement = read.statement.unwrap_or_default();
            let shown = told.len() + read.resources.len() + read.other_lines.len() + statement.lines().count();
            let written = text.lines().skip(2).filter(|line| !line.trim_end().is_empty()).count();
            let headings = text.lines().skip(2).filter(|line| line.trim_end() == "Resources:").count();
            prop_assert!(told.iter().all(|value| text.contains(value)));
            prop_assert!(shown == written || (headings > 0 && shown < written && written - shown <= headings));
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "(.{0,20} wants you to sign in with your .{0,9} account:)?\\PC*") {
            let _ = ReadText::read(&text);
        }
    }
}
