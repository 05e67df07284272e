//! What the OpenAPI document says about `/oauth/userinfo`.

use serde_json::json;

use crate::endpoint::description::examples;
use crate::endpoint::description::operation::{Example, FORM, Operation};
use crate::endpoint::description::scheme;

pub(crate) fn get() -> Operation {
    userinfo("GET", ("userInfo", "Ask who signed in")).steps(&[6])
}

pub(crate) fn post() -> Operation {
    let value = json!({"access_token": examples::ACCESS_TOKEN});
    userinfo("POST", ("userInfoByPost", "Ask who signed in, by POST"))
        .takes(
            &[FORM],
            "UserInfoForm",
            vec![Example { name: "token", summary: "The token in the form", value }],
        )
        .or_nothing()
}

fn userinfo(method: &'static str, names: (&'static str, &'static str)) -> Operation {
    let description = "Returns the claims that the token's scopes release. With scope `openid` the claim \
                       `address` is left out, because OpenID Connect reserves the name; use `wallet_address` \
                       instead. A token that is bound to a key must come as `Authorization: DPoP …` with a \
                       proof of that key.";
    Operation::new(method, "/oauth/userinfo", names, description)
        .tag("Sign-in")
        .answers(200, "Who signed in.", "UserInfo", examples::user_info())
        .refuses(
            400,
            &[("invalid_request", "the access token was sent in two ways: use the Authorization header")],
        )
        .refuses_with(
            401,
            &[
                ("invalid_token", "an access token is needed"),
                ("invalid_token", "access token is unknown, expired or revoked: send the access_token of the newest token response"),
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
        .opened_by(&[scheme::ACCESS_TOKEN])
}
