//! The operations of a sign-in, in the order of its eight steps.

use countersign_domain::grant_type::GrantType;
use countersign_domain::public_url::PublicUrl;
use serde_json::json;

use super::account_operations::PAGE_FORM;
use super::examples::{
    self, CLIENT_ID, CLIENT_SECRET, CODE, REDIRECT_URI, REFRESH_TOKEN, SIGNATURE, STATE, WALLET,
};
use super::operation::{Example, FORM, HTML, JSON, NO_SESSION, Operation, UNKNOWN_CLIENT, parameter};
use super::schemas::AUTHORIZATION_PARAMETERS;
use super::{ACCESS_TOKEN, CLIENT_BASIC, REGISTRATION_TOKEN, SESSION};

const PAGE: &str = "<!doctype html>…";

pub(super) fn table(public_url: &PublicUrl) -> Vec<Operation> {
    let begin = [authorize("GET"), authorize("POST")];
    let sign =
        [sign_in_page(), challenge(public_url), login(public_url), go_on(public_url), deny(public_url)];
    let userinfo = [userinfo("GET"), userinfo("POST")];
    let mut table = vec![register(public_url)];
    table.extend(begin);
    table.extend(sign);
    table.push(token(public_url));
    table.extend(userinfo);
    table.push(revoke());
    table.into_iter().map(|operation| operation.tag("Sign-in")).collect()
}

fn register(public_url: &PublicUrl) -> Operation {
    Operation::new(
        "POST",
        "/oauth/clients",
        ("registerClient", "Register a client"),
        "Once for each application (RFC 7591). The secrets of the answer are shown this once. Who may register is the \
         operator's choice: everybody, whoever has the initial access token, or nobody.",
    )
    .steps(&[1])
    .takes(
        &[JSON],
        "ClientRequest",
        vec![Example { name: "confidential", summary: "A client with a secret", value: examples::registration() }],
    )
    .answers(201, "The client, with its secrets.", "Client", examples::client(public_url, true))
    .refuses(
        400,
        &[
            ("invalid_request", "client_name is missing"),
            ("invalid_redirect_uri", "redirect_uris takes 1 to 20 URIs"),
            ("invalid_client_metadata", "client_name takes 1 to 100 characters"),
        ],
    )
    .refuses_with(401, &[("invalid_token", "initial access token is not valid")], &["BearerChallenge"])
    .refuses(403, &[("access_denied", "registration is closed: ask the operator")])
    .counted()
    .stores()
    .opened_by(&["", REGISTRATION_TOKEN])
}

fn authorize(method: &'static str) -> Operation {
    let description = "The client sends the person's browser here (RFC 6749, section 4.1.1). A good request leads to `/auth` and \
                       is kept, sealed, in the session cookie. Until client and redirect URI are known to be good nothing is \
                       redirected; after that every error goes back to the redirect URI as `error`, `error_description`, \
                       `state` and `iss`.";
    let places = "To `/auth`, or with an error back to the client.";
    let operation = if method == "GET" {
        let operation = Operation::new(
            method,
            "/oauth/authorize",
            ("authorize", "Send the person to sign in"),
            description,
        );
        AUTHORIZATION_PARAMETERS
            .iter()
            .fold(operation.steps(&[2]), |operation, each| {
                let texts = (each.description, each.example);
                operation.parameter(parameter("query", each.name, each.required, texts, each.schema()))
            })
            .answers_nothing(302, places, &["Location", "SetCookie"])
    } else {
        let value = json!({
            "client_id": CLIENT_ID, "redirect_uri": REDIRECT_URI, "response_type": "code", "scope": "profile", "state": STATE,
        });
        Operation::new(
            method,
            "/oauth/authorize",
            ("authorizeByForm", "The same by a form"),
            "What `GET` takes in the query, for requests that should not be in an address.",
        )
        .takes(
            &[FORM],
            "AuthorizationRequest",
            vec![Example { name: "code", summary: "A request for a code", value }],
        )
        .answers_nothing(303, places, &["Location", "SetCookie"])
    };
    operation
        .shows(200, "With `response_mode=form_post`: the page that posts an error to the client.", HTML, PAGE)
        .refuses(400, &[UNKNOWN_CLIENT, ("invalid_request", "Invalid redirect_uri")])
        .stores()
}

