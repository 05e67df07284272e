//! Who did the act of an event.

use std::fmt;

use crate::wallet::WalletAccount;

/// Who did it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The person the event is about.
    Person,
    /// The client that the event is about.
    Client,
    /// The server itself.
    Server,
    /// A command on a machine: the user's name there, and the machine's (`root@host`).
    CommandLine(String),
    /// A key of the admin interface, by its name.
    Key(String),
    /// An operator who signed with a wallet (CAIP-10).
    Wallet(String),
    /// A file that declares what there is, by its path.
    File(String),
}

/// A text that names no actor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} names no actor")]
pub struct ActorRejected {
    /// The text.
    pub given: String,
}

impl Actor {
    /// Reads what [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Result<Self, ActorRejected> {
        let named = match text.split_once(':') {
            Some(("cli", name)) => Some(Self::CommandLine(name.to_owned())),
            Some(("key", name)) => Some(Self::Key(name.to_owned())),
            Some(("wallet", name)) => Some(Self::Wallet(name.to_owned())),
            Some(("file", path)) => Some(Self::File(path.to_owned())),
            Some(_) => None,
            None => match text {
                "person" => Some(Self::Person),
                "client" => Some(Self::Client),
                "server" => Some(Self::Server),
                _ => None,
            },
        };
        named.ok_or_else(|| ActorRejected { given: text.to_owned() })
    }

    /// The accounts that the wallet of an operator can be: CAIP-10 does not say whether it is a key's or a contract's.
    pub fn accounts(&self) -> Vec<WalletAccount> {
        let Self::Wallet(name) = self else { return Vec::new() };
        let Some((position, _)) = name.match_indices(':').nth(1) else { return Vec::new() };
        let (chain, address) = name.split_at(position);
        let namespace = chain.split(':').next().unwrap_or_default();
        let account = |family: &str| WalletAccount {
            family: family.to_owned(),
            chain: chain.to_owned(),
            address: address.trim_start_matches(':').to_owned(),
        };
        vec![account(namespace), account(chain)]
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person => f.write_str("person"),
            Self::Client => f.write_str("client"),
            Self::Server => f.write_str("server"),
            Self::CommandLine(name) => write!(f, "cli:{name}"),
            Self::Key(name) => write!(f, "key:{name}"),
            Self::Wallet(name) => write!(f, "wallet:{name}"),
            Self::File(path) => write!(f, "file:{path}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_actor_is_read_as_it_is_written() {
        let actors = [
            Actor::Person,
            Actor::Client,
            Actor::Server,
            Actor::CommandLine("root@host".to_owned()),
            Actor::Key("CI: deploys".to_owned()),
            Actor::Wallet("eip155:1:0xab".to_owned()),
            Actor::File("/etc/clients.toml".to_owned()),
        ];
        for actor in actors {
            assert_eq!(Actor::parse(&actor.to_string()), Ok(actor));
        }
        let accounts = Actor::Wallet("eip155:8453:0xab".to_owned()).accounts();
        let families: Vec<_> = accounts.iter().map(|account| account.family.as_str()).collect();
        assert_eq!(families, ["eip155", "eip155:8453"]);
        assert!(accounts.iter().all(|account| account.caip10() == "eip155:8453:0xab"));
        assert!(
            Actor::Wallet("eip155".to_owned()).accounts().is_empty() && Actor::Server.accounts().is_empty()
        );
        for nobody in ["", "Person", "robot:x", "person "] {
            assert_eq!(Actor::parse(nobody), Err(ActorRejected { given: nobody.to_owned() }));
        }
    }
}
