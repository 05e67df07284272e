//! How a plan is shown: a line for each thing, with what changes below it; one JSON value for scripts. Secrets are only
//! said to change.

use std::io::{self, Write};

use countersign_domain::admission::{ClientAccess, Release};
use countersign_domain::client::Client;
use countersign_domain::declaration::DeclaredThing;
use countersign_domain::group::GroupTitle;
use countersign_domain::person_name::PersonName;
use countersign_domain::resource::Resource;
use countersign_domain::subject::Subject;
use countersign_operators::declared::plan::{
    Change, DeclaredBefore, NewSecret, NewState, Plan, PlannedClient, PlannedGroup, PlannedPerson,
    PlannedResource, What,
};
use countersign_operators::people::names::Names;
use countersign_usecases::clients::client_view::ClientView;
use serde_json::{Map, Value, json};

use crate::cli::Output;
use crate::commands::output::people_output::called;
use crate::commands::output::resource_output;
use crate::output::terminal::visible;

/// Shows a plan.
pub(super) fn plan(plan: &Plan, output: Output, dry_run: bool, out: &mut dyn Write) -> io::Result<()> {
    match output {
        Output::Json => {
            let changes: Vec<_> = plan.changes.iter().map(Shown::of).map(Shown::into_json).collect();
            let left: Vec<_> = plan
                .left
                .iter()
                .map(|left| json!({"kind": left.thing.kind.name(), "key": left.thing.key, "source": left.source}))
                .collect();
            let value = json!({"dry_run": dry_run, "changes": changes, "no_longer_declared": left});
            writeln!(out, "{}", visible(&format!("{value:#}")))
        }
        Output::Table => {
            for line in lines(plan) {
                writeln!(out, "{line}")?;
            }
            Ok(())
        }
    }
}

/// A plan in lines, for people.
fn lines(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    for change in &plan.changes {
        let shown = Shown::of(change);
        lines.push(format!("{} {}", shown.action.sign(), shown.title()));
        let width = shown.fields.iter().map(|field| field.name.chars().count()).max().unwrap_or(0);
        lines.extend(shown.fields.iter().map(|field| format!("    {:width$}  {}", field.name, field.text())));
    }
    for left in &plan.left {
        let DeclaredThing { kind, key } = &left.thing;
        let (kind, source) = (kind.name(), &left.source);
        lines.push(format!(
            "  {kind} {key}: {source} no longer declares it, and it stays (--prune deletes it)"
        ));
    }
    if plan.is_empty() {
        lines.push("nothing to do".to_owned());
    }
    lines.iter().map(|line| visible(line).replace('\n', "\\n")).collect()
}

/// What becomes of a thing.
#[derive(Clone, Copy)]
enum Action {
    Create,
    Change,
    Delete,
}

impl Action {
    const fn sign(self) -> char {
        match self {
            Self::Create => '+',
            Self::Change => '~',
            Self::Delete => '-',
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Change => "change",
            Self::Delete => "delete",
        }
    }
}

/// A change as it is shown.
struct Shown<'a> {
    action: Action,
    change: &'a Change,
    /// What people call the thing, if that is not its key.
    name: Option<&'a str>,
    fields: Vec<Field>,
}

/// A field that changes.
struct Field {
    name: &'static str,
    what: FieldChange,
}

enum FieldChange {
    Values { before: Option<Value>, after: Option<Value> },
    Secret(&'static str),
    Note(String),
}

impl<'a> Shown<'a> {
    fn of(change: &'a Change) -> Self {
        let (action, name, mut fields) = match &change.what {
            What::Client(planned) => match &**planned {
                PlannedClient::Registered(now) => {
                    (Action::Create, Some(&now.client), client_fields(None, now))
                }
                PlannedClient::Kept { before, now } => {
                    (Action::Change, Some(&now.client), client_fields(Some(before), now))
                }
                PlannedClient::Deleted(client) => (Action::Delete, Some(client), Vec::new()),
            },
            What::Group(planned) => (action_of(planned), None, group_fields(planned)),
            What::Resource(planned) => match planned {
                PlannedResource::Created(now) => (Action::Create, None, resource_fields(None, now)),
                PlannedResource::Kept { before, now } => {
                    (Action::Change, None, resource_fields(Some(before), now))
                }
                PlannedResource::Deleted(_) => (Action::Delete, None, Vec::new()),
            },
            What::Person(PlannedPerson { before, now, who: _ }) => {
                let text = |name: &Option<PersonName>| name.as_ref().map(|name| json!(name.as_str()));
                let what = FieldChange::Values { before: text(before), after: text(now) };
                let named = (before != now && now.is_some()).then_some(Field { name: "name", what });
                let action = match (before, now) {
                    (None, Some(_)) => Action::Create,
                    (Some(_), Some(_)) => Action::Change,
                    (_, None) => Action::Delete,
                };
                (action, None, named.into_iter().collect())
            }
        };
        if let Action::Change = action {
            fields.extend(declared(change));
        }
        Self { action, change, name: name.map(|client| &*client.metadata.name), fields }
    }

