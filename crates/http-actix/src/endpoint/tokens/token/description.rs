//! What the OpenAPI document says about `/oauth/token`.

use countersign_domain::grant_type::GrantType;
use countersign_domain::public_url::PublicUrl;
use serde_json::json;

use crate::endpoint::description::examples::{
    self, CLIENT_ID, CLIENT_SECRET, CODE, REDIRECT_URI, REFRESH_TOKEN, SIGNATURE,
};
use crate::endpoint::description::operation::{
    Example, FORM, NO_FORM, NOT_ADMITTED, NOT_AUTHENTICATED, Operation,
};
use crate::endpoint::description::scheme;

pub(crate) fn answer(public_url: &PublicUrl) -> Operation {
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
        ("token", "Get tokens"),
        "Takes only a form. The client authenticates in the body or by HTTP Basic; with HTTP Basic, \
         `client_id` can be left out. An authorization code works once, within 60 seconds. A refresh token \
         works once, and its response has a new one. A refused request does not use the code or token up, \
         unless the PKCE verifier is wrong. With a proof in the header `DPoP`, the access token is bound to \
         the key of the proof.",
    )
    .tag("Sign-in")
    .steps(&[5, 7])
    .takes(
        &[FORM],
        "TokenRequest",
        vec![
            Example { name: "authorization_code", summary: "Exchange a code", value: exchange },
            Example { name: "refresh_token", summary: "Refresh tokens", value: refresh },
            Example { name: "the_code_of_a_device", summary: "Ask as a device", value: device },
            Example { name: "client_credentials", summary: "A token for the client itself", value: own },
            Example { name: "wallet_signature", summary: "A wallet without a browser", value: program },
        ],
    )
    .answers(200, "Tokens.", "Tokens", examples::tokens())
    .refuses(
        400,
        &[
            ("unsupported_grant_type", "grant_type is not one that this server offers: its metadata names them in grant_types_supported"),
            ("unauthorized_client", "the client did not register this grant type: add it to its grant_types"),
            ("invalid_grant", "authorization code has expired: exchange it as soon as it arrives"),
            ("authorization_pending", "no one has answered the device yet"),
            ("slow_down", "ask less often: every five seconds"),
            ("access_denied", "the person denied the request"),
            ("expired_token", "the device code has expired; begin again"),
            ("invalid_grant", "Challenge is not valid or has expired"),
            ("invalid_scope", "scope goes beyond what was granted: ask for less, or begin a new sign-in"),
            ("invalid_request", "form: duplicate field `code`"),
            ("use_dpop_nonce", "DPoP proof needs the nonce of the header DPoP-Nonce"),
            ("invalid_dpop_proof", "DPoP proof: htm is not the request's method"),
            ("invalid_request", "DPoP proof is missing"),
        ],
    )
    .refuses_with(401, &[NOT_AUTHENTICATED], &["BasicChallenge"])
    // A wallet that signs in without a browser.
    .refuses(403, &[NOT_ADMITTED])
    .refuses(422, &[("invalid_request", "grant_type is missing"), NO_FORM])
    .counted()
    .stores()
    .proven()
    .opened_by(&["", scheme::CLIENT_BASIC])
}
