//! Operators who are suspended.
//!
//! An act that operators signed and a suspension of one of them never overlap: the act holds a lock that others can hold
//! too, the suspension one that nothing else can. Both take it after the locks of users, and before those of proposals.

use countersign_domain::desk::operators::Suspension;
use countersign_domain::desk::proposal::ProposalState;
use countersign_domain::event::{Event, Signed};
use countersign_domain::id::{GrantId, UserId};
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::wallet_store::chain_of_old_wallet;
use countersign_ports::{OperatorSuspended, RestoreOperator, SuspendOperator, SuspendedWallet};

use crate::columns::{
    Accounts, At, BigInt, Id, Ids, Key, Keys, Moment, Nullable, Row, StoredId, StoredTime, Text, WalletKeys,
};
use crate::database::Statement;
use crate::ops::accounts::delete_account::KeysOfWallets;
use crate::ops::accounts::wallets::{find_owner, lock_user, under_lock_of_owner};
use crate::ops::events::record_event::{act_and_record, record};
use crate::statement::statement;
use crate::{Database, SqlError, Undone};

/// Guard: a user exists. The lock of the user waits for what links or unlinks a wallet of theirs, or deletes their account.
pub fn suspend_operator(
    db: &mut impl Database,
    command: &SuspendOperator,
) -> Result<OperatorSuspended, SqlError> {
    match &command.who {
        Subject::User(user) => db.all_or_nothing(|db| {
            if !lock_user(db, *user)? {
                return Err(Undone::Refused(OperatorSuspended::UserUnknown));
            }
            WaitForActs {}.run(db)?;
            Ok(suspend(db, command, Some(*user))?)
        }),
        Subject::Wallet(wallet) => loop {
            let done = under_lock_of_owner(db, wallet, |db, owner| {
                WaitForActs {}.run(db)?;
                // A wallet without a user has no lock, so it may have been linked meanwhile.
                let is_still = find_owner(db, wallet)? == owner;
                if is_still { suspend(db, command, owner).map(Some) } else { Ok(None) }
            })?;
            if let Some(done) = done {
                return Ok(done);
            }
        },
    }
}

/// Under the locks: what this reads, nothing changes.
fn suspend(
    db: &mut impl Database,
    command: &SuspendOperator,
    user: Option<UserId>,
) -> Result<OperatorSuspended, SqlError> {
    let SuspendOperator { who, others, id, suspension, event } = command;
    let (id, suspended_at, reason) = (Id(*id), At(suspension.at), suspension.reason.as_deref());
    let mut suspended = 0;
    if let Some(user) = user {
        let (user, ethereum) = (Id::from(user), chain_of_old_wallet("eip155"));
        suspended += SuspendWalletsOf { user, id, suspended_at, reason, ethereum }.run(db)?;
    }
    let named = match who {
        Subject::User(_) => None,
        Subject::Wallet(wallet) => Some(wallet),
    };
    for WalletAccount { family, chain, address } in named.into_iter().chain(others) {
        suspended += SuspendWallet { family, chain, address, id, suspended_at, reason }.run(db)?;
    }
    if suspended == 0 {
        return Ok(OperatorSuspended::AlreadySo);
    }
    record(db, event.as_deref())?;
    let ended: Vec<StoredId> = EndProposals {
        id,
        waiting: ProposalState::Waiting.name(),
        taken: ProposalState::Taken.name(),
        suspended: ProposalState::Suspended.name(),
    }
    .all(db)?;
    for ended in &ended {
        let proposal: GrantId = Row { table: "proposals", key: ended }.id("id", ended)?;
        record(db, event.as_ref().map(|event| event.of_proposal_ended(proposal)).as_ref())?;
    }
    Ok(OperatorSuspended::Suspended { proposals: u64::try_from(ended.len()).unwrap_or(u64::MAX) })
}

