//! What an operator's command works with: the open database, and around it what the use-cases need.

use std::sync::Arc;

use countersign_adapters_crypto::{CheckpointReader, JosekitSigner, OperatorSecret};
use countersign_domain::checkpoint::RecordKey;
use countersign_domain::pairwise::PairwiseKey;
use countersign_ports::{Fetcher, KeyStore, Storage, WalletVerifier};
use countersign_usecases::context::blocks::Blocks;
use countersign_usecases::context::cause::Cause;
use countersign_usecases::context::clients::Clients;
use countersign_usecases::context::resources::Resources;
use countersign_usecases::{Management, Policy};

use crate::config::Config;
use crate::database::context::policy;
use crate::database::opening;
use crate::database::operator::Operator;
use crate::database::operator_secret;
use crate::failure::{Failure, chain};
use crate::keys::key_events::EventsOfKeys;
use crate::keys::key_ring::SealedRing;
use crate::wiring::{OpenStorage, Wiring};

/// An open database, for one command.
pub(crate) struct Opened<'a> {
    pub(crate) config: &'a Config,
    pub(crate) wiring: &'a Wiring,
    storage: OpenStorage,
    clients: Clients,
    resources: Resources,
    blocks: Blocks,
    wallets: Arc<dyn WalletVerifier>,
    fetcher: Arc<dyn Fetcher>,
    policy: Policy,
    cause: Cause,
}

impl<'a> Opened<'a> {
    /// Opens the database of the settings, does the work of a command, and closes the database. Creates none.
    pub(crate) async fn during(
        config: &'a Config,
        wiring: &'a Wiring,
        work: impl AsyncFnOnce(&Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let opened = Self::open(config, wiring).await?;
        let done = work(&opened).await;
        // Finishes what is queued.
        opened.storage.close().await;
        done
    }

    async fn open(config: &'a Config, wiring: &'a Wiring) -> Result<Self, Failure> {
        let storage = opening::at_once(config, wiring).await?;
        let (stored, clock) = (&storage.storage, &wiring.clock);
        Ok(Self {
            clients: Clients::new(Arc::<dyn Storage>::clone(stored), Arc::clone(clock)),
            resources: Resources::new(Arc::<dyn Storage>::clone(stored), Arc::clone(clock)),
            blocks: Blocks::new(Arc::<dyn Storage>::clone(stored), Arc::clone(clock)),
            wallets: (wiring.wallets)(config.wallets.clone()),
            fetcher: (wiring.fetcher)(config.public_url.is_loopback()),
            policy: policy(config),
            cause: Operator::of_this_process().cause(),
            storage,
            config,
            wiring,
        })
    }

    /// What the use-cases need.
    pub(crate) fn management(&self) -> Management<'_> {
        Management {
            storage: &*self.storage.storage,
            clients: &self.clients,
            resources: &self.resources,
            blocks: &self.blocks,
            wallets: &*self.wallets,
            jws: &*self.wiring.jws,
            fetcher: &*self.fetcher,
            clock: &*self.wiring.clock,
            entropy: &*self.wiring.entropy,
            policy: &self.policy,
            cause: &self.cause,
            once: None,
        }
    }

    /// The server's keys, which the server made.
    pub(crate) async fn signer(&self) -> Result<JosekitSigner, String> {
        let secret = self.secret()?;
        let opening = |error| format!("failed to open the signing keys: {}", chain(&error));
        let signer = JosekitSigner::new(&[]).map_err(opening)?;
        let now = self.wiring.clock.now();
        signer.reload(self.keys(), &secret, now).await.map_err(opening)?;
        Ok(signer)
    }

    /// Reads the server's own checkpoints.
    pub(crate) async fn checkpoint_reader(&self) -> Result<CheckpointReader, String> {
        let signer = self.signer().await?;
        let stored = self.keys().signing_keys().await;
        let stored = stored.map_err(|error| format!("failed to read the signing keys: {}", chain(&error)))?;
        Ok(CheckpointReader::of_server(&signer, &stored, &self.secret()?))
    }

    /// Makes the ids by which pairwise clients know people.
    pub(crate) fn pairwise(&self) -> Result<PairwiseKey, String> {
        self.secret().map(|secret| secret.pairwise_key())
    }

    /// The key of the record of events.
    pub(crate) fn record_key(&self) -> Result<RecordKey, String> {
        self.secret().map(|secret| secret.record_key())
    }

    fn secret(&self) -> Result<OperatorSecret, String> {
        operator_secret::load(self.config, self.wiring)
            .map_err(|error| format!("failed to get the secret (secret): {}", chain(&error)))
    }

    /// The signing keys, which this operator changes. No key can be made without the secret.
    pub(crate) fn key_ring(&self, secret: Option<OperatorSecret>) -> SealedRing {
        SealedRing {
            store: Arc::<dyn Storage>::clone(&self.storage.storage),
            secret,
            entropy: Arc::clone(&self.wiring.entropy),
            events: EventsOfKeys {
                policy: self.config.events,
                clock: Arc::clone(&self.wiring.clock),
                entropy: Arc::clone(&self.wiring.entropy),
                cause: self.cause.clone(),
            },
        }
    }

    /// The signing keys, sealed.
    pub(crate) fn keys(&self) -> &dyn KeyStore {
        &*self.storage.storage
    }
}
