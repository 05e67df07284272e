//! The settings of the desk together: who is an operator, how many must sign, where the desk is, and what may be
//! wrong with that.

use std::net::SocketAddr;
use std::sync::Arc;

use countersign_domain::admission::AccessRule;
use countersign_domain::desk::operators::{DeskPolicy, Quorum};
use countersign_domain::wallet::{AccountKind, AccountName, WalletAccount};
use countersign_http_actix::DeskPlace;
use countersign_ports::WalletVerifier;
use countersign_usecases::steps::recognize_account::{RecognizeError, recognize_account};
use time::Duration;

use super::admin_name::AdminName;
use super::reader::Reader;
use super::settings;

/// Who the operators are, and where their desk is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeskSettings {
    pub(crate) policy: DeskPolicy,
    pub(crate) place: DeskPlace,
}

/// What the settings of the desk depend on.
pub(super) struct Around<'a> {
    pub(super) wallets: &'a dyn Fn() -> Arc<dyn WalletVerifier>,
    pub(super) admin_listen: Option<SocketAddr>,
    pub(super) event_retention: Option<Duration>,
    pub(super) default_access: Option<&'a AccessRule>,
}

/// The desk, if there is one, and the warnings about it.
pub(super) fn read(reader: &mut Reader<'_>, around: &Around<'_>) -> (Option<DeskSettings>, Vec<String>) {
    let names = reader.read(&settings::ADMINS).unwrap_or_default();
    let group = reader.read(&settings::ADMIN_GROUP);
    let quorum = reader.read(&settings::ADMIN_QUORUM);
    let place = reader.read(&settings::DESK);
    if names.is_empty() && group.is_none() {
        let unused = unused(reader, quorum, place);
        return (None, unused);
    }
    if place == Some(DeskPlace::Private) && around.admin_listen.is_none() {
        reader.mistaken(&settings::DESK, "a private desk is served on admin_listen alone; set that too");
    }
    if around.event_retention.is_some_and(Duration::is_zero) {
        reader.mistaken(
            &settings::EVENT_RETENTION,
            "the desk keeps what operators signed in events, and with 0 nothing would prove a change; keep events, \
             or leave admins and admin_group out",
        );
    }
    let wallets = (around.wallets)();
    let mut admins: Vec<WalletAccount> = Vec::new();
    for name in &names {
        match recognize(wallets.as_ref(), name) {
            Ok(account) => {
                if !admins.iter().any(|other| other.is_same(&account)) {
                    admins.push(account);
                }
            }
            Err(reason) => reader.mistaken(&settings::ADMINS, &format!("{:?}: {reason}", name.account)),
        }
    }
    let (Some(quorum), Some(place)) = (quorum, place) else { return (None, Vec::new()) };
    let policy = DeskPolicy { admins, group, quorum };
    let warnings = warnings(&policy, wallets.as_ref(), around.default_access);
    (Some(DeskSettings { policy, place }), warnings)
}

/// What is set for a desk that does not exist.
fn unused(reader: &Reader<'_>, quorum: Option<Quorum>, place: Option<DeskPlace>) -> Vec<String> {
    let named = |name: &str| {
        format!(
            "{name}: there is no desk without admins or admin_group; set one of them too, or leave it out"
        )
    };
    [
        (quorum.is_some() && reader.is_given(&settings::ADMIN_QUORUM), "admin_quorum"),
        (place.is_some() && reader.is_given(&settings::DESK), "desk"),
    ]
    .into_iter()
    .filter(|(is_given, _)| *is_given)
    .map(|(_, name)| named(name))
    .collect()
}

/// Finds the account that an operator's wallet is named by. The chain is part of the name, because the address
/// alone could mean several accounts.
fn recognize(wallets: &dyn WalletVerifier, name: &AdminName) -> Result<WalletAccount, String> {
    let named = AccountName::read(&name.account, None).map_err(|error| error.to_string())?;
    if named.chain.is_none() {
        return Err("it names no chain; write it by CAIP-10, such as eip155:1:0x…".to_owned());
    }
    let found = recognize_account(wallets, named.of_kind(Some(name.kind)));
    found.map(|found| found.account).map_err(|error| match error {
        RecognizeError::AddressUnknown => "no wallet family knows this account".to_owned(),
        RecognizeError::ChainUnknown(chains) => {
            let chains: Vec<_> = chains.iter().map(|known| known.chain.as_str()).collect();
            format!("the address does not belong to this chain; it could belong to {}", chains.join(", "))
        }
        RecognizeError::KindUnknown(_) => "accounts of this chain are no contracts".to_owned(),
        RecognizeError::Ambiguous(_) | RecognizeError::KindMissing | RecognizeError::ChainsDiffer(_) => {
            error.to_string()
        }
    })
}

/// What is valid, and lets no one or everyone use the desk.
fn warnings(
    policy: &DeskPolicy,
    wallets: &dyn WalletVerifier,
    default_access: Option<&AccessRule>,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if policy.quorum == Quorum::Two && policy.group.is_none() && policy.admins.len() < 2 {
        warnings.push(
                "admin_quorum: 2 operators must sign a dangerous change, but only one wallet can be an operator's, \
                 so no such change can ever be made at the desk; add a wallet of another person to admins, or set \
                 admin_group"
                    .to_owned(),
            );
    }
    let chains = wallets.contract_chains();
    let cannot_sign = policy.admins.iter().filter(|account| {
        account.kind() == Some(AccountKind::Contract)
            && !chains.iter().any(|known| known.chain == account.chain)
    });
    warnings.extend(cannot_sign.map(|account| {
            format!(
                "admins: {} is a contract's account, and without a node of its chain in ethereum_rpc it cannot sign \
                 in; name one",
                account.caip10()
            )
        }));
    if let (Some(group), Some(AccessRule::Groups(groups))) = (&policy.group, default_access)
        && groups.contains(group)
    {
        warnings.push(format!(
            "admin_group: default_access lets in the group {group}, so everyone you add to it is an operator \
                 too; use a group of its own"
        ));
    }
    warnings
}
