//! The one owner of a rule: nothing acts on a cookie alone (ADR 0032, F-02).
//!
//! Whatever a browser's cookie carries and changes something comes from a page of ours, and says so by a secret that stands in the form
//! of that page: a MAC over the cookie's own secret and over what the form does. Another site can make a browser send the cookie; it cannot read
//! the page. A form of another browser, of another action, of another request or of somebody who signed in there before is none.

use actix_session::Session;
use actix_web::HttpRequest;
use countersign_domain::error::{OAuthErrorCode, message};
use countersign_domain::form_key::FormKey;
use countersign_domain::id::GrantId;
use countersign_domain::pending::PendingAuthorization;
use countersign_ports::{Entropy, EntropyExt};

use crate::error::ApiError;
use crate::session;
use crate::state::AppState;

/// What a form does, with all that it names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action<'a> {
    /// Goes on to a client as an account (CAIP-10) that the page named.
    Continue { request: &'a PendingAuthorization, account: &'a str },
    /// Says no to a client.
    Deny { request: &'a PendingAuthorization },
    /// Goes on to what waits under a device's code.
    EnterDeviceCode,
    /// Signs out for a client that sent these fields.
    SignOut { fields: &'a [(&'static str, &'a str)] },
    /// Asks for a new signature.
    SignInAgain,
    /// Takes the access of a client away.
    RevokeAccess { client: &'a str },
    /// Ends one session, this one or all.
    EndSessions { which: &'a str },
    /// Puts an e-mail address on file.
    PutEmail,
    /// Takes it off.
    RemoveEmail,
    /// Confirms it by the link with this secret; `shared` where the person was told of another account.
    ConfirmEmail { token: &'a str, shared: &'a str },
    /// Deletes the account.
    DeleteAccount,
    /// Gives everything as a file.
    DownloadData,
    /// Asks for the texts of a change of wallets.
    BeginWalletChange,
    /// Makes the change that has this challenge.
    ChangeWallets { challenge: GrantId },
}

/// The cookie that carries an action.
enum Carrier {
    /// The session of pending requests.
    Session,
    /// The remembered sign-in.
    Login,
}

impl Action<'_> {
    const fn carrier(&self) -> Carrier {
        match self {
            Self::Continue { .. }
            | Self::Deny { .. }
            | Self::EnterDeviceCode
            | Self::ChangeWallets { .. } => Carrier::Session,
            Self::SignOut { .. }
            | Self::SignInAgain
            | Self::RevokeAccess { .. }
            | Self::EndSessions { .. }
            | Self::PutEmail
            | Self::RemoveEmail
            | Self::ConfirmEmail { .. }
            | Self::DeleteAccount
            | Self::DownloadData
            | Self::BeginWalletChange => Carrier::Login,
        }
    }

    /// Its name, and all that it names.
    fn says(&self) -> Vec<String> {
        let owned = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect();
        match self {
            Self::Continue { request, account } => owned(&["continue", &request.fingerprint(), account]),
            Self::Deny { request } => owned(&["deny", &request.fingerprint()]),
            Self::EnterDeviceCode => owned(&["device"]),
            Self::SignOut { fields } => {
                let fields = fields.iter().flat_map(|(name, value)| [*name, *value]);
                ["sign out"].into_iter().chain(fields).map(str::to_owned).collect()
            }
            Self::SignInAgain => owned(&["sign in again"]),
            Self::RevokeAccess { client } => owned(&["revoke", client]),
            Self::EndSessions { which } => owned(&["end sessions", which]),
            Self::PutEmail => owned(&["put email"]),
            Self::RemoveEmail => owned(&["remove email"]),
            Self::ConfirmEmail { token, shared } => owned(&["confirm email", token, shared]),
            Self::DeleteAccount => owned(&["delete account"]),
            Self::DownloadData => owned(&["download data"]),
            Self::BeginWalletChange => owned(&["begin wallet change"]),
            Self::ChangeWallets { challenge } => owned(&["change wallets", &challenge.to_string()]),
        }
    }
}

/// The forms of one browser.
pub(crate) struct Forms<'a> {
    key: &'a FormKey,
    session: Option<String>,
    login: Option<String>,
}

impl AppState {
    /// The forms of the browser that asks, for what its remembered sign-in carries.
    pub(crate) fn forms(&self, request: &HttpRequest) -> Forms<'_> {
        let login = self.browser(request).login.map(|login| login.expose().to_owned());
        Forms { key: &self.form_key, session: None, login }
    }
}

