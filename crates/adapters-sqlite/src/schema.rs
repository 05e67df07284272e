//! The tables as diesel sees them, in the order of `migrations/sqlite`.

diesel::table! {
    clients (id) {
        id -> Binary,
        created_at -> BigInt,
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
        resources -> Text,
        access_rule -> Nullable<Text>,
        released_groups -> Text,
        old_secret_hash -> Nullable<Binary>,
        old_secret_expires_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    users (id) {
        id -> Binary,
        created_at -> BigInt,
        untold_since -> Nullable<BigInt>,
    }
}

diesel::table! {
    wallets (family, address) {
        family -> Text,
        address -> Text,
        user_id -> Binary,
        linked_at -> BigInt,
        chain -> Nullable<Text>,
        name -> Nullable<Text>,
    }
}

diesel::table! {
    grants (id) {
        id -> Binary,
        client_id -> Binary,
        user_id -> Binary,
        family -> Text,
        chain -> Text,
        address -> Text,
        redirect_uri -> Text,
        scope -> Text,
        nonce -> Nullable<Text>,
        code_challenge -> Nullable<Binary>,
        code_hash -> Binary,
        authenticated_at -> BigInt,
        code_expires_at -> BigInt,
        forget_after -> BigInt,
        redeemed_at -> Nullable<BigInt>,
        newest_token -> Nullable<Binary>,
        revoked_at -> Nullable<BigInt>,
        revocation_reason -> Nullable<Text>,
        particulars -> Nullable<Text>,
        session_id -> Nullable<Binary>,
        review_at -> BigInt,
    }
}

diesel::table! {
    tokens (id) {
        id -> Binary,
        grant_id -> Binary,
        parent_id -> Nullable<Binary>,
        scope -> Text,
        issued_at -> BigInt,
        access_hash -> Binary,
        access_expires_at -> BigInt,
        access_revoked_at -> Nullable<BigInt>,
        refresh_hash -> Nullable<Binary>,
        refresh_expires_at -> Nullable<BigInt>,
        forget_after -> BigInt,
        bound_key -> Nullable<Binary>,
    }
}

diesel::table! {
    signing_keys (kid) {
        kid -> Text,
        algorithm -> Text,
        sealed -> Binary,
        created_at -> BigInt,
        active_from -> BigInt,
        withdrawn_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    spent_challenges (id) {
        id -> Binary,
        forget_after -> BigInt,
    }
}

diesel::table! {
    login_sessions (id) {
        id -> Binary,
        user_id -> Binary,
        family -> Text,
        chain -> Text,
        address -> Text,
        secret_hash -> Binary,
        browser -> Text,
        authenticated_at -> BigInt,
        last_used_at -> BigInt,
        expires_at -> BigInt,
    }
}

diesel::table! {
    // The previous release writes this table. This one only deletes from it.
    consents (user_id, client_id) {
        user_id -> Binary,
        client_id -> Binary,
        scopes -> BigInt,
        granted_at -> BigInt,
        last_used_at -> BigInt,
    }
}

diesel::table! {
    signed_consents (user_id, client_id, destination, audiences) {
        user_id -> Binary,
        client_id -> Binary,
        destination -> Text,
        audiences -> Text,
        // SQLite accepts integers of up to 8 bytes in any column. All 8 are read, so that a wrong value is
        // noticed.
        scopes -> BigInt,
        granted_at -> BigInt,
        last_used_at -> BigInt,
        own_scopes -> Text,
    }
}

diesel::table! {
    emails (user_id) {
        user_id -> Binary,
        address -> Text,
        added_at -> BigInt,
        verified_at -> Nullable<BigInt>,
        confirmation_hash -> Nullable<Binary>,
        confirmation_expires_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    resources (uri) {
        uri -> Text,
        open_to -> Text,
        created_at -> BigInt,
    }
}

diesel::table! {
    resource_scopes (name) {
        name -> Text,
        resource -> Text,
        title -> Text,
        titles -> Text,
        needs -> Nullable<Text>,
    }
}

diesel::table! {
    pushed_requests (id) {
        id -> Binary,
        client_id -> Binary,
        secret_hash -> Binary,
        parameters -> Text,
        expires_at -> BigInt,
    }
}

diesel::table! {
    device_requests (id) {
        id -> Binary,
        client_id -> Binary,
        user_code_hash -> Binary,
        code_hash -> Binary,
        scope -> Text,
        resources -> Text,
        expires_at -> BigInt,
        denied_at -> Nullable<BigInt>,
        forget_after -> BigInt,
    }
}

diesel::table! {
    time_mark (id) {
        id -> BigInt,
        trusted_at -> BigInt,
        doubted_for -> BigInt,
    }
}

diesel::table! {
    spent_proofs (digest) {
        digest -> Binary,
        attempt -> Binary,
        forget_after -> BigInt,
    }
}

diesel::table! {
    blocked_users (user_id) {
        user_id -> Binary,
        blocked_at -> BigInt,
        reason -> Nullable<Text>,
    }
}

diesel::table! {
    blocked_wallets (family, address) {
        family -> Text,
        address -> Text,
        chain -> Text,
        blocked_at -> BigInt,
        reason -> Nullable<Text>,
    }
}

diesel::table! {
    client_secrets (client_id, hash) {
        client_id -> Binary,
        hash -> Binary,
        created_at -> Nullable<BigInt>,
        last_used_at -> Nullable<BigInt>,
    }
}

diesel::allow_tables_to_appear_in_same_query!(
    blocked_users,
    blocked_wallets,
    clients,
    client_secrets,
    users,
    wallets,
    grants,
    tokens,
    signing_keys,
    spent_challenges,
    login_sessions,
    consents,
    signed_consents,
    emails,
    device_requests,
    pushed_requests,
    resources,
    resource_scopes,
    spent_proofs,
    time_mark,
);