    fn title(&self) -> String {
        let DeclaredThing { kind, key } = &self.change.thing;
        match self.name {
            Some(name) => format!("{} {name} ({key})", kind.name()),
            None => format!("{} {key}", kind.name()),
        }
    }

    fn into_json(self) -> Value {
        let mut shown = Map::new();
        shown.insert("action".to_owned(), json!(self.action.name()));
        shown.insert("kind".to_owned(), json!(self.change.thing.kind.name()));
        shown.insert("key".to_owned(), json!(self.change.thing.key));
        if let Some(name) = self.name {
            shown.insert("name".to_owned(), json!(name));
        }
        shown.insert("source".to_owned(), json!(&*self.change.source));
        let fields: Vec<_> = self.fields.into_iter().map(Field::into_json).collect();
        shown.insert("fields".to_owned(), Value::Array(fields));
        Value::Object(shown)
    }
}

impl Field {
    fn text(&self) -> String {
        match &self.what {
            FieldChange::Values { before: None, after } => plain(after.as_ref()),
            FieldChange::Values { before: before @ Some(_), after } => {
                format!("{} → {}", plain(before.as_ref()), plain(after.as_ref()))
            }
            FieldChange::Secret(what) => (*what).to_owned(),
            FieldChange::Note(text) => text.clone(),
        }
    }

