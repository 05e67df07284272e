//! What the OpenAPI document says about `/oauth/device_authorization`.

use countersign_domain::public_url::PublicUrl;
use serde_json::json;

use crate::endpoint::description::examples::{CLIENT_ID, CLIENT_SECRET, DEVICE_CODE, USER_CODE};
use crate::endpoint::description::operation::{Example, FORM, NO_FORM, NOT_AUTHENTICATED, Operation};
use crate::endpoint::description::scheme;

pub(crate) fn begin(public_url: &PublicUrl) -> Operation {
    let value = json!({"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "scope": "profile"});
    let answer = json!({
        "device_code": DEVICE_CODE,
        "user_code": USER_CODE,
        "verification_uri": public_url.join("/device"),
        "verification_uri_complete": public_url.join(&format!("/device?user_code={USER_CODE}")),
        "expires_in": 600,
        "interval": 5,
    });
    Operation::new(
        "POST",
        "/oauth/device_authorization",
        ("deviceAuthorization", "Begin a device authorization"),
        "RFC 8628, for devices that cannot show a page. The device shows `user_code`; a person types it at \
         `/device` and signs there. Meanwhile the device polls `/oauth/token` with `device_code` until it \
         gets its tokens. The client must have registered the grant type.",
    )
    .tag("Sign-in")
    .takes(&[FORM], "DeviceRequest", vec![Example { name: "scope", summary: "One scope", value }])
    .answers(200, "The codes.", "Device", answer)
    .refuses(
        400,
        &[
            ("unauthorized_client", "the client did not register this grant type: add it to its grant_types"),
            ("invalid_scope", "scope holds openid, which the client did not register; it registered profile"),
            NO_FORM,
        ],
    )
    .refuses_with(401, &[NOT_AUTHENTICATED], &["BasicChallenge"])
    .counted()
    .stores()
    .opened_by(&["", scheme::CLIENT_BASIC])
}