fn sign_in_page() -> Operation {
    Operation::new(
        "GET",
        "/auth",
        ("signInPage", "The page where the person signs"),
        "Shows who asks for what, connects a wallet and asks it for a signature. It works without scripts too.",
    )
    .steps(&[3])
    .parameter(parameter(
        "query",
        "request",
        false,
        ("Which of several pending requests is meant; without it the newest.", "5f3a9c"),
        json!({"type": "string"}),
    ))
    .parameter(parameter(
        "query",
        "another",
        false,
        ("There, if whoever is signed in wants another wallet.", "1"),
        json!({"type": "string"}),
    ))
    .parameter(parameter(
        "query",
        "lang",
        false,
        ("The language that the person chose; a cookie remembers it. Every page takes it.", "de"),
        json!({"type": "string"}),
    ))
    .shows(200, "The page.", HTML, PAGE)
    .refuses(400, &[NO_SESSION, UNKNOWN_CLIENT])
    .stores()
    .opened_by(&[SESSION])
}

fn challenge(public_url: &PublicUrl) -> Operation {
    let value = json!({"wallet_address": WALLET, "client_id": CLIENT_ID, "redirect_uri": REDIRECT_URI, "state": STATE});
    let program = json!({"client_id": CLIENT_ID, "wallet_address": WALLET, "scope": "openid profile"});
    let answer = json!({
        "challenge": examples::challenge(public_url),
        "wallet_address": WALLET,
        "chain": "eip155:1",
        "expires_at": examples::challenge_expires_at(),
        "how_to_sign": [{"tool": "Foundry", "how": "cast wallet sign --interactive \"$(cat sign-in.txt)\""}],
    });
    Operation::new(
        "POST",
        "/oauth/challenge",
        ("issueChallenge", "Ask for a text to sign"),
        "For a pending request of the session and one wallet address. The text works once. Sent as a form, it answers with the \
         sign-in page. A program that has no browser sends JSON with `client_id`, without a session, `redirect_uri` and `state`: its \
         text goes to the token endpoint.",
    )
    .steps(&[3])
    .takes(
        &[JSON, FORM],
        "ChallengeRequest",
        vec![
            Example { name: "ethereum", summary: "An Ethereum address", value },
            Example { name: "program", summary: "A program without a browser", value: program },
        ],
    )
    .answers(200, "The text.", "Challenge", answer)
    .shows(200, "The text.", HTML, PAGE)
    .refuses(
        400,
        &[
            NO_SESSION,
            ("invalid_request", "wallet_address is missing"),
            ("invalid_request", "wallet_address could belong to several chains; name one in chain: \
              bip122:000000000019d6689c085ae165831e93 (Bitcoin), bip122:12a765e31ffd4059bada1e25190f6e98 (Litecoin)"),
            UNKNOWN_CLIENT,
            ("unauthorized_client", "the client did not register this grant type"),
            ("invalid_scope", "scope must name scopes that the client registered"),
            ("invalid_target", "resource must be an absolute URI without a fragment"),
        ],
    )
    .kept_to_our_pages()
    .counted()
    .stores()
    .opened_by(&["", SESSION])
}

fn login(public_url: &PublicUrl) -> Operation {
    let value = json!({
        "wallet_address": WALLET,
        "challenge": examples::challenge(public_url),
        "signature": SIGNATURE,
        "client_id": CLIENT_ID,
        "redirect_uri": REDIRECT_URI,
        "state": STATE,
    });
    let mut remembered = value.clone();
    remembered["remember"] = json!(true);
    remembered["email"] = json!("ada@example.com");
    Operation::new(
        "POST",
        "/oauth/login",
        ("login", "Sign in with the signed text"),
        "Redirects to the client with `code`, `state` and `iss`; with `Accept: application/json` the address comes as JSON, \
         because scripts cannot follow a redirect to another site. With `response_mode=form_post` the answer is a page that posts it, \
         or for scripts the address of one. A signature that fails does not use the text up (five \
         tries); one that verifies does. Where the browser shall remember the sign-in, a second cookie names it.",
    )
    .steps(&[4])
    .takes(
        &[JSON, FORM],
        "LoginRequest",
        vec![
            Example { name: "signed", summary: "A signed text", value },
            Example { name: "remembered", summary: "This browser shall remember it", value: remembered },
        ],
    )
    .answers(
        200,
        "Where the browser goes: as JSON, or for forms of browsers as a page that goes there.",
        "Redirect",
        json!({"redirect_to": examples::callback(public_url)}),
    )
    .shows(200, "", HTML, PAGE)
    .answers_nothing(303, "To the redirect URI, with `code`, `state` and `iss`.", &["Location", "SetCookie"])
    .refuses(400, &[NO_SESSION, UNKNOWN_CLIENT, ("invalid_request", "signature is missing")])
    .refuses(
        401,
        &[
            ("access_denied", "Failed to verify signature"),
            ("access_denied", "Challenge is not valid or has expired"),
        ],
    )
    .kept_to_our_pages()
    .counted()
    .stores()
    .opened_by(&[SESSION])
}