    fn into_json(self) -> Value {
        match self.what {
            FieldChange::Values { before, after } => {
                json!({"field": self.name, "before": before, "after": after})
            }
            FieldChange::Secret(what) => json!({"field": self.name, "change": what}),
            FieldChange::Note(text) => json!({"field": self.name, "change": text}),
        }
    }
}

const fn action_of(planned: &PlannedGroup) -> Action {
    match planned {
        PlannedGroup::Created { .. } => Action::Create,
        PlannedGroup::Kept { .. } => Action::Change,
        PlannedGroup::Deleted(_) => Action::Delete,
    }
}

/// Says that a thing was not this file's before.
fn declared(change: &Change) -> Option<Field> {
    let text = match &change.declared {
        DeclaredBefore::Here => return None,
        DeclaredBefore::Nowhere => format!("by {} from now on", change.source),
        DeclaredBefore::Elsewhere(before) => {
            format!("by {} from now on, and no longer by {before}", change.source)
        }
    };
    Some(Field { name: "declared", what: FieldChange::Note(text) })
}

/// What of a client is not the file's to say.
const NOT_DECLARED: [&str; 7] =
    ["client_id", "response_types", "secret_mark", "document", "registered_by", "created_at", "client_name"];

fn client_fields(before: Option<&Client>, now: &NewState) -> Vec<Field> {
    let all = |client: &Client| {
        let mut shown = vec![("name", Some(json!(client.metadata.name)))];
        shown.extend(ClientView::of(client).into_iter().filter(|(name, _)| !NOT_DECLARED.contains(name)));
        shown.extend(access_fields(&client.access));
        shown
    };
    let after = all(&now.client);
    let mut fields = match before {
        Some(before) => differing(all(before), after),
        None => after.into_iter().filter_map(|(name, value)| new_value(name, value)).collect(),
    };
    let secret = match (&now.secret, before) {
        (NewSecret::Same, _) => None,
        (NewSecret::Given(_), None) => Some("from the file"),
        (NewSecret::Given(_), Some(_)) => Some("changed"),
        (NewSecret::Unknown, _) => {
            Some("made by the server and never shown: `client rotate-secret` makes one that is")
        }
    };
    fields.extend(secret.map(|what| Field { name: "secret", what: FieldChange::Secret(what) }));
    fields
}

fn access_fields(ClientAccess { rule, release }: &ClientAccess) -> [(&'static str, Option<Value>); 2] {
    let rule = rule.as_ref().map_or_else(|| "default".to_owned(), ToString::to_string);
    let release = match release {
        Release::OfRule => "rule".to_owned(),
        Release::All | Release::Groups(_) => release.to_string(),
    };
    [("access", Some(json!(rule))), ("release", Some(json!(release)))]
}

fn group_fields(planned: &PlannedGroup) -> Vec<Field> {
    let values = |name, before: Option<Value>, after: Option<Value>| Field {
        name,
        what: FieldChange::Values { before, after },
    };
    let who = |members: &[Subject]| {
        let members: Vec<_> = members.iter().map(|who| called(who, &Names::default())).collect();
        (!members.is_empty()).then(|| json!(members))
    };
    match planned {
        PlannedGroup::Created { name: _, title, members } => {
            let title = title.as_ref().map(|title| json!(title.as_str()));
            let fields = [("title", title), ("members", who(members))];
            fields.into_iter().filter_map(|(name, value)| new_value(name, value)).collect()
        }
        PlannedGroup::Kept { name: _, title, added, removed, adopted } => {
            let text = |title: &Option<_>| title.as_ref().map(|title: &GroupTitle| json!(title.as_str()));
            let title = title
                .as_ref()
                .map(|(before, now)| values("title", Some(text(before).unwrap_or(Value::Null)), text(now)));
            let members =
                [("members added", added), ("members removed", removed), ("members declared", adopted)];
            let members = members
                .into_iter()
                .filter_map(|(name, members)| Some(values(name, None, Some(who(members)?))));
            title.into_iter().chain(members).collect()
        }
        PlannedGroup::Deleted(_) => Vec::new(),
    }
}

fn resource_fields(before: Option<&Resource>, now: &Resource) -> Vec<Field> {
    let all = |resource: &Resource| {
        let name = resource.name.as_ref().map(|name| json!(name.as_str()));
        let mut shown = vec![("name", name), ("open_to", Some(json!(resource.open_to.name())))];
        shown.push(("scopes", Some(Value::Array(resource_output::scopes(resource)))));
        shown
    };
    match before {
        Some(before) => differing(all(before), all(now)),
        None => all(now).into_iter().filter_map(|(name, value)| new_value(name, value)).collect(),
    }
}

type Values = Vec<(&'static str, Option<Value>)>;

fn differing(before: Values, after: Values) -> Vec<Field> {
    let pairs = before.into_iter().zip(after).filter(|(before, after)| before != after);
    pairs
        .map(|((name, before), (_, after))| Field {
            name,
            what: FieldChange::Values { before: Some(before.unwrap_or(Value::Null)), after },
        })
        .collect()
}

/// A field of a new thing, if it has a value that is worth a line.
fn new_value(name: &'static str, value: Option<Value>) -> Option<Field> {
    let value = value.filter(|value| !matches!(value, Value::Bool(false)) && *value != json!([]))?;
    Some(Field { name, what: FieldChange::Values { before: None, after: Some(value) } })
}

/// A value in a line.
fn plain(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "nothing".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(entries)) if entries.is_empty() => "nothing".to_owned(),
        Some(Value::Array(entries)) => {
            entries.iter().map(|entry| plain(Some(entry))).collect::<Vec<_>>().join(", ")
        }
        Some(Value::Object(fields)) => match (fields.get("name"), fields.get("title")) {
            (Some(Value::String(name)), Some(Value::String(title))) => {
                let needs = fields.get("needs").map(|group| format!(", needs {}", plain(Some(group))));
                let titles = fields.get("titles").and_then(Value::as_object);
                let titles = titles.filter(|titles| !titles.is_empty()).map(|titles| {
                    let titles =
                        titles.iter().map(|(language, title)| format!("{language}: {}", plain(Some(title))));
                    format!(", {}", titles.collect::<Vec<_>>().join(", "))
                });
                format!("{name} ({title}{}{})", titles.unwrap_or_default(), needs.unwrap_or_default())
            }
            _ => Value::Object(fields.clone()).to_string(),
        },
        Some(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
    }
}