pub fn restore_operator(db: &mut impl Database, command: &RestoreOperator) -> Result<bool, SqlError> {
    act_and_record(db, command.event.as_deref(), |db| {
        // Afterwards, it would be too late: the one who signed could be restored by it.
        require_active(db, signers_of(command.event.as_deref()))?;
        let wallets = WalletKeys(match &command.who {
            Subject::User(user) => KeysOfWallets { user: (*user).into() }.all(db)?,
            Subject::Wallet(wallet) => match find_owner(db, wallet)? {
                Some(user) => KeysOfWallets { user: user.into() }.all(db)?,
                None => vec![(wallet.family.clone(), wallet.address.clone())],
            },
        });
        Ok(Restore { wallets }.run(db)? > 0)
    })
}

pub fn suspensions_of(db: &mut impl Database, who: &[Subject]) -> Result<Vec<Option<Suspension>>, SqlError> {
    let users = who.iter().filter_map(|who| match who {
        Subject::User(user) => Some(user.as_uuid()),
        Subject::Wallet(_) => None,
    });
    let wallets = who.iter().filter_map(|who| match who {
        Subject::User(_) => None,
        Subject::Wallet(WalletAccount { family, address, .. }) => Some((family.clone(), address.clone())),
    });
    let (users, wallets): (Vec<_>, Vec<_>) = (users.collect(), wallets.collect());
    db.snapshot(|db| {
        let of_users: Vec<PlacedRow> =
            if users.is_empty() { Vec::new() } else { SuspensionsOfUsers { users: Ids(users) }.all(db)? };
        let of_wallets: Vec<PlacedRow> = if wallets.is_empty() {
            Vec::new()
        } else {
            SuspensionsOfWallets { wallets: WalletKeys(wallets) }.all(db)?
        };
        let (mut of_users, mut of_wallets) = (earliest(of_users), earliest(of_wallets));
        let suspension_of = |who: &Subject| match who {
            Subject::User(_) => of_users.next(),
            Subject::Wallet(_) => of_wallets.next(),
        };
        who.iter().map(suspension_of).map(Option::transpose).map(|found| Ok(found?.flatten())).collect()
    })
}

/// The place in the question, and a suspension if there is one.
type PlacedRow = (i64, Option<StoredTime>, Option<String>);

/// The earliest suspension for each place, in the order of the question.
fn earliest(mut rows: Vec<PlacedRow>) -> impl Iterator<Item = Result<Option<Suspension>, SqlError>> {
    rows.sort_by_key(|(place, suspended_at, _)| (*place, suspended_at.is_none(), *suspended_at));
    rows.dedup_by_key(|(place, ..)| *place);
    rows.into_iter().map(|(place, suspended_at, reason)| {
        let row = Row { table: "suspended_wallets", key: &place };
        let at = row.optional_time("suspended_at", suspended_at)?;
        Ok(at.map(|at| Suspension { at, reason }))
    })
}

pub fn suspended_wallets(
    db: &mut impl Database,
    after: Option<&WalletAccount>,
    limit: u32,
) -> Result<Vec<SuspendedWallet>, SqlError> {
    // No family is the empty text.
    let (family, address) = after.map_or(("", ""), |after| (&*after.family, &*after.address));
    let rows: Vec<ListedRow> = SuspendedWallets { family, address, limit: limit.into() }.all(db)?;
    let read = |(family, chain, address, suspended_at, reason, user): ListedRow| {
        let row = Row { table: "suspended_wallets", key: &address };
        let suspension = Suspension { at: row.time("suspended_at", suspended_at)?, reason };
        let user = row.optional_id("user_id", user.as_ref())?;
        Ok(SuspendedWallet { account: WalletAccount { family, chain, address }, suspension, user })
    };
    rows.into_iter().map(read).collect()
}

/// Family, chain, address, time, reason and user.
type ListedRow = (String, String, String, StoredTime, Option<String>, Option<StoredId>);

/// Who signed the act of an event.
pub fn signers_of(event: Option<&Event>) -> &[WalletAccount] {
    event.and_then(|event| event.signed.as_ref()).map(Signed::signers).unwrap_or_default()
}

