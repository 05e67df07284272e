//! The answer that goes back to the client through the browser (RFC 6749 section 4.1.2, RFC 9207).

use std::fmt;

use countersign_domain::error::OAuthError;
use countersign_domain::pending::ClientRequest;
use countersign_domain::redirect_uri::{Destination, RedirectUri};
use countersign_domain::response_mode::ResponseMode;

use crate::Policy;

/// An answer on its way: who gets it, what it says and how it travels.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientAnswer {
    /// Where it goes.
    pub redirect_uri: RedirectUri,
    /// What it says.
    pub parameters: Vec<(String, String)>,
    /// How it travels.
    pub mode: ResponseMode,
}

impl ClientAnswer {
    /// An answer that leads to a page of ours and carries no parameters.
    pub(crate) const fn page(address: RedirectUri) -> Self {
        Self { redirect_uri: address, parameters: Vec::new(), mode: ResponseMode::Query }
    }

    /// The whole address of a redirect.
    pub fn address(&self) -> String {
        if self.parameters.is_empty() {
            return self.redirect_uri.as_str().to_owned();
        }
        let pairs: Vec<_> =
            self.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.redirect_uri.with_answer(&pairs)
    }
}

/// Leaves the parameters out, because one may be a code.
impl fmt::Debug for ClientAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientAnswer").field("redirect_uri", &self.redirect_uri).finish_non_exhaustive()
    }
}

/// Where an answer goes, and how.
#[derive(Clone, Copy)]
pub(crate) struct Addressee<'a> {
    pub(crate) redirect_uri: &'a RedirectUri,
    pub(crate) state: Option<&'a str>,
    pub(crate) mode: ResponseMode,
}

impl<'a> From<&'a ClientRequest> for Addressee<'a> {
    fn from(request: &'a ClientRequest) -> Self {
        Self {
            redirect_uri: &request.redirect_uri,
            state: request.state.as_deref(),
            mode: request.response_mode,
        }
    }
}

/// The answer after a successful sign-in: exactly `code`, `state` and `iss`.
pub(crate) fn with_code<'a>(policy: &Policy, to: impl Into<Addressee<'a>>, code: &str) -> ClientAnswer {
    answer(policy, to.into(), &[("code", code)])
}

/// The answer after a sign-in that failed.
pub(crate) fn with_error<'a>(
    policy: &Policy,
    to: impl Into<Addressee<'a>>,
    error: &OAuthError,
) -> ClientAnswer {
    answer(policy, to.into(), &[("error", error.code.name()), ("error_description", &error.description)])
}

fn answer(policy: &Policy, to: Addressee<'_>, says: &[(&str, &str)]) -> ClientAnswer {
    let state = to.state.map(|state| ("state", state));
    let issuer = ("iss", policy.public_url.as_str());
    let parameters = says.iter().copied().chain(state).chain([issuer]);
    // A browser cannot post a form to an app on the device, so the app is opened with the answer in its
    // address.
    let is_app = matches!(to.redirect_uri.destination(), Destination::App(_));
    ClientAnswer {
        redirect_uri: to.redirect_uri.clone(),
        parameters: parameters.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        mode: if is_app { ResponseMode::Query } else { to.mode },
    }
}
