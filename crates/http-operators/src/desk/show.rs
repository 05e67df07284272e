//! The frame of every page of the desk.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue};
use countersign_domain::desk::operators::Quorum;
use countersign_http_actix::browser::forms::Action;
use countersign_http_actix::error::ApiError;
use countersign_http_actix::page::language::Language;
use countersign_http_actix::page::name::{DeskPage, Name};
use countersign_operators::desk::overview::{Counted, count_waiting};
use serde::Serialize;

use super::admit::Visit;
use super::lists::offered_groups;
use super::names::{NameOf, fill};
use super::view::unavailable;

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// Where in the desk a page is: its entry in the list of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Here {
    Overview,
    People,
    Wallets,
    Groups,
    Invitations,
    Clients,
    Resources,
    Events,
    Refusals,
    Proposals,
    Keys,
    AdminKeys,
    Search,
}

impl Here {
    /// The places of the list, in its groups. What is not here is below one of them.
    const LISTED: [&[Self]; 4] = [
        &[Self::Overview, Self::Proposals],
        &[Self::People, Self::Groups, Self::Invitations, Self::Clients, Self::Resources],
        &[Self::Events, Self::Refusals],
        &[Self::Keys, Self::AdminKeys],
    ];

    /// Is a page of this place below that entry of the list?
    fn is_below(self, listed: Self) -> bool {
        self == listed || (self, listed) == (Self::Wallets, Self::People)
    }

    /// Do its forms or filters offer groups to choose from?
    const fn offers_groups(self) -> bool {
        matches!(self, Self::People | Self::Wallets | Self::Groups | Self::Invitations | Self::Clients)
    }

    /// The key of its text.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::People => "people",
            Self::Wallets => "wallets",
            Self::Groups => "groups",
            Self::Invitations => "invitations",
            Self::Clients => "clients",
            Self::Resources => "resources",
            Self::Events => "events",
            Self::Refusals => "refusals",
            Self::Proposals => "proposals",
            Self::Keys => "keys",
            Self::AdminKeys => "admin_keys",
            Self::Search => "search",
        }
    }

    /// Its path below `/admin`.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Overview => "",
            Self::People => "/people",
            Self::Wallets => "/wallets",
            Self::Groups => "/groups",
            Self::Invitations => "/invitations",
            Self::Clients => "/clients",
            Self::Resources => "/resources",
            Self::Events => "/events",
            Self::Refusals => "/refusals",
            Self::Proposals => "/proposals",
            Self::Keys => "/keys",
            Self::AdminKeys => "/admin-keys",
            Self::Search => "/search",
        }
    }
}

/// What a page says besides its content.
#[derive(Default)]
pub(super) struct About<'a> {
    /// What the page is about, for its title.
    pub(super) subject: Option<NameOf>,
    /// The name of its state, if it is not that of its place.
    pub(super) state: Option<&'static str>,
    /// What was searched for.
    pub(super) query: Option<&'a str>,
    pub(super) notice: Option<Notice>,
}

/// Why something was not done: the key of a text, and the sentence for programs.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Notice {
    pub(super) key: &'static str,
    pub(super) detail: Option<String>,
}

impl Notice {
    pub(super) const fn of(key: &'static str) -> Self {
        Self { key, detail: None }
    }

    pub(super) fn because(key: &'static str, detail: impl ToString) -> Self {
        Self { key, detail: Some(detail.to_string()) }
    }
}

#[derive(Serialize)]
struct Shown<'a, P: Serialize> {
    #[serde(flatten)]
    page: &'a P,
    desk: Frame<'a>,
}

#[derive(Serialize)]
struct Frame<'a> {
    here: &'static str,
    state: &'static str,
    subject: Option<NameOf>,
    query: Option<&'a str>,
    places: Vec<Vec<Entry>>,
    me: Me,
    notice: Option<Notice>,
    /// The groups to choose from in forms and filters; none if there are too many, or nothing asks for one.
    groups: Vec<String>,
    /// The secret of the forms that begin a change.
    form: String,
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    path: &'static str,
    is_here: bool,
    /// How much waits there.
    count: Option<String>,
}

#[derive(Serialize)]
struct Me {
    short: String,
    address: String,
    name: NameOf,
}

impl Visit {
    /// Shows a page.
    pub(super) async fn show<P: Serialize>(
        &self,
        page: DeskPage,
        here: Here,
        about: About<'_>,
        status: StatusCode,
        content: &P,
    ) -> Result<HttpResponse, ApiError> {
        let account = &self.operator.session.account;
        let groups = if here.offers_groups() { offered_groups(self).await } else { Ok(Vec::new()) };
        let frame = Frame {
            here: here.name(),
            state: about.state.unwrap_or(here.name()),
            subject: about.subject,
            query: about.query,
            places: self.places(here).await?,
            me: Me { short: account.shortened(), address: account.caip10(), name: NameOf::wallet(account) },
            notice: about.notice,
            groups: groups.map_err(unavailable)?,
            form: self.forms().secret(&Action::BeginDeskChange),
        };
        let mut shown =
            serde_json::to_value(Shown { page: content, desk: frame }).map_err(ApiError::server_error)?;
        fill(self.management().storage, &mut shown).await.map_err(unavailable)?;
        let language = Language::of(&self.request, None);
        let mut answer = self.state.pages.show(&self.request, language, Name::Desk(page), status, &shown)?;
        if page == DeskPage::Change {
            // The windows of wallets must be able to reach the page (ADR 0012). Otherwise it would differ
            // from a path that does not exist.
            answer.headers_mut().insert(OPENER_POLICY, HeaderValue::from_static("same-origin-allow-popups"));
        }
        Ok(answer)
    }

    /// The places that there are, and how many proposals wait.
    async fn places(&self, here: Here) -> Result<Vec<Vec<Entry>>, ApiError> {
        let quorum = self.state.context.policy.desk.as_ref().map(|policy| policy.quorum);
        let waiting = match quorum {
            Some(Quorum::Two) => Some(count_waiting(self.desk()).await.map_err(unavailable)?.0),
            Some(Quorum::One) | None => None,
        };
        let count = |waiting: Counted| (waiting.count > 0).then(|| waiting.to_string());
        let entry = |place: &Here| {
            let is_proposals = *place == Here::Proposals;
            (!is_proposals || waiting.is_some()).then(|| Entry {
                name: place.name(),
                path: place.path(),
                is_here: here.is_below(*place),
                count: waiting.filter(|_| is_proposals).and_then(count),
            })
        };
        Ok(Here::LISTED.iter().map(|group| group.iter().filter_map(entry).collect()).collect())
    }

    /// Shows a page for reading.
    pub(super) async fn page<P: Serialize>(
        &self,
        page: DeskPage,
        here: Here,
        content: &P,
    ) -> Result<HttpResponse, ApiError> {
        self.show(page, here, About::default(), StatusCode::OK, content).await
    }
}
