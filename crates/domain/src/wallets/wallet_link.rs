//! Links that open an application in the browser of a wallet. On a phone, wallets are only in their own
//! browsers, so a person starts again there. The operator chooses the wallets. A link names the application
//! and nothing of a request that is pending (ADR 0015).

use std::fmt::Write as _;

use url::Url;

use crate::addresses::host;
use crate::readable::{NameRejected, judge_name};

/// The place of the whole address, percent-encoded.
const URL: &str = "{url}";
/// The place of the address without `https://`.
const BARE_URL: &str = "{bare_url}";
const MAX_NAME: usize = 40;
const MAX_TEMPLATE: usize = 500;

/// A wallet, and how to open an address in its browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletLink {
    name: String,
    template: String,
}

/// Why this is not such a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WalletLinkRejected {
    /// The name is not one that people can read.
    #[error("the name {0}")]
    Name(#[from] NameRejected),
    /// The name does not fit on a button.
    #[error("the name has more than {MAX_NAME} characters")]
    LongName,
    /// The link is not an https address.
    #[error("the link is not an https address of {MAX_TEMPLATE} characters at most")]
    NotHttps,
    /// The link does not say where the application's address goes.
    #[error("the link must hold {URL} or {BARE_URL} after its host, and no other braces")]
    Place,
}

impl WalletLink {
    /// How many wallets fit on the page.
    pub const MOST: usize = 8;

    /// Checks a wallet's name and the template of its link.
    pub fn new(name: &str, template: &str) -> Result<Self, WalletLinkRejected> {
        let name = judge_name(name)?;
        if name.chars().count() > MAX_NAME {
            return Err(WalletLinkRejected::LongName);
        }
        let example = filled(template, "x", "x");
        let has_no_place = example == template || example.contains(['{', '}']);
        if has_no_place {
            return Err(WalletLinkRejected::Place);
        }
        let is_printable =
            template.len() <= MAX_TEMPLATE && template.bytes().all(|byte| byte.is_ascii_graphic());
        let url = Url::parse(&example).ok().filter(|url| is_printable && is_plain_https(&example, url));
        if url.is_none() {
            return Err(WalletLinkRejected::NotHttps);
        }
        let authority = template.trim_start_matches("https://").split(['/', '?', '#']).next();
        if authority.is_some_and(|authority| authority.contains('{')) {
            return Err(WalletLinkRejected::Place);
        }
        Ok(Self { name: name.to_owned(), template: template.to_owned() })
    }

    /// The wallet's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The link that opens this address in the wallet.
    pub fn to(&self, address: &str) -> String {
        let bare = address.trim_start_matches("https://").trim_start_matches("http://");
        filled(&self.template, &encoded(address, ""), &encoded(bare, "/:"))
    }
}

fn is_plain_https(text: &str, url: &Url) -> bool {
    let has_user = !url.username().is_empty() || url.password().is_some();
    url.scheme() == "https" && !has_user && host::judge(text, url).is_ok()
}

fn filled(template: &str, url: &str, bare: &str) -> String {
    // Neither value has braces, so the second replacement cannot find a place in the first value.
    template.replace(URL, url).replace(BARE_URL, bare)
}

/// Percent-encodes everything but unreserved characters (RFC 3986 section 2.3) and these.
fn encoded(text: &str, kept: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        let character = char::from(byte);
        if byte.is_ascii_alphanumeric() || "-._~".contains(character) || kept.contains(character) {
            encoded.push(character);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(template: &str) -> Result<WalletLink, WalletLinkRejected> {
        WalletLink::new("MetaMask", template)
    }

    #[test]
    fn a_link_holds_the_application_s_address_and_nothing_that_it_holds_can_leave_its_place() {
        let cases = [
            (
                "https://link.metamask.io/dapp/{bare_url}",
                "https://link.metamask.io/dapp/shop.example/a%3Fb=c",
            ),
            ("https://phantom.app/ul/browse/{url}?ref={url}", ""),
            (
                "https://go.example/dapp?cb_url={url}",
                "https://go.example/dapp?cb_url=https%3A%2F%2Fshop.example%2Fa%3Fb%3Dc",
            ),
        ];
        for (template, expected) in cases {
            let opened = link(template).unwrap().to("https://shop.example/a?b=c");
            let whole = "https%3A%2F%2Fshop.example%2Fa%3Fb%3Dc";
            let expected = match expected {
                "" => format!("https://phantom.app/ul/browse/{whole}?ref={whole}"),
                text => text.replace("b=c", "b%3Dc"),
            };
            assert_eq!(opened, expected);
        }
        let hostile = link("https://w.example/?u={url}&v={bare_url}#x").unwrap();
        let opened = hostile.to("https://shop.example/&u=https://evil.example/#{url}\u{202e}");
        assert_eq!(Url::parse(&opened).unwrap().host_str(), Some("w.example"));
        assert_eq!(opened.matches('&').count(), 1, "{opened}");
        assert!(opened.is_ascii() && !opened.contains('{'), "{opened}");
    }

    #[test]
    fn what_is_no_link_to_one_host_is_refused() {
        let long = format!("https://w.example/{}?u={{url}}", "x".repeat(MAX_TEMPLATE));
        for template in [
            "http://w.example/{url}",
            "metamask://dapp/{url}",
            "javascript:alert('{url}')",
            "https://user@w.example/{url}",
            "https://w_.example/{url}",
            "https:///{url}",
            "https://w.example/ {url}",
            "https://w.example\\{url}",
            long.as_str(),
        ] {
            assert_eq!(link(template), Err(WalletLinkRejected::NotHttps), "{template}");
        }
        for template in [
            "https://w.example/",
            "https://{url}/",
            "https://w.example{bare_url}",
            "https://{bare_url}.w.example/",
            "https://w.example/{uri}",
            "https://w.example/{url}{",
        ] {
            assert_eq!(link(template), Err(WalletLinkRejected::Place), "{template}");
        }
    }

    #[test]
    fn a_name_can_be_read_and_fits_on_a_button() {
        let template = "https://w.example/{url}";
        assert_eq!(WalletLink::new(" Trust Wallet ", template).unwrap().name(), "Trust Wallet");
        for name in ["", "  ", "Meta\u{202e}Mask", "Meta\u{200b}Mask", &"W".repeat(MAX_NAME + 1)] {
            assert!(WalletLink::new(name, template).is_err(), "{name:?}");
        }
    }
}
