//! The events about a user whose account is deleted name a pseudonym from then on.

use std::collections::BTreeSet;

use countersign_domain::checkpoint::{Digest256, HidingKey};
use countersign_domain::event::{Details, EventKind, Pseudonym};
use countersign_domain::id::{EventId, UserId};
use countersign_ports::{DeleteAccount, EVENTS_A_STEP, ForgetEventsOf, LeftToForget};
use uuid::Uuid;

use crate::columns::{Accounts, BigInt, Binary, Id, Key, Row, StoredId, Text, WalletKeys};
use crate::database::Statement;
use crate::statement::statement;
use crate::{Database, SqlError};

/// Returns how many events there are. Fresh events come first: a sealer that has them waits, or this waits
/// for the sealer, and then the next statement sees them sealed. If these are more sealed ones than a step takes, the
/// user is left to forget. What is about one of their wallets and no user is what operators did: there is little of it.
pub fn forget_person<D: Database>(
    db: &mut D,
    command: &DeleteAccount,
    wallets: &WalletKeys,
) -> Result<u64, SqlError> {
    let DeleteAccount { user, pseudonym, ref hiding, .. } = *command;
    let of_user = Id::from(user);
    if D::HAS_SEVERAL_WRITERS {
        let text = EventKind::ChangeSigned.name();
        HoldFresh { user: of_user, text, wallets: wallets.clone() }.run(db)?;
    }
    let texts = forget_texts(db, user, wallets, pseudonym, hiding)?;
    let of_wallets = forget_wallets(db, wallets, pseudonym, hiding)?;
    let fresh = ForgetFresh { user: of_user, pseudonym: pseudonym.as_bytes() }.run(db)?;
    let sealed: i64 = CountSealed { user: of_user }.one(db)?;
    if !forget_some(db, user, pseudonym, hiding)? {
        let proof = hiding.proof_of_user(user);
        LeaveToForget { user: of_user, pseudonym: pseudonym.as_bytes(), proof: proof.as_bytes() }.run(db)?;
    }
    let number = |rows: usize| u64::try_from(rows).unwrap_or(u64::MAX);
    let sealed = u64::try_from(sealed).unwrap_or(u64::MAX);
    let fresh = number(texts).saturating_add(number(of_wallets)).saturating_add(number(fresh));
    Ok(fresh.saturating_add(sealed))
}

/// Returns how many events there were.
fn forget_wallets(
    db: &mut impl Database,
    wallets: &WalletKeys,
    pseudonym: Pseudonym,
    key: &HidingKey,
) -> Result<usize, SqlError> {
    let pseudonym = pseudonym.as_bytes();
    let (mut gone, mut sealed) = (0, Vec::new());
    for (family, address) in &wallets.0 {
        gone += ForgetFreshOfWallet { family, address, pseudonym }.run(db)?;
        let found: Vec<(i64, Vec<u8>)> = SealedOfWallet { family, address }.all(db)?;
        sealed.extend(found);
    }
    sealed.sort_unstable();
    for (position, id) in &sealed {
        forget_one(db, *position, id, pseudonym, key)?;
    }
    Ok(gone + sealed.len())
}

/// An id that cannot be one was altered, and stays for `event verify`.
fn forget_one(
    db: &mut impl Database,
    position: i64,
    id: &[u8],
    pseudonym: &[u8],
    key: &HidingKey,
) -> Result<(), SqlError> {
    let proof = Uuid::from_slice(id).map(|id| key.proof(EventId::from_uuid(id)));
    let hiding_proof = proof.as_ref().map_or(&[][..], |proof| proof.as_bytes());
    ForgetOne { pseudonym, hiding_proof, position }.run(db)?;
    Ok(())
}