fn go_on(public_url: &PublicUrl) -> Operation {
    let account = examples::ethereum_account().caip10();
    let value = json!({
        "client_id": CLIENT_ID,
        "redirect_uri": REDIRECT_URI,
        "state": STATE,
        "wallet_account": account,
        "form": PAGE_FORM,
    });
    Operation::new(
        "POST",
        "/oauth/continue",
        ("continueSession", "Go on without a signature"),
        "Whoever is signed in here and signed for this client and these scopes before goes on by a click. `form` is \
         the secret of the page that showed the request.",
    )
    .takes(
        &[JSON, FORM],
        "ContinueRequest",
        vec![Example { name: "named", summary: "One of several requests", value }],
    )
    .answers(
        200,
        "Where the browser goes, as at the login.",
        "Redirect",
        json!({"redirect_to": examples::callback(public_url)}),
    )
    .shows(200, "", HTML, PAGE)
    .answers_nothing(303, "To the redirect URI, with `code`, `state` and `iss`.", &["Location", "SetCookie"])
    .refuses(400, &[NO_SESSION])
    .refuses(401, &[("access_denied", "this request needs a signature")])
    .kept_to_page_forms()
    .counted()
    .stores()
    .opened_by(&[SESSION])
}

fn deny(public_url: &PublicUrl) -> Operation {
    let value = json!({
        "client_id": CLIENT_ID,
        "redirect_uri": REDIRECT_URI,
        "state": STATE,
        "form": PAGE_FORM,
    });
    let denied = json!({"redirect_to": examples::denial(public_url)});
    Operation::new(
        "POST",
        "/oauth/deny",
        ("deny", "Say no"),
        "The Deny button: the client gets `error=access_denied`, `state` and `iss`. `form` is the secret of the page.",
    )
    .takes(&[JSON, FORM], "DenyRequest", vec![Example { name: "named", summary: "One of several requests", value }])
    .answers(200, "Where the browser goes, as at the login.", "Redirect", denied)
    .shows(200, "", HTML, PAGE)
    .answers_nothing(303, "To the redirect URI, with `error`, `state` and `iss`.", &["Location", "SetCookie"])
    .refuses(400, &[NO_SESSION])
    .kept_to_page_forms()
    .opened_by(&[SESSION])
}

