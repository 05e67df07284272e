//! `countersign client update`.

use std::io::Write;

use super::file::FromFile;
use super::{fields, file, find, note_introspection, show_effect};
use crate::cli::{ChangedClient, Output};
use crate::commands::make::make;
use crate::database::opened::Opened;
use crate::failure::Failure;
use countersign_domain::act::Act;
use countersign_domain::client::ClientOrigin;

/// Changes the fields that the file, `--clear` and the flags name, in this order.
pub(super) async fn update(
    change: ChangedClient,
    output: Output,
    opened: &Opened<'_>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let management = opened.management();
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
    let before = find(management, &client_id).await?;
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
    let metadata = Box::new(fields::requested(&registration)?);
    let act = Act::ChangeClient { client: before.id.into(), metadata, fields: Vec::new() };
    show_effect(&make(opened, act).await?, output, out)
}
