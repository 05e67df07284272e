//! `/invitations`: links that put people into groups.

use actix_web::http::StatusCode;
use actix_web::web::{self, Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use countersign_domain::act::{Act, ActName};
use countersign_domain::admin_key::{AdminArea, AdminRight};
use countersign_domain::challenge::iso8601;
use countersign_domain::group::GroupName;
use countersign_domain::id::{ClientId, InvitationId};
use countersign_domain::invitation::{
    Invitation, InvitationLimits, InvitationState, InvitationUse, Inviter, MAX_INVITER_LENGTH,
};
use countersign_domain::person_name::{MAX_PERSON_NAME_LENGTH, PersonName};
use countersign_domain::secret::Secret;
use countersign_domain::subject::Subject;
use countersign_http_actix::openapi::formats::{self, readable};
use countersign_operators::operate::{Effect, Operating};
use countersign_operators::people::invitations::list_invitations;
use countersign_operators::people::names::Names;
use countersign_operators::qr_code;
use countersign_usecases::act_refused::ActRefused;
use paperclip::actix::Apiv2Schema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::AdminState;
use super::admit::Caller;
use super::make::{effect_of, make};
use super::operations::{Cursor, Operation, Parameter, act, operation};
use super::problem::Problem;
use super::read::{IfMatch, Json, Query, creating};
use super::schemas::{self, Schema, request};

pub(super) static OPERATIONS: &[Operation] = &[
    operation(
        "GET",
        "/invitations",
        ("listInvitations", "invite list"),
        (AdminArea::Groups, AdminRight::Read),
        ("List invitations", "The newest first, without their links."),
        || web::get().to(list),
    )
    .asks(&[Parameter::Limit, Parameter::After(Cursor::Id), Parameter::Group])
    .answers(200, INVITATION_LIST),
    act(
        ActName::CreateInvitation,
        (
            "Create an invitation",
            "The answer has the link and its QR code, and nothing shows them again. People who open the link read what \
             it is, sign with their wallet, and are in the group from then on.",
        ),
        || web::post().to(create),
    )
    .takes(NEW_INVITATION)
    .answers(201, CREATED)
    .repeatable(),
    operation(
        "GET",
        "/invitations/{invitation_id}",
        ("showInvitation", "invite show"),
        (AdminArea::Groups, AdminRight::Read),
        ("Show an invitation", "With up to 1,000 of the wallets that came in by it."),
        || web::get().to(show),
    )
    .answers(200, INVITATION_WITH_WALLETS),
    act(
        ActName::RevokeInvitation,
        ("Revoke an invitation", "People who came in stay in the group."),
        || web::delete().to(revoke),
    )
    .answers(200, INVITATION)
    .conflicts(),
];

const NEW_INVITATION: Schema = Schema::body::<NewInvitationBody>(
    "NewInvitation",
    || {
        let InvitationLimits { uses, lives } = InvitationLimits::USUAL;
        let limits =
            |least: u32, most: u32, usual: u32| json!({"minimum": least, "maximum": most, "default": usual});
        let most = InvitationLimits::MOST_USES;
        request::<NewInvitationBody>(
            &["group"],
            &[
                ("group", json!({"pattern": formats::GROUP})),
                ("uses", limits(1, most, uses)),
                ("expires_in", limits(InvitationLimits::SHORTEST, InvitationLimits::LONGEST, lives)),
                ("name", json!({"maxLength": MAX_PERSON_NAME_LENGTH, "pattern": readable()})),
                ("from", json!({"maxLength": MAX_INVITER_LENGTH, "pattern": readable()})),
                ("client_id", formats::id()),
            ],
        )
    },
    || json!({"group": "staff", "uses": 5, "expires_in": 86400, "from": "The Millers"}),
);

const INVITATION: Schema = Schema::answer("Invitation", || schemas::answer::<InvitationBody>(&[state()]));

const CREATED: Schema = Schema::answer("InvitationCreated", || schemas::answer::<CreatedBody>(&[state()]));

const INVITATION_WITH_WALLETS: Schema = Schema::answer("InvitationWithWallets", || {
    schemas::items(schemas::answer::<WithWallets>(&[state()]), "wallets", schemas::answer::<UseBody>(&[]))
});

const INVITATION_LIST: Schema = Schema::answer("InvitationList", || {
    schemas::page::<InvitationList>(Cursor::Id.schema(), schemas::answer::<InvitationBody>(&[state()]))
});

fn state() -> (&'static str, Value) {
    ("state", json!({"enum": InvitationState::ALL.map(InvitationState::name)}))
}

/// A new invitation.
#[derive(Deserialize, Apiv2Schema)]
#[serde(deny_unknown_fields)]
struct NewInvitationBody {
    /// The group that people come into.
    group: String,
    /// How many people can come in by it.
    uses: Option<u32>,
    /// For how many seconds it is valid.
    expires_in: Option<u32>,
    /// What operators call the one who comes in. Only for one person, and only if they have no name yet.
    name: Option<String>,
    /// Who invites, as the page says it.
    from: Option<String>,
    /// The client that people go on to.
    client_id: Option<String>,
}

/// An invitation.
#[derive(Serialize, Apiv2Schema)]
struct InvitationBody {
    /// Its id.
    id: String,
    /// The group that people come into.
    group: String,
    /// Whether people can come in by it, or why not.
    state: &'static str,
    /// How many people it is for.
    uses: u32,
    /// How many came in.
    used: u32,
    /// When it was created.
    created_at: String,
    /// When it ends.
    expires_at: String,
    /// When it was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked_at: Option<String>,
    /// What operators call the one who comes in.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Who invites.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// The client that people go on to.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
}

/// A new invitation, with its link.
#[derive(Serialize, Apiv2Schema)]
struct CreatedBody {
    #[serde(flatten)]
    invitation: InvitationBody,
    /// What people open. It is shown only this once.
    link: String,
    /// The same as a QR code, an image as SVG.
    qr: String,
}

/// An invitation, with the wallets that came in by it.
#[derive(Serialize, Apiv2Schema)]
struct WithWallets {
    #[serde(flatten)]
    invitation: InvitationBody,
    /// The wallets. Those whose accounts were deleted are not among them.
    wallets: Vec<UseBody>,
}

/// A wallet that came in.
#[derive(Serialize, Apiv2Schema)]
struct UseBody {
    /// The wallet, as CAIP-10.
    wallet: String,
    /// What operators call it or its user.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// When.
    used_at: String,
}

/// A page of invitations.
#[derive(Serialize, Apiv2Schema)]
struct InvitationList {
    /// The invitations.
    items: Vec<InvitationBody>,
    /// What to send as `after` for the next page. Only if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// The most wallets that are shown.
const MOST: u32 = 1_000;

async fn list(state: Data<AdminState>, request: HttpRequest) -> Result<HttpResponse, Problem> {
    let query = Query::of(&request, &["limit", "after", "group"])?;
    let wrong = || Problem::invalid("after", "it is not what `next` of the list before said");
    let after = query.text("after").map(|after| InvitationId::parse(after).ok_or_else(wrong));
    let group = query.text("group").map(group_of).transpose()?;
    let management = state.management();
    let listed = list_invitations(management, group.as_ref(), after.transpose()?, query.limit()?).await?;
    let now = management.clock.now();
    let next = listed.invitations.last().filter(|_| listed.more).map(|last| last.id.to_string());
    let items = listed.invitations.iter().map(|invitation| InvitationBody::of(invitation, now)).collect();
    Ok(HttpResponse::Ok().json(InvitationList { items, next }))
}

async fn create(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    body: Json<NewInvitationBody>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let NewInvitationBody { group, uses, expires_in, name, from, client_id } = &body.value;
    let group = group_of(group)?;
    let usual = InvitationLimits::USUAL;
    let limits =
        InvitationLimits { uses: uses.unwrap_or(usual.uses), lives: expires_in.unwrap_or(usual.lives) };
    let name = name.as_deref().map(|name| {
        PersonName::parse(name).map_err(|rejected| Problem::invalid("name", rejected.to_string()))
    });
    let inviter = from
        .as_deref()
        .map(|from| Inviter::parse(from).map_err(|rejected| Problem::invalid("from", rejected.to_string())));
    let client = client_id.as_deref().map(|id| {
        ClientId::parse(id).ok_or_else(|| Problem::invalid("client_id", "it is not the id of a client"))
    });
    let (name, inviter, client) = (name.transpose()?, inviter.transpose()?, client.transpose()?);
    let client = client.map(Into::into);
    let act = Act::CreateInvitation { group, limits, name, inviter, client };
    let created = creating(&state, &caller, &request, &body, async |management| {
        effect_of(&state, Operating::new(management), act.clone()).await
    });
    answer(created.await?, state.management().clock.now())
}

async fn show(
    state: Data<AdminState>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    let (management, id) = (state.management(), id_in(&id)?);
    let found = management.storage.find_invitation(id).await?;
    let invitation = found.ok_or_else(|| Problem::from(ActRefused::InvitationUnknown(id)))?;
    let uses = management.storage.uses_of_invitation(id, MOST).await?;
    let who = uses.iter().map(|used| Subject::Wallet(used.wallet.clone()));
    let names = Names::of(management.storage, who).await?;
    Ok(HttpResponse::Ok().json(WithWallets {
        invitation: InvitationBody::of(&invitation, management.clock.now()),
        wallets: uses.into_iter().map(|used| UseBody::of(used, &names)).collect(),
    }))
}

async fn revoke(
    state: Data<AdminState>,
    caller: Caller,
    request: HttpRequest,
    id: Path<String>,
) -> Result<HttpResponse, Problem> {
    Query::of(&request, &[])?;
    IfMatch::of(&request)?.refuse_tags()?;
    let management = state.management_for(&caller);
    let act = Act::RevokeInvitation { invitation: id_in(&id)?.into() };
    answer(make(&state, Operating::new(management), act, false).await?, management.clock.now())
}

fn answer(effect: Effect, now: OffsetDateTime) -> Result<HttpResponse, Problem> {
    if let Effect::InvitationCreated(created) = &effect {
        let link = Secret::expose(&created.link).to_owned();
        let qr = qr_code::svg(&link).unwrap_or_default();
        let invitation = InvitationBody::of(&created.invitation, now);
        return Ok(HttpResponse::Created().json(CreatedBody { invitation, link, qr }));
    }
    if let Effect::InvitationRevoked(revoked) = &effect {
        return Ok(HttpResponse::Ok().json(InvitationBody::of(revoked, now)));
    }
    Err(Problem::nothing_here())
}

fn group_of(name: &str) -> Result<GroupName, Problem> {
    GroupName::parse(name).map_err(|rejected| Problem::invalid("group", rejected.to_string()))
}

fn id_in(path: &str) -> Result<InvitationId, Problem> {
    InvitationId::parse(path).ok_or_else(|| {
        let words = format!("there is no invitation {path:?}");
        Problem::new(StatusCode::NOT_FOUND, words).about("invitation_id")
    })
}

impl InvitationBody {
    fn of(invitation: &Invitation, now: OffsetDateTime) -> Self {
        Self {
            id: invitation.id.to_string(),
            group: invitation.group.to_string(),
            state: invitation.state(now).name(),
            uses: invitation.uses,
            used: invitation.used,
            created_at: iso8601(invitation.created_at),
            expires_at: iso8601(invitation.expires_at),
            revoked_at: invitation.revoked_at.map(iso8601),
            name: invitation.name.as_ref().map(ToString::to_string),
            from: invitation.inviter.as_ref().map(ToString::to_string),
            client_id: invitation.client.map(|client| client.to_string()),
        }
    }
}

impl UseBody {
    fn of(used: InvitationUse, names: &Names) -> Self {
        let (wallet, used_at) = (used.wallet.caip10(), iso8601(used.used_at));
        Self { name: names.text(&Subject::Wallet(used.wallet)).map(str::to_owned), wallet, used_at }
    }
}
