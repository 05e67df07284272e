//! What the OpenAPI document says about `/oauth/clients` and the management of a client (RFC 7592).

use countersign_domain::public_url::PublicUrl;
use serde_json::json;

use crate::endpoint::description::examples::{self, CLIENT_ID};
use crate::endpoint::description::operation::{Example, JSON, NOTHING_HERE, Operation, parameter};
use crate::endpoint::description::scheme;

/// The registration of one client.
const PATH: &str = "/oauth/clients/{client_id}";

pub(crate) fn register(public_url: &PublicUrl) -> Operation {
    Operation::new(
        "POST",
        "/oauth/clients",
        ("registerClient", "Register a client"),
        "Once for each application (RFC 7591). The secrets are shown only in this response. Who can register \
         clients is the operator's choice: anyone, holders of the initial access token, or no one.",
    )
    .tag("Sign-in")
    .steps(&[1])
    .takes(
        &[JSON],
        "ClientRequest",
        vec![Example {
            name: "confidential",
            summary: "A client with a secret",
            value: examples::registration(),
        }],
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
    .opened_by(&["", scheme::REGISTRATION_TOKEN])
}

pub(crate) fn read(public_url: &PublicUrl) -> Operation {
    let operation = Operation::new(
        "GET",
        PATH,
        ("readClient", "Read the registration"),
        "What the client registered, without its secrets.",
    )
    .answers(200, "The client.", "Client", examples::client(public_url, false));
    managed(operation)
}

pub(crate) fn update(public_url: &PublicUrl) -> Operation {
    let operation = Operation::new(
        "PUT",
        PATH,
        ("updateClient", "Replace the registration"),
        "The new metadata replaces everything; what is not sent gets its default. The id, the secret and the \
         authentication method stay the same.",
    )
    .takes(
        &[JSON],
        "ClientRequest",
        vec![Example {
            name: "renamed",
            summary: "A new name",
            value: json!({
                "client_id": CLIENT_ID,
                "client_name": "Example app, renamed",
                "redirect_uris": [examples::REDIRECT_URI],
                "scopes": ["profile", "email"],
            }),
        }],
    )
    .answers(200, "The updated client.", "Client", examples::client(public_url, false))
    .refuses(
        400,
        &[
            ("invalid_request", "client_id differs from the one in the path"),
            ("invalid_redirect_uri", "redirect_uris takes 1 to 20 URIs"),
            ("invalid_client_metadata", "client_name takes 1 to 100 characters"),
        ],
    );
    managed(operation)
}

pub(crate) fn delete() -> Operation {
    let operation = Operation::new(
        "DELETE",
        PATH,
        ("deleteClient", "Delete the client"),
        "All grants that people gave it end too.",
    )
    .answers_nothing(204, "The client was deleted.", &[]);
    managed(operation)
}

/// What the three operations share: the path, and the token that they need.
fn managed(operation: Operation) -> Operation {
    operation
        .tag("Clients")
        .parameter(parameter(
            "path",
            "client_id",
            true,
            ("The client.", CLIENT_ID),
            json!({"type": "string", "format": "uuid"}),
        ))
        .refuses_with(
            401,
            &[
                ("invalid_token", "an access token is needed"),
                ("invalid_token", "registration access token is not valid for this client"),
            ],
            &["BearerChallenge"],
        )
        .refuses(404, &[NOTHING_HERE])
        .stores()
        .opened_by(&[scheme::REGISTRATION_TOKEN])
}
