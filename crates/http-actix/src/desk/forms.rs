//! The forms that begin a change: one for each of [`Change::NAMES`](countersign_domain::desk::change::Change), with
//! the fields that [`super::sent`] reads. The same form stands on the page of its subject, and again where a change
//! was refused, with what was typed.

use countersign_domain::admin_key::{AdminArea, AdminRight, AdminScope};
use countersign_domain::client::AuthenticationMethod;
use countersign_domain::grant_type::GrantType;
use countersign_domain::signing_algorithm::SigningAlgorithm;
use serde::Serialize;

use super::field::Field;
use super::sent::Sent;
use crate::settings::Applications;

/// A form.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Form {
    /// Its id in the page.
    id: String,
    /// The name of the change, and the key of its text.
    change: &'static str,
    key: String,
    /// What it is about, where a page has several of a kind.
    about: Option<String>,
    dangerous: bool,
    open: bool,
    has_fields: bool,
    has_more: bool,
    fields: Vec<Field>,
}

/// Makes the forms of a page.
#[derive(Clone, Copy)]
pub(super) struct Forms<'a> {
    pub(super) applications: &'a dyn Applications,
}

/// What signs at an address, for fields that take one.
const KINDS: [(&str, &str); 3] = [("", "whichever"), ("key", "key"), ("contract", "contract")];
const RULES: [(&str, &str); 4] =
    [("default", "default"), ("everyone", "everyone"), ("nobody", "nobody"), ("groups", "groups")];
const RELEASES: [(&str, &str); 4] =
    [("", "as_it_is"), ("rule", "release_rule"), ("all", "all"), ("groups", "groups")];
const OPEN_TO: [(&str, &str); 2] = [("everyone", "everyone"), ("named", "named")];
const KEEP_OLD: [(&str, &str); 5] = [
    ("0", "keep_not"),
    ("3600", "keep_hour"),
    ("86400", "keep_day"),
    ("604800", "keep_week"),
    ("2592000", "keep_month"),
];

/// The key of a change's text.
pub(super) fn key_of(change: &str) -> String {
    change.replace('-', "_")
}

impl Forms<'_> {
    /// The form of a change. `sent` has the values that are known or were typed; those of `known` the page knows,
    /// so that nobody types them.
    pub(super) fn form(self, change: &str, sent: &Sent, known: &[&str]) -> Option<Form> {
        let fields = self.fields(change, sent, known)?;
        let change = countersign_domain::desk::change::Change::NAMES.iter().find(|name| **name == change)?;
        Some(Form {
            id: format!("change-{change}"),
            change,
            key: key_of(change),
            about: None,
            dangerous: is_dangerous(change),
            open: false,
            has_fields: fields.iter().any(|field| !field.is_hidden()),
            has_more: fields.iter().any(Field::is_folded),
            fields,
        })
    }

    fn fields(self, change: &str, sent: &Sent, known: &[&str]) -> Option<Vec<Field>> {
        let hidden = |name| Field::hidden(sent, name);
        let text = |name: &'static str| Field::text(sent, name).hidden_if(known.contains(&name));
        let kind = || {
            let is_known = known.contains(&"wallet_kind");
            Field::select(sent, "wallet_kind", &KINDS).with_hint().hidden_if(is_known)
        };
        let wallet = || text("wallet").required().with_hint();
        let reason = || Field::words(sent, "reason", 200).with_hint();
        let group = || text("group").required();
        let title = || Field::words(sent, "title", 100);
        let resources = || Field::area(sent, "resources").with_hint();
        Some(match change {
            "user-block" => vec![hidden("user"), reason()],
            "wallet-block" => vec![wallet(), kind(), reason()],
            "wallet-unblock" => vec![wallet(), kind()],
            "user-unblock" | "user-sign-out" | "user-delete" => vec![hidden("user")],
            "group-create" => vec![group().with_hint(), title()],
            "group-retitle" => vec![hidden("group"), title()],
            "group-delete" => vec![hidden("group")],
            "member-add" | "member-remove" => vec![group(), text("member").required().with_hint(), kind()],
            "client-register" => self.registration(sent),
            "client-change" => {
                let mut fields = vec![hidden("client")];
                fields.extend(metadata(sent));
                fields
            }
            "client-delete" => vec![hidden("client")],
            "client-rotate-secret" => vec![hidden("client"), Field::select(sent, "keep_old", &KEEP_OLD)],
            "client-open-resources" => vec![hidden("client"), resources().required()],
            "client-close-resources" => {
                vec![hidden("client"), resources().required().hidden_if(known.contains(&"resources"))]
            }
            "client-access" => vec![
                hidden("client"),
                Field::select(sent, "rule", &RULES),
                Field::text(sent, "rule_groups").with_hint(),
                Field::select(sent, "release", &RELEASES),
                Field::text(sent, "release_groups").with_hint(),
            ],
            "resource-create" => vec![text("uri").required(), open_to(sent), scopes(sent)],
            "resource-update" => vec![hidden("uri"), open_to(sent), scopes(sent)],
            "resource-delete" => vec![hidden("uri")],
            "keys-rotate" => vec![
                Field::ticks(sent, "algorithms", SigningAlgorithm::ALL.map(|each| each.name().to_owned()))
                    .with_hint(),
                Field::tick(sent, "at_once"),
            ],
            "key-withdraw" => vec![hidden("kid")],
            "admin-key-create" => vec![
                text("key_name").required().with_hint(),
                Field::ticks(sent, "admin_scopes", admin_scopes()),
                text("expires_days").with_hint(),
            ],
            "admin-key-revoke" => vec![hidden("key_name")],
            "proposal-withdraw" => vec![hidden("proposal")],
            _ => return None,
        })
    }

    /// The registration of a client, perhaps of an application that is known.
    fn registration(self, sent: &Sent) -> Vec<Field> {
        let application = Field::select(sent, "application", &[("", "no_application")]);
        let mut fields = vec![
            application.or(self.applications.list()).with_hint(),
            Field::text(sent, "application_url").with_hint(),
        ];
        fields.extend(metadata(sent));
        fields.push(Field::area(sent, "resources").with_hint().folded());
        fields
    }
}

