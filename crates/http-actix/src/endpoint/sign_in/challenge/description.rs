//! What the OpenAPI document says about `/oauth/challenge`.

use countersign_domain::public_url::PublicUrl;
use serde_json::json;

use crate::endpoint::description::examples::{self, CLIENT_ID, REDIRECT_URI, STATE, WALLET};
use crate::endpoint::description::operation::{
    Example, FORM, HTML, JSON, NO_SESSION, Operation, PAGE, UNKNOWN_CLIENT,
};
use crate::endpoint::description::scheme;

pub(crate) fn issue(public_url: &PublicUrl) -> Operation {
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
        "For a pending request of the session and one wallet address. The text works once. The response to a \
         form is the sign-in page. A program without a browser sends JSON with `client_id`, but without a \
         session, `redirect_uri` and `state`; it then sends the signed text to the token endpoint.",
    )
    .tag("Sign-in")
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
            ("unauthorized_client", "the client did not register this grant type: add it to its grant_types"),
            ("invalid_scope", "scope holds openid, which the client did not register; it registered profile"),
            ("invalid_target", "resource must be an absolute URI without a fragment"),
        ],
    )
    .kept_to_our_pages()
    .counted()
    .stores()
    .opened_by(&["", scheme::SESSION])
}
