//! Sends an address or a proof to the family that knows it.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use countersign_domain::wallet::WalletProof;
use countersign_ports::{RecognizedAccount, Verdict, VerifierError, WalletVerifier};

use super::EthereumVerifier;

/// Several wallet families behind one port. The first that recognizes an address has it.
#[derive(Clone)]
pub struct WalletRouter {
    families: Vec<Arc<dyn WalletVerifier>>,
}

impl WalletRouter {
    /// Asks these families, in this order.
    pub fn new(families: Vec<Arc<dyn WalletVerifier>>) -> Self {
        Self { families }
    }

    /// Asks all families of this build.
    pub fn standard() -> Self {
        Self::new(vec![Arc::new(EthereumVerifier)])
    }
}

#[async_trait]
impl WalletVerifier for WalletRouter {
    fn recognize(&self, address: &str) -> Option<RecognizedAccount> {
        self.families.iter().find_map(|family| family.recognize(address))
    }

    /// Asks the family that makes exactly this account of the address, so that a proof for one chain can never be judged by
    /// the rules of another that happens to write its addresses alike.
    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        let family = self.families.iter().find(|family| {
            family
                .recognize(&proof.account.address)
                .is_some_and(|recognized| recognized.account == proof.account)
        });
        match family {
            Some(family) => family.verify(proof).await,
            None => Ok(Verdict::Invalid("no wallet family knows the account")),
        }
    }
}

impl fmt::Debug for WalletRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WalletRouter").field("families", &self.families.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use countersign_domain::wallet::WalletAccount;

    use super::*;

    /// Recognizes addresses that begin with its letter, and calls every signature what it was told to.
    struct Family(&'static str, Verdict);

    #[async_trait]
    impl WalletVerifier for Family {
        fn recognize(&self, address: &str) -> Option<RecognizedAccount> {
            let account = WalletAccount {
                family: self.0.to_owned(),
                chain: format!("{}:1", self.0),
                address: address.to_lowercase(),
            };
            address.to_lowercase().starts_with('a').then_some(RecognizedAccount { account, kind: self.0 })
        }

        async fn verify(&self, _: &WalletProof) -> Result<Verdict, VerifierError> {
            Ok(self.1)
        }
    }

    fn router() -> WalletRouter {
        WalletRouter::new(vec![
            Arc::new(Family("first", Verdict::Invalid("the first was asked"))),
            Arc::new(Family("second", Verdict::Valid)),
        ])
    }

    fn proof(family: &str, address: &str) -> WalletProof {
        let account = WalletAccount {
            family: family.to_owned(),
            chain: format!("{family}:1"),
            address: address.to_owned(),
        };
        WalletProof { account, text: String::new(), signature: String::new() }
    }

    #[test]
    fn the_first_family_that_recognizes_an_address_has_it() {
        assert_eq!(router().recognize("ABC").map(|recognized| recognized.kind), Some("first"));
        assert_eq!(router().recognize("xyz"), None);
    }

    #[tokio::test]
    async fn a_proof_goes_to_the_family_of_its_account_and_to_no_other() {
        let router = router();
        assert_eq!(
            router.verify(&proof("first", "abc")).await.unwrap(),
            Verdict::Invalid("the first was asked")
        );
        assert_eq!(router.verify(&proof("second", "abc")).await.unwrap(), Verdict::Valid);
    }

    #[tokio::test]
    async fn an_account_that_no_family_would_make_is_refused() {
        let unknown = Verdict::Invalid("no wallet family knows the account");
        for account in [proof("third", "abc"), proof("first", "xyz"), proof("second", "ABC")] {
            assert_eq!(router().verify(&account).await.unwrap(), unknown, "{account:?}");
        }
        assert_eq!(WalletRouter::new(Vec::new()).verify(&proof("first", "abc")).await.unwrap(), unknown);
    }
}
