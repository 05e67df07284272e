//! Operators who are suspended.
//!
//! An act that operators signed and a suspension of one of them never overlap: the act holds a lock that others can hold
//! too, the suspension one that nothing else can. Both take it after the locks of users, and before those of proposals.

use countersign_domain::desk::proposal::ProposalState;
use countersign_domain::id::{GrantId, UserId};
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::wallet_store::chain_of_old_wallet;
use countersign_ports::{OperatorSuspended, RestoreOperator, SuspendOperator};

use crate::columns::{Accounts, At, Id, Key, Moment, Nullable, Row, StoredId, Text, WalletKeys};
use crate::database::Statement;
use crate::ops::accounts::delete_account::KeysOfWallets;
use crate::ops::accounts::wallets::{find_owner, lock_user, under_lock_of_owner};
use crate::ops::events::record_event::{act_and_record, record};
use crate::ops::suspended::{require_active, signers_of};
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

statement! {
    /// The number spells "susp", so that no other lock is the same. It ends with the transaction. One writer has its turn.
    WaitForActs {},
    sqlite = "SELECT 1",
    postgres = "SELECT pg_advisory_xact_lock(1937077104, 0)"
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
