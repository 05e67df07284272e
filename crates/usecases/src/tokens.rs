//! Issues, refreshes, introspects and revokes tokens, and describes the user to clients.

pub mod exchange_code;
pub mod exchange_device_code;
pub mod introspect_token;
pub mod issue_client_tokens;
pub mod read_user_info;
pub mod refresh_tokens;
pub mod revoke_token;
pub mod sign_in_program;
