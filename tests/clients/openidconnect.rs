//! Signs a user in with the crate openidconnect. It only needs the issuer's URL.

use std::env::var;
use std::error::Error;
use std::io::stdin;

use oauth2::url::Url;
use openidconnect::core::{CoreAuthenticationFlow, CoreClient, CoreGenderClaim};
use openidconnect::reqwest::{blocking, redirect};
use openidconnect::{
    AccessTokenHash, AdditionalClaims, AuthorizationCode, ClientId, ClientSecret, CsrfToken, IssuerUrl,
    LogoutRequest, Nonce, OAuth2TokenResponse, PkceCodeChallenge, PostLogoutRedirectUrl,
    ProviderMetadataWithLogout, RedirectUrl, Scope, TokenResponse, UserInfoClaims,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The claims of userinfo that are not in OpenID Connect.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Wallet {
    wallet_address: String,
}

impl AdditionalClaims for Wallet {}

fn main() -> Result<(), Box<dyn Error>> {
    // No redirects: a server must not send the client elsewhere.
    let http = blocking::Client::builder().redirect(redirect::Policy::none()).build()?;
    let issuer = IssuerUrl::new(var("ISSUER")?)?;
    let server = ProviderMetadataWithLogout::discover(&issuer, &http)?;
    let logout = server.additional_metadata().end_session_endpoint.clone();
    let app = var("APP_URL")?;
    let client = CoreClient::from_provider_metadata(
        server,
        ClientId::new(var("CLIENT_ID")?),
        Some(ClientSecret::new(var("CLIENT_SECRET")?)),
    )
    .set_redirect_uri(RedirectUrl::new(format!("{app}/callback"))?);

    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let (target, state, nonce) = client
        .authorize_url(CoreAuthenticationFlow::AuthorizationCode, CsrfToken::new_random, Nonce::new_random)
        .add_scopes(["profile", "email", "offline_access"].map(|scope| Scope::new(scope.to_owned())))
        .set_pkce_challenge(challenge)
        .url();
    println!("Open this URL, sign in, and paste the URL that you are redirected to:\n{target}");
    let landed = Url::parse(&line()?.unwrap_or_default())?;
    let answer =
        |name: &str| landed.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    if answer("state").as_ref() != Some(state.secret()) || answer("iss").as_ref() != Some(&*issuer) {
        return Err("this response belongs to another sign-in".into());
    }

    let code = AuthorizationCode::new(answer("code").ok_or("not signed in")?);
    let mut tokens = client.exchange_code(code)?.set_pkce_verifier(verifier).request(&http)?;
    let id_token = tokens.id_token().ok_or("no id_token")?.clone();
    let judge = client.id_token_verifier();
    let claims = id_token.claims(&judge, &nonce)?;
    if let Some(expected) = claims.access_token_hash() {
        let (algorithm, key) = (id_token.signing_alg()?, id_token.signing_key(&judge)?);
        if AccessTokenHash::from_token(tokens.access_token(), algorithm, key)? != *expected {
            return Err("the access token does not match the id_token".into());
        }
    }
    println!("{}", json!({ "claims": claims, "tokens": tokens }));

    while let Some(step) = line()? {
        let refresh_token = tokens.refresh_token().ok_or("no refresh token")?.clone();
        match step.as_str() {
            "userinfo" => {
                let subject = Some(claims.subject().clone());
                let person: UserInfoClaims<Wallet, CoreGenderClaim> =
                    client.user_info(tokens.access_token().clone(), subject)?.request(&http)?;
                println!("{}", json!(person));
            }
            "refresh" => {
                tokens = client.exchange_refresh_token(&refresh_token)?.request(&http)?;
                println!("{}", json!({ "tokens": tokens }));
            }
            "logout" => {
                let target = LogoutRequest::from(logout.clone().ok_or("no logout")?)
                    .set_id_token_hint(&id_token)
                    .set_post_logout_redirect_uri(PostLogoutRedirectUrl::new(format!("{app}/"))?);
                println!("{}", json!({ "open": target.http_get_url() }));
            }
            _ => return Err("expected userinfo, refresh or logout".into()),
        }
    }
    Ok(())
}

fn line() -> Result<Option<String>, std::io::Error> {
    let mut text = String::new();
    Ok((stdin().read_line(&mut text)? > 0).then(|| text.trim().to_owned()))
}
