//! The forms that begin a change: one for each act, with the fields that the table of acts names and that
//! [`super::sent`] reads. The same form is on the page of its subject, and again where a change
//! was refused, with what was typed.

use countersign_domain::act::{ActField, ActName, Second, Takes};
use countersign_domain::admin_key::{AdminArea, AdminRight, AdminScope};
use countersign_domain::client::AuthenticationMethod;
use countersign_domain::client_field::{ClientField, FieldKind};
use countersign_domain::desk::operators::DeskPolicy;
use countersign_domain::grant_type::GrantType;
use countersign_domain::group::GroupName;
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
    /// Must a second operator sign it too?
    second: bool,
    /// The same if it is about an operator.
    #[serde(skip)]
    second_of_operator: bool,
    open: bool,
    has_fields: bool,
    has_more: bool,
    fields: Vec<Field>,
}

/// Makes the forms of a page.
#[derive(Clone, Copy)]
pub(super) struct Forms<'a> {
    pub(super) applications: &'a dyn Applications,
    /// Who the operators are.
    pub(super) policy: Option<&'a DeskPolicy>,
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

/// The key of an act's text.
pub(super) fn key_of(name: ActName) -> String {
    name.word().replace('-', "_")
}

impl Forms<'_> {
    /// The form of a change. `sent` has the values that are known or were typed; those of `known` the page
    /// knows, so that no one types them.
    pub(super) fn form(self, name: ActName, sent: &Sent, known: &[&str]) -> Form {
        let fields = name.row().fields.iter().flat_map(|field| self.fields(*field, sent, known));
        let fields: Vec<Field> = fields.collect();
        Form {
            id: format!("change-{name}"),
            change: name.word(),
            key: key_of(name),
            about: None,
            dangerous: name.row().takes != Takes::Nothing,
            second: self.surely_needs_second(name, sent),
            second_of_operator: self.policy.is_some_and(|policy| name.may_need_second(policy))
                && name.row().second == Second::AboutOperator,
            open: false,
            has_fields: fields.iter().any(|field| !field.is_hidden()),
            has_more: fields.iter().any(Field::is_folded),
            fields,
        }
    }

    /// Will a second operator have to sign it, as far as the page knows?
    fn surely_needs_second(self, name: ActName, sent: &Sent) -> bool {
        let Some(policy) = self.policy.filter(|policy| name.may_need_second(policy)) else { return false };
        match name.row().second {
            Second::Always => true,
            Second::OperatorsGroup => {
                let group = policy.group.as_ref().map(GroupName::as_str);
                group.is_some() && sent.one("group") == group
            }
            Second::Never | Second::AboutOperator | Second::LetsEveryoneIn => false,
        }
    }

    /// What the form asks for of a field of the act. What is known already, or has a page, is hidden.
    fn fields(self, field: ActField, sent: &Sent, known: &[&str]) -> Vec<Field> {
        let hidden = |name| vec![Field::hidden(sent, name)];
        let text = |name: &'static str| Field::text(sent, name).hidden_if(known.contains(&name)).required();
        let select = |name, options| Field::select(sent, name, options);
        let kind = || select("wallet_kind", &KINDS).with_hint().hidden_if(known.contains(&"wallet_kind"));
        let resources = || Field::area(sent, "resources").with_hint();
        match field {
            ActField::User => hidden("user"),
            ActField::Wallet => vec![text("wallet").with_hint(), kind()],
            ActField::Reason => vec![Field::words(sent, "reason", 200).with_hint()],
            ActField::KeepOffline => vec![Field::tick(sent, "keep_offline")],
            ActField::NewGroup => vec![text("group").with_hint()],
            ActField::Group => hidden("group"),
            ActField::GroupOfMember => vec![text("group")],
            ActField::GroupTitle => vec![Field::words(sent, "title", 100)],
            ActField::Member => vec![text("member").with_hint(), kind()],
            ActField::Client => hidden("client"),
            ActField::Registration => {
                let application = select("application", &[("", "no_application")]);
                let application = application.or(self.applications.list()).with_hint();
                let fields = [application, Field::text(sent, "application_url").with_hint()];
                fields.into_iter().chain(metadata(sent)).collect()
            }
            ActField::Metadata => metadata(sent).collect(),
            ActField::Resources => vec![resources().required().hidden_if(known.contains(&"resources"))],
            ActField::MoreResources => vec![resources().folded()],
            ActField::KeepOld => vec![select("keep_old", &KEEP_OLD)],
            ActField::Rule => {
                vec![select("rule", &RULES), Field::text(sent, "rule_groups").with_hint()]
            }
            ActField::Release => {
                vec![select("release", &RELEASES), Field::text(sent, "release_groups").with_hint()]
            }
            ActField::NewUri => vec![text("uri")],
            ActField::Uri => hidden("uri"),
            ActField::ResourceName => vec![Field::words(sent, "resource_name", 100).with_hint()],
            ActField::OpenTo => vec![select("open_to", &OPEN_TO)],
            ActField::ResourceScopes => vec![Field::area(sent, "resource_scopes").with_hint()],
            ActField::Rotation => {
                let algorithms = SigningAlgorithm::ALL.map(|each| each.name().to_owned());
                let algorithms = Field::ticks(sent, "algorithms", algorithms).with_hint();
                vec![algorithms, Field::tick(sent, "at_once")]
            }
            ActField::Kid => hidden("kid"),
            ActField::NewKeyName => vec![text("key_name").with_hint()],
            ActField::KeyName => hidden("key_name"),
            ActField::AdminScopes => vec![Field::ticks(sent, "admin_scopes", admin_scopes())],
            ActField::Lives => vec![Field::text(sent, "expires_days").with_hint()],
            ActField::Proposal => hidden("proposal"),
        }
    }
}

