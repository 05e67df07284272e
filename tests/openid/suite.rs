//! What the modules share: one server for all tests that run at the same time.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use countersign_tests::openid::{Party, Provider};
use countersign_tests::{Request, Server};
use serde_json::{Value, json};

static RUNNING: Mutex<Weak<Server>> = Mutex::new(Weak::new());

/// The provider that a module tests, discovered from its issuer.
pub(crate) struct Suite {
    provider: Provider,
    pub(crate) server: Arc<Server>,
}

impl Suite {
    /// Uses the server that other tests use, or starts it.
    #[track_caller]
    pub(crate) fn start() -> Self {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let server = running.upgrade().unwrap_or_else(|| Arc::new(Server::sqlite()));
        *running = Arc::downgrade(&server);
        Self { provider: Provider::discover(&server), server }
    }

    /// Starts a server with its own settings.
    #[track_caller]
    pub(crate) fn of(server: Server) -> Self {
        Self { provider: Provider::discover(&server), server: Arc::new(server) }
    }

    /// A client that registered itself, as in the suite's variant `dynamic_client`.
    #[track_caller]
    pub(crate) fn client(&self) -> Party {
        self.register(&json!({}))
    }

    /// A client that the operator registered, as in the suite's variant `static_client`. Only such a client
    /// can learn who the user is without a page.
    #[track_caller]
    pub(crate) fn let_in(&self, metadata: &Value) -> Party {
        // Only the operator gives these, so they are there before the client repeats its registration.
        let asked = self.registration(metadata);
        let flags = [
            ("redirect_uris", "--redirect-uri"),
            ("post_logout_redirect_uris", "--post-logout-redirect-uri"),
            ("contacts", "--contact"),
            ("tos_uri", "--tos-uri"),
            ("policy_uri", "--policy-uri"),
        ];
        let mut arguments = vec!["--scope", "openid profile email offline_access wallets"];
        for (field, flag) in flags {
            let value = &asked[field];
            let values = value.as_array().into_iter().flatten().chain(value.is_string().then_some(value));
            for value in values.filter_map(Value::as_str) {
                arguments.extend([flag, value]);
            }
        }
        let made = self.server.database().create_client(&arguments);
        let token = made["registration_access_token"].as_str().unwrap();
        let path = format!("/oauth/clients/{}", made["client_id"].as_str().unwrap());
        let update = Request::new("PUT", &path).bearer(token);
        let body = asked.to_string();
        let mut registration = self.site.send(&update.typed("application/json", body)).expect(200).json();
        registration["client_secret"] = made["client_secret"].clone();
        Party::of(registration, None)
    }
}

impl Deref for Suite {
    type Target = Provider;

    fn deref(&self) -> &Provider {
        &self.provider
    }
}
