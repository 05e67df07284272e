//! `countersign wallet …`.

use std::io::Write;

use countersign_domain::act::Act;
use countersign_domain::subject::Subject;
use countersign_operators::people::list_wallets::{ListWalletsError, list_blocked_wallets, list_wallets};

use super::{names_of, note_more, show_effect, who};
use crate::cli::{Output, Paging, WalletChoice, WalletCommand};
use crate::commands::make::make;
use crate::commands::output::people_output;
use crate::config::Config;
use crate::database::opened::Opened;
use crate::failure::{Failure, store};
use crate::wiring::Wiring;

/// Runs the command on the database of the settings.
pub(crate) async fn wallet(
    command: WalletCommand,
    config: &Config,
    wiring: &Wiring,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    Opened::during(config, wiring, async |opened| carry_out(command, opened, out).await).await
}

async fn carry_out(command: WalletCommand, opened: &Opened<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let management = opened.management();
    match command {
        WalletCommand::Block { who, reason, output } => {
            let account = who::wallet(management, &who).await?;
            let act = Act::Block { who: Subject::Wallet(account.into()), reason: reason.reason };
            show_effect(opened, make(opened, act).await?, output.output, out).await
        }
        WalletCommand::Unblock { who, output } => {
            let account = who::wallet(management, &who).await?;
            show_effect(
                opened,
                make(opened, Act::Unblock { who: Subject::Wallet(account.into()) }).await?,
                output.output,
                out,
            )
            .await
        }
        WalletCommand::Name { who, name, output } => {
            let account = who::wallet(management, &who).await?;
            let act = Act::Name { who: Subject::Wallet(account.into()), name: name.name };
            show_effect(opened, make(opened, act).await?, output.output, out).await
        }
        WalletCommand::List { blocked, paging, output } => {
            list(opened, blocked, paging, output.output, out).await
        }
    }
}

async fn list(
    opened: &Opened<'_>,
    blocked: bool,
    Paging { limit, after, kind }: Paging,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let management = opened.management();
    let after = match after {
        Some(who) => Some(who::wallet(management, &WalletChoice { who, kind }).await?),
        None => None,
    };
    let page = if blocked {
        list_blocked_wallets(management, after.as_ref(), limit).await.map_err(|error| store(&error))?
    } else {
        list_wallets(management, after.as_ref(), limit).await.map_err(|error| match error {
            ListWalletsError::AfterUnknown => Failure::Failed(error.to_string()),
            ListWalletsError::Store(error) => store(&error),
        })?
    };
    let who: Vec<_> = page.wallets.iter().map(|wallet| Subject::Wallet(wallet.account.clone())).collect();
    let names = names_of(opened, &who).await?;
    people_output::wallets(&page.wallets, &names, output, out)?;
    match page.wallets.last() {
        Some(last) if page.more => note_more(&last.account.caip10()),
        Some(_) | None => Ok(()),
    }
}
