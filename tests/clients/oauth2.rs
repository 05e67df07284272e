//! Signs a user in with the crate oauth2: a public client without a secret. It learns from userinfo who
//! signed in.

use std::env::var;
use std::error::Error;
use std::io::stdin;

use oauth2::basic::BasicClient;
use oauth2::reqwest::{blocking, redirect};
use oauth2::url::Url;
use oauth2::{
    AuthUrl, AuthorizationCode, ClientId, CsrfToken, PkceCodeChallenge, RedirectUrl, Scope, TokenResponse,
    TokenUrl,
};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    // No redirects: a server must not send the client elsewhere.
    let http = blocking::Client::builder().redirect(redirect::Policy::none()).build()?;
    let issuer = var("ISSUER")?;
    let client = BasicClient::new(ClientId::new(var("CLIENT_ID")?))
        .set_auth_uri(AuthUrl::new(format!("{issuer}/oauth/authorize"))?)
        .set_token_uri(TokenUrl::new(format!("{issuer}/oauth/token"))?)
        .set_redirect_uri(RedirectUrl::new(format!("{}/callback", var("APP_URL")?))?);

    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let (target, state) = client
        .authorize_url(CsrfToken::new_random)
        .add_scopes(["profile", "email", "offline_access"].map(|scope| Scope::new(scope.to_owned())))
        .set_pkce_challenge(challenge)
        .url();
    println!("Open this URL, sign in, and paste the URL that you are redirected to:\n{target}");
    let landed = Url::parse(&line()?.unwrap_or_default())?;
    let answer =
        |name: &str| landed.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    if answer("state").as_ref() != Some(state.secret()) || answer("iss").as_ref() != Some(&issuer) {
        return Err("this response belongs to another sign-in".into());
    }

    let code = AuthorizationCode::new(answer("code").ok_or("not signed in")?);
    let mut tokens = client.exchange_code(code).set_pkce_verifier(verifier).request(&http)?;
    println!("{}", json!({ "tokens": tokens }));

    while let Some(step) = line()? {
        let refresh_token = tokens.refresh_token().ok_or("no refresh token")?.clone();
        match step.as_str() {
            "userinfo" => {
                let response = http
                    .get(format!("{issuer}/oauth/userinfo"))
                    .bearer_auth(tokens.access_token().secret())
                    .send()?;
                println!("{}", response.error_for_status()?.text()?);
            }
            "refresh" => {
                tokens = client.exchange_refresh_token(&refresh_token).request(&http)?;
                println!("{}", json!({ "tokens": tokens }));
            }
            _ => return Err("expected userinfo or refresh".into()),
        }
    }
    Ok(())
}

fn line() -> Result<Option<String>, std::io::Error> {
    let mut text = String::new();
    Ok((stdin().read_line(&mut text)? > 0).then(|| text.trim().to_owned()))
}
