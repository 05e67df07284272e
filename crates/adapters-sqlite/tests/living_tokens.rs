//! The table of live access tokens, which triggers keep up to date: what is found there, and that it never
//! says more than `tokens` and `grants` do. The conformance suite also looks tokens up in it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and so do its helpers")]

use countersign_adapters_sqlite::{SqliteOptions, SqliteStorage};
use countersign_conformance::fixtures;
use countersign_domain::client::Client;
use countersign_domain::id::TokenId;
use countersign_domain::token::{AccessSnapshot, Token};
use countersign_ports::{
    ClientStore, CompleteLogin, DeleteClient, LoginStore, PurgeExpired, RedeemCode, Redeemed, RegisterClient,
    Rotated, TokenStore, Upkeep,
};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use tempfile::TempDir;
use time::Duration;
use uuid::Uuid;

/// A database, and a connection to it for the test itself.
struct Database {
    _folder: TempDir,
    storage: SqliteStorage,
    other: SqliteConnection,
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

impl Database {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("countersign.db");
        let storage = SqliteStorage::open(&path, SqliteOptions::default()).unwrap();
        let mut other = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
        other.batch_execute("PRAGMA busy_timeout = 5000").unwrap();
        Self { _folder: folder, storage, other }
    }

    fn ask(&mut self, number: &str) -> i64 {
        let row: Number =
            diesel::sql_query(format!("SELECT {number} AS number")).get_result(&mut self.other).unwrap();
        row.number
    }

    /// How many tokens have a row in that table.
    fn living(&mut self) -> i64 {
        self.ask("(SELECT count(*) FROM access_tokens)")
    }

    /// A wallet signs in to a registered client.
    async fn sign_in(&self) -> CompleteLogin {
        let login = fixtures::complete_login();
        let client = Client { id: login.client, ..fixtures::client() };
        self.storage.register_client(RegisterClient { client, event: None }).await.unwrap();
        self.storage.complete_login(login.clone()).await.unwrap();
        login
    }

    /// Its code is exchanged for this token.
    async fn redeem(&self, token: impl FnOnce(Token) -> Token) -> Token {
        let command = fixtures::redeem_code(self.sign_in().await.id);
        let command = RedeemCode { token: token(command.token), ..command };
        assert_eq!(self.storage.redeem_code(command.clone()).await.unwrap(), Redeemed::Stored);
        command.token
    }

    async fn find(&self, id: TokenId) -> Option<AccessSnapshot> {
        self.storage.find_access(id).await.unwrap()
    }
}

/// The address of the wallet that signed.
fn address(found: &AccessSnapshot) -> &str {
    &found.holder.account().unwrap().address
}

/// Marks the rows of live tokens, so that an answer shows whether it came from there.
const MARK: &str = "UPDATE access_tokens SET address = 'marked'";

#[tokio::test]
async fn a_living_token_is_found_in_its_one_row_whatever_its_id() {
    let mut database = Database::new();
    let ids = [Uuid::nil(), Uuid::max(), Uuid::from_u128(1 << 64), Uuid::from_u128(0xffff << 112)];
    let mut tokens = vec![database.redeem(|token| token).await];
    for id in ids {
        tokens.push(database.redeem(|token| Token { id: TokenId::from_uuid(id), ..token }).await);
    }
    database.other.batch_execute(MARK).unwrap();
    for token in tokens {
        let found = database.find(token.id).await.unwrap();
        assert_eq!((address(&found), found.id), ("marked", token.id));
        assert!(found.is_live(fixtures::NOW));
    }
}

#[tokio::test]
async fn of_two_tokens_with_one_place_the_second_is_found_where_all_are() {
    let mut database = Database::new();
    let with_chance =
        |chance: u128| TokenId::from_uuid(Uuid::from_u128(0x0189_0a5d_ac96_774b_u128 << 64 | chance));
    let first = database.redeem(|token| Token { id: with_chance(1), ..token }).await;
    let second = database.redeem(|token| Token { id: with_chance(2), ..token }).await;
    assert_eq!(database.living(), 1);
    database.other.batch_execute(MARK).unwrap();
    assert_eq!(address(&database.find(first.id).await.unwrap()), "marked");
    let found = database.find(second.id).await.unwrap();
    assert!(address(&found) != "marked" && found.access_hash == second.access_hash);
    assert_eq!(database.find(with_chance(3)).await, None);

    let revoke = fixtures::revoke_token(&second);
    database.storage.revoke_token(revoke).await.unwrap();
    assert!(database.find(second.id).await.unwrap().token_revoked);
    assert!(!database.find(first.id).await.unwrap().token_revoked, "its neighbor's end is not its own");
}

