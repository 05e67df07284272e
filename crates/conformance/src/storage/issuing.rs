//! A client gets tokens for itself.

use std::sync::Arc;

use countersign_domain::client::Client;
use countersign_domain::grant::Holder;
use countersign_domain::id::{ClientId, UserId};
use countersign_ports::{DeleteClient, IssueTokens, RegisterClient, Storage, TokensIssued};

use super::steps;
use crate::fixtures;

async fn registered(store: &dyn Storage) -> ClientId {
    let client = fixtures::client();
    store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    client.id
}

async fn issued(store: &dyn Storage) -> IssueTokens {
    let command = fixtures::issue_tokens(registered(store).await);
    assert_eq!(store.issue_tokens(command.clone()).await.unwrap(), TokensIssued::Stored);
    command
}

/// Grant and token are found as they were written. The grant is redeemed, and the token is the newest of its
/// family.
pub async fn tokens_that_were_issued_are_found_with_their_grant(store: Arc<dyn Storage>) {
    let IssueTokens { grant, token, .. } = issued(&*store).await;
    assert!(grant.redeemed);
    let expected = steps::meaning(&token, grant.client, Holder::Client);
    assert_eq!(store.find_access(token.id).await.unwrap(), Some(expected));
    assert_eq!(store.find_grant(grant.id).await.unwrap(), Some(grant));
    assert_eq!(steps::newest(&*store, &token).await, token.id);
}

/// A client is not a user: nothing is found under its id.
pub async fn tokens_of_a_client_make_no_user(store: Arc<dyn Storage>) {
    let IssueTokens { grant, .. } = issued(&*store).await;
    let user = UserId::from_uuid(grant.client.as_uuid());
    assert_eq!(store.find_account(user).await.unwrap(), None);
    assert_eq!(store.wallets_of(user).await.unwrap(), []);
    assert_eq!(steps::consent(&*store, user, grant.client).await, None);
}

/// Rule 3: the same token id is the same command, whatever happened in between.
pub async fn an_issue_that_is_repeated_gives_the_same_answer(store: Arc<dyn Storage>) {
    let command = issued(&*store).await;
    assert_eq!(store.issue_tokens(command.clone()).await.unwrap(), TokensIssued::Stored);
    store.revoke_grant(fixtures::revoke_grant(command.grant.id)).await.unwrap();
    assert_eq!(store.issue_tokens(command.clone()).await.unwrap(), TokensIssued::Stored);
    assert!(!steps::is_live(&*store, &command.token).await);
}

/// If another grant has the id, nothing of the second command is stored.
pub async fn a_taken_grant_id_issues_nothing(store: Arc<dyn Storage>) {
    let first = issued(&*store).await;
    let mut second = fixtures::issue_tokens(first.grant.client);
    (second.grant.id, second.token.grant) = (first.grant.id, first.grant.id);
    assert_eq!(store.issue_tokens(second.clone()).await.unwrap(), TokensIssued::IdTaken);
    assert_eq!(store.find_access(second.token.id).await.unwrap(), None);
    assert!(steps::is_live(&*store, &first.token).await);
}

/// A client that was never registered, or was deleted.
pub async fn a_client_that_is_not_there_gets_nothing(store: Arc<dyn Storage>) {
    let gone = registered(&*store).await;
    assert!(store.delete_client(DeleteClient { id: gone, event: None }).await.unwrap());
    for client in [gone, fixtures::client_id()] {
        let command = fixtures::issue_tokens(client);
        assert_eq!(store.issue_tokens(command.clone()).await.unwrap(), TokensIssued::ClientUnknown);
        assert_eq!(store.find_access(command.token.id).await.unwrap(), None);
        assert_eq!(store.find_grant(command.grant.id).await.unwrap(), None);
    }
}

/// And nothing else.
pub async fn a_deleted_client_takes_its_own_tokens_along(store: Arc<dyn Storage>) {
    let [mine, other] = [issued(&*store).await, issued(&*store).await];
    assert!(store.delete_client(DeleteClient { id: mine.grant.client, event: None }).await.unwrap());
    assert_eq!(store.find_access(mine.token.id).await.unwrap(), None);
    assert!(steps::is_live(&*store, &other.token).await);
}

/// An access token of a client for itself is like any other.
pub async fn tokens_of_a_client_are_revoked_like_others(store: Arc<dyn Storage>) {
    let command = issued(&*store).await;
    store.revoke_token(fixtures::revoke_token(&command.token)).await.unwrap();
    assert!(!steps::is_live(&*store, &command.token).await);
}

/// A client without redirect URIs is like any other.
pub async fn a_client_that_nobody_is_sent_back_to_survives(store: Arc<dyn Storage>) {
    let mut client: Client = fixtures::client();
    client.metadata.redirect_uris.clear();
    store.register_client(RegisterClient { client: client.clone(), event: None }).await.unwrap();
    assert_eq!(store.find_client(client.id).await.unwrap(), Some(client));
}

/// In whatever order the two happen, a client that was deleted has no tokens afterwards.
pub async fn no_token_of_a_client_outlives_it(store: Arc<dyn Storage>) {
    for _ in 0..20 {
        let client = registered(&*store).await;
        let commands: Vec<_> = (0..8).map(|_| fixtures::issue_tokens(client)).collect();
        let issuing: Vec<_> = commands
            .iter()
            .map(|command| {
                let (store, command) = (Arc::clone(&store), command.clone());
                tokio::spawn(async move { store.issue_tokens(command).await.unwrap() })
            })
            .collect();
        assert!(store.delete_client(DeleteClient { id: client, event: None }).await.unwrap());
        for issued in issuing {
            assert_ne!(issued.await.unwrap(), TokensIssued::IdTaken);
        }
        for command in commands {
            assert_eq!(store.find_access(command.token.id).await.unwrap(), None);
        }
    }
}
