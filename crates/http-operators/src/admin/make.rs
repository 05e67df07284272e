//! Makes the act that a request asks for. What is refused becomes a problem here. Each room answers with what was done.

use actix_web::http::StatusCode;
use countersign_domain::act::Act;
use countersign_domain::invitation::InvitationUnfit;
use countersign_operators::operate::{Effect, Operating, operate};
use countersign_ports::KeyRingError;
use countersign_usecases::act_refused::{ActRefused, Front};

use super::AdminState;
use super::problem::Problem;

/// Makes an act. If the caller said what it read (`is_of_tag`), `operating` sees to it that this is still so.
pub(super) async fn make(
    state: &AdminState,
    operating: Operating<'_>,
    act: Act,
    is_of_tag: bool,
) -> Result<Effect, Problem> {
    let effect = effect_of(state, operating, act).await;
    effect.map_err(|refused| if_read(refused, is_of_tag))
}

/// Makes an act.
pub(super) async fn effect_of(
    state: &AdminState,
    operating: Operating<'_>,
    act: Act,
) -> Result<Effect, ActRefused> {
    let (keys, record) = (Some(&*state.settings.keys), Some(&state.app.context.keys.record));
    operate(Operating { keys, record, ..operating }, act).await
}

/// Why an act was not made that was only to be made if what it is about is still as it was read.
fn if_read(refused: ActRefused, is_of_tag: bool) -> Problem {
    let is_gone = matches!(
        refused,
        ActRefused::GroupUnknown(_) | ActRefused::ClientUnknown(_) | ActRefused::ResourceUnknown(_)
    );
    if is_of_tag && is_gone { Problem::changed_meanwhile() } else { refused.into() }
}

impl From<ActRefused> for Problem {
    fn from(refused: ActRefused) -> Self {
        let (status, field) = match refused {
            ActRefused::Store(error) => return error.into(),
            ActRefused::ClientIdTaken | ActRefused::NoKeys | ActRefused::Keys(KeyRingError::Unusable(_)) => {
                return Self::internal(refused);
            }
            ActRefused::UserUnknown(_) => (StatusCode::NOT_FOUND, Some("who")),
            ActRefused::GroupUnknown(_) => (StatusCode::NOT_FOUND, Some("name")),
            ActRefused::InvitationUnknown(_) => (StatusCode::NOT_FOUND, Some("invitation_id")),
            ActRefused::InvitationUnfit(InvitationUnfit::Uses) => (StatusCode::BAD_REQUEST, Some("uses")),
            ActRefused::InvitationUnfit(InvitationUnfit::Lives) => {
                (StatusCode::BAD_REQUEST, Some("expires_in"))
            }
            ActRefused::InvitationUnfit(InvitationUnfit::NameOfSeveral) => {
                (StatusCode::BAD_REQUEST, Some("name"))
            }
            ActRefused::ClientUnknown(_) => (StatusCode::NOT_FOUND, Some("client_id")),
            ActRefused::ResourceUnknown(_) => (StatusCode::NOT_FOUND, Some("uri")),
            ActRefused::Keys(KeyRingError::Unknown(_)) => (StatusCode::NOT_FOUND, Some("kid")),
            ActRefused::Reason(_) => (StatusCode::BAD_REQUEST, Some("reason")),
            ActRefused::Metadata(ref rejected) => (StatusCode::BAD_REQUEST, Some(rejected.field())),
            ActRefused::MethodChange => (StatusCode::BAD_REQUEST, Some("token_endpoint_auth_method")),
            ActRefused::NotOpened { .. } => (StatusCode::BAD_REQUEST, Some("resources")),
            ActRefused::ResourceUnfit { .. } => (StatusCode::BAD_REQUEST, Some("uri")),
            ActRefused::TooManyScopes => (StatusCode::BAD_REQUEST, Some("scopes")),
            ActRefused::MemberUnknown(_) => (StatusCode::CONFLICT, Some("members")),
            ActRefused::NamedClientUnknown(_) | ActRefused::LeadsNowhere { .. } => {
                (StatusCode::CONFLICT, Some("client_id"))
            }
            ActRefused::GroupTaken(_) => (StatusCode::CONFLICT, Some("name")),
            ActRefused::MadeBefore => (StatusCode::CONFLICT, Some("Idempotency-Key")),
            ActRefused::NotDeclared(_) => (StatusCode::CONFLICT, Some("resources")),
            ActRefused::InSettings(_) | ActRefused::ResourceTaken(_) => (StatusCode::CONFLICT, Some("uri")),
            ActRefused::ScopeTaken { .. } => (StatusCode::CONFLICT, Some("scopes")),
            ActRefused::NotOperator(_) => (StatusCode::CONFLICT, Some("who")),
            ActRefused::NoChange
            | ActRefused::NamedGroupUnknown(_)
            | ActRefused::InvitationRevoked
            | ActRefused::GroupInUse(_)
            | ActRefused::Described(_)
            | ActRefused::NoSecret
            | ActRefused::ResourceInUse(_)
            | ActRefused::Keys(_)
            | ActRefused::NoScope
            | ActRefused::AdminKeyTaken
            | ActRefused::AdminKeyUnknown(_)
            | ActRefused::AdminKeyRevoked
            | ActRefused::NoSuchProposal
            | ActRefused::OneAtATime
            | ActRefused::TooLong
            | ActRefused::Unwritable => (StatusCode::CONFLICT, None),
        };
        let problem = Self::new(status, refused.words(Front::AdminInterface));
        match field {
            Some(field) => problem.about(field),
            None => problem,
        }
    }
}
