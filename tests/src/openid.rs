//! A relying party that knows only the issuer's URL and discovers the rest. It registers, sends users to the
//! provider, exchanges codes, and accepts an ID token only after validating it ([`crate::jose`]).

mod party;
mod person;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use url::Url;

use crate::http::{Parameters, Request, Response};
use crate::jose::{Expected, SigningKey, judge_id_token, now, random_text, sha256};
use crate::site::{REDIRECT_URI, Site, VERIFIER};

pub use party::{Method, Party, with_assertion};
pub use person::{Callback, How, Person};

/// An OpenID provider, described by its metadata.
#[derive(Clone, Debug)]
pub struct Provider {
    /// Where the provider runs.
    pub site: Site,
    /// The provider's metadata.
    pub metadata: Value,
}

/// The validated response to a code or a refresh token.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The whole response.
    pub body: Value,
    /// The `access_token`.
    pub access: String,
    /// The `refresh_token`, if there is one.
    pub refresh: Option<String>,
    /// The `id_token`; empty without scope `openid`.
    pub id_token: String,
    /// The claims of the ID token; null without scope `openid`.
    pub claims: Value,
}

impl Provider {
    /// Reads the metadata for the issuer.
    #[track_caller]
    pub fn discover(site: &Site) -> Self {
        let path = format!("{}/.well-known/openid-configuration", site.base_path());
        let answered = site.get(&path).expect(200);
        assert_eq!(answered.header("Content-Type"), Some("application/json"));
        let metadata = answered.json();
        assert_eq!(metadata["issuer"], site.public_url.as_str(), "the metadata is of this issuer");
        Self { site: site.clone(), metadata }
    }

    /// The issuer's URL.
    pub fn issuer(&self) -> &str {
        self.metadata["issuer"].as_str().unwrap()
    }

    /// The URL of an endpoint.
    #[track_caller]
    pub fn url(&self, endpoint: &str) -> String {
        self.metadata[endpoint]
            .as_str()
            .unwrap_or_else(|| panic!("{endpoint} in {}", self.metadata))
            .to_owned()
    }

    /// The path of an endpoint.
    #[track_caller]
    pub fn path(&self, endpoint: &str) -> String {
        let url = Url::parse(&self.url(endpoint)).unwrap();
        assert_eq!(
            url.origin(),
            Url::parse(self.issuer()).unwrap().origin(),
            "{endpoint} has the issuer's origin"
        );
        url.path().to_owned()
    }

    /// A list of strings in the metadata.
    #[track_caller]
    pub fn list(&self, name: &str) -> BTreeSet<&str> {
        let list = self.metadata[name].as_array().unwrap_or_else(|| panic!("{name} in {}", self.metadata));
        assert!(!list.is_empty(), "{name} holds something");
        list.iter().map(|item| item.as_str().unwrap()).collect()
    }

    /// The provider's published keys.
    #[track_caller]
    pub fn jwks(&self) -> Value {
        self.site.get(&self.path("jwks_uri")).expect(200).json()
    }

    /// The metadata of a client, with these members added or replaced.
    pub fn registration(&self, metadata: &Value) -> Value {
        let mut body = json!({
            "client_name": "Photo Album",
            "redirect_uris": [REDIRECT_URI],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "contacts": ["certification@client.example"],
            // `wallets` is ours, and is not advertised.
            "scope": self.list("scopes_supported").into_iter().chain(["wallets"]).collect::<Vec<_>>().join(" "),
            "token_endpoint_auth_method": "client_secret_basic",
        });
        for (name, value) in metadata.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        body
    }

    /// Sends a registration, which may be refused.
    #[track_caller]
    pub fn ask_to_register(&self, metadata: &Value) -> Response {
        self.site.send(&Request::json(&self.path("registration_endpoint"), &self.registration(metadata)))
    }

    /// Registers a client that authenticates with a secret, or as its metadata says.
    #[track_caller]
    pub fn register(&self, metadata: &Value) -> Party {
        Party::of(self.ask_to_register(metadata).expect(201).json(), None)
    }

    /// Registers a client that authenticates with a key.
    #[track_caller]
    pub fn register_with_key(&self, key: SigningKey, metadata: &Value) -> Party {
        let mut registration = json!({"token_endpoint_auth_method": "private_key_jwt", "jwks": key.jwks()});
        for (name, value) in metadata.as_object().into_iter().flatten() {
            registration[name] = value.clone();
        }
        if registration.get("jwks_uri").is_some() {
            registration.as_object_mut().unwrap().remove("jwks");
        }
        Party::of(self.ask_to_register(&registration).expect(201).json(), Some(key))
    }

    /// A new user signs in, and the client redeems the code.
    #[track_caller]
    pub fn log_in(&self, party: &Party, request: &Parameters) -> Answer {
        let code = Person::new(self).answer(self, request).code();
        self.redeem(party, request, &code)
    }

    /// The client redeems a code, and validates the response.
    #[track_caller]
    pub fn redeem(&self, party: &Party, request: &Parameters, code: &str) -> Answer {
        let answer = self.judge(party, self.exchange(party, request, code));
        if !answer.id_token.is_empty() {
            assert_eq!(answer.claims.get("nonce"), optional(request, "nonce").map(Value::from).as_ref());
        }
        answer
    }

