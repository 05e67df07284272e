//! Sends an address or a proof to the family that recognizes it.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use countersign_domain::wallet::{AccountKind, WalletAccount, WalletProof};
use countersign_ports::{
    AddressHint, ContractChain, PageModule, RecognizedAccount, SigningHint, Verdict, VerifierError,
    WalletVerifier,
};

use super::{
    Coin, CoinVerifier, CosmosVerifier, EthereumVerifier, RpcEndpoint, SolanaVerifier, TronVerifier,
};

/// The operator's settings for wallets. The default works without any decision.
#[derive(Clone, Debug, Default)]
pub struct WalletSettings {
    /// The services to ask about contract wallets, by chain. If there are none, only accounts with a key sign
    /// in.
    pub ethereum_rpc: Vec<RpcEndpoint>,
    /// Coins that sign messages as Bitcoin does, in addition to those of this build.
    pub coins: Vec<Coin>,
}

/// Several wallet families behind one port.
#[derive(Clone)]
pub struct WalletRouter {
    families: Vec<Arc<dyn WalletVerifier>>,
}

impl WalletRouter {
    /// Makes a router that asks these families, in this order.
    pub fn new(families: Vec<Arc<dyn WalletVerifier>>) -> Self {
        Self { families }
    }

    /// The namespaces of the chains that are not coins.
    pub const NAMESPACES: [&str; 4] = ["eip155", "solana", "cosmos", "tron"];

    /// The names of the kinds of account on those chains.
    pub fn kinds() -> impl Iterator<Item = &'static str> {
        ["Ethereum", "Solana", "Cosmos", "Tron"].into_iter().chain(super::cosmos::kinds())
    }

    /// All families of this build, with default settings.
    pub fn standard() -> Self {
        Self::configured(WalletSettings::default())
    }

    /// All families of this build, with the operator's settings.
    pub fn configured(settings: WalletSettings) -> Self {
        let mut families: Vec<Arc<dyn WalletVerifier>> =
            vec![Arc::new(EthereumVerifier::with_rpc(settings.ethereum_rpc))];
        for coin in Coin::standard().into_iter().chain(settings.coins) {
            families.push(Arc::new(CoinVerifier::new(coin)));
        }
        families.push(Arc::new(SolanaVerifier));
        families.push(Arc::new(CosmosVerifier));
        families.push(Arc::new(TronVerifier));
        Self::new(families)
    }

    /// The family that derives exactly the account of a proof from its address.
    fn family_of(&self, proof: &WalletProof) -> Option<&dyn WalletVerifier> {
        let WalletAccount { address, chain, .. } = &proof.account;
        let makes_it = |family: &dyn WalletVerifier| {
            let recognized = match proof.kind {
                Some(kind) => family.recognize_as(kind, address, Some(chain)),
                None => family.recognize(address, Some(chain)),
            };
            recognized.iter().any(|recognized| recognized.account == proof.account)
        };
        self.families.iter().map(AsRef::as_ref).find(|family| makes_it(*family))
    }
}

const NOBODY_KNOWS: &str = "no wallet family knows the account";

#[async_trait]
impl WalletVerifier for WalletRouter {
    fn recognize(&self, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        self.families.iter().flat_map(|family| family.recognize(address, chain)).collect()
    }

    /// Asks the family that derives exactly this account from the address. So a proof for one chain is never
    /// verified by the rules of another chain that happens to write its addresses the same way.
    async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        match self.family_of(proof) {
            Some(family) => family.verify(proof).await,
            None => Ok(Verdict::Invalid(NOBODY_KNOWS)),
        }
    }

    async fn examine(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
        match self.family_of(proof) {
            Some(family) => family.examine(proof).await,
            None => Ok(Verdict::Invalid(NOBODY_KNOWS)),
        }
    }

    fn recognize_as(&self, kind: AccountKind, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
        self.families.iter().flat_map(|family| family.recognize_as(kind, address, chain)).collect()
    }

    fn page_modules(&self) -> Vec<PageModule> {
        let mut modules: Vec<PageModule> = Vec::new();
        for module in self.families.iter().flat_map(|family| family.page_modules()) {
            if !modules.contains(&module) {
                modules.push(module);
            }
        }
        modules
    }

    fn address_hints(&self) -> Vec<AddressHint> {
        self.families.iter().flat_map(|family| family.address_hints()).collect()
    }

    fn contract_chains(&self) -> Vec<ContractChain> {
        self.families.iter().flat_map(|family| family.contract_chains()).collect()
    }

    fn signing_hints(&self, account: &WalletAccount) -> Vec<SigningHint> {
        self.families.iter().flat_map(|family| family.signing_hints(account)).collect()
    }
}

