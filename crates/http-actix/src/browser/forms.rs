//! Owns one rule: nothing changes on a cookie alone (ADR 0032, F-02).
//!
//! If a request changes something, and a cookie carries it, it must come from a page of ours. The form of
//! that page proves it with a secret: a MAC over the cookie's own secret and over what the form does. Another
//! site can make a browser send the cookie, but it cannot read the page. A form is refused if it is for
//! another browser, another action or another request, or for a user who was signed in there before.

use actix_session::Session;
use actix_web::HttpRequest;
use countersign_domain::error::{OAuthErrorCode, Reason};
use countersign_domain::form_key::{FormKey, FormSecret};
use countersign_domain::id::GrantId;
use countersign_domain::pending::PendingAuthorization;
use countersign_domain::wallet::AccountKind;
use countersign_ports::{Entropy, EntropyExt};

use crate::browser::session;
use crate::error::ApiError;
use crate::state::AppState;

/// What a form does, with everything that it names.
#[derive(Clone, Copy, Debug)]
pub enum Action<'a> {
    /// Continues to a client as an account (CAIP-10) that the page named.
    Continue { request: &'a PendingAuthorization, account: &'a str },
    /// Denies a client's request.
    Deny { request: &'a PendingAuthorization },
    /// Continues to the request that waits under a device's code.
    EnterDeviceCode,
    /// Signs out, for a client that sent these fields.
    SignOut { fields: &'a [(&'static str, &'a str)] },
    /// Asks for a new signature.
    SignInAgain,
    /// Revokes a client's access.
    RevokeAccess { client: &'a str },
    /// Ends this session, another one, or all of them.
    EndSessions { which: &'a str },
    /// Adds an e-mail address.
    PutEmail,
    /// Removes the e-mail address.
    RemoveEmail,
    /// Confirms the e-mail address with the secret of a mailed link. `shared` is set if the user agreed
    /// although another account has the address too.
    ConfirmEmail { token: &'a str, shared: &'a str },
    /// Deletes the account.
    DeleteAccount,
    /// Downloads everything as a file.
    DownloadData,
    /// Asks for the texts to sign for a change of wallets.
    BeginWalletChange,
    /// Makes the change of wallets with this challenge.
    ChangeWallets { challenge: GrantId },
    /// Asks for the text of a change at the desk.
    BeginDeskChange,
    /// Makes the change at the desk with this challenge.
    SignDeskChange { challenge: GrantId },
    /// Renames the wallet with this account (CAIP-10), which can be a key's or a contract's.
    RenameWallet { account: &'a str, kind: Option<AccountKind> },
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
            | Self::ChangeWallets { .. }
            | Self::SignDeskChange { .. } => Carrier::Session,
            Self::SignOut { .. }
            | Self::SignInAgain
            | Self::RevokeAccess { .. }
            | Self::EndSessions { .. }
            | Self::PutEmail
            | Self::RemoveEmail
            | Self::ConfirmEmail { .. }
            | Self::DeleteAccount
            | Self::DownloadData
            | Self::BeginWalletChange
            | Self::BeginDeskChange
            | Self::RenameWallet { .. } => Carrier::Login,
        }
    }

    /// Binds a form's secret to the name of the action, and to everything that the action names.
    fn bind(&self, form: FormSecret) -> FormSecret {
        match self {
            Self::Continue { request, account } => {
                request.bind(form.that_says("continue").that_says(account))
            }
            Self::Deny { request } => request.bind(form.that_says("deny")),
            Self::EnterDeviceCode => form.that_says("device"),
            Self::SignOut { fields } => {
                let fields = fields.iter().flat_map(|(name, value)| [*name, *value]);
                fields.fold(form.that_says("sign out"), FormSecret::that_says)
            }
            Self::SignInAgain => form.that_says("sign in again"),
            Self::RevokeAccess { client } => form.that_says("revoke").that_says(client),
            Self::EndSessions { which } => form.that_says("end sessions").that_says(which),
            Self::PutEmail => form.that_says("put email"),
            Self::RemoveEmail => form.that_says("remove email"),
            Self::ConfirmEmail { token, shared } => {
                form.that_says("confirm email").that_says(token).that_says(shared)
            }
            Self::DeleteAccount => form.that_says("delete account"),
            Self::DownloadData => form.that_says("download data"),
            Self::BeginWalletChange => form.that_says("begin wallet change"),
            Self::ChangeWallets { challenge } => {
                form.that_says("change wallets").that_says(challenge.as_uuid())
            }
            Self::BeginDeskChange => form.that_says("begin desk change"),
            Self::SignDeskChange { challenge } => {
                form.that_says("sign desk change").that_says(challenge.as_uuid())
            }
            Self::RenameWallet { account, kind } => form
                .that_says("rename wallet")
                .that_says(account)
                .that_says(kind.map_or("", AccountKind::name)),
        }
    }
}

/// Creates and checks the secrets in the forms of one browser.
pub struct Forms<'a> {
    key: &'a FormKey,
    session: Option<String>,
    login: Option<String>,
}

impl AppState {
    /// The forms of the browser that sent a request, for actions that its remembered sign-in carries.
    pub fn forms(&self, request: &HttpRequest) -> Forms<'_> {
        let login = self.browser(request).login.map(|login| login.expose().to_owned());
        Forms { key: &self.form_key, session: None, login }
    }
}

