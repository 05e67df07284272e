//! The tables as diesel sees them, in the order of `migrations/postgres`.

diesel::table! {
    clients (id) {
        id -> Uuid,
        created_at -> Timestamptz,
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
        old_secret_expires_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    grants (id) {
        id -> Uuid,
        client_id -> Uuid,
        user_id -> Uuid,
        family -> Text,
        chain -> Text,
        address -> Text,
        redirect_uri -> Text,
        scope -> Text,
        nonce -> Nullable<Text>,
        code_challenge -> Nullable<Binary>,
        code_hash -> Binary,
        authenticated_at -> Timestamptz,
        code_expires_at -> Timestamptz,
        forget_after -> Timestamptz,
        redeemed_at -> Nullable<Timestamptz>,
        newest_token -> Nullable<Uuid>,
        revoked_at -> Nullable<Timestamptz>,
        revocation_reason -> Nullable<Text>,
        particulars -> Nullable<Text>,
        session_id -> Nullable<Uuid>,
    }
}

diesel::table! {
    tokens (id) {
        id -> Uuid,
        grant_id -> Uuid,
        parent_id -> Nullable<Uuid>,
        scope -> Text,
        issued_at -> Timestamptz,
        access_hash -> Binary,
        access_expires_at -> Timestamptz,
        access_revoked_at -> Nullable<Timestamptz>,
        refresh_hash -> Nullable<Binary>,
        refresh_expires_at -> Nullable<Timestamptz>,
        forget_after -> Timestamptz,
        bound_key -> Nullable<Binary>,
    }
}

diesel::table! {
    signing_keys (kid) {
        kid -> Text,
        algorithm -> Text,
        sealed -> Binary,
        created_at -> Timestamptz,
        active_from -> Timestamptz,
        withdrawn_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    users (id) {
        id -> Uuid,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    login_sessions (id) {
        id -> Uuid,
        user_id -> Uuid,
        family -> Text,
        chain -> Text,
        address -> Text,
        secret_hash -> Binary,
        browser -> Text,
        authenticated_at -> Timestamptz,
        last_used_at -> Timestamptz,
        expires_at -> Timestamptz,
    }
}

diesel::table! {
    signed_consents (user_id, client_id, destination, audiences) {
        user_id -> Uuid,
        client_id -> Uuid,
        destination -> Text,
        audiences -> Text,
        scopes -> Integer,
        granted_at -> Timestamptz,
        last_used_at -> Timestamptz,
        own_scopes -> Text,
    }
}

diesel::table! {
    emails (user_id) {
        user_id -> Uuid,
        address -> Text,
        added_at -> Timestamptz,
        verified_at -> Nullable<Timestamptz>,
        confirmation_hash -> Nullable<Binary>,
        confirmation_expires_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    resources (uri) {
        uri -> Text,
        open_to -> Text,
        created_at -> Timestamptz,
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
        id -> Uuid,
        client_id -> Uuid,
        secret_hash -> Binary,
        parameters -> Text,
        expires_at -> Timestamptz,
    }
}

diesel::table! {
    device_requests (id) {
        id -> Uuid,
        client_id -> Uuid,
        user_code_hash -> Binary,
        code_hash -> Binary,
        scope -> Text,
        resources -> Text,
        expires_at -> Timestamptz,
        denied_at -> Nullable<Timestamptz>,
        forget_after -> Timestamptz,
    }
}

diesel::table! {
    spent_proofs (digest) {
        digest -> Binary,
        attempt -> Uuid,
        forget_after -> Timestamptz,
    }
}

diesel::table! {
    blocked_users (user_id) {
        user_id -> Uuid,
        blocked_at -> Timestamptz,
        reason -> Nullable<Text>,
    }
}

diesel::table! {
    blocked_wallets (family, address) {
        family -> Text,
        address -> Text,
        chain -> Text,
        blocked_at -> Timestamptz,
        reason -> Nullable<Text>,
    }
}

diesel::table! {
    client_secrets (client_id, hash) {
        client_id -> Uuid,
        hash -> Binary,
        created_at -> Nullable<Timestamptz>,
        last_used_at -> Nullable<Timestamptz>,
    }
}

diesel::allow_tables_to_appear_in_same_query!(grants, tokens, users);
diesel::allow_tables_to_appear_in_same_query!(emails, users);