/// A text that was signed for several people goes with the first of them whose account is deleted: it names them all. Their
/// own events stay, because each is about one. Returns how many texts went.
fn forget_texts(
    db: &mut impl Database,
    user: UserId,
    wallets: &WalletKeys,
    pseudonym: Pseudonym,
    key: &HidingKey,
) -> Result<usize, SqlError> {
    let (user, [added, removed]) = (Id::from(user), EventKind::OF_MEMBERS.map(EventKind::name));
    let (text, pseudonym) = (EventKind::ChangeSigned.name(), pseudonym.as_bytes());
    let mut rows: Vec<Vec<u8>> = DetailsOfMember { user, added, removed }.all(db)?;
    for (family, address) in &wallets.0 {
        let of_wallet: Vec<Vec<u8>> = DetailsOfMemberWallet { family, address, added, removed }.all(db)?;
        rows.extend(of_wallet);
    }
    let details = rows.into_iter().filter_map(|details| String::from_utf8(details).ok());
    let texts: BTreeSet<_> =
        details.filter_map(|details| Details::from_stored(details).signed_in()).collect();
    let mut gone = 0;
    for id in texts {
        gone += ForgetFreshText { id: id.into(), text, pseudonym }.run(db)?;
        let proof = key.proof(id);
        gone += ForgetText { id: id.into(), text, pseudonym, hiding_proof: proof.as_bytes() }.run(db)?;
    }
    Ok(gone)
}

/// Guard: the user is left to forget, with this pseudonym. Of two servers at once, one waits for the other.
pub fn forget_events_of(db: &mut impl Database, command: &ForgetEventsOf) -> Result<bool, SqlError> {
    let ForgetEventsOf { user, pseudonym, hiding } = command;
    db.all_or_nothing(|db| {
        if pseudonym_left(db, *user)?.is_none_or(|left| left != pseudonym.as_bytes()) {
            return Ok(true);
        }
        let is_done = forget_some(db, *user, *pseudonym, hiding)?;
        if is_done {
            Forgotten { user: (*user).into() }.run(db)?;
        }
        Ok(is_done)
    })
}

pub fn left_to_forget(db: &mut impl Database, limit: u32) -> Result<Vec<LeftToForget>, SqlError> {
    let rows: Vec<(StoredId, Vec<u8>, Vec<u8>)> = AllLeft { limit: limit.into() }.all(db)?;
    let read = |(user, pseudonym, proof): (StoredId, Vec<u8>, Vec<u8>)| {
        let row = Row { table: "left_to_forget", key: &user };
        Ok(LeftToForget {
            user: row.id("user_id", &user)?,
            pseudonym: Pseudonym::new(row.bytes("pseudonym", &pseudonym)?),
            proof: Digest256::new(row.bytes("proof", &proof)?),
        })
    };
    rows.into_iter().map(read).collect()
}

/// The pseudonym of a user who is left to forget, locked.
pub fn pseudonym_left(db: &mut impl Database, user: UserId) -> Result<Option<Vec<u8>>, SqlError> {
    LockLeft { user: user.into() }.maybe(db)
}

/// One step. Says whether no event is left. SQLite cannot hash, so there each sealed event gets its proof from here.
fn forget_some<D: Database>(
    db: &mut D,
    user: UserId,
    pseudonym: Pseudonym,
    key: &HidingKey,
) -> Result<bool, SqlError> {
    let (user, pseudonym, limit) = (Id::from(user), pseudonym.as_bytes(), EVENTS_A_STEP.into());
    if D::CAN_HASH {
        let step = ForgetSealed { user, pseudonym, hiding: key.as_bytes(), limit };
        return Ok(step.run(db)? < EVENTS_A_STEP as usize);
    }
    let sealed: Vec<(i64, Vec<u8>)> = SealedOf { user, limit }.all(db)?;
    for (position, id) in &sealed {
        forget_one(db, *position, id, pseudonym, key)?;
    }
    Ok(sealed.len() < EVENTS_A_STEP as usize)
}

/// Forgets the proposals that a user signed, first or second.
pub fn forget_proposals_of(db: &mut impl Database, user: UserId) -> Result<(), SqlError> {
    ForgetOf { user: user.into() }.run(db)?;
    Ok(())
}

