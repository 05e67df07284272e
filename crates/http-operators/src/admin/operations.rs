//! What an operation of the admin interface is: its route, the scope that it needs, the command that does the
//! same, and what the OpenAPI document says of it. Each subject has its operations in its own file.

use actix_web::Route;
use countersign_domain::act::{ActName, ActOperation};
use countersign_domain::admin_key::{AdminArea, AdminRight, AdminScope};
use countersign_http_actix::openapi::formats;
use serde_json::{Value, json};

use super::schemas::Schema;

/// What all paths begin with.
pub(crate) const BASE: &str = "/admin/api/v1";

/// A method at a path.
pub(crate) struct Operation {
    pub(crate) method: &'static str,
    /// Below [`BASE`].
    pub(crate) path: &'static str,
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) text: &'static str,
    pub(crate) needs: AdminScope,
    /// The verb of the command line that does the same.
    pub(crate) verb: &'static str,
    pub(crate) query: &'static [Parameter],
    /// The schema of the body.
    pub(crate) takes: Option<Schema>,
    pub(crate) status: u16,
    /// The schema of the answer.
    pub(crate) answers: Option<Schema>,
    /// Has the answer an ETag?
    pub(crate) is_tagged: bool,
    /// Is `If-Match` judged?
    pub(crate) is_guarded: bool,
    /// Is `Idempotency-Key` judged?
    pub(crate) is_repeatable: bool,
    /// Can it be impossible as things are?
    pub(crate) conflicts: bool,
    pub(crate) route: fn() -> Route,
}

/// A parameter of the query.
#[derive(Clone, Copy)]
pub(crate) enum Parameter {
    Limit,
    After(Cursor),
    Blocked,
    Group,
    Kind,
    Force,
    KeepOffline,
    Since,
    Until,
    Type,
    User,
    Client,
}

/// What names the last row of a page.
#[derive(Clone, Copy)]
pub(crate) enum Cursor {
    /// The row's id.
    Id,
    /// The row's number.
    Number,
    /// The group's name.
    Group,
    /// The resource's URI.
    Uri,
    /// A name that only the list knows.
    Row,
}

impl Cursor {
    /// The schema of such a name.
    pub(crate) fn schema(self) -> Value {
        match self {
            Self::Id => formats::id(),
            Self::Number => json!({"type": "string", "pattern": "^(0|[1-9][0-9]{0,17})$"}),
            Self::Group => json!({"type": "string", "pattern": formats::GROUP}),
            Self::Uri => json!({"type": "string", "format": "uri"}),
            Self::Row => json!({"type": "string", "pattern": formats::ROW}),
        }
    }

    /// One of them.
    pub(crate) const fn example(self) -> &'static str {
        match self {
            Self::Id => "01a1fd8c-0000-7000-8000-000000000001",
            Self::Number => "42",
            Self::Group => "staff",
            Self::Uri => "https://api.example.com",
            Self::Row => "ZWlwMTU1CmVpcDE1NToxCjB4MmM3NTM2RTM2MDVEOUMxNmE3YTNEN2IxODk4ZTUyOTM5NmE2NWMyMw",
        }
    }
}

pub(super) const fn operation(
    method: &'static str,
    path: &'static str,
    (id, verb): (&'static str, &'static str),
    (area, right): (AdminArea, AdminRight),
    (summary, text): (&'static str, &'static str),
    route: fn() -> Route,
) -> Operation {
    Operation {
        method,
        path,
        id,
        summary,
        text,
        needs: AdminScope { area, right },
        verb,
        query: &[],
        takes: None,
        status: 200,
        answers: None,
        is_tagged: false,
        is_guarded: false,
        is_repeatable: false,
        conflicts: false,
        route,
    }
}

/// The operation of an act.
#[expect(clippy::panic, reason = "it is evaluated when the server is compiled")]
pub(super) const fn act(
    name: ActName,
    texts: (&'static str, &'static str),
    route: fn() -> Route,
) -> Operation {
    let row = name.row();
    let Some(ActOperation { method, path, id, area }) = row.operation else {
        panic!("the admin interface has no operation for this act")
    };
    let verb = match row.verb {
        Some(verb) => verb,
        None => "",
    };
    operation(method, path, (id, verb), (area, AdminRight::Write), texts, route)
}

impl Operation {
    pub(super) const fn asks(self, query: &'static [Parameter]) -> Self {
        Self { query, ..self }
    }

    pub(super) const fn takes(self, schema: Schema) -> Self {
        Self { takes: Some(schema), ..self }
    }

    pub(super) const fn answers(self, status: u16, schema: Schema) -> Self {
        Self { status, answers: Some(schema), ..self }
    }

    pub(super) const fn answers_nothing(self) -> Self {
        Self { status: 204, ..self }
    }

    pub(super) const fn tagged(self) -> Self {
        Self { is_tagged: true, ..self }
    }

    pub(super) const fn guarded(self) -> Self {
        Self { is_guarded: true, ..self }
    }

    pub(super) const fn repeatable(self) -> Self {
        Self { is_repeatable: true, conflicts: true, ..self }
    }

    pub(super) const fn conflicts(self) -> Self {
        Self { conflicts: true, ..self }
    }

    /// Has the path a part that names something?
    pub(crate) fn names_something(&self) -> bool {
        self.path.contains('{')
    }

    /// The names of those parts.
    pub(crate) fn path_parts(&self) -> impl Iterator<Item = &'static str> {
        let parts = self.path.split('/');
        parts.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}
