//! A user with a browser and a wallet, who does what the page asks and lets the browser remember the sign-in.

use url::Url;
use url::form_urlencoded::parse;

use super::{Provider, optional};
use crate::browser::Browser;
use crate::http::{Parameters, Request, Response};
use crate::wallet::Wallet;

/// A user who signs in.
#[derive(Debug)]
pub struct Person {
    /// The user's browser.
    pub browser: Browser,
    /// The user's wallet.
    pub wallet: Wallet,
    /// The e-mail address that the user enters when signing.
    pub email: Option<String>,
}

/// What a user had to do before the redirect back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Nothing: no page was shown.
    Silently,
    /// Press Continue.
    ByContinue,
    /// Sign with the wallet.
    BySignature,
}

/// What the client got at its redirect URI.
#[derive(Clone, Debug)]
pub struct Callback {
    /// What the user had to do for it.
    pub how: How,
    /// The parameters that were added to the redirect URI's own query.
    pub parameters: Parameters,
}

impl Callback {
    /// The code. Panics if there is none.
    #[track_caller]
    pub fn code(&self) -> String {
        self.parameters.get("code").to_owned()
    }

    /// The error. Panics if there is none.
    #[track_caller]
    pub fn error(&self) -> &str {
        assert!(optional(&self.parameters, "code").is_none(), "{self:?}");
        self.parameters.get("error")
    }
}

impl Person {
    /// A user who was never here before.
    pub fn new(provider: &Provider) -> Self {
        Self { browser: provider.site.browser(), wallet: Wallet::fresh(), email: None }
    }

    /// The client sends the user to the provider. Returns the response, whatever it is.
    #[track_caller]
    pub fn visit(&mut self, provider: &Provider, request: &Parameters) -> Response {
        self.browser.send(Request::query(&provider.path("authorization_endpoint"), request))
    }

    /// The user does what the pages ask, until the redirect back to the client.
    #[track_caller]
    pub fn answer(&mut self, provider: &Provider, request: &Parameters) -> Callback {
        let begun = self.visit(provider, request).expect(302);
        self.finish(provider, request, begun)
    }

    /// The same, from where the authorization endpoint redirected to.
    #[track_caller]
    pub fn finish(&mut self, provider: &Provider, request: &Parameters, begun: Response) -> Callback {
        let redirect_uri = request.get("redirect_uri");
        let sent_back = |answered: &Response, how| {
            let location = answered.location();
            let query = location.strip_prefix(redirect_uri).filter(|rest| rest.starts_with(['?', '&']));
            let query =
                query.unwrap_or_else(|| panic!("not a redirect back to {redirect_uri}: {answered:?}"));
            let pairs = parse(&query.as_bytes()[1..]).into_owned().collect();
            let parameters = Parameters(pairs);
            assert_eq!(optional(&parameters, "state"), optional(request, "state"), "{answered:?}");
            assert_eq!(parameters.get("iss"), provider.issuer(), "RFC 9207");
            Callback { how, parameters }
        };
        let Some(state) = self.page(&begun) else { return sent_back(&begun, How::Silently) };
        if state == "remembered" {
            let named =
                ["client_id", "redirect_uri", "state"].map(|name| Some((name, optional(request, name)?)));
            let pairs: Vec<_> = named.into_iter().flatten().collect();
            let done = self.browser.press(Request::json("/oauth/continue", &Parameters::of(&pairs).json()));
            return sent_back(&done.expect(303), How::ByContinue);
        }
        let challenge = self.browser.challenge(request, &self.wallet);
        let mut body = Browser::login_body(request, &self.wallet, &challenge).json();
        body["remember"] = true.into();
        if let Some(email) = &self.email {
            body["email"] = email.as_str().into();
        }
        let done = self.browser.send(Request::json("/oauth/login", &body)).expect(303);
        sent_back(&done, How::BySignature)
    }

    /// Loads the page that the user was redirected to, if it is one of the provider's, and returns its state.
    #[track_caller]
    pub fn page(&mut self, begun: &Response) -> Option<String> {
        let page = self.page_text(begun)?;
        let (_, after) = page.split_once("data-state=\"").unwrap_or_else(|| panic!("the page: {page}"));
        Some(after.split('"').next().unwrap_or_default().to_owned())
    }

    /// The text of the page.
    #[track_caller]
    pub fn page_text(&mut self, begun: &Response) -> Option<String> {
        let ours = Url::parse(&self.browser.site.public_url).unwrap();
        let target = ours.join(begun.location()).unwrap();
        if target.origin() != ours.origin() {
            return None;
        }
        let target = format!("{}?{}", target.path(), target.query().unwrap_or_default());
        let page = self.browser.send(Request::get(&target).header("Accept", "text/html"));
        Some(page.expect(200).text())
    }
}
