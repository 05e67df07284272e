//! `countersign invite …`.

use std::fs;
use std::io::Write;
use std::path::Path;

use countersign_domain::act::Act;
use countersign_domain::invitation::{Invitation, InvitationLimits, InvitationUse};
use countersign_domain::subject::Subject;
use countersign_operators::operate::{Effect, Operating};
use countersign_operators::people::invitations::{CreatedInvitation, list_invitations};
use countersign_operators::people::names::Names;
use countersign_operators::qr_code;
use countersign_usecases::act_refused::ActRefused;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::{names_of, note_more};
use crate::cli::{InviteCommand, Output};
use crate::commands::client::find;
use crate::commands::make::{effect_of, explained};
use crate::commands::output::people_output::called;
use crate::config::Config;
use crate::database::opened::Opened;
use crate::failure::{Failure, store};
use crate::output::table;
use crate::output::terminal::{note, visible, without_nulls, written};
use crate::wiring::Wiring;

/// How many wallets `invite show` lists.
const MOST_SHOWN: u32 = 1_000;

/// Runs the command on the database of the settings.
pub(crate) async fn invite(
    command: InviteCommand,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    Opened::during(config, wiring, async |opened| carry_out(command, opened, out).await).await
}

async fn carry_out(command: InviteCommand, opened: &Opened<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let management = opened.management();
    let now = management.clock.now();
    match command {
        InviteCommand::Create { group, uses, expires, name, from, client, qr, output } => {
            let client = match client {
                Some(client) => Some(find(management, &client).await?.id.into()),
                None => None,
            };
            let limits = InvitationLimits { uses, lives: expires };
            let act = Act::CreateInvitation { group, limits, name, inviter: from, client };
            let effect = effect_of(Operating::new(management), act).await?;
            let Effect::InvitationCreated(created) = effect else { return Ok(()) };
            show_created(&created, now, qr.as_deref(), output.output, out)
        }
        InviteCommand::List { group, limit, after, output } => {
            let listed = list_invitations(management, group.as_ref(), after, limit).await;
            let listed = listed.map_err(|error| store(&error))?;
            list(&listed.invitations, now, output.output, out)?;
            match listed.invitations.last() {
                Some(last) if listed.more => note_more(&last.id.to_string()),
                Some(_) | None => Ok(()),
            }
        }
        InviteCommand::Show { id, output } => {
            let found = management.storage.find_invitation(id).await.map_err(|error| store(&error))?;
            let Some(invitation) = found else {
                return Err(explained(management, ActRefused::InvitationUnknown(id)).await?);
            };
            let uses = management.storage.uses_of_invitation(id, MOST_SHOWN).await;
            let uses = uses.map_err(|error| store(&error))?;
            let who: Vec<Subject> = uses.iter().map(|used| Subject::Wallet(used.wallet.clone())).collect();
            let names = names_of(opened, &who).await?;
            show(&invitation, &uses, &names, now, output.output, out)
        }
        InviteCommand::Revoke { id, output } => {
            let act = Act::RevokeInvitation { invitation: id.into() };
            let effect = effect_of(Operating::new(management), act).await?;
            let Effect::InvitationRevoked(revoked) = effect else { return Ok(()) };
            match output.output {
                Output::Json => writeln!(out, "{:#}", shown(&revoked, now))?,
                Output::Table => {
                    writeln!(
                        out,
                        "revoked {}: its link lets no one into {} any more",
                        revoked.id, revoked.group
                    )?;
                }
            }
            Ok(())
        }
    }
}

fn show_created(
    created: &CreatedInvitation,
    now: OffsetDateTime,
    file: Option<&Path>,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let link = created.link.expose();
    let image = qr_code::svg(link).unwrap_or_default();
    match output {
        Output::Json => {
            let mut shown = shown(&created.invitation, now);
            shown["link"] = json!(link);
            shown["qr"] = json!(image);
            writeln!(out, "{shown:#}")?;
        }
        Output::Table => {
            list(std::slice::from_ref(&created.invitation), now, Output::Table, out)?;
            if let Some(code) = qr_code::blocks(link) {
                writeln!(out, "\n{code}")?;
            }
            writeln!(out, "\n{link}\n\nThe link is shown only once: save it now.")?;
        }
    }
    let Some(file) = file else { return Ok(()) };
    let written = fs::write(file, image);
    written.map_err(|error| Failure::because(&format!("write the QR code to {}", file.display()), &error))?;
    note(&format!("the QR code is in {}", file.display()))
}

fn list(
    invitations: &[Invitation],
    now: OffsetDateTime,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    Ok(match output {
        Output::Json => {
            let all: Vec<_> = invitations.iter().map(|invitation| shown(invitation, now)).collect();
            writeln!(out, "{:#}", Value::Array(all))
        }
        Output::Table if invitations.is_empty() => writeln!(out, "no invitations"),
        Output::Table => {
            let heading =
                ["ID", "GROUP", "STATE", "USED", "EXPIRES", "NAME", "FROM", "CLIENT"].map(str::to_owned);
            let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
            let rows = invitations.iter().map(|invitation| {
                [
                    invitation.id.to_string(),
                    invitation.group.to_string(),
                    invitation.state(now).name().to_owned(),
                    format!("{}/{}", invitation.used, invitation.uses),
                    written(invitation.expires_at),
                    or_none(invitation.name.as_ref().map(|name| visible(name.as_str()).into_owned())),
                    or_none(invitation.inviter.as_ref().map(|words| visible(words.as_str()).into_owned())),
                    or_none(invitation.client.map(|client| client.to_string())),
                ]
            });
            table::write(&std::iter::once(heading).chain(rows).collect::<Vec<_>>(), out)
        }
    }?)
}

fn show(
    invitation: &Invitation,
    uses: &[InvitationUse],
    names: &Names,
    now: OffsetDateTime,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    match output {
        Output::Json => {
            let mut shown = shown(invitation, now);
            let each = uses.iter().map(|used| {
                let who = Subject::Wallet(used.wallet.clone());
                without_nulls(json!({
                    "wallet": used.wallet.caip10(),
                    "name": names.text(&who),
                    "used_at": written(used.used_at),
                }))
            });
            shown["wallets"] = each.collect();
            writeln!(out, "{shown:#}")?;
        }
        Output::Table => {
            list(std::slice::from_ref(invitation), now, Output::Table, out)?;
            writeln!(out, "\ncreated {}", written(invitation.created_at))?;
            if let Some(revoked_at) = invitation.revoked_at {
                writeln!(out, "revoked {}", written(revoked_at))?;
            }
            for used in uses {
                let who = Subject::Wallet(used.wallet.clone());
                writeln!(out, "{}  {}", written(used.used_at), called(&who, names))?;
            }
        }
    }
    Ok(())
}

fn shown(invitation: &Invitation, now: OffsetDateTime) -> Value {
    without_nulls(json!({
        "id": invitation.id.to_string(),
        "group": invitation.group.as_str(),
        "state": invitation.state(now).name(),
        "uses": invitation.uses,
        "used": invitation.used,
        "created_at": written(invitation.created_at),
        "expires_at": written(invitation.expires_at),
        "revoked_at": invitation.revoked_at.map(written),
        "name": invitation.name.as_ref().map(|name| name.as_str()),
        "from": invitation.inviter.as_ref().map(|words| words.as_str()),
        "client_id": invitation.client.map(|client| client.to_string()),
    }))
}