statement! {
    /// One row for each event. Without the request too, whose line in the log names the person. Reads all fresh events: they
    /// are few, and sign-ins do not pay for an index.
    ForgetFresh<'a> { user: Id as Key, pseudonym: &'a [u8] as Binary },
    sqlite = "\
        UPDATE fresh_events SET user_id = NULL, pseudonym = :pseudonym, family = NULL, chain = NULL, \
        address = NULL, peer = NULL, request = NULL, signed = NULL WHERE user_id = :user",
    postgres = "\
        WITH theirs AS MATERIALIZED ( \
          SELECT id FROM fresh_events WHERE user_id = :user ORDER BY id FOR UPDATE \
        ) \
        UPDATE fresh_events SET user_id = NULL, pseudonym = :pseudonym, family = NULL, chain = NULL, address = NULL, \
          peer = NULL, request = NULL, signed = NULL \
        FROM theirs WHERE fresh_events.id = theirs.id"
}

statement! {
    /// What the events of a user's memberships say. Those of others are not read.
    pub DetailsOfMember<'a> { user: Id as Key, added: &'a str as Text, removed: &'a str as Text } -> Binary,
    sqlite = "\
        SELECT CAST(details AS BLOB) FROM fresh_events WHERE user_id = :user AND kind IN (:added, :removed) \
        UNION ALL \
        SELECT CAST(details AS BLOB) FROM events WHERE user_id = :user AND kind IN (:added, :removed)",
    postgres = "\
        SELECT convert_to(details, 'UTF8') FROM fresh_events WHERE user_id = :user AND kind IN (:added, :removed) \
        UNION ALL \
        SELECT convert_to(details, 'UTF8') FROM events WHERE user_id = :user AND kind IN (:added, :removed)"
}

statement! {
    /// In PostgreSQL alone: all that will be updated, in the order in which a sealer takes them.
    HoldFresh<'a> { user: Id as Key, text: &'a str as Text, wallets: WalletKeys as Accounts },
    sqlite = "SELECT 1",
    postgres = "\
        SELECT id FROM fresh_events \
        WHERE user_id = :user OR kind = :text OR (user_id IS NULL AND family || ' ' || address = ANY(:wallets)) \
        ORDER BY id FOR UPDATE"
}

statement! {
    /// The same for a wallet of theirs that is a member by itself.
    pub DetailsOfMemberWallet<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        added: &'a str as Text,
        removed: &'a str as Text,
    } -> Binary,
    sqlite = "\
        SELECT CAST(details AS BLOB) FROM fresh_events WHERE address = :address AND family = :family \
        AND user_id IS NULL AND pseudonym IS NULL AND kind IN (:added, :removed) \
        UNION ALL \
        SELECT CAST(details AS BLOB) FROM events WHERE address = :address AND family = :family \
        AND user_id IS NULL AND pseudonym IS NULL AND kind IN (:added, :removed)",
    postgres = "\
        SELECT convert_to(details, 'UTF8') FROM fresh_events WHERE address = :address AND family = :family \
          AND user_id IS NULL AND pseudonym IS NULL AND kind IN (:added, :removed) \
        UNION ALL \
        SELECT convert_to(details, 'UTF8') FROM events WHERE address = :address AND family = :family \
          AND user_id IS NULL AND pseudonym IS NULL AND kind IN (:added, :removed)"
}

statement! {
    ForgetFreshOfWallet<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        pseudonym: &'a [u8] as Binary,
    } = "\
        UPDATE fresh_events SET pseudonym = :pseudonym, family = NULL, chain = NULL, address = NULL, peer = NULL, \
        request = NULL, signed = NULL \
        WHERE address = :address AND family = :family AND user_id IS NULL AND pseudonym IS NULL"
}

statement! {
    pub SealedOfWallet<'a> { family: &'a str as Text, address: &'a str as Text } -> (BigInt, Binary),
    sqlite = "\
        SELECT position, CAST(id AS BLOB) FROM events \
        WHERE address = :address AND family = :family AND user_id IS NULL AND pseudonym IS NULL",
    postgres = "\
        SELECT position, uuid_send(id) FROM events \
        WHERE address = :address AND family = :family AND user_id IS NULL AND pseudonym IS NULL"
}

statement! {
    ForgetFreshText<'a> { id: Id as Key, text: &'a str as Text, pseudonym: &'a [u8] as Binary } = "\
        UPDATE fresh_events SET pseudonym = :pseudonym, peer = NULL, request = NULL, signed = NULL \
        WHERE id = :id AND kind = :text AND pseudonym IS NULL"
}