impl Form {
    /// Names what it is about, and gives it an id of its own.
    pub(super) fn numbered(self, number: usize, about: &str) -> Self {
        Self { id: format!("{}-{number}", self.id), about: Some(about.to_owned()), ..self }
    }

    /// Says whether it is about an operator.
    pub(super) fn of_operator(self, is_operator: bool) -> Self {
        Self { second: self.second || (self.second_of_operator && is_operator), ..self }
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

/// What a client registers, in the order in which operators read of it before they sign.
fn metadata(sent: &Sent) -> impl Iterator<Item = Field> {
    ClientField::in_words().into_iter().map(|field| of_client(sent, field))
}

/// A field of a client. All but the first ones are folded.
fn of_client(sent: &Sent, field: ClientField) -> Field {
    let name = field.name();
    if field == ClientField::Name {
        return Field::words(sent, name, 100);
    }
    if field == ClientField::Scopes {
        return Field::text(sent, name).with_hint();
    }
    if field == ClientField::Method {
        let methods =
            AuthenticationMethod::ALL.map(|method| (method.name().to_owned(), method.name().to_owned()));
        return Field::select(sent, name, &[("", "unsaid")]).or(methods);
    }
    if field == ClientField::GrantTypes {
        return Field::ticks(sent, name, GrantType::ALL.map(|each| each.name().to_owned())).folded();
    }
    let is_first = field == ClientField::RedirectUris;
    let made = match field.kind() {
        FieldKind::Text | FieldKind::Address | FieldKind::OneOf(..) => Field::text(sent, name),
        FieldKind::Truth => Field::tick(sent, name),
        FieldKind::Keys => Field::area(sent, name),
        FieldKind::List | FieldKind::RedirectUris => Field::area(sent, name).with_hint(),
    };
    if is_first { made } else { made.folded() }
}

fn admin_scopes() -> impl Iterator<Item = String> {
    let rights = [AdminRight::Read, AdminRight::Write];
    AdminArea::ALL
        .into_iter()
        .flat_map(move |area| rights.map(|right| AdminScope { area, right }.to_string()))
}
