//! `countersign client update`.

use std::io::Write;

use countersign_domain::client::ClientOrigin;
use countersign_usecases::Management;
use countersign_usecases::clients::change_client::{ChangeClientError, change_client};

use super::file::FromFile;
use super::{fields, file, find, note_introspection, store, unknown};
use crate::change_log::{self, ClientChange};
use crate::cli::{ChangedClient, Output};
use crate::client_output;
use crate::failure::Failure;

/// Changes the fields that the file, `--clear` and the flags name, in this order.
pub(super) async fn update(
    change: ChangedClient,
    output: Output,
    management: Management<'_>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let ChangedClient { client_id, clear, from_file, name, redirect_uri, metadata } = change;
    let flags = fields::of_flags(name, redirect_uri, metadata)?;
    if let Some(both) = clear.iter().find(|field| flags.contains_key(*field)) {
        return Err(Failure::Usage(format!("--clear {both} and a flag that sets {both} exclude each other")));
    }
    if flags.is_empty() && clear.is_empty() && from_file.is_none() {
        let text = "nothing to change: name a field, as in `client update ID --logo-uri URI`";
        return Err(Failure::Usage(text.to_owned()));
    }
    let read = from_file.as_deref().map(file::read_fields).transpose()?;
    // Read late: standard input can take its time, and what others change until now counts.
    let before = find(management.clients, &client_id).await?;
    let FromFile { fields: from_file, client_id: described, resources } = read.unwrap_or_default();
    if described.is_some_and(|described| described != before.id.to_string()) {
        return Err(Failure::Usage("client_id in the file is another client's".to_owned()));
    }
    if !resources.is_empty() && resources != before.resources {
        let text = "resources in the file differ from what is open to the client: `client open-resource` and \
                    `client close-resource` change that";
        return Err(Failure::Usage(text.to_owned()));
    }
    if before.origin == ClientOrigin::Operator {
        note_introspection(management, &from_file).await?;
    }
    let mut registration = fields::of(&before);
    fields::change(&mut registration, from_file);
    for field in &clear {
        fields::clear(&mut registration, field);
    }
    fields::change(&mut registration, flags);
    let requested = fields::requested(registration)?;
    let changed = change_client(management, before.clone(), requested).await;
    let after = changed.map_err(|error| match error {
        ChangeClientError::Rejected(rejected) => Failure::Usage(rejected.to_string()),
        ChangeClientError::Described(_) | ChangeClientError::MethodChange => {
            Failure::Usage(error.to_string())
        }
        ChangeClientError::ClientUnknown => unknown(&client_id),
        ChangeClientError::Store(error) => store(&error),
    })?;
    if after != before {
        change_log::client(after.id, ClientChange::Changed);
    }
    Ok(client_output::updated(&before, &after, output, out)?)
}