#[tokio::test]
async fn a_090_a_revoked_token_has_no_row_and_says_that_it_was_revoked() {
    let mut database = Database::new();
    let token = database.redeem(|token| token).await;
    database.storage.revoke_token(fixtures::revoke_token(&token)).await.unwrap();
    assert_eq!(database.living(), 0);
    let found = database.find(token.id).await.unwrap();
    assert!(found.token_revoked && !found.grant_revoked);
}

#[tokio::test]
async fn a_successor_that_was_replaced_has_no_row() {
    let mut database = Database::new();
    let first = database.redeem(|token| token).await;
    let lost = fixtures::rotate_refresh(&first);
    assert_eq!(database.storage.rotate_refresh(lost.clone()).await.unwrap(), Rotated::Stored);
    let again = fixtures::rotate_again(&first, &lost.token);
    assert_eq!(database.storage.rotate_refresh(again).await.unwrap(), Rotated::Stored);
    assert_eq!(database.living(), 2);
    assert!(database.find(lost.token.id).await.unwrap().token_revoked);
}

#[tokio::test]
async fn the_row_of_a_token_whose_grant_or_client_ended_is_not_believed() {
    let mut database = Database::new();
    let (ended, deleted) = (database.redeem(|token| token).await, database.redeem(|token| token).await);
    let client = database.find(deleted.id).await.unwrap().client;
    database.storage.revoke_grant(fixtures::revoke_grant(ended.grant)).await.unwrap();
    assert!(database.storage.delete_client(DeleteClient { id: client, event: None }).await.unwrap());
    assert_eq!(database.living(), 2);
    assert!(database.find(ended.id).await.unwrap().grant_revoked);
    assert_eq!(database.find(deleted.id).await, None);
}

#[tokio::test]
async fn upkeep_forgets_the_row_when_the_access_token_ends_and_keeps_the_refresh_token() {
    let mut database = Database::new();
    let token = database.redeem(|token| token).await;
    let until = |before| PurgeExpired::oldest(fixtures::past(before), 100);
    for (before, living) in [(token.access_expires_at, 1), (token.access_expires_at + Duration::SECOND, 0)] {
        let purged = database.storage.purge_expired(until(before)).await.unwrap();
        assert_eq!((purged.rows, purged.more, database.living()), (0, false, living));
    }
    assert!(database.find(token.id).await.is_some());
    assert!(database.storage.find_refresh(token.id).await.unwrap().is_some());
}

#[tokio::test]
async fn a_full_step_of_upkeep_says_that_more_is_to_be_forgotten() {
    let mut database = Database::new();
    let mut end = fixtures::NOW;
    for _ in 0..3 {
        end = database.redeem(|token| token).await.access_expires_at;
    }
    let before = end + Duration::SECOND;
    let step = PurgeExpired::oldest(fixtures::past(before), 2);
    for (more, living) in [(true, 1), (false, 0)] {
        let purged = database.storage.purge_expired(step).await.unwrap();
        assert_eq!((purged.more, database.living()), (more, living));
    }
}

/// What the previous release writes, which does not know this table: a token, its revocation, and its
/// deletion.
#[tokio::test]
async fn d_30_what_the_release_before_writes_is_followed() {
    let mut database = Database::new();
    let token = database.redeem(|token| token).await;
    let insert = "INSERT INTO tokens (id, grant_id, scope, issued_at, access_hash, access_expires_at, forget_after) \
                  SELECT x'01890a5dac96774bbcceb302099a8057', grant_id, scope, issued_at, access_hash, \
                  access_expires_at, forget_after FROM tokens";
    database.other.batch_execute(insert).unwrap();
    let old = TokenId::from_uuid(Uuid::parse_str("01890a5d-ac96-774b-bcce-b302099a8057").unwrap());
    assert_eq!(database.living(), 1);
    assert!(database.find(old).await.unwrap().is_live(fixtures::NOW));

    database.other.batch_execute("UPDATE tokens SET access_expires_at = 7").unwrap();
    assert_eq!(database.living(), 1);
    for id in [token.id, old] {
        assert_eq!(database.find(id).await.unwrap().expires_at.unix_timestamp_nanos(), 7_000);
    }

    database.other.batch_execute("UPDATE tokens SET access_revoked_at = 1").unwrap();
    assert_eq!(database.living(), 0);
    assert!(database.find(token.id).await.unwrap().token_revoked);
    assert!(database.find(old).await.unwrap().token_revoked);

    let other = database.redeem(|token| token).await;
    database.other.batch_execute("DELETE FROM tokens").unwrap();
    assert_eq!((database.living(), database.find(other.id).await), (0, None));
}
