//! The contract suites of `countersign-conformance`, on the router, on the family alone, and on the signer.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod router {
    //! As the server uses it, with the wallet of the suite, which shares no code with ours.

    use countersign_adapters_crypto::WalletRouter;
    use countersign_conformance::fakes::TestWallet;

    countersign_conformance::wallet_contract!(WalletRouter::standard(), TestWallet::from_seed);
}

mod ethereum {
    //! The family alone, with the wallet of `countersign demo-wallet`.

    use countersign_adapters_crypto::{DemoWallet, EthereumVerifier};
    use countersign_conformance::wallet::SigningWallet;

    struct Demo(DemoWallet);

    impl SigningWallet for Demo {
        fn address(&self) -> String {
            self.0.address()
        }

        fn sign(&self, text: &str) -> Vec<u8> {
            hex::decode(&self.0.sign(text)[2..]).unwrap()
        }
    }

    fn demo(seed: u64) -> Demo {
        let mut key = [7; 32];
        key[..8].copy_from_slice(&seed.to_be_bytes());
        Demo(DemoWallet::from_bytes(key).unwrap())
    }

    countersign_conformance::wallet_contract!(EthereumVerifier, demo);
}

mod signer {
    //! A signer over a new key.

    use countersign_adapters_crypto::{JosekitSigner, SigningKey};

    fn signer() -> JosekitSigner {
        JosekitSigner::new(&SigningKey::generate().unwrap()).unwrap()
    }

    countersign_conformance::signer_contract!(signer());
}

mod first_start {
    //! The keys of the first start, in a store that keeps its contract.

    use countersign_adapters_crypto::{OperatorSecret, OsEntropy, SystemClock, load_or_create};
    use countersign_conformance::memory::MemoryStorage;
    use countersign_ports::TokenSigner;

    #[tokio::test]
    async fn every_later_start_signs_with_the_key_of_the_first() {
        let store = MemoryStorage::default();
        let secret = OperatorSecret::generate(&OsEntropy);
        let start = || load_or_create(&store, &secret, &SystemClock, &OsEntropy);
        let first = start().await.unwrap();
        for _ in 0..3 {
            assert_eq!(start().await.unwrap().public_keys(), first.public_keys());
        }
    }
}