/// Fails if one of those who signed an act is suspended: it must not be committed. Otherwise none of them is suspended
/// until the commit.
pub fn require_active(db: &mut impl Database, signers: &[WalletAccount]) -> Result<(), SqlError> {
    if signers.is_empty() {
        return Ok(());
    }
    HoldStill {}.run(db)?;
    let signers = signers.iter().map(|wallet| (wallet.family.clone(), wallet.address.clone())).collect();
    let rows: Vec<PlacedRow> = SuspensionsOfWallets { wallets: WalletKeys(signers) }.all(db)?;
    let is_any = rows.iter().any(|(_, suspended_at, _)| suspended_at.is_some());
    if is_any { Err(SqlError::SignerSuspended) } else { Ok(()) }
}

/// A wallet was linked to a user, whose other wallets may be suspended, or it may be. Then all of them are from now on.
pub fn spread_suspension(db: &mut impl Database, user: UserId) -> Result<(), SqlError> {
    HoldStill {}.run(db)?;
    SpreadSuspension { user: user.into(), ethereum: chain_of_old_wallet("eip155") }.run(db)?;
    Ok(())
}

statement! {
    /// The number spells "susp", so that no other lock is the same. It ends with the transaction. One writer has its turn.
    WaitForActs {},
    sqlite = "SELECT 1",
    postgres = "SELECT pg_advisory_xact_lock(1937077104, 0)"
}

statement! {
    /// The same lock, which every act holds beside others.
    HoldStill {},
    sqlite = "SELECT 1",
    postgres = "SELECT pg_advisory_xact_lock_shared(1937077104, 0)"
}

statement! {
    /// One row for each wallet of the user that was not suspended. Where a chain is missing, it is that of an old wallet.
    pub SuspendWalletsOf<'a> {
        user: Id as Key,
        id: Id as Key,
        suspended_at: At as Moment,
        reason: Option<&'a str> as Nullable<Text>,
        ethereum: String as Text,
    } = "\
        INSERT INTO suspended_wallets (family, address, chain, suspension_id, suspended_at, reason) \
        SELECT family, address, COALESCE(chain, CASE family WHEN 'eip155' THEN :ethereum ELSE family END), \
          :id, :suspended_at, :reason \
        FROM wallets WHERE user_id = :user \
        ON CONFLICT (family, address) DO NOTHING"
}

statement! {
    /// One row if the wallet was not suspended, none otherwise.
    SuspendWallet<'a> {
        family: &'a str as Text,
        chain: &'a str as Text,
        address: &'a str as Text,
        id: Id as Key,
        suspended_at: At as Moment,
        reason: Option<&'a str> as Nullable<Text>,
    } = "\
        INSERT INTO suspended_wallets (family, address, chain, suspension_id, suspended_at, reason) \
        VALUES (:family, :address, :chain, :id, :suspended_at, :reason) \
        ON CONFLICT (family, address) DO NOTHING"
}