impl Forms<'_> {
    /// Adds the session, to judge what it carries.
    pub(crate) fn with(mut self, session: &Session) -> Self {
        self.session = session::mark(session);
        self
    }

    /// Adds the session, to write a page; one that has no mark yet gets one.
    pub(crate) fn with_new(mut self, session: &Session, entropy: &dyn Entropy) -> Result<Self, ApiError> {
        self.session = Some(session::mark_or_new(session, || entropy.bytes())?);
        Ok(self)
    }

    /// What stands in the field `form` of a page's form. A browser without the cookie has nothing that the form could act on.
    pub(crate) fn secret(&self, action: &Action<'_>) -> String {
        let says = action.says();
        let says: Vec<&str> = says.iter().map(String::as_str).collect();
        self.binding(action).map(|binding| self.key.secret(binding, &says)).unwrap_or_default()
    }

    /// Refuses a form that does not come from a page of ours that this browser was shown. What a remembered sign-in would carry, and
    /// comes without one, is let through: there is nobody whom it could act for, and the use-case says so.
    pub(crate) fn require(&self, action: &Action<'_>, presented: Option<&str>) -> Result<(), ApiError> {
        let says = action.says();
        let says: Vec<&str> = says.iter().map(String::as_str).collect();
        let is_good = match (self.binding(action), action.carrier()) {
            (Some(binding), _) => self.key.admits(binding, &says, presented.unwrap_or_default()),
            (None, Carrier::Login) => true,
            (None, Carrier::Session) => false,
        };
        if is_good {
            Ok(())
        } else {
            Err(ApiError::new(OAuthErrorCode::ForeignOrigin, message::FOREIGN_FORM))
        }
    }

    fn binding(&self, action: &Action<'_>) -> Option<&str> {
        match action.carrier() {
            Carrier::Session => self.session.as_deref(),
            Carrier::Login => self.login.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use countersign_domain::id::ClientId;
    use countersign_domain::pending::{ClientRequest, Requester};
    use countersign_domain::redirect_uri::RedirectUri;
    use countersign_domain::scope::{Scope, ScopeSet};
    use time::OffsetDateTime;

    use super::*;

    fn request(scopes: &[Scope]) -> PendingAuthorization {
        let redirect_uri = RedirectUri::from_trusted("https://photos.example/cb".to_owned());
        let now = OffsetDateTime::UNIX_EPOCH;
        let request = ClientRequest::bare(ClientId::at(now, [1; 10]), redirect_uri, ScopeSet::of(scopes));
        PendingAuthorization::of(Requester::Client(request), now)
    }

    fn forms<'a>(key: &'a FormKey, mark: &str) -> Forms<'a> {
        Forms { key, session: Some(mark.to_owned()), login: Some(format!("login of {mark}")) }
    }

    /// F-02: every pair of different forms and browsers.
    #[test]
    fn f_02_a_secret_is_for_one_browser_one_action_and_one_request() {
        let key = FormKey::new([7; 32]);
        let (little, much) = (request(&[Scope::Profile]), request(&[Scope::Profile, Scope::Email]));
        let [one, other] = [1, 2].map(|number| GrantId::at(OffsetDateTime::UNIX_EPOCH, [number; 10]));
        let actions = [
            Action::Continue { request: &little, account: "eip155:1:0xA" },
            Action::Continue { request: &little, account: "eip155:1:0xB" },
            Action::Continue { request: &much, account: "eip155:1:0xA" },
            Action::Deny { request: &little },
            Action::Deny { request: &much },
            Action::EnterDeviceCode,
            Action::SignOut { fields: &[] },
            Action::SignOut { fields: &[("state", "x")] },
            Action::SignInAgain,
            Action::RevokeAccess { client: "a" },
            Action::RevokeAccess { client: "b" },
            Action::EndSessions { which: "this" },
            Action::EndSessions { which: "all" },
            Action::PutEmail,
            Action::RemoveEmail,
            Action::ConfirmEmail { token: "x", shared: "" },
            Action::ConfirmEmail { token: "x", shared: "yes" },
            Action::ConfirmEmail { token: "y", shared: "" },
            Action::DeleteAccount,
            Action::DownloadData,
            Action::BeginWalletChange,
            Action::ChangeWallets { challenge: one },
            Action::ChangeWallets { challenge: other },
        ];
        let (ours, theirs) = (forms(&key, "ours"), forms(&key, "theirs"));
        for (number, action) in actions.iter().enumerate() {
            let secret = ours.secret(action);
            for (other_number, other) in actions.iter().enumerate() {
                let is_same = number == other_number;
                assert_eq!(ours.require(other, Some(&secret)).is_ok(), is_same, "{action:?} {other:?}");
                assert!(theirs.require(other, Some(&secret)).is_err(), "{action:?} {other:?}");
            }
            for wrong in [None, Some(""), Some("x"), Some(&secret[1..])] {
                assert!(ours.require(action, wrong).is_err(), "{action:?} {wrong:?}");
            }
        }
    }

    #[test]
    fn a_browser_without_a_session_sends_no_form_of_it() {
        let key = FormKey::new([7; 32]);
        let nobody = Forms { key: &key, session: None, login: None };
        let deny = request(&[]);
        let deny = Action::Deny { request: &deny };
        assert!(nobody.require(&deny, Some(&nobody.secret(&deny))).is_err());
        assert!(nobody.require(&Action::RemoveEmail, None).is_ok(), "there is nobody whose address it is");
    }
}
