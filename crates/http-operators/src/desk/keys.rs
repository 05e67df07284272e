//! `/admin/keys`: the signing keys.

use actix_web::HttpResponse;
use countersign_domain::act::{ActField, ActName};
use countersign_domain::signing_key::KeyState;
use countersign_http_actix::error::ApiError;
use countersign_http_actix::page::moment::Moment;
use countersign_http_actix::page::name::DeskPage;
use countersign_ports::ListedKey;
use serde::Serialize;
use time::{Duration, OffsetDateTime};

use super::admit::Visit;
use super::forms::Form;
use super::sent::Sent;
use super::show::Here;
use super::view::unavailable;

#[derive(Serialize)]
struct Keys {
    keys: Vec<KeyRow>,
    forms: Vec<Form>,
}

#[derive(Serialize)]
struct KeyRow {
    kid: String,
    algorithm: String,
    state: &'static str,
    created: Moment,
    from: Moment,
    /// When an active key is replaced.
    replaced: Option<Moment>,
    withdrawn: Option<Moment>,
    forgotten: Option<Moment>,
    form: Option<Form>,
}

pub(super) async fn list(visit: Visit) -> Result<HttpResponse, ApiError> {
    let keys = visit.settings.keys.list(visit.management().clock.now()).await.map_err(unavailable)?;
    let page = Keys {
        keys: keys.iter().enumerate().map(|(number, key)| KeyRow::of(&visit, number, key, &keys)).collect(),
        forms: vec![visit.make_form(ActName::RotateKeys, &Sent::default())],
    };
    visit.page(DeskPage::Keys, Here::Keys, &page).await
}

impl KeyRow {
    fn of(visit: &Visit, number: usize, key: &ListedKey, keys: &[ListedKey]) -> Self {
        let known = Sent::default().with(ActField::Kid, [&key.kid]);
        let form = match key.state {
            KeyState::Withdrawn => None,
            KeyState::Announced | KeyState::Active | KeyState::Retired => {
                Some(visit.make_form(ActName::WithdrawKey, &known))
            }
        };
        Self {
            kid: key.kid.clone(),
            algorithm: key.algorithm.clone(),
            state: key.state.name(),
            created: Moment::at(key.created_at),
            from: Moment::at(key.active_from),
            replaced: replaced_at(key, keys, visit.settings.key_rotation).map(Moment::at),
            withdrawn: key.withdrawn_at.map(Moment::at),
            forgotten: key.forget_after.map(Moment::at),
            form: form.map(|form| form.numbered(number, &key.kid)),
        }
    }
}

/// When an active key is replaced: as soon as the next one of its algorithm, which is announced before, begins to sign.
pub(super) fn replaced_at(
    key: &ListedKey,
    keys: &[ListedKey],
    rotation: Option<Duration>,
) -> Option<OffsetDateTime> {
    if key.state != KeyState::Active {
        return None;
    }
    let announced =
        |other: &&ListedKey| other.state == KeyState::Announced && other.algorithm == key.algorithm;
    let from = keys.iter().find(announced).map(|announced| announced.active_from);
    from.or_else(|| Some(key.active_from.saturating_add(rotation?)))
}