statement! {
    /// Of several suspensions of a user's wallets, the earliest spreads.
    pub SpreadSuspension { user: Id as Key, ethereum: String as Text },
    sqlite = "\
        INSERT INTO suspended_wallets (family, address, chain, suspension_id, suspended_at, reason) \
        SELECT mine.family, mine.address, \
        coalesce(mine.chain, CASE mine.family WHEN 'eip155' THEN :ethereum ELSE mine.family END), \
        found.suspension_id, found.suspended_at, found.reason \
        FROM ( \
          SELECT suspension_id, suspended_at, reason \
          FROM wallets CROSS JOIN suspended_wallets AS suspended \
          ON suspended.family = wallets.family AND suspended.address = wallets.address \
          WHERE wallets.user_id = :user ORDER BY suspended_at, suspension_id LIMIT 1 \
        ) AS found CROSS JOIN wallets AS mine \
        WHERE mine.user_id = :user \
        ON CONFLICT (family, address) DO NOTHING",
    postgres = "\
        INSERT INTO suspended_wallets (family, address, chain, suspension_id, suspended_at, reason) \
        SELECT mine.family, mine.address, \
          COALESCE(mine.chain, CASE mine.family WHEN 'eip155' THEN :ethereum ELSE mine.family END), \
          found.suspension_id, found.suspended_at, found.reason \
        FROM ( \
          SELECT suspension_id, suspended_at, reason \
          FROM wallets CROSS JOIN LATERAL ( \
            SELECT suspension_id, suspended_at, reason FROM suspended_wallets \
            WHERE suspended_wallets.family = wallets.family COLLATE \"C\" \
              AND suspended_wallets.address = wallets.address COLLATE \"C\" OFFSET 0 \
          ) AS suspended \
          WHERE wallets.user_id = :user ORDER BY suspended_at, suspension_id LIMIT 1 \
        ) AS found CROSS JOIN wallets AS mine \
        WHERE mine.user_id = :user \
        ON CONFLICT (family, address) DO NOTHING"
}

statement! {
    /// Ends the proposals of those who have a wallet of this suspension, and returns their ids.
    pub EndProposals<'a> {
        id: Id as Key,
        waiting: &'a str as Text,
        taken: &'a str as Text,
        suspended: &'a str as Text,
    } -> Key,
    sqlite = "\
        UPDATE proposals SET state = :suspended \
        WHERE state IN (:waiting, :taken) AND user_id IN ( \
          SELECT user_id FROM suspended_wallets CROSS JOIN wallets \
          ON wallets.family = suspended_wallets.family AND wallets.address = suspended_wallets.address \
          WHERE suspension_id = :id \
        ) RETURNING id",
    postgres = "\
        WITH theirs AS MATERIALIZED ( \
          SELECT DISTINCT owned.user_id FROM suspended_wallets CROSS JOIN LATERAL ( \
            SELECT user_id FROM wallets \
            WHERE wallets.family = suspended_wallets.family COLLATE \"default\" \
              AND wallets.address = suspended_wallets.address COLLATE \"default\" OFFSET 0 \
          ) AS owned WHERE suspension_id = :id \
        ), held AS MATERIALIZED ( \
          SELECT proposals.id FROM proposals WHERE user_id IN (SELECT user_id FROM theirs) \
            AND state IN (:waiting, :taken) ORDER BY proposals.id FOR UPDATE \
        ) \
        UPDATE proposals SET state = :suspended FROM held WHERE proposals.id = held.id RETURNING proposals.id"
}

statement! {
    /// Ends the suspensions of these wallets, with all other wallets that they suspended.
    pub Restore { wallets: WalletKeys as Accounts },
    sqlite = "\
        DELETE FROM suspended_wallets WHERE suspension_id IN ( \
          SELECT suspension_id FROM json_each(:wallets) AS asked CROSS JOIN suspended_wallets AS suspended \
          ON suspended.family = CAST(unhex(substr(asked.value, 1, instr(asked.value, ' ') - 1)) AS TEXT) \
          AND suspended.address = CAST(unhex(substr(asked.value, instr(asked.value, ' ') + 1)) AS TEXT) \
        )",
    postgres = "\
        DELETE FROM suspended_wallets WHERE suspension_id IN ( \
          SELECT suspended.suspension_id FROM unnest(:wallets) AS asked (wallet) CROSS JOIN LATERAL ( \
            SELECT suspension_id FROM suspended_wallets \
            WHERE family = split_part(asked.wallet, ' ', 1) COLLATE \"C\" \
              AND address = split_part(asked.wallet, ' ', 2) COLLATE \"C\" OFFSET 0 \
          ) AS suspended \
        )"
}

