//! Operations that are not hot, for both databases. What they do and guard is written in the table of the port.
#![expect(missing_docs, reason = "the table in `countersign_ports::operations` describes operations")]

pub mod accounts;
pub mod blocks;
pub mod clients;
pub mod desk;
pub mod events;
pub mod keys;
pub mod people;
pub mod upkeep;

// Each operation of the port by its name alone: by it the adapters find the function.
pub use accounts::confirm_email::confirm_email;
pub use accounts::delete_account::delete_account;
pub use accounts::end_session::{end_session, end_sessions};
pub use accounts::link_wallet::link_wallet;
pub use accounts::name_wallet::name_wallet;
pub use accounts::put_email::put_email;
pub use accounts::remove_email::remove_email;
pub use accounts::revoke_consent::revoke_consent;
pub use accounts::sign_out::{clients_of_sessions, sign_out};
pub use accounts::unlink_wallet::unlink_wallet;
pub use accounts::wallets::find_owner;
pub use blocks::end_access::end_access;
pub use blocks::put_block::put_block;
pub use blocks::read_blocks::{block_of_user, blocked_wallets};
pub use blocks::remove_block::remove_block;
pub use clients::change_access::change_access;
pub use clients::change_resources::change_resources;
pub use clients::client_secrets::{rotate_secret, secrets_of};
pub use clients::if_unchanged::if_client_unchanged;
pub use clients::manage_clients::{delete_client, list_clients, update_client};
pub use clients::resources::{
    create_resource, delete_resource, find_uses, if_resource_unchanged, list_resources, update_resource,
};
pub use desk::overview::{count_sessions, day_counts, forget_replica, note_replica, replicas};
pub use desk::proposals::{
    end_proposal, find_proposal, forget_proposals, list_proposals, put_proposal, take_proposal,
};
pub use events::event_push::{advance_push, begin_push, find_push};
pub use events::forget_person::{forget_events_of, left_to_forget};
pub use events::record_event::record_event;
pub use keys::admin_keys::{
    begin_request, create_admin_key, find_admin_key, list_admin_keys, note_admin_key_use, revoke_admin_key,
};
pub use keys::signing_keys::{add_signing_key, remove_signing_key, signing_keys, withdraw_signing_key};
pub use people::change_members::{add_member, remove_member};
pub use people::declarations::{forget_declarations, list_declarations, put_declarations};
pub use people::if_unchanged::if_group_unchanged;
pub use people::manage_groups::{create_group, delete_group, retitle_group};
pub use people::read_groups::{find_group, list_groups, list_members, memberships_of, standing_of_user};
pub use people::read_people::{find_person, list_people};
pub use upkeep::epoch::{epoch, lineage, raise_epoch};
pub use upkeep::leases::take_lease;
