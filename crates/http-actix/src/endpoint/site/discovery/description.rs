//! What the OpenAPI document says about the metadata and the keys.

use countersign_domain::lifetimes::Lifetimes;
use countersign_domain::public_url::PublicUrl;
use serde_json::{Value, json};

use super::{Offers, metadata};
use crate::endpoint::description::operation::Operation;

pub(crate) fn authorization_server(public_url: &PublicUrl) -> Operation {
    let names = ("authorizationServerMetadata", "The server's metadata (RFC 8414)");
    described("/.well-known/oauth-authorization-server", names, public_url)
}

pub(crate) fn openid_configuration(public_url: &PublicUrl) -> Operation {
    let names = ("openidConfiguration", "The same metadata, where OpenID Connect looks for it");
    described("/.well-known/openid-configuration", names, public_url)
}

fn described(path: &'static str, names: (&'static str, &'static str), public_url: &PublicUrl) -> Operation {
    let everything = Offers { registration: true, client_documents: true };
    let metadata: Value = serde_json::from_str(&metadata(public_url, everything, &Lifetimes::default(), []))
        .unwrap_or_else(|_| json!({}));
    Operation::new(
        "GET",
        path,
        names,
        "Names the endpoints and what they support, and nothing that does not \
                                        work.",
    )
    .tag("Discovery")
    .answers(200, "The metadata.", "Metadata", metadata)
}

pub(crate) fn jwks() -> Operation {
    let keys = json!({"keys": [{
        "kty": "EC",
        "crv": "P-256",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        "kid": "PNi2TZ6vR6cQAHp2lB3nPCXVZrYtLTQjA1Vq3F9dW5o",
        "alg": "ES256",
        "use": "sig",
    }]});
    let names = ("jwks", "The public keys (RFC 7517)");
    Operation::new("GET", "/oauth/jwks", names, "The keys that tokens are signed with.")
        .tag("Discovery")
        .answers(200, "The keys.", "Jwks", keys)
}
