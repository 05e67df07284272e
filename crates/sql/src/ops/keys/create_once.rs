//! What a request of the admin interface creates, it creates once.

use countersign_ports::{
    CreateInvitation, CreateOnce, CreateResource, CreatedOnce, Creation, GroupCreated, InvitationCreated,
    Registered, ResourceCreated,
};

use super::admin_keys::{note_made, waits};
use crate::ops::clients::register_client::{is_registered, register_client};
use crate::ops::clients::resources::{self, create_resource};
use crate::ops::people::invitations::{create_invitation, find_invitation};
use crate::ops::people::manage_groups::{create_group, is_created};
use crate::{Database, SqlError};

/// Guard: the request waits. Among several writers, its lock lets one attempt after another do this, so the second finds
/// what the first made. What the request made before is recognized.
pub fn create_once(db: &mut impl Database, command: &CreateOnce) -> Result<CreatedOnce, SqlError> {
    let CreateOnce { request, now, creation } = command;
    db.all_or_nothing(|db| {
        if !waits(db, request)? {
            return Ok(recognized(db, creation)?);
        }
        let (made, is_made) = match creation {
            Creation::Client(command) => {
                let registered = register_client(db, command)?;
                (CreatedOnce::Client(registered), registered == Registered::Stored)
            }
            Creation::Group(command) => {
                let created = create_group(db, command)?;
                (CreatedOnce::Group(created), created == GroupCreated::Stored)
            }
            Creation::Resource(command) => {
                let created = create_resource(db, command)?;
                let is_made = created == ResourceCreated::Stored;
                (CreatedOnce::Resource(created), is_made)
            }
            Creation::Invitation(command) => {
                let created = create_invitation(db, command)?;
                (CreatedOnce::Invitation(created), created == InvitationCreated::Stored)
            }
        };
        if is_made {
            note_made(db, request, *now)?;
        }
        Ok(made)
    })
}

/// What a request made before, if it is still there as it was made.
fn recognized(db: &mut impl Database, creation: &Creation) -> Result<CreatedOnce, SqlError> {
    let (made, is_there) = match creation {
        Creation::Client(command) => (CreatedOnce::Client(Registered::Stored), is_registered(db, command)?),
        Creation::Group(command) => (CreatedOnce::Group(GroupCreated::Stored), is_created(db, command)?),
        Creation::Resource(CreateResource { resource, .. }) => {
            let present = resources::find(db, &resource.uri)?;
            (CreatedOnce::Resource(ResourceCreated::Stored), present.as_ref() == Some(resource))
        }
        Creation::Invitation(CreateInvitation { invitation, .. }) => {
            let present = find_invitation(db, invitation.id)?;
            let is_there = present.is_some_and(|present| present.hash == invitation.hash);
            (CreatedOnce::Invitation(InvitationCreated::Stored), is_there)
        }
    };
    Ok(if is_there { made } else { CreatedOnce::MadeBefore })
}
