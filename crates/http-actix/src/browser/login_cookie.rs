//! The cookie of a remembered sign-in: an opaque secret that names a row in the store, and proves nothing
//! without it.

use actix_web::cookie::{Cookie, SameSite};
use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, cookie};
use countersign_domain::secret::Secret;
use countersign_usecases::steps::login::{Browser, Remembered};

use crate::error::ApiError;
use crate::extract::header_text;
use crate::state::AppState;

/// `__Host-` keeps sibling domains from setting the cookie (B-062), but needs https.
pub(crate) const fn name(https: bool) -> &'static str {
    if https { "__Host-countersign_login" } else { "countersign_login" }
}

impl AppState {
    /// The browser that sent a request, with its login session.
    pub(crate) fn browser(&self, request: &HttpRequest) -> Browser {
        let cookie = request.cookie(name(self.context.policy.public_url.is_https()));
        let login = cookie.map(|cookie| Secret::new(cookie.value()));
        let agent = header_text(request.headers(), header::USER_AGENT);
        Browser { name: browser_name(agent.unwrap_or_default()), login }
    }

    /// Makes the browser remember a sign-in.
    pub(crate) fn remember(
        &self,
        answer: &mut HttpResponse,
        remembered: &Remembered,
    ) -> Result<(), ApiError> {
        let lifetime = cookie::time::Duration::seconds(remembered.lifetime.whole_seconds());
        self.set(answer, remembered.secret.expose().to_owned(), lifetime)
    }

    /// Makes the browser forget its sign-in.
    pub(crate) fn forget(&self, answer: &mut HttpResponse) -> Result<(), ApiError> {
        self.set(answer, String::new(), cookie::time::Duration::ZERO)
    }

    fn set(
        &self,
        answer: &mut HttpResponse,
        value: String,
        lifetime: cookie::time::Duration,
    ) -> Result<(), ApiError> {
        let https = self.context.policy.public_url.is_https();
        let cookie = Cookie::build(name(https), value)
            .path("/")
            .http_only(true)
            .secure(https)
            .same_site(SameSite::Lax)
            .max_age(lifetime)
            .finish();
        answer.add_cookie(&cookie).map_err(ApiError::server_error)
    }
}

/// The name that people use for a browser, as far as it can be recognized: `Firefox on Linux`.
fn browser_name(agent: &str) -> String {
    // The order matters: most browsers also claim to be the ones that come later.
    const BROWSERS: [(&str, &str); 6] = [
        ("Firefox/", "Firefox"),
        ("OPR/", "Opera"),
        ("Edg", "Edge"),
        ("SamsungBrowser/", "Samsung Internet"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ];
    const SYSTEMS: [(&str, &str); 7] = [
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("CrOS", "ChromeOS"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("Linux", "Linux"),
    ];
    let first_of = |list: &[(&str, &'static str)]| {
        list.iter().find(|(sign, _)| agent.contains(sign)).map(|(_, name)| *name)
    };
    match (first_of(&BROWSERS), first_of(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(only), None) | (None, Some(only)) => only.to_owned(),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_called_what_people_call_them() {
        let cases = [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 \
                 Safari/537.36 Edg/140.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/18.5 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
            (
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile \
                 Safari/537.36",
                "Chrome on Android",
            ),
            ("curl/8.0", ""),
            ("", ""),
        ];
        for (agent, name) in cases {
            assert_eq!(browser_name(agent), name, "{agent}");
        }
    }
}
