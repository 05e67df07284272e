//! Signs a user in by the crate oauth2. The browser's part is yours: open the address, sign, and paste where you land.

use std::io::stdin;

use oauth2::basic::BasicClient;
use oauth2::reqwest::{blocking, redirect, Url};
use oauth2::{
    AuthType, AuthUrl, AuthorizationCode, ClientId, CsrfToken, PkceCodeChallenge, RedirectUrl, Scope,
    TokenResponse, TokenUrl,
};
use oauth2::ClientSecret; // [confidential]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = BasicClient::new(ClientId::new("%CLIENT_ID%".to_owned()))
        .set_client_secret(ClientSecret::new("%CLIENT_SECRET%".to_owned())) // [confidential]
        .set_auth_type(AuthType::RequestBody)
        .set_auth_uri(AuthUrl::new("%ISSUER%/oauth/authorize".to_owned())?)
        .set_token_uri(TokenUrl::new("%ISSUER%/oauth/token".to_owned())?)
        .set_redirect_uri(RedirectUrl::new("%REDIRECT_URI%".to_owned())?);

    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let (target, state) = client
        .authorize_url(CsrfToken::new_random)
        .add_scopes("%SCOPE%".split(' ').map(|scope| Scope::new(scope.to_owned())))
        .set_pkce_challenge(challenge)
        .url();
    println!("Open this address, and sign in:\n{target}\nPaste the address where you land:");
    let mut landed = String::new();
    stdin().read_line(&mut landed)?;
    let landed = Url::parse(landed.trim())?;
    let answer = |name: &str| {
        landed.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    };
    if answer("state").as_deref() != Some(state.secret()) || answer("iss").as_deref() != Some("%ISSUER%") {
        return Err("this answer is not for you".into());
    }

    // No redirects: a server must not lead the client elsewhere.
    let http = blocking::Client::builder().redirect(redirect::Policy::none()).build()?;
    let code = AuthorizationCode::new(answer("code").ok_or("not signed in")?);
    let tokens = client.exchange_code(code).set_pkce_verifier(verifier).request(&http)?;
    let response = http
        .get("%ISSUER%/oauth/userinfo")
        .bearer_auth(tokens.access_token().secret())
        .send()?
        .error_for_status()?;
    println!("{}", response.text()?);
    Ok(())
}
