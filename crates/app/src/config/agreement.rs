//! What the replicas on one database must agree on: settings that would make one sign-in end differently, depending on
//! which replica answers. Each replica writes its own down, and notices where others differ.

use std::collections::BTreeMap;

use countersign_domain::desk::operators::Quorum;
use countersign_domain::public_url::PublicUrl;
use countersign_domain::wallet::{WalletAccount, shortened};
use time::Duration;

use crate::config::Config;

/// The setting that names wallets.
const ADMINS: &str = "admins";
/// The setting that is the issuer.
const PUBLIC_URL: &str = "public_url";

/// Settings by name, as operators write them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Agreement(BTreeMap<String, String>);

/// A setting in which two replicas differ.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Difference {
    pub(crate) setting: String,
    pub(crate) here: String,
    pub(crate) there: String,
}

impl Difference {
    /// What it is here and there, for the log: that names no wallet in full.
    pub(crate) fn logged(&self) -> [String; 2] {
        [&self.here, &self.there].map(|value| {
            if self.setting != ADMINS {
                return value.clone();
            }
            let wallets = value.split(',').map(|wallet| match wallet.rsplit_once(':') {
                Some((chain, address)) => format!("{chain}:{}", shortened(address)),
                None => String::new(),
            });
            wallets.collect::<Vec<_>>().join(",")
        })
    }
}

impl Agreement {
    /// The settings of this process. No secret is among it, and nothing that is a machine's own.
    pub(crate) fn of(config: &Config) -> Self {
        let lifetimes = &config.lifetimes;
        let seconds = |time: Duration| time.whole_seconds().to_string();
        let on_or_off = |on: bool| (if on { "on" } else { "off" }).to_owned();
        let sorted = |mut texts: Vec<String>| {
            texts.sort();
            texts.join(",")
        };
        let desk = config.desk.as_ref().map(|desk| &desk.policy);
        let declared = config.resources.of_settings().iter();
        let chains = config.wallets.ethereum_rpc.iter();
        Self::from_iter([
            (PUBLIC_URL, config.public_url.as_str().to_owned()),
            ("registration", config.registration.name().to_owned()),
            ("default_access", config.default_access.to_string()),
            ("access_token_ttl", seconds(lifetimes.access_token)),
            ("refresh_token_ttl", seconds(lifetimes.refresh_token)),
            ("max_access_token_ttl", seconds(lifetimes.longest.access_token)),
            ("max_refresh_token_ttl", seconds(lifetimes.longest.refresh_token)),
            ("code_ttl", seconds(lifetimes.code)),
            ("challenge_ttl", seconds(lifetimes.challenge)),
            ("session_ttl", seconds(lifetimes.session)),
            ("login_ttl", seconds(lifetimes.login_session)),
            (
                "refresh_grace",
                format!("{},{}", seconds(lifetimes.confidential_grace), seconds(lifetimes.public_grace)),
            ),
            ("wallets_per_user", config.wallets_per_user.to_string()),
            ("key_rotation", seconds(config.key_rotation.unwrap_or_default())),
            ("event_retention", seconds(config.events.retention.unwrap_or_default())),
            ("client_documents", on_or_off(config.client_documents)),
            ("synthetic_email", on_or_off(config.synthetic_email)),
            ("assertion_audience", config.assertion_audience.name().to_owned()),
            ("resources", sorted(declared.map(|resource| resource.uri.clone()).collect())),
            ("ethereum_rpc", sorted(chains.map(|endpoint| endpoint.chain().to_string()).collect())),
            ("smtp_url", on_or_off(config.mail.is_some())),
            (
                ADMINS,
                sorted(desk.into_iter().flat_map(|desk| &desk.admins).map(WalletAccount::caip10).collect()),
            ),
            (
                "admin_group",
                desk.and_then(|desk| desk.group.as_ref()).map(ToString::to_string).unwrap_or_default(),
            ),
            (
                "admin_quorum",
                match desk.map(|desk| desk.quorum) {
                    None => "",
                    Some(Quorum::One) => "1",
                    Some(Quorum::Two) => "2",
                }
                .to_owned(),
            ),
        ])
    }

    /// Reads what a replica wrote down; `None` if it wrote nothing that can be read, as the release before.
    pub(crate) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self)
    }

    /// The issuer.
    pub(crate) fn public_url(&self) -> Option<PublicUrl> {
        PublicUrl::parse(self.0.get(PUBLIC_URL)?).ok()
    }

    /// What to write down.
    pub(crate) fn written(&self) -> String {
        serde_json::to_value(&self.0).unwrap_or_default().to_string()
    }

    /// In what this differs from another. A setting that only one of the two releases knows does not count.
    pub(crate) fn differences(&self, other: &Self) -> Vec<Difference> {
        let differs = |(setting, here): (&String, &String)| {
            let there = other.0.get(setting).filter(|there| *there != here)?;
            Some(Difference { setting: setting.clone(), here: here.clone(), there: there.clone() })
        };
        self.0.iter().filter_map(differs).collect()
    }
}

impl FromIterator<(&'static str, String)> for Agreement {
    fn from_iter<T: IntoIterator<Item = (&'static str, String)>>(settings: T) -> Self {
        Self(settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreement<const N: usize>(settings: [(&'static str, &str); N]) -> Agreement {
        settings.map(|(name, value)| (name, value.to_owned())).into_iter().collect()
    }

    #[test]
    fn what_is_written_down_is_read_again_and_anything_else_is_nothing() {
        let ours = agreement([("public_url", "https://auth.example.com"), ("code_ttl", "60")]);
        assert_eq!(ours.public_url().as_ref().map(PublicUrl::as_str), Some("https://auth.example.com"));
        assert_eq!(Agreement::read(&ours.written()), Some(ours));
        for text in ["", "null", "[]", r#"{"code_ttl":60}"#, r#"{"code_ttl":"60""#] {
            assert_eq!(Agreement::read(text), None, "{text}");
        }
    }

    #[test]
    fn replicas_differ_in_what_both_know() {
        let here = agreement([("code_ttl", "60"), ("public_url", "https://a.example"), ("old", "1")]);
        let there = agreement([("code_ttl", "60"), ("public_url", "https://b.example"), ("new", "1")]);
        let expected = Difference {
            setting: "public_url".to_owned(),
            here: "https://a.example".to_owned(),
            there: "https://b.example".to_owned(),
        };
        assert_eq!(here.differences(&there), [expected]);
    }

    #[test]
    fn wallets_that_look_alike_when_shortened_differ_and_the_log_shortens_them() {
        let wallet = |middle: &str| format!("eip155:1:0x7dBf{middle}bf21");
        let (here, there) = (wallet("11111111"), format!("{},{}", wallet("11111111"), wallet("22222222")));
        let differences = agreement([("admins", &here)]).differences(&agreement([("admins", &there)]));
        assert_eq!(differences.len(), 1);
        let short = "eip155:1:0x7dBf…bf21";
        assert_eq!(differences[0].logged(), [short.to_owned(), format!("{short},{short}")]);
        assert_eq!(
            agreement([("admins", &wallet("1"))]).differences(&agreement([("admins", &wallet("2"))])).len(),
            1
        );
    }
}