statement! {
    pub ForgetText<'a> {
        id: Id as Key,
        text: &'a str as Text,
        pseudonym: &'a [u8] as Binary,
        hiding_proof: &'a [u8] as Binary,
    } = "\
        UPDATE events SET pseudonym = :pseudonym, peer = NULL, signed = NULL, salt = NULL, \
        hiding_proof = :hiding_proof WHERE id = :id AND kind = :text AND pseudonym IS NULL"
}

statement! {
    pub CountSealed { user: Id as Key } -> BigInt = "SELECT count(*) FROM events WHERE user_id = :user"
}

statement! {
    /// In PostgreSQL alone: one row for each event. Finds them by the index `events_by_user`. The proof is that of
    /// `HidingKey::proof`.
    ForgetSealed<'a> {
        user: Id as Key,
        pseudonym: &'a [u8] as Binary,
        hiding: &'a [u8] as Binary,
        limit: i64 as BigInt,
    },
    sqlite = "SELECT 1",
    postgres = "\
        WITH theirs AS MATERIALIZED ( \
          SELECT position FROM events WHERE user_id = :user ORDER BY position LIMIT :limit FOR UPDATE \
        ) \
        UPDATE events SET user_id = NULL, pseudonym = :pseudonym, family = NULL, chain = NULL, address = NULL, \
          peer = NULL, signed = NULL, salt = NULL, hiding_proof = sha256(:hiding || uuid_send(events.id)) \
        FROM theirs WHERE events.position = theirs.position"
}

statement! {
    /// In SQLite alone.
    pub SealedOf { user: Id as Key, limit: i64 as BigInt } -> (BigInt, Binary),
    sqlite = "SELECT position, CAST(id AS BLOB) FROM events WHERE user_id = :user LIMIT :limit",
    postgres = "SELECT 1"
}

statement! {
    /// The request stays, because it is sealed. Without its salt, no one can find out by trial what person a commitment is
    /// about.
    pub ForgetOne<'a> { pseudonym: &'a [u8] as Binary, hiding_proof: &'a [u8] as Binary, position: i64 as BigInt } = "\
        UPDATE events SET user_id = NULL, pseudonym = :pseudonym, family = NULL, chain = NULL, \
        address = NULL, peer = NULL, signed = NULL, salt = NULL, hiding_proof = :hiding_proof \
        WHERE position = :position"
}

statement! {
    LeaveToForget<'a> { user: Id as Key, pseudonym: &'a [u8] as Binary, proof: &'a [u8] as Binary } = "\
        INSERT INTO left_to_forget (user_id, pseudonym, proof) VALUES (:user, :pseudonym, :proof) \
        ON CONFLICT (user_id) DO UPDATE SET pseudonym = excluded.pseudonym, proof = excluded.proof"
}

statement! {
    LockLeft { user: Id as Key } -> Binary,
    sqlite = "SELECT pseudonym FROM left_to_forget WHERE user_id = :user",
    postgres = "SELECT pseudonym FROM left_to_forget WHERE user_id = :user FOR UPDATE"
}

statement! {
    AllLeft { limit: i64 as BigInt } -> (Key, Binary, Binary) = "\
        SELECT user_id, pseudonym, proof FROM left_to_forget ORDER BY user_id LIMIT :limit"
}

statement! {
    Forgotten { user: Id as Key } = "DELETE FROM left_to_forget WHERE user_id = :user"
}

statement! {
    /// In the order of their ids, so that two whose accounts are deleted at once do not wait for each other.
    pub ForgetOf { user: Id as Key },
    sqlite = "DELETE FROM proposals WHERE user_id = :user OR second_user_id = :user",
    postgres = "\
        WITH theirs AS MATERIALIZED ( \
          SELECT id FROM proposals WHERE user_id = :user \
          UNION SELECT id FROM proposals WHERE second_user_id = :user \
          ORDER BY id \
        ), held AS MATERIALIZED ( \
          SELECT theirs.id FROM theirs CROSS JOIN LATERAL ( \
            SELECT FROM proposals WHERE proposals.id = theirs.id OFFSET 0 FOR UPDATE \
          ) AS locked \
        ) \
        DELETE FROM proposals USING held WHERE proposals.id = held.id"
}
