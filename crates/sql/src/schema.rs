//! The tables as diesel sees them, as far as its query builder is used, in the order of the migrations.
#![expect(missing_docs, reason = "the migrations describe tables and columns")]

/// Declares tables with the columns of both databases.
macro_rules! tables {
    ($($(#[$doc:meta])* $table:ident ($($key:ident),*) { $($column:tt)* })*) => {
        $(diesel::table! {
            use crate::columns::{Small, Key, Moment};
            use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};

            $(#[$doc])*
            $table ($($key),*) { $($column)* }
        })*

        diesel::allow_tables_to_appear_in_same_query!($($table),*);
    };
}

tables! {
    clients (id) {
        id -> Key,
        created_at -> Moment,
        origin -> Text,
        auth_method -> Text,
        secret_hash -> Nullable<Binary>,
        registration_token_hash -> Binary,
        name -> Text,
        redirect_uris -> Text,
        scopes -> Text,
        grant_types -> Text,
        client_uri -> Nullable<Text>,
        logo_uri -> Nullable<Text>,
        tos_uri -> Nullable<Text>,
        policy_uri -> Nullable<Text>,
        contacts -> Text,
        jwks -> Nullable<Text>,
        jwks_uri -> Nullable<Text>,
        application_type -> Nullable<Text>,
        id_token_signed_response_alg -> Nullable<Text>,
        post_logout_redirect_uris -> Text,
        document -> Nullable<Text>,
        backchannel_logout_uri -> Nullable<Text>,
        token_endpoint_auth_signing_alg -> Nullable<Text>,
        requires_pushed_requests -> Bool,
        requires_bound_tokens -> Bool,
        rare_fields -> Nullable<Text>,
        resources -> Text,
        access_rule -> Nullable<Text>,
        released_groups -> Text,
        old_secret_hash -> Nullable<Binary>,
        old_secret_expires_at -> Nullable<Moment>,
        used_at -> Nullable<Moment>,
    }

    users (id) {
        id -> Key,
        created_at -> Moment,
        untold_since -> Nullable<Moment>,
        seen_at -> Nullable<Moment>,
    }

    wallets (family, address) {
        family -> Text,
        address -> Text,
        user_id -> Key,
        linked_at -> Moment,
        chain -> Nullable<Text>,
        name -> Nullable<Text>,
    }

    grants (id) {
        id -> Key,
        client_id -> Key,
        user_id -> Key,
        family -> Text,
        chain -> Text,
        address -> Text,
        redirect_uri -> Text,
        scope -> Text,
        nonce -> Nullable<Text>,
        code_challenge -> Nullable<Binary>,
        code_hash -> Binary,
        authenticated_at -> Moment,
        code_expires_at -> Moment,
        forget_after -> Moment,
        redeemed_at -> Nullable<Moment>,
        newest_token -> Nullable<Key>,
        revoked_at -> Nullable<Moment>,
        revocation_reason -> Nullable<Text>,
        particulars -> Nullable<Text>,
        session_id -> Nullable<Key>,
        review_at -> Moment,
    }

    tokens (id) {
        id -> Key,
        grant_id -> Key,
        parent_id -> Nullable<Key>,
        scope -> Text,
        issued_at -> Moment,
        access_hash -> Binary,
        access_expires_at -> Moment,
        access_revoked_at -> Nullable<Moment>,
        refresh_hash -> Nullable<Binary>,
        refresh_expires_at -> Nullable<Moment>,
        forget_after -> Moment,
        bound_key -> Nullable<Binary>,
    }

    signing_keys (kid) {
        kid -> Text,
        algorithm -> Text,
        sealed -> Binary,
        created_at -> Moment,
        active_from -> BigInt,
        withdrawn_at -> Nullable<Moment>,
    }

    spent_challenges (id) {
        id -> Key,
        forget_after -> Moment,
    }

    login_sessions (id) {
        id -> Key,
        user_id -> Key,
        family -> Text,
        chain -> Text,
        address -> Text,
        secret_hash -> Binary,
        browser -> Text,
        authenticated_at -> Moment,
        last_used_at -> Moment,
        expires_at -> Moment,
    }

    /// The previous release writes this table. This one only deletes from it.
    consents (user_id, client_id) {
        user_id -> Key,
        client_id -> Key,
        scopes -> Small,
        granted_at -> Moment,
        last_used_at -> Moment,
    }

    signed_consents (user_id, client_id, destination, audiences) {
        user_id -> Key,
        client_id -> Key,
        destination -> Text,
        audiences -> Text,
        scopes -> Small,
        granted_at -> Moment,
        last_used_at -> Moment,
        own_scopes -> Text,
    }

    /// SQLite alone has it.
    time_mark (id) {
        id -> BigInt,
        trusted_at -> Moment,
        doubted_for -> BigInt,
    }

    spent_proofs (digest) {
        digest -> Binary,
        attempt -> Key,
        forget_after -> Moment,
    }

    blocked_users (user_id) {
        user_id -> Key,
        blocked_at -> Moment,
        reason -> Nullable<Text>,
    }

    blocked_wallets (family, address) {
        family -> Text,
        address -> Text,
        chain -> Text,
        blocked_at -> Moment,
        reason -> Nullable<Text>,
    }

    client_secrets (client_id, hash) {
        client_id -> Key,
        hash -> Binary,
        created_at -> Nullable<Moment>,
        last_used_at -> Nullable<Moment>,
    }
}
