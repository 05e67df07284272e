//! What every handler shares.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use actix_web::HttpRequest;
use actix_web::web::Bytes;
use countersign_domain::email::EmailAddress;
use countersign_domain::form_key::FormKey;
use countersign_metrics::Metrics;
use countersign_ports::Clock;
use countersign_usecases::Context;

use crate::endpoint::auth_page::SignInPage;
use crate::endpoint::discovery::{self, Offers};
use crate::endpoint::health::LastPing;
use crate::error::ApiError;
use crate::origin::require_ours;
use crate::polls::Polls;
use crate::rate_limit::{Limited, RateLimits};
use crate::request_id::RequestIds;
use crate::server::{HttpSettings, Registration};
use crate::templates::{Asset, Features, Name, Outlines, Site, TemplateError, Templates};

pub(crate) struct AppState {
    pub(crate) context: Context,
    pub(crate) form_key: FormKey,
    /// This machine's clock, which may not be the one that the server goes by.
    pub(crate) own_clock: Arc<dyn Clock>,
    pub(crate) templates: Templates,
    pub(crate) sign_in_pages: Outlines<SignInPage>,
    pub(crate) rate_limits: RateLimits,
    pub(crate) polls: Polls,
    pub(crate) request_ids: RequestIds,
    pub(crate) registration: Registration,
    pub(crate) playground: bool,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) shows_metrics: bool,
    /// When the store was asked last whether it can be written, and what it said.
    pub(crate) last_ping: tokio::sync::Mutex<Option<LastPing>>,
    /// A document that never changes while the server runs.
    pub(crate) metadata: Bytes,
    /// Another, which few ask for.
    openapi: OnceLock<Asset>,
    draining: AtomicBool,
}

impl AppState {
    pub(crate) fn new(context: Context, settings: HttpSettings) -> Result<Self, TemplateError> {
        let offers = Offers {
            registration: !matches!(settings.registration, Registration::Closed),
            client_documents: context.policy.client_documents,
        };
        let public_url = &context.policy.public_url;
        let site = Site {
            host: public_url.authority(),
            base: public_url.path(),
            features: Features { account: true, playground: settings.playground, dev: settings.dev },
            address_hints: &context.wallets.address_hints(),
            contract_chains: &context.wallets.contract_chains(),
        };
        let modules = context.wallets.page_modules();
        Ok(Self {
            templates: Templates::load(settings.template_directory.as_deref(), site, &modules)?,
            form_key: settings.form_key,
            sign_in_pages: Outlines::of(Name::Auth),
            rate_limits: RateLimits::new(
                settings.rate_limits,
                settings.trusted_proxies,
                Arc::clone(&settings.metrics),
            ),
            polls: Polls::default(),
            request_ids: RequestIds::default(),
            metadata: discovery::metadata(public_url, offers).into(),
            openapi: OnceLock::new(),
            registration: settings.registration,
            playground: settings.playground,
            metrics: settings.metrics,
            own_clock: settings.own_clock,
            shows_metrics: settings.shows_metrics,
            last_ping: tokio::sync::Mutex::default(),
            context,
            draining: AtomicBool::new(false),
        })
    }

    /// The description of the interface.
    pub(crate) fn openapi(&self) -> &Asset {
        let public_url = &self.context.policy.public_url;
        self.openapi.get_or_init(|| Asset::new("application/json", crate::openapi_json(public_url).into()))
    }

    /// Lets in what one of our own pages sends, or a program, and counts it.
    pub(crate) fn admit(&self, request: &HttpRequest, what: Limited) -> Result<(), ApiError> {
        require_ours(request, &self.context.policy.public_url)?;
        self.rate_limits.check(what, request)
    }

    /// Counts a mail to this address, where any is sent (F-11).
    pub(crate) fn admit_mail_to(&self, address: &EmailAddress) -> Result<(), ApiError> {
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
