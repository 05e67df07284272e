//! Carries out a change that was signed, if what it is about is still as its operator read it.

use countersign_domain::act::Act;
use countersign_usecases::Management;
use countersign_usecases::act_refused::ActRefused;
use countersign_usecases::context::blocks::IfBlocked;
use countersign_usecases::context::cause::Cause;

use super::Desk;
use super::subject::Guard;
use crate::operate::{Effect, Operating, operate};

/// Makes the change, if what it is about is still as it was read. A signature is good for something that was done: if
/// others did it meanwhile, the change is refused.
pub(super) async fn carry_out(
    desk: Desk<'_>,
    cause: &Cause,
    change: Act,
    guard: Guard,
) -> Result<Effect, ActRefused> {
    let plain = desk.context.management_for(cause);
    let (clients, resources);
    let mut operating = Operating {
        keys: Some(desk.keys),
        record: Some(&desk.context.keys.record),
        if_blocked: IfBlocked::LeaveIt,
        // The text says what uses it.
        ..Operating::new(plain).insisting(true)
    };
    match guard {
        Guard::Nothing => {}
        Guard::Group(counted) => operating.group_read = Some(counted),
        Guard::Client(client) => {
            clients = plain.clients.only_if_still(*client);
            operating.management = Management { clients: &clients, ..plain };
        }
        Guard::Resource(resource) => {
            resources = plain.resources.only_if_still(resource);
            operating.management = Management { resources: &resources, ..plain };
        }
    }
    let effect = Box::pin(operate(operating, change)).await?;
    if effect.is_nothing() { Err(ActRefused::NoChange) } else { Ok(effect) }
}