statement! {
    /// A row for each of these users at least.
    pub SuspensionsOfUsers { users: Ids as Keys } -> (BigInt, Nullable<Moment>, Nullable<Text>),
    sqlite = "\
        SELECT asked.key, suspended.suspended_at, suspended.reason \
        FROM json_each(:users) AS asked LEFT JOIN wallets ON wallets.user_id = unhex(asked.value) \
        LEFT JOIN suspended_wallets AS suspended \
        ON suspended.family = wallets.family AND suspended.address = wallets.address",
    postgres = "\
        SELECT asked.place, found.suspended_at, found.reason \
        FROM unnest(:users) WITH ORDINALITY AS asked (id, place) LEFT JOIN LATERAL ( \
          SELECT suspended.suspended_at, suspended.reason \
          FROM wallets CROSS JOIN LATERAL ( \
            SELECT suspended_at, reason FROM suspended_wallets \
            WHERE suspended_wallets.family = wallets.family COLLATE \"C\" \
              AND suspended_wallets.address = wallets.address COLLATE \"C\" OFFSET 0 \
          ) AS suspended WHERE wallets.user_id = asked.id \
        ) AS found ON TRUE"
}

statement! {
    /// A row for each of these wallets at least. Those of their users count too.
    pub SuspensionsOfWallets { wallets: WalletKeys as Accounts } -> (BigInt, Nullable<Moment>, Nullable<Text>),
    sqlite = "\
        WITH named AS ( \
          SELECT asked.key AS place, \
          CAST(unhex(substr(asked.value, 1, instr(asked.value, ' ') - 1)) AS TEXT) AS family, \
          CAST(unhex(substr(asked.value, instr(asked.value, ' ') + 1)) AS TEXT) AS address \
          FROM json_each(:wallets) AS asked \
        ) \
        SELECT named.place, suspended.suspended_at, suspended.reason \
        FROM named LEFT JOIN wallets AS own ON own.family = named.family AND own.address = named.address \
        LEFT JOIN wallets AS mine ON mine.user_id = own.user_id \
        LEFT JOIN suspended_wallets AS suspended \
        ON suspended.family = coalesce(mine.family, named.family) \
        AND suspended.address = coalesce(mine.address, named.address)",
    postgres = "\
        SELECT asked.place, suspended.suspended_at, suspended.reason \
        FROM unnest(:wallets) WITH ORDINALITY AS asked (wallet, place) \
        LEFT JOIN LATERAL ( \
          SELECT user_id FROM wallets \
          WHERE family = split_part(asked.wallet, ' ', 1) AND address = split_part(asked.wallet, ' ', 2) OFFSET 0 \
        ) AS own ON TRUE \
        LEFT JOIN LATERAL ( \
          SELECT family, address FROM wallets WHERE user_id = own.user_id OFFSET 0 \
        ) AS mine ON TRUE \
        LEFT JOIN LATERAL ( \
          SELECT suspended_at, reason FROM suspended_wallets \
          WHERE suspended_wallets.family = COALESCE(mine.family, split_part(asked.wallet, ' ', 1)) COLLATE \"C\" \
            AND suspended_wallets.address = COALESCE(mine.address, split_part(asked.wallet, ' ', 2)) COLLATE \"C\" \
          OFFSET 0 \
        ) AS suspended ON TRUE"
}

statement! {
    pub SuspendedWallets<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        limit: i64 as BigInt,
    } -> (Text, Text, Text, Moment, Nullable<Text>, Nullable<Key>),
    sqlite = "\
        SELECT family, chain, address, suspended_at, reason, \
        (SELECT user_id FROM wallets \
          WHERE wallets.family = suspended.family AND wallets.address = suspended.address) \
        FROM suspended_wallets AS suspended WHERE (family, address) > (:family, :address) \
        ORDER BY family, address LIMIT :limit",
    postgres = "\
        SELECT family, chain, address, suspended_at, reason, ( \
          SELECT user_id FROM wallets \
          WHERE wallets.family = suspended.family COLLATE \"default\" \
            AND wallets.address = suspended.address COLLATE \"default\" \
        ) \
        FROM suspended_wallets AS suspended WHERE (family, address) > (:family, :address) \
        ORDER BY family, address LIMIT :limit"
}
