//! What a client does with its own registration (RFC 7592).

use countersign_domain::public_url::PublicUrl;
use serde_json::json;

use super::REGISTRATION_TOKEN;
use super::examples::{self, CLIENT_ID};
use super::operation::{Example, JSON, Operation, parameter};

const PATH: &str = "/oauth/clients/{client_id}";

pub(super) fn table(public_url: &PublicUrl) -> Vec<Operation> {
    let client = || examples::client(public_url, false);
    let read = Operation::new(
        "GET",
        PATH,
        ("readClient", "Read the registration"),
        "What the client registered, without its secrets.",
    )
    .answers(200, "The client.", "Client", client());
    let update = Operation::new(
        "PUT",
        PATH,
        ("updateClient", "Replace the registration"),
        "Everything is replaced by what is sent; what is not sent gets its default. The id, the secret and the way of \
         authentication stay.",
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
    .answers(200, "The client as it is now.", "Client", client())
    .refuses(
        400,
        &[
            ("invalid_request", "client_id differs from the one in the path"),
            ("invalid_redirect_uri", "redirect_uris takes 1 to 20 URIs"),
            ("invalid_client_metadata", "client_name takes 1 to 100 characters"),
        ],
    );
    let delete = Operation::new(
        "DELETE",
        PATH,
        ("deleteClient", "Remove the client"),
        "With it end all grants that people gave it.",
    )
    .answers_nothing(204, "The client is gone.", &[]);
    [read, update, delete].into_iter().map(common).collect()
}

fn common(operation: Operation) -> Operation {
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
        .refuses(404, &[("invalid_request", "there is nothing at this path")])
        .stores()
        .opened_by(&[REGISTRATION_TOKEN])
}
