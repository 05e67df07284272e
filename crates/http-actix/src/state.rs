//! The state that all handlers share.

mod cause;
pub(crate) mod last_ping;
pub(crate) mod received;
pub mod recent_refusals;
pub mod refusals;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use actix_web::HttpRequest;
use actix_web::web::Bytes;
use countersign_domain::contact::Contact;
use countersign_domain::email::EmailAddress;
use countersign_domain::form_key::FormKey;
use countersign_domain::wallet_link::WalletLink;
use countersign_metrics::Metrics;
use countersign_ports::Clock;
use countersign_usecases::Context;
use countersign_usecases::context::footing::Footing;
use countersign_usecases::events::waiting_events::SealWatch;

use crate::error::ApiError;
use crate::extract::origin::require_ours;
use crate::extract::request_id::RequestIds;
use crate::limits::polls::Polls;
use crate::limits::rate_limit::{Limited, RateLimits};
use crate::page::Pages;
use crate::page::in_each_language::InEachLanguage;
use crate::page::name::Name;
use crate::page::sign_in::SignInPage;
use crate::page::templates::{Asset, Features, Outlines, Site, TemplateError, Templates};
use crate::settings::{DeskRoutes, HttpSettings, Registration};
use last_ping::LastPing;
use received::Received;
use recent_refusals::RecentRefusals;

pub struct AppState {
    pub context: Context,
    pub(crate) form_key: FormKey,
    /// This machine's own clock. The `Context` may use another one.
    pub(crate) own_clock: Arc<dyn Clock>,
    pub(crate) footing: Arc<Footing>,
    pub(crate) seals: Arc<SealWatch>,
    pub pages: Pages,
    pub(crate) sign_in_pages: Outlines<SignInPage>,
    pub(crate) rate_limits: RateLimits,
    logs_whole_addresses: bool,
    pub(crate) polls: Polls,
    pub(crate) request_ids: RequestIds,
    pub(crate) registration: Registration,
    pub(crate) wallet_links: Vec<WalletLink>,
    /// Where people who are turned away can ask.
    pub(crate) contact: Option<Contact>,
    pub(crate) documentation: Option<String>,
    pub(crate) playground: bool,
    /// What applications received. `None` unless this is a trial server with a playground.
    pub(crate) received: Option<Received>,
    /// Was it started with `serve --dev`?
    pub(crate) is_dev: bool,
    pub metrics: Arc<Metrics>,
    pub(crate) shows_metrics: bool,
    /// When the store was last asked whether it can be written to, and the outcome.
    pub(crate) last_ping: tokio::sync::Mutex<Option<LastPing>>,
    /// The metadata document. It is built when it is first requested, and does not change while the server
    /// runs.
    pub(crate) metadata: OnceLock<Bytes>,
    /// The OpenAPI document, which is built in the same way because few clients request it.
    pub(crate) openapi: OnceLock<Asset>,
    /// The same for people.
    pub(crate) docs: InEachLanguage,
    /// The desk, if there is one.
    pub desk: Option<DeskRoutes>,
    /// The latest refusals, for operators. Empty without a desk.
    pub recent_refusals: RecentRefusals,
    draining: AtomicBool,
}

impl AppState {
    pub fn new(context: Context, settings: HttpSettings) -> Result<Self, TemplateError> {
        let public_url = &context.policy.public_url;
        let is_trial = settings.dev || public_url.is_loopback();
        let received = (is_trial && settings.playground).then(Received::default);
        let site = Site {
            host: public_url.authority(),
            base: public_url.path(),
            features: Features {
                account: true,
                playground: settings.playground,
                desk: settings.desk.is_some(),
                dev: settings.dev,
                trial: is_trial,
            },
            address_hints: &context.wallets.address_hints(),
            contract_chains: &context.wallets.contract_chains(),
        };
        let modules = context.wallets.page_modules();
        Ok(Self {
            pages: Pages::new(
                Templates::load(settings.template_directory.as_deref(), site, &modules)?,
                public_url,
            ),
            form_key: settings.form_key,
            sign_in_pages: Outlines::of(Name::Auth),
            rate_limits: RateLimits::new(
                settings.rate_limits,
                settings.trusted_proxies,
                Arc::clone(&settings.metrics),
            ),
            logs_whole_addresses: settings.logs_whole_addresses,
            polls: Polls::default(),
            request_ids: RequestIds::default(),
            metadata: OnceLock::new(),
            openapi: OnceLock::new(),
            docs: InEachLanguage::default(),
            registration: settings.registration,
            wallet_links: settings.wallet_links,
            contact: settings.contact,
            documentation: settings.documentation,
            playground: settings.playground,
            received,
            is_dev: settings.dev,
            metrics: settings.metrics,
            own_clock: settings.own_clock,
            footing: settings.footing,
            seals: settings.seals,
            shows_metrics: settings.shows_metrics,
            recent_refusals: RecentRefusals::since(context.clock.now()),
            last_ping: tokio::sync::Mutex::default(),
            context,
            desk: settings.desk,
            draining: AtomicBool::new(false),
        })
    }

    /// Admits a request of one of our own pages or of a program, and counts it.
    pub fn admit(&self, request: &HttpRequest, what: Limited) -> Result<(), ApiError> {
        require_ours(request, &self.context.policy.public_url)?;
        self.rate_limits.check(what, request)
    }

    /// Counts a mail to this address, if the server sends mail at all (F-11).
    pub fn admit_mail_to(&self, address: &EmailAddress) -> Result<(), ApiError> {
        if self.context.mailer.is_none() {
            return Ok(());
        }
        self.rate_limits.check_recipient(address)
    }

    pub(crate) fn begin_drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }
}
