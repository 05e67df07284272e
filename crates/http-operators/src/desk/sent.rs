//! The values of a form: what a page knows, or what an operator sent, and the change that it asks for.

use std::fmt::Display;

use countersign_domain::act::ActName;
use countersign_domain::error::OAuthErrorCode;
use countersign_domain::wallet::{AccountKind, WalletAccount};
use countersign_http_actix::error::ApiError;
use countersign_http_actix::extract::body::Body;
use countersign_ports::StoreError;
use serde::Serialize;

use super::scope_lines::lines_of;

/// The value of a tick.
pub(super) const TICKED: &str = "yes";

/// The values of a form.
#[derive(Clone, Debug, Default)]
pub(super) struct Sent(Vec<(String, String)>);

/// What was sent for one input.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    sent: &'a Sent,
    name: &'static str,
}

/// A field that cannot have its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Wrong {
    pub(super) name: &'static str,
    /// The rule that it breaks, in English.
    pub(super) why: String,
}

/// What is wrong with a form, in one line.
pub(super) fn written(wrong: &[Wrong]) -> String {
    let each = wrong
        .iter()
        .map(|Wrong { name, why }| if why.contains(name) { why.clone() } else { format!("{name} {why}") });
    each.collect::<Vec<_>>().join("; ")
}

/// Why a form asks for no change.
#[derive(Debug)]
pub(super) enum Unfit {
    /// Fields cannot have their values.
    Fields(Vec<Wrong>),
    /// It names no change.
    NoChange,
    /// The change cannot be written down.
    Unwritable,
    /// A user or wallet could not be looked up.
    Store(StoreError),
}

impl Sent {
    /// Reads a form of ours. A name that occurs twice is refused, unless it may.
    pub(super) fn read(body: &Body, may_repeat: fn(&str) -> bool) -> Result<Self, ApiError> {
        body.require_form(OAuthErrorCode::InvalidRequest)?;
        let pairs = body.pairs()?;
        for (place, (name, _)) in pairs.iter().enumerate() {
            let is_double = pairs.iter().take(place).any(|(before, _)| before == name);
            if is_double && !may_repeat(name) {
                return Err(ApiError::invalid_request("form: a field was sent twice"));
            }
        }
        // Browsers send the line breaks of a form as CR LF.
        let pairs = pairs.into_iter().map(|(name, value)| (name, value.replace("\r\n", "\n")));
        Ok(Self(pairs.filter(|(_, value)| !value.is_empty()).collect()))
    }

    /// Adds a value.
    pub(super) fn and(mut self, name: &str, value: impl ToString) -> Self {
        self.0.push((name.to_owned(), value.to_string()));
        self
    }

    pub(super) fn one(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    pub(super) fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    pub(super) const fn given(&self, name: &'static str) -> Given<'_> {
        Given { sent: self, name }
    }

    /// The values that ask for the same text again.
    pub(super) fn to_repeat(&self) -> impl Iterator<Item = (&str, &str)> {
        let values = self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        values.filter(|(name, _)| !["form", "signer"].contains(name))
    }

    /// The name of the act that the form asks for.
    pub(super) fn name(&self) -> Option<ActName> {
        ActName::parse(self.one("change")?)
    }

    /// The wallet of the operator that is to sign, if the form names one: the account, after its kind and a space
    /// if it has one.
    pub(super) fn signer(&self, wallets: &[WalletAccount]) -> Result<Option<WalletAccount>, Unfit> {
        let signer = self.given("signer");
        let Some(named) = signer.text() else { return Ok(None) };
        let (kind, account) = match named.split_once(' ') {
            Some((kind, account)) => (AccountKind::parse(kind), account),
            None => (None, named),
        };
        let is_it = |wallet: &&WalletAccount| wallet.caip10() == account && wallet.kind() == kind;
        let found = wallets.iter().find(is_it).cloned();
        signer.judged(found.map(Some).ok_or("is not a wallet of yours that may sign"))
    }
}

impl<'a> Given<'a> {
    /// What was judged, unless it is wrong.
    pub(super) fn judged<T>(self, judged: Result<T, impl Display>) -> Result<T, Unfit> {
        judged.map_err(|why| Unfit::Fields(vec![Wrong { name: self.name, why: why.to_string() }]))
    }

    /// The value without the spaces around it.
    pub(super) fn text(self) -> Option<&'a str> {
        self.sent.one(self.name).map(str::trim).filter(|value| !value.is_empty())
    }

    pub(super) fn required(self) -> Result<&'a str, Unfit> {
        self.judged(self.text().ok_or("is missing"))
    }

    pub(super) fn id<T>(self, parse: fn(&str) -> Option<T>) -> Result<T, Unfit> {
        self.judged(parse(self.required()?).ok_or("is not an id"))
    }

    pub(super) fn parsed<T, E: Display>(self, parse: fn(&str) -> Result<T, E>) -> Result<T, Unfit> {
        self.judged(parse(self.required()?))
    }

    pub(super) fn optional<T, E: Display>(self, parse: fn(&str) -> Result<T, E>) -> Result<Option<T>, Unfit> {
        self.judged(self.text().map(parse).transpose())
    }

    /// All values of ticks.
    pub(super) fn all(self) -> impl Iterator<Item = &'a str> {
        self.sent.all(self.name)
    }

    /// The lines, or the values of ticks.
    pub(super) fn lines(self) -> Vec<String> {
        self.all().flat_map(lines_of).map(str::to_owned).collect()
    }

    /// Names with commas between them, without spaces.
    pub(super) fn names(self) -> Result<String, Unfit> {
        let names = self.required()?.split(',').map(str::trim).filter(|name| !name.is_empty());
        Ok(names.collect::<Vec<_>>().join(","))
    }

    pub(super) fn is_ticked(self) -> bool {
        self.sent.one(self.name) == Some(TICKED)
    }
}