impl fmt::Debug for WalletRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WalletRouter").field("families", &self.families.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recognizes addresses that begin with an A. Calls every signature valid or invalid, as configured.
    struct Family(&'static str, Result<(), &'static str>);

    #[async_trait]
    impl WalletVerifier for Family {
        fn recognize(&self, address: &str, chain: Option<&str>) -> Vec<RecognizedAccount> {
            let account = WalletAccount {
                family: self.0.to_owned(),
                chain: format!("{}:1", self.0),
                address: address.to_lowercase(),
            };
            if !account.address.starts_with('a') || chain.is_some_and(|chain| chain != account.chain) {
                return Vec::new();
            }
            vec![RecognizedAccount { account, kind: self.0.into(), chain_id: "1".to_owned() }]
        }

        async fn verify(&self, proof: &WalletProof) -> Result<Verdict, VerifierError> {
            Ok(Verdict::of(proof, self.1))
        }

        fn page_modules(&self) -> Vec<PageModule> {
            vec![PageModule { name: "shared", source: "" }]
        }
    }

    fn router() -> WalletRouter {
        WalletRouter::new(vec![
            Arc::new(Family("first", Err("the first was asked"))),
            Arc::new(Family("second", Ok(()))),
        ])
    }

    fn proof(family: &str, address: &str) -> WalletProof {
        let account = WalletAccount {
            family: family.to_owned(),
            chain: format!("{family}:1"),
            address: address.to_owned(),
        };
        WalletProof { account, kind: None, text: String::new(), signature: String::new() }
    }

    #[test]
    fn every_family_that_recognizes_an_address_is_named_and_the_chain_chooses() {
        let kinds = |address, chain| {
            let recognized = router().recognize(address, chain);
            recognized.into_iter().map(|recognized| recognized.kind).collect::<Vec<_>>()
        };
        assert_eq!(kinds("ABC", None), ["first", "second"]);
        assert_eq!(kinds("ABC", Some("second:1")), ["second"]);
        assert!(kinds("ABC", Some("third:1")).is_empty());
        assert!(kinds("xyz", None).is_empty());
    }

    #[test]
    fn every_family_with_wallets_in_browsers_brings_a_script() {
        let modules = WalletRouter::standard().page_modules();
        let names: Vec<_> = modules.iter().map(|module| module.name).collect();
        assert_eq!(names, ["ethereum", "bitcoin", "solana", "cosmos", "tron"]);
        assert!(modules.iter().all(|module| module.source.contains("export function find(")));
    }

    #[test]
    fn every_family_says_what_its_addresses_look_like() {
        let hints = WalletRouter::standard().address_hints();
        let kinds: Vec<_> = hints.iter().map(|hint| hint.kind.as_ref()).collect();
        let expected = [
            "Ethereum",
            "Bitcoin",
            "Litecoin",
            "Dogecoin",
            "Ravencoin",
            "Evrmore",
            "Solana",
            "Cosmos",
            "Tron",
        ];
        assert_eq!(kinds, expected);
        assert!(hints.iter().all(|hint| !hint.look.is_empty()));
    }

    #[test]
    fn people_are_told_how_to_sign_by_the_family_of_their_account_and_by_no_other() {
        let router = WalletRouter::standard();
        let addresses = [
            ("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "cast wallet sign"),
            ("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "bitcoin-cli signmessage 1A1z"),
            ("4deXwQjwooLs7UximXrtvPpP5ZmvwBaGLgaM2mzjxQB4", "solana sign-offchain-message"),
            ("osmo1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmcn030", "signArbitrary(\"osmosis-1\", \"osmo1"),
            ("TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy", "signMessageV2"),
        ];
        for (address, how) in addresses {
            let account = router.recognize(address, None).remove(0).account;
            let hints = router.signing_hints(&account);
            assert!(hints[0].how.contains(how), "{hints:?}");
            let families = router.families.iter().filter(|family| !family.signing_hints(&account).is_empty());
            assert_eq!(families.count(), 1, "{address}");
            let elsewhere = WalletAccount { family: "other:1".to_owned(), ..account };
            assert!(router.signing_hints(&elsewhere).is_empty(), "{address}");
        }
    }

    #[test]
    fn a_router_says_how_many_families_it_asks() {
        assert_eq!(format!("{:?}", router()), "WalletRouter { families: 2, .. }");
    }

    #[test]
    fn a_script_that_several_families_share_is_given_once() {
        assert_eq!(router().page_modules().len(), 1);
    }

    #[tokio::test]
    async fn a_proof_goes_to_the_family_of_its_account_and_to_no_other() {
        let router = router();
        assert_eq!(
            router.verify(&proof("first", "abc")).await.unwrap(),
            Verdict::Invalid("the first was asked")
        );
        let second = proof("second", "abc");
        assert_eq!(router.verify(&second).await.unwrap(), Verdict::Valid(second.account));
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