impl Form {
    /// Names what it is about, and gives it an id of its own.
    pub(super) fn numbered(self, number: usize, about: &str) -> Self {
        Self { id: format!("{}-{number}", self.id), about: Some(about.to_owned()), ..self }
    }

    /// Shows its fields from the beginning.
    pub(super) fn opened(self) -> Self {
        Self { open: true, ..self }
    }

    #[cfg(test)]
    pub(super) fn fields(&self) -> &[Field] {
        &self.fields
    }
}

fn open_to(sent: &Sent) -> Field {
    Field::select(sent, "open_to", &OPEN_TO)
}

fn scopes(sent: &Sent) -> Field {
    Field::area(sent, "resource_scopes").with_hint()
}

/// What a client registers, with the names of RFC 7591.
fn metadata(sent: &Sent) -> Vec<Field> {
    let text = |name| Field::text(sent, name);
    let area = |name| Field::area(sent, name).with_hint();
    let methods =
        AuthenticationMethod::ALL.map(|method| (method.name().to_owned(), method.name().to_owned()));
    vec![
        Field::words(sent, "client_name", 100),
        area("redirect_uris"),
        text("scope").with_hint(),
        Field::select(sent, "token_endpoint_auth_method", &[("", "unsaid")]).or(methods),
        Field::ticks(sent, "grant_types", GrantType::ALL.map(|each| each.name().to_owned())).folded(),
        area("post_logout_redirect_uris").folded(),
        text("backchannel_logout_uri").folded(),
        Field::tick(sent, "require_pushed_authorization_requests").folded(),
        Field::tick(sent, "dpop_bound_access_tokens").folded(),
        text("client_uri").folded(),
        text("logo_uri").folded(),
        text("tos_uri").folded(),
        text("policy_uri").folded(),
        area("contacts").folded(),
        text("application_type").folded(),
        text("id_token_signed_response_alg").folded(),
        text("token_endpoint_auth_signing_alg").folded(),
        text("jwks_uri").folded(),
        Field::area(sent, "jwks").folded(),
    ]
}

fn admin_scopes() -> impl Iterator<Item = String> {
    let rights = [AdminRight::Read, AdminRight::Write];
    AdminArea::ALL
        .into_iter()
        .flat_map(move |area| rights.map(|right| AdminScope { area, right }.to_string()))
}

/// Does it take something away from people?
fn is_dangerous(change: &str) -> bool {
    ["-block", "-delete", "-withdraw", "-revoke", "-remove", "-close-resources", "-sign-out"]
        .iter()
        .any(|end| change.ends_with(end))
        && change != "proposal-withdraw"
}
