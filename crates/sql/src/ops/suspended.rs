//! Who is suspended, for reading, and so that nothing that they sign is committed.

use countersign_domain::desk::operators::Suspension;
use countersign_domain::event::{Event, Signed};
use countersign_domain::id::UserId;
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::SuspendedWallet;
use countersign_ports::wallet_store::chain_of_old_wallet;

use crate::columns::{
    Accounts, BigInt, Id, Ids, Key, Keys, Moment, Nullable, Row, StoredId, StoredTime, Text, WalletKeys,
};
use crate::database::Statement;
use crate::statement::statement;
use crate::{Database, SqlError};

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
    /// The same lock, which every act holds beside others.
    HoldStill {},
    sqlite = "SELECT 1",
    postgres = "SELECT pg_advisory_xact_lock_shared(1937077104, 0)"
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
