//! Every operation of the admin interface: its route, the scope that it needs, the command that does the same, and what
//! the OpenAPI document says of it.

use actix_web::Route;
use actix_web::web;
use countersign_domain::act::{ActName, ActOperation};
use countersign_domain::admin_key::{AdminArea, AdminRight, AdminScope};
use countersign_http_actix::openapi::formats;
use serde_json::{Value, json};

use super::{clients, events, groups, keys, resources, users};

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
    pub(crate) takes: Option<&'static str>,
    pub(crate) status: u16,
    /// The schema of the answer.
    pub(crate) answers: Option<&'static str>,
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

const fn operation(
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
const fn act(name: ActName, texts: (&'static str, &'static str), route: fn() -> Route) -> Operation {
    let row = name.row();
    let Some(ActOperation { method, path, id, area }) = row.operation else {
        panic!("the admin interface has no operation for this act")
    };
    let verb = match row.verb {
        Some(verb) => verb,
        None => "",
    };
    operation(method, path, (id, verb), (area, Write), texts, route)
}

impl Operation {
    const fn asks(self, query: &'static [Parameter]) -> Self {
        Self { query, ..self }
    }

    const fn takes(self, schema: &'static str) -> Self {
        Self { takes: Some(schema), ..self }
    }

    const fn answers(self, status: u16, schema: &'static str) -> Self {
        Self { status, answers: Some(schema), ..self }
    }

    const fn answers_nothing(self) -> Self {
        Self { status: 204, ..self }
    }

    const fn tagged(self) -> Self {
        Self { is_tagged: true, ..self }
    }

    const fn guarded(self) -> Self {
        Self { is_guarded: true, ..self }
    }

    const fn repeatable(self) -> Self {
        Self { is_repeatable: true, conflicts: true, ..self }
    }

    const fn conflicts(self) -> Self {
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

use AdminArea::{Clients, Events, Groups, Keys, Users};
use AdminRight::{Read, Write};
use Parameter::{After, Blocked, Client, Force, Group, KeepOffline, Kind, Limit, Since, Type, Until, User};

/// All operations. Those at one path stand together.
pub(crate) static OPERATIONS: [Operation; 39] = [
    operation(
        "GET",
        "/clients",
        ("listClients", "client list"),
        (Clients, Read),
        ("List clients", "In the order of their ids."),
        || web::get().to(clients::list),
    )
    .asks(&[Limit, After(Cursor::Id)])
    .answers(200, "ClientList"),
    act(
        ActName::RegisterClient,
        (
            "Create a client",
            "Its secrets are shown in this answer only. A repeat with the same `Idempotency-Key` gets the same ones.",
        ),
        || web::post().to(clients::create),
    )
    .takes("Registration")
    .answers(201, "Client")
    .repeatable(),
    operation(
        "GET",
        "/clients/{client_id}",
        ("showClient", "client show"),
        (Clients, Read),
        ("Show a client", "Everything but its secrets."),
        || web::get().to(clients::show),
    )
    .answers(200, "Client")
    .tagged(),
    act(
        ActName::ChangeClient,
        (
            "Change a client",
            "The fields that are sent replace those that are there; null takes one away. Its id and its secrets stay.",
        ),
        || web::patch().to(clients::update),
    )
    .takes("RegistrationUpdate")
    .answers(200, "Client")
    .tagged()
    .guarded()
    .conflicts(),
    act(
        ActName::DeleteClient,
        ("Delete a client", "All that people allowed it ends too."),
        || web::delete().to(clients::delete),
    )
    .answers_nothing()
    .guarded(),
    operation(
        "GET",
        "/clients/{client_id}/secrets",
        ("showClientSecrets", "client show"),
        (Clients, Read),
        ("Show what is known about a client's secrets", "When they were made, end, and were last used."),
        || web::get().to(clients::secrets),
    )
    .answers(200, "SecretList"),
    act(
        ActName::RotateSecret,
        (
            "Give a client a new secret",
            "It is shown in this answer only. The old one ends at once, unless it is kept for a while.",
        ),
        || web::post().to(clients::rotate),
    )
    .takes("NewSecret")
    .answers(200, "Secret")
    .guarded()
    .conflicts(),
    act(
        ActName::OpenResources,
        ("Open resources to a client", "It can get access tokens for them."),
        || web::post().to(clients::open),
    )
    .takes("ResourceUris")
    .answers(200, "Client")
    .tagged()
    .guarded()
    .conflicts(),
    act(
        ActName::CloseResources,
        ("Close resources to a client", "Tokens that it already has work until they expire."),
        || web::post().to(clients::close),
    )
    .takes("ResourcesToClose")
    .answers(200, "Client")
    .tagged()
    .guarded()
    .conflicts(),
    operation(
        "GET",
        "/clients/{client_id}/access",
        ("showAccess", "access show"),
        (Clients, Read),
        ("Show who can sign in to a client", "And which groups it gets."),
        || web::get().to(clients::access),
    )
    .answers(200, "Access")
    .tagged(),
    act(
        ActName::SetAccess,
        ("Decide who can sign in to a client", "It counts from the next sign-in and the next refresh on."),
        || web::put().to(clients::set_access),
    )
    .takes("NewAccess")
    .answers(200, "Access")
    .tagged()
    .guarded()
    .conflicts(),
    operation(
        "GET",
        "/resources",
        ("listResources", "resource list"),
        (Clients, Read),
        ("List resources", "Those in the settings first."),
        || web::get().to(resources::list),
    )
    .asks(&[Limit, After(Cursor::Uri)])
    .answers(200, "ResourceList"),
    act(
        ActName::CreateResource,
        ("Declare a resource", "An API that access tokens can be for, with scopes of its own."),
        || web::post().to(resources::create),
    )
    .takes("NewResource")
    .answers(201, "Resource")
    .repeatable(),
    operation(
        "GET",
        "/resources/{uri}",
        ("showResource", "resource list"),
        (Clients, Read),
        ("Show a resource", "One that is declared in the database. The URI is percent-encoded, with its slashes."),
        || web::get().to(resources::show),
    )
    .answers(200, "Resource")
    .tagged(),
    act(
        ActName::UpdateResource,
        ("Change a resource", "All of it: a scope that is not sent is taken away, which clients and sign-ins may use."),
        || web::put().to(resources::update),
    )
    .asks(&[Force])
    .takes("ResourceUpdate")
    .answers(200, "Resource")
    .tagged()
    .guarded()
    .conflicts(),
    act(
        ActName::DeleteResource,
        ("Delete a resource", "From then on no token is issued for it."),
        || web::delete().to(resources::delete),
    )
    .asks(&[Force])
    .answers_nothing()
    .guarded()
    .conflicts(),
    operation(
        "GET",
        "/users",
        ("listUsers", "user list"),
        (Users, Read),
        ("List users", "In the order of their ids."),
        || web::get().to(users::list),
    )
    .asks(&[Group, Blocked, Limit, After(Cursor::Id)])
    .answers(200, "UserList"),
    operation(
        "GET",
        "/users/{who}",
        ("showUser", "user show"),
        (Users, Read),
        ("Show a user", "Wallets, groups, block, sessions, and what applications were allowed."),
        || web::get().to(users::show),
    )
    .asks(&[Kind])
    .answers(200, "User")
    .conflicts(),
    act(
        ActName::DeleteUser,
        ("Delete a user", "With everything that is theirs. The wallets of a blocked user are blocked."),
        || web::delete().to(users::delete),
    )
    .asks(&[Kind])
    .answers(200, "UserDeleted")
    .conflicts(),
    act(
        ActName::BlockUser,
        ("Keep a user out", "With every wallet of theirs. All sessions and tokens end, at every replica."),
        || web::put().to(users::block_user),
    )
    .asks(&[Kind])
    .takes("BlockRequest")
    .answers(200, "BlockedNow")
    .conflicts(),
    act(
        ActName::UnblockUser,
        ("Let a user in again", "What the block ended stays ended."),
        || web::delete().to(users::unblock_user),
    )
    .asks(&[Kind])
    .answers(200, "Unblocked")
    .conflicts(),
    act(
        ActName::SignOut,
        ("Sign a user out", "All sessions and all tokens end, also those with `offline_access` unless they are kept."),
        || web::post().to(users::sign_out),
    )
    .asks(&[Kind, KeepOffline])
    .answers(200, "SignedOut")
    .conflicts(),
    operation(
        "GET",
        "/wallets",
        ("listWallets", "wallet list"),
        (Users, Read),
        ("List wallets", "Those of users, by user; or those that are blocked by themselves."),
        || web::get().to(users::wallets),
    )
    .asks(&[Blocked, Limit, After(Cursor::Row)])
    .answers(200, "WalletList")
    .conflicts(),
    act(
        ActName::BlockWallet,
        ("Keep a wallet out", "Whether anybody has signed in with it or not."),
        || web::put().to(users::block_wallet),
    )
    .asks(&[Kind])
    .takes("BlockRequest")
    .answers(200, "BlockedNow")
    .conflicts(),
    act(
        ActName::UnblockWallet,
        ("Let a wallet in again", "What the block ended stays ended."),
        || web::delete().to(users::unblock_wallet),
    )
    .asks(&[Kind])
    .answers(200, "Unblocked")
    .conflicts(),
    operation(
        "GET",
        "/groups",
        ("listGroups", "group list"),
        (Groups, Read),
        ("List groups", "In the order of their names."),
        || web::get().to(groups::list),
    )
    .asks(&[Limit, After(Cursor::Group)])
    .answers(200, "GroupList"),
    act(
        ActName::CreateGroup,
        ("Create a group", "The clients that it is released to see its name; only operators see its title."),
        || web::post().to(groups::create),
    )
    .takes("NewGroup")
    .answers(201, "Group")
    .repeatable(),
    operation(
        "GET",
        "/groups/{name}",
        ("showGroup", "group show"),
        (Groups, Read),
        ("Show a group", "With the number of its members."),
        || web::get().to(groups::show),
    )
    .answers(200, "Group")
    .tagged(),
    act(
        ActName::RetitleGroup,
        ("Change the title of a group", "The name stays: clients know it."),
        || web::patch().to(groups::update),
    )
    .takes("GroupUpdate")
    .answers(200, "Group")
    .tagged()
    .guarded(),
    act(
        ActName::DeleteGroup,
        ("Delete a group", "One that has members, or that rules or scopes name, only with `force=true`."),
        || web::delete().to(groups::delete),
    )
    .asks(&[Force])
    .answers(200, "GroupDeleted")
    .guarded()
    .conflicts(),
    operation(
        "GET",
        "/groups/{name}/members",
        ("listMembers", "group show"),
        (Groups, Read),
        ("List the members of a group", "Users before wallets; and the clients that let them in."),
        || web::get().to(groups::members),
    )
    .asks(&[Limit, After(Cursor::Row)])
    .answers(200, "MemberList"),
    act(
        ActName::AddMember,
        ("Put users and wallets into a group", "If one of the users is not there, no one is added."),
        || web::post().to(groups::add),
    )
    .takes("Members")
    .answers(200, "MembersAdded")
    .conflicts(),
    act(
        ActName::RemoveMember,
        ("Take users and wallets out of a group", "As they were put in: users by their ids, wallets by their addresses."),
        || web::post().to(groups::remove),
    )
    .takes("Members")
    .answers(200, "MembersRemoved")
    .conflicts(),
    operation(
        "GET",
        "/events",
        ("listEvents", "event list"),
        (Events, Read),
        ("List what happened", "The newest first. The kinds and their details are in docs/events.md."),
        || web::get().to(events::list),
    )
    .asks(&[Since, Until, Type, User, Kind, Client, Limit, After(Cursor::Id)])
    .answers(200, "EventList")
    .conflicts(),
    operation(
        "GET",
        "/events/checkpoints",
        ("listCheckpoints", "event checkpoints"),
        (Events, Read),
        ("List checkpoints", "To save them where they cannot be altered, for `countersign event verify --against`."),
        || web::get().to(events::checkpoints),
    )
    .asks(&[Limit, After(Cursor::Number)])
    .answers(200, "CheckpointList")
    .conflicts(),
    operation(
        "GET",
        "/events/{event_id}",
        ("showEvent", "event show"),
        (Events, Read),
        ("Show an event", "And where it is sealed."),
        || web::get().to(events::show),
    )
    .answers(200, "Event"),
    operation(
        "GET",
        "/keys",
        ("listKeys", "key list"),
        (Keys, Read),
        ("List signing keys", "By algorithm, oldest first."),
        || web::get().to(keys::list),
    )
    .answers(200, "KeyList"),
    act(
        ActName::RotateKeys,
        ("Make the next signing keys", "They are published now and sign in 24 hours, or at once in an emergency."),
        || web::post().to(keys::rotate),
    )
    .takes("KeyRotation")
    .answers(200, "KeyList")
    .conflicts(),
    act(
        ActName::WithdrawKey,
        ("Withdraw a signing key", "It is no longer published, and everything that it signed becomes invalid."),
        || web::post().to(keys::withdraw),
    )
    .answers(200, "KeyWithdrawn")
    .conflicts(),
];