fn token(public_url: &PublicUrl) -> Operation {
    let exchange = json!({
        "grant_type": "authorization_code",
        "code": CODE,
        "redirect_uri": REDIRECT_URI,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
    });
    let refresh = json!({
        "grant_type": "refresh_token",
        "refresh_token": REFRESH_TOKEN,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
    });
    let device = json!({
        "grant_type": GrantType::DeviceCode.name(),
        "device_code": examples::DEVICE_CODE,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
    });
    let own = json!({
        "grant_type": "client_credentials",
        "resource": "https://api.example",
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
    });
    let program = json!({
        "grant_type": GrantType::WalletSignature.name(),
        "challenge": examples::program_challenge(public_url),
        "signature": SIGNATURE,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
    });
    Operation::new(
        "POST",
        "/oauth/token",
        ("token", "Exchange a code, refresh tokens"),
        "A form only. The client authenticates in the body or by HTTP Basic; with Basic, `client_id` need not be repeated. A code \
         works once, for 60 seconds; a refresh token works once and gives a new one. A refused request uses nothing up, but for \
         a wrong PKCE verifier. With the proof of a key in the header `DPoP`, the access token is bound to that key.",
    )
    .steps(&[5, 7])
    .takes(
        &[FORM],
        "TokenRequest",
        vec![
            Example { name: "authorization_code", summary: "Exchange a code", value: exchange },
            Example { name: "refresh_token", summary: "Refresh tokens", value: refresh },
            Example { name: "the_code_of_a_device", summary: "Ask for a device", value: device },
            Example { name: "client_credentials", summary: "A token for the client itself", value: own },
            Example { name: "wallet_signature", summary: "A wallet without a browser", value: program },
        ],
    )
    .answers(200, "Tokens.", "Tokens", examples::tokens())
    .refuses(
        400,
        &[
            ("unsupported_grant_type", "grant_type is not one that this server offers"),
            ("unauthorized_client", "the client did not register this grant type"),
            ("invalid_grant", "authorization code is not valid"),
            ("authorization_pending", "nobody has answered the device yet"),
            ("slow_down", "ask less often: every five seconds"),
            ("access_denied", "the person denied the request"),
            ("expired_token", "the device code has expired; begin again"),
            ("invalid_grant", "Challenge is not valid or has expired"),
            ("invalid_scope", "scope goes beyond what was granted"),
            ("invalid_request", "form: duplicate field `code`"),
            ("use_dpop_nonce", "DPoP proof needs the nonce of the header DPoP-Nonce"),
            ("invalid_dpop_proof", "DPoP proof: htm is not the request's method"),
            ("invalid_request", "DPoP proof is missing"),
        ],
    )
    .refuses_with(401, &[("invalid_client", "client authentication failed")], &["BasicChallenge"])
    .refuses(
        422,
        &[
            ("invalid_request", "grant_type is missing"),
            ("invalid_request", "Content-Type must be application/x-www-form-urlencoded"),
        ],
    )
    .counted()
    .stores()
    .proven()
    .opened_by(&["", CLIENT_BASIC])
}

fn userinfo(method: &'static str) -> Operation {
    let get = method == "GET";
    let names = if get {
        ("userInfo", "Ask who signed in")
    } else {
        ("userInfoByPost", "Ask who signed in, by POST")
    };
    let operation = Operation::new(
        method,
        "/oauth/userinfo",
        names,
        "Tells what the token's scopes release. With scope `openid` the claim `address` is left out, because OpenID Connect \
         reserves the name; `wallet_address` stands for it. A token that is bound to a key comes as `Authorization: DPoP …` with a \
         proof of that key.",
    );
    let operation = if get {
        operation.steps(&[6])
    } else {
        let value = json!({"access_token": examples::ACCESS_TOKEN});
        operation
            .takes(
                &[FORM],
                "UserInfoForm",
                vec![Example { name: "token", summary: "The token in the form", value }],
            )
            .or_nothing()
    };
    operation
        .answers(200, "Who signed in.", "UserInfo", examples::user_info())
        .refuses(
            400,
            &[("invalid_request", "the access token comes in two ways: use the Authorization header")],
        )
        .refuses_with(
            401,
            &[
                ("invalid_token", "an access token is needed"),
                ("invalid_token", "access token is unknown, expired or revoked"),
                ("use_dpop_nonce", "DPoP proof needs the nonce of the header DPoP-Nonce"),
                ("invalid_dpop_proof", "DPoP proof: ath is not the access token's hash"),
            ],
            &["BearerChallenge"],
        )
        .refuses_with(
            403,
            &[("insufficient_scope", "access token lacks scope profile")],
            &["BearerChallenge"],
        )
        .stores()
        .proven()
        .opened_by(&[ACCESS_TOKEN])
}

fn revoke() -> Operation {
    let value = json!({"token": REFRESH_TOKEN, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET});
    Operation::new(
        "POST",
        "/oauth/revoke",
        ("revoke", "Revoke a token"),
        "A refresh token ends its whole grant, access tokens included; an access token ends only itself. Unknown and dead tokens \
         are answered in the same way. Once answered, no replica takes the token any more.",
    )
    .steps(&[8])
    .takes(
        &[JSON, FORM],
        "RevocationRequest",
        vec![Example { name: "refresh_token", summary: "A refresh token", value }],
    )
    .answers(200, "The token is not good any more.", "Revoked", json!({}))
    .refuses(
        400,
        &[
            ("invalid_request", "token is missing"),
            ("unauthorized_client", "token belongs to another client"),
        ],
    )
    .refuses_with(401, &[("invalid_client", "client authentication failed")], &["BasicChallenge"])
    .counted()
    .stores()
    .opened_by(&["", CLIENT_BASIC])
}