impl Forms<'_> {
    /// Adds the session, to check the forms that it carries.
    pub fn with(mut self, session: &Session) -> Self {
        self.session = session::mark(session);
        self
    }

    /// Adds the session, to write a page. A session without a mark gets one.
    pub fn with_new(mut self, session: &Session, entropy: &dyn Entropy) -> Result<Self, ApiError> {
        self.session = Some(session::mark_or_new(session, || entropy.bytes())?);
        Ok(self)
    }

    /// The value of the field `form` in a page's form. It is empty for a browser without the cookie, which
    /// has nothing that the form could change.
    pub fn secret(&self, action: &Action<'_>) -> String {
        self.form(action).map(FormSecret::text).unwrap_or_default()
    }

    /// Refuses a form unless it comes from a page that we showed to this browser. If the remembered sign-in
    /// would carry the form, but there is none, the form passes: no one is signed in, and the use-case says
    /// so.
    pub fn require(&self, action: &Action<'_>, presented: Option<&str>) -> Result<(), ApiError> {
        let is_good = match (self.form(action), action.carrier()) {
            (Some(form), _) => form.is(presented.unwrap_or_default()),
            (None, Carrier::Login) => true,
            (None, Carrier::Session) => false,
        };
        if is_good {
            Ok(())
        } else {
            Err(ApiError::because(OAuthErrorCode::ForeignOrigin, Reason::ForeignForm))
        }
    }

    fn form(&self, action: &Action<'_>) -> Option<FormSecret> {
        let binding = match action.carrier() {
            Carrier::Session => self.session.as_deref(),
            Carrier::Login => self.login.as_deref(),
        };
        binding.map(|binding| action.bind(self.key.form(binding)))
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

    /// F-02: tries every pair of forms, in two browsers.
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
            Action::BeginDeskChange,
            Action::SignDeskChange { challenge: one },
            Action::SignDeskChange { challenge: other },
            Action::RenameWallet { account: "eip155:1:0xA", kind: None },
            Action::RenameWallet { account: "eip155:1:0xA", kind: Some(AccountKind::Key) },
            Action::RenameWallet { account: "eip155:1:0xA", kind: Some(AccountKind::Contract) },
            Action::RenameWallet { account: "eip155:1:0xB", kind: None },
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
        assert!(nobody.require(&Action::RemoveEmail, None).is_ok(), "no one is signed in");
    }
}
