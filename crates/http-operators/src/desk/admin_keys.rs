//! `/admin/admin-keys`: the keys of the admin interface.

use actix_web::HttpResponse;
use countersign_domain::act::{ActField, ActName};
use countersign_domain::admin_key::AdminKey;
use countersign_http_actix::error::ApiError;
use countersign_http_actix::page::moment::Moment;
use countersign_http_actix::page::name::DeskPage;
use countersign_operators::admin_keys::list_admin_keys::list_admin_keys;
use serde::Serialize;

use super::admit::Visit;
use super::forms::Form;
use super::sent::Sent;
use super::show::Here;
use super::view::unavailable;

#[derive(Serialize)]
struct AdminKeys {
    keys: Vec<KeyRow>,
    forms: Vec<Form>,
}

#[derive(Serialize)]
struct KeyRow {
    name: String,
    scopes: String,
    created: Moment,
    expires: Option<Moment>,
    revoked: Option<Moment>,
    used: Option<Moment>,
    form: Option<Form>,
}

pub(super) async fn list(visit: Visit) -> Result<HttpResponse, ApiError> {
    let keys = list_admin_keys(visit.management()).await.map_err(unavailable)?;
    let page = AdminKeys {
        keys: keys.iter().enumerate().map(|(number, key)| KeyRow::of(&visit, number, key)).collect(),
        forms: vec![visit.make_form(ActName::CreateAdminKey, &Sent::default())],
    };
    visit.page(DeskPage::AdminKeys, Here::AdminKeys, &page).await
}

impl KeyRow {
    fn of(visit: &Visit, number: usize, key: &AdminKey) -> Self {
        let known = Sent::default().with(ActField::KeyName, [&key.name]);
        let form = match key.revoked_at {
            Some(_) => None,
            None => Some(visit.make_form(ActName::RevokeAdminKey, &known)),
        };
        Self {
            name: key.name.to_string(),
            scopes: key.scopes.to_string(),
            created: Moment::at(key.created_at),
            expires: key.expires_at.map(Moment::at),
            revoked: key.revoked_at.map(Moment::at),
            used: key.last_used_at.map(Moment::at),
            form: form.map(|form| form.numbered(number, key.name.as_str())),
        }
    }
}
