//! Programs in which a wallet signs in without a browser.

use countersign_domain::registration::RequestedMetadata;

use super::usecases::TokenAnswer;
use super::usecases::sign_in::issue_challenge::Challenge;
use super::usecases::tokens::sign_in_program::{
    ProgramChallenge, ProgramChallengeError, SignInProgram, SignInProgramError, issue_program_challenge,
    sign_in_program,
};
use super::world::{PERSON, TestClient, World, named, sign};

pub(super) const WALLET: &str = "urn:countersign:params:oauth:grant-type:wallet-signature";

pub(super) async fn program(world: &World) -> TestClient {
    world
        .register(RequestedMetadata {
            grant_types: Some(vec![
                "authorization_code".to_owned(),
                "refresh_token".to_owned(),
                WALLET.to_owned(),
            ]),
            ..RequestedMetadata::default()
        })
        .await
}

pub(super) async fn challenge(
    world: &World,
    client: &TestClient,
    scope: Option<&str>,
    resources: &[&str],
) -> Result<Challenge, ProgramChallengeError> {
    let resources: Vec<String> = resources.iter().map(|uri| (*uri).to_owned()).collect();
    let name = named("toy-ann");
    let asked = ProgramChallenge { client_id: &client.id, name, scope, resources: &resources };
    issue_program_challenge(&world.context, asked).await
}

pub(super) async fn text(world: &World, client: &TestClient) -> String {
    challenge(world, client, None, &[]).await.unwrap().text
}

pub(super) fn signed(client: &TestClient, text: &str) -> SignInProgram {
    SignInProgram {
        credentials: client.credentials(),
        challenge: text.to_owned(),
        signature: sign("toy-ann", text),
        wallet_address: None,
        resources: Vec::new(),
        proof: None,
    }
}

pub(super) async fn redeem(world: &World, asked: SignInProgram) -> Result<TokenAnswer, SignInProgramError> {
    sign_in_program(&world.context, &PERSON, asked).await
}