    /// The response to a code, whatever it is.
    #[track_caller]
    pub fn exchange(&self, party: &Party, request: &Parameters, code: &str) -> Response {
        self.token(party, &Self::exchange_form(request, code))
    }

    /// The form that redeems a code, without client authentication.
    pub fn exchange_form(request: &Parameters, code: &str) -> Parameters {
        let form = Parameters::of(&[("grant_type", "authorization_code"), ("code", code)]);
        let form = match optional(request, "redirect_uri") {
            Some(uri) => form.with("redirect_uri", uri),
            None => form,
        };
        match optional(request, "code_challenge") {
            Some(_) => form.with("code_verifier", VERIFIER),
            None => form,
        }
    }

    /// The client refreshes its tokens.
    #[track_caller]
    pub fn refresh(&self, party: &Party, refresh_token: &str) -> Response {
        self.token(
            party,
            &Parameters::of(&[("grant_type", "refresh_token"), ("refresh_token", refresh_token)]),
        )
    }

    /// Sends a form to the token endpoint, with client authentication and, if the client has a DPoP key, a
    /// proof.
    #[track_caller]
    pub fn token(&self, party: &Party, form: &Parameters) -> Response {
        self.submit(party, "token_endpoint", form)
    }

    /// The same for any endpoint where clients authenticate.
    #[track_caller]
    pub fn submit(&self, party: &Party, endpoint: &str, form: &Parameters) -> Response {
        let path = self.path(endpoint);
        let request = || party.prove(self, Request::form(&path, form));
        match &party.dpop {
            Some(key) => self.send_proven(key, endpoint, None, |_, _| {}, request),
            None => self.site.send(&request()),
        }
    }

    /// Calls userinfo.
    #[track_caller]
    pub fn userinfo(&self, party: &Party, access_token: &str) -> Response {
        let path = self.path("userinfo_endpoint");
        match &party.dpop {
            Some(key) => {
                let request = || Request::get(&path).header("Authorization", &format!("DPoP {access_token}"));
                self.send_proven(key, "userinfo_endpoint", Some(access_token), |_, _| {}, request)
            }
            None => self.site.send(&Request::get(&path).bearer(access_token)),
        }
    }

    /// Sends a request with a DPoP proof (RFC 9449). If the server requires a nonce, it sends the request
    /// again with one. `change` can alter header and claims.
    #[track_caller]
    pub fn send_proven(
        &self,
        key: &SigningKey,
        endpoint: &str,
        access_token: Option<&str>,
        change: impl Fn(&mut Value, &mut Value),
        request: impl Fn() -> Request,
    ) -> Response {
        let url = self.url(endpoint);
        let send = |nonce: Option<&str>| {
            let request = request();
            let proof = proof(key, &request.method, &url, nonce, access_token, &change);
            self.site.send(&request.header("DPoP", &proof))
        };
        let first = send(None);
        match first.header("DPoP-Nonce").filter(|_| first.error() == "use_dpop_nonce") {
            Some(nonce) => send(Some(nonce)),
            None => first,
        }
    }

    /// Validates a response of the token endpoint as a client must.
    #[track_caller]
    pub fn judge(&self, party: &Party, answered: Response) -> Answer {
        let body = answered.expect(200).json();
        let text = |name: &str| body[name].as_str().map(ToOwned::to_owned);
        let kind = if party.dpop.is_some() { "DPoP" } else { "Bearer" };
        assert_eq!(body["token_type"], kind, "{body}");
        assert!(body["expires_in"].as_i64().is_some_and(|seconds| seconds > 0), "{body}");
        let access = text("access_token").unwrap_or_else(|| panic!("there is no access token in {body}"));
        let asked = body["scope"].as_str().unwrap_or_default().split(' ').any(|scope| scope == "openid");
        let id_token = text("id_token").unwrap_or_default();
        assert_eq!(asked, !id_token.is_empty(), "an ID token if and only if the scope has openid: {body}");
        let claims = if asked {
            judge_id_token(
                &id_token,
                Expected {
                    jwks: &self.jwks(),
                    algorithm: party.id_token_algorithm(),
                    issuer: self.issuer(),
                    audience: &party.id,
                    access_token: &access,
                },
            )
        } else {
            Value::Null
        };
        Answer { refresh: text("refresh_token"), access, id_token, claims, body }
    }
}

/// A DPoP proof. `change` can alter header and claims.
pub fn proof(
    key: &SigningKey,
    method: &str,
    url: &str,
    nonce: Option<&str>,
    access_token: Option<&str>,
    change: impl Fn(&mut Value, &mut Value),
) -> String {
    let algorithm = key.jwk()["alg"].clone();
    let mut jwk = key.jwk();
    for name in ["kid", "alg", "use"] {
        jwk.as_object_mut().unwrap().remove(name);
    }
    let mut header = json!({"typ": "dpop+jwt", "alg": algorithm, "jwk": jwk});
    let mut claims = json!({"jti": random_text(), "htm": method, "htu": url, "iat": now()});
    if let Some(nonce) = nonce {
        claims["nonce"] = json!(nonce);
    }
    if let Some(token) = access_token {
        claims["ath"] = json!(sha256(token));
    }
    change(&mut header, &mut claims);
    key.sign_with(&header, &claims)
}

/// The value of a parameter, if it is there.
pub fn optional<'a>(parameters: &'a Parameters, name: &str) -> Option<&'a str> {
    parameters.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}
