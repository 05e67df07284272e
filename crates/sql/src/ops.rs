//! Operations that are not hot, for both databases. What they do and guard is written in the table of the port.
#![expect(missing_docs, reason = "the table in `countersign_ports::operations` describes operations")]

pub mod accounts;
pub mod blocks;
pub mod clients;
pub mod desk;
pub mod events;
pub mod keys;
pub mod people;
pub mod sign_in;
pub mod upkeep;

// Each operation of the port by its name alone: by it the adapters find the function.
pub use accounts::confirm_email::*;
pub use accounts::delete_account::*;
pub use accounts::end_session::*;
pub use accounts::link_wallet::*;
pub use accounts::name_wallet::*;
pub use accounts::put_email::*;
pub use accounts::read_account::*;
pub use accounts::remove_email::*;
pub use accounts::revoke_consent::*;
pub use accounts::sign_out::*;
pub use accounts::unlink_wallet::*;
pub use accounts::wallets::*;
pub use blocks::end_access::*;
pub use blocks::put_block::*;
pub use blocks::read_blocks::*;
pub use blocks::remove_block::*;
pub use clients::change_access::*;
pub use clients::change_resources::*;
pub use clients::client_secrets::*;
pub use clients::if_unchanged::*;
pub use clients::manage_clients::*;
pub use clients::register_client::*;
pub use clients::resources::*;
pub use desk::overview::*;
pub use desk::proposals::*;
pub use desk::suspensions::*;
pub use events::event_push::*;
pub use events::forget_person::*;
pub use events::record_event::*;
pub use keys::admin_keys::*;
pub use keys::create_once::*;
pub use keys::signing_keys::*;
pub use people::change_members::*;
pub use people::declarations::*;
pub use people::if_unchanged::*;
pub use people::manage_groups::*;
pub use people::names::*;
pub use people::read_groups::*;
pub use people::read_people::*;
pub use sign_in::requests::*;
pub use upkeep::epoch::*;
pub use upkeep::forget_documents::*;
pub use upkeep::leases::*;
