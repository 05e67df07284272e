//! Mistakes with tokens, and with what the server says about itself.

use actix_web::test::TestRequest;

use crate::mistakes::sheet::{Pairs, Sheet, pairs, unknown, with};
use crate::site::{DEVICE_GRANT, Kind};

pub(super) async fn mistakes(sheet: &mut Sheet) {
    refreshing(sheet).await;
    using(sheet).await;
    others(sheet).await;
}

async fn refreshing(sheet: &mut Sheet) {
    sheet.chapter("The refresh token");
    let own = sheet.client(Kind::Confidential);
    let other = sheet.client(Kind::Operator);
    let tokens = sheet.tokens(&own).await;
    let refresh = |token: &str| -> Pairs {
        pairs(&[
            ("grant_type", "refresh_token"),
            ("refresh_token", token),
            ("client_id", &own.id),
            ("client_secret", own.secret.as_deref().unwrap_or_default()),
        ])
    };
    let answer = sheet.token(&refresh(&tokens.access)).await;
    sheet.enter(
        "an access token instead of the refresh token",
        &answer,
        "Store both, and send the `refresh_token`.",
    );
    let answer = sheet.token(&refresh("")).await;
    sheet.enter("no refresh token", &answer, "Ask for the scope `offline_access`, and store what comes.");
    let answer = sheet.token(&refresh(&unknown())).await;
    sheet.enter(
        "a refresh token of another server, or one that was changed",
        &answer,
        "Send the people through the page again.",
    );
    let theirs = with(refresh(&tokens.refresh), "client_id", &other.id);
    let theirs = with(theirs, "client_secret", other.secret.as_deref().unwrap_or_default());
    let answer = sheet.token(&theirs).await;
    sheet.enter("a refresh token of another client", &answer, "Refresh with the client that got it.");
    let answer = sheet.token(&with(refresh(&tokens.refresh), "scope", "openid profile email")).await;
    sheet.enter(
        "more scopes than were granted",
        &answer,
        "Leave `scope` out, or begin a new sign-in for more.",
    );
    sheet.token(&refresh(&tokens.refresh)).await;
    let answer = sheet.token(&refresh(&tokens.refresh)).await;
    sheet.enter(
        "a refresh token twice: two processes, or the new one was not stored",
        &answer,
        "Store the new refresh token of each answer before you use its access token, and let one process refresh.",
    );
}

async fn using(sheet: &mut Sheet) {
    sheet.chapter("The access token");
    let own = sheet.client(Kind::Confidential);
    let tokens = sheet.tokens(&own).await;
    let ask = |token: &str| {
        TestRequest::get().uri("/oauth/userinfo").insert_header(("Authorization", format!("Bearer {token}")))
    };
    for (mistake, token, change) in [
        ("the refresh token as access token", tokens.refresh.as_str(), "Send the `access_token`."),
        (
            "the ID token as access token",
            &tokens.id,
            "Send the `access_token`; the ID token is for the client alone.",
        ),
        ("a token in quotes", &format!("\"{}\"", tokens.access), "Send the value without its JSON quotes."),
    ] {
        let answer = sheet.site.send(ask(token)).await;
        sheet.enter(mistake, &answer, change);
    }
    let query = format!("/oauth/userinfo?access_token={}", tokens.access);
    let answer = sheet.site.send(TestRequest::get().uri(&query)).await;
    sheet.enter("the token in the address", &answer, "Send the header `Authorization: Bearer …`.");
    let request = with(sheet.request(&own), "scope", "email");
    let code = sheet.code(&request).await;
    let form = crate::mistakes::sheet::exchange_of(&own, &code);
    let little = sheet.token(&form).await.json()["access_token"].as_str().unwrap_or_default().to_owned();
    let answer = sheet.site.send(ask(&little)).await;
    sheet.enter(
        "userinfo without the scope `profile`",
        &answer,
        "Ask for `profile` in the authorization request.",
    );
    sheet.site.clock.advance(time::Duration::hours(2));
    let answer = sheet.site.send(ask(&tokens.access)).await;
    sheet.enter(
        "an access token that has expired",
        &answer,
        "Refresh when `expires_in` is nearly over, or at a 401.",
    );
}

async fn others(sheet: &mut Sheet) {
    sheet.chapter("Other endpoints");
    let own = sheet.client(Kind::Confidential);
    let public = sheet.client(Kind::Public);
    let device = sheet.client(Kind::Device);
    let form = |list: &[(&str, &str)]| pairs(list);
    let introspect = form(&[("token", "x"), ("client_id", &public.id)]);
    let answer = sheet.site.send(TestRequest::post().uri("/oauth/introspect").set_form(&introspect)).await;
    sheet.enter(
        "introspection by a public client",
        &answer,
        "Introspect with a client that has a secret or a key.",
    );
    let tokens = sheet.tokens(&own).await;
    let other = sheet.client(Kind::Operator);
    let revoke = form(&[
        ("token", &tokens.refresh),
        ("client_id", &other.id),
        ("client_secret", other.secret.as_deref().unwrap_or_default()),
    ]);
    let answer = sheet.site.send(TestRequest::post().uri("/oauth/revoke").set_form(&revoke)).await;
    sheet.enter("revoking a token of another client", &answer, "Revoke with the client that got it.");
    let begun = sheet.site.post_as(&device, "/oauth/device_authorization", Vec::new(), None).await.json();
    let code = begun["device_code"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
    let poll = form(&[("grant_type", DEVICE_GRANT), ("device_code", &code)]);
    let answer = sheet.site.post_as(&device, "/oauth/token", poll.clone(), None).await;
    sheet.enter(
        "a device that takes waiting for a failure",
        &answer,
        "Go on asking every `interval` seconds until it is answered.",
    );
    let answer = sheet.site.post_as(&device, "/oauth/token", poll, None).await;
    sheet.enter("a device that asks too often", &answer, "Wait five seconds longer after each `slow_down`.");
    let answer = sheet.site.send(TestRequest::get().uri("/oauth/.well-known/openid-configuration")).await;
    sheet.enter(
        "metadata below a wrong issuer",
        &answer,
        "Configure the library with the issuer, without any path of ours.",
    );
    let elsewhere =
        TestRequest::get().uri("/.well-known/openid-configuration").insert_header(("Host", "10.0.0.7:8080"));
    let answer = sheet.site.send(elsewhere).await;
    let issuer = answer.json()["issuer"].as_str().unwrap_or_default().to_owned();
    sheet.write(
        "metadata by an internal name: the library says that the issuer differs",
        answer.status,
        "issuer".to_owned(),
        &issuer,
        "Reach the server by its `public_url`, or set that to the name that everyone uses. It never follows `Host`.",
    );
}
