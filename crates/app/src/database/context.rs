//! What the use-cases need, made of the adapters and the settings.

use std::sync::Arc;

use countersign_ports::{Clock, Storage, TokenSigner};
use countersign_usecases::context::blocks::Blocks;
use countersign_usecases::context::clients::Clients;
use countersign_usecases::context::resources::Resources;
use countersign_usecases::context::uses::Uses;
use countersign_usecases::{Context, ContextKeys, Policy};

use crate::config::Config;
use crate::wiring::Wiring;

impl Wiring {
    /// The context in which the use-cases run.
    pub(crate) fn context(
        &self,
        config: &Config,
        storage: Arc<dyn Storage>,
        clock: Arc<dyn Clock>,
        signer: Arc<dyn TokenSigner>,
        keys: ContextKeys,
    ) -> Context {
        let mailer = config
            .mail
            .clone()
            .map(|settings| (self.mailer)(settings, Arc::clone(&self.clock), Arc::clone(&self.entropy)));
        Context {
            storage: Arc::<dyn Storage>::clone(&storage),
            resources: Resources::new(Arc::<dyn Storage>::clone(&storage), Arc::clone(&clock)),
            uses: Uses::new(Arc::<dyn Storage>::clone(&storage), Arc::<dyn Storage>::clone(&storage)),
            clients: Clients::new(Arc::<dyn Storage>::clone(&storage), Arc::clone(&clock)),
            blocks: Blocks::new(storage, Arc::clone(&clock)),
            record: Arc::default(),
            access: Arc::default(),
            wallets: (self.wallets)(config.wallets.clone()),
            signer,
            jws: Arc::clone(&self.jws),
            // Someone who tries the server out has clients on this machine too.
            fetcher: (self.fetcher)(config.public_url.is_loopback()),
            clock,
            entropy: Arc::clone(&self.entropy),
            mailer,
            keys,
            policy: policy(config),
        }
    }
}

/// What the operator decided, for the use-cases.
pub(crate) fn policy(config: &Config) -> Policy {
    Policy {
        public_url: config.public_url.clone(),
        lifetimes: config.lifetimes,
        default_access: config.default_access.clone(),
        resources: config.resources.clone(),
        client_documents: config.client_documents,
        synthetic_email: config.synthetic_email,
        assertion_audience: config.assertion_audience,
        wallets_per_user: config.wallets_per_user,
        events: config.events,
        desk: config.desk.as_ref().map(|desk| desk.policy.clone()),
        playground: config.playground,
    }
}
