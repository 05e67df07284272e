//! What operators call users and wallets, and how they find them by a part of an address.

use countersign_domain::id::UserId;
use countersign_domain::person_name::{PersonName, folded};
use countersign_domain::subject::Subject;
use countersign_domain::wallet::WalletAccount;
use countersign_ports::wallet_store::chain_of_old_wallet;
use countersign_ports::{FindWallets, KnownName, NamePut, NameSubject, NamedPerson};

use crate::columns::{Accounts, BigInt, Id, Ids, Key, Keys, Nullable, Row, StoredId, Text, WalletKeys};
use crate::database::Statement;
use crate::ops::accounts::wallets::{ForgetNameOfWallet, lock_user, under_lock_of_owner};
use crate::ops::events::record_event::record;
use crate::statement::statement;
use crate::{Database, SqlError, Undone};

/// Guard: a user exists. The lock of the user waits for the deletion of their account, which takes the names of their
/// wallets too.
pub fn name_subject(db: &mut impl Database, command: &NameSubject) -> Result<NamePut, SqlError> {
    let name = command.name.as_ref();
    let named = |is_changed: bool| if is_changed { NamePut::Stored } else { NamePut::AlreadySo };
    match &command.who {
        Subject::User(user) => db.all_or_nothing(|db| {
            if !lock_user(db, *user)? {
                return Err(Undone::Refused(NamePut::UserUnknown));
            }
            let user = Id::from(*user);
            let changed = match name {
                Some(name) => NameUser { user, name: name.as_str(), folded: name.folded() }.run(db)?,
                None => ForgetNameOfUser { user }.run(db)?,
            };
            Ok(recorded(db, command, named(changed == 1))?)
        }),
        Subject::Wallet(wallet) => under_lock_of_owner(db, wallet, |db, _| {
            let (family, chain, address) = (&*wallet.family, &*wallet.chain, &*wallet.address);
            let changed = match name {
                Some(name) => {
                    let (folded, name) = (name.folded(), name.as_str());
                    NameWalletOfAnyone { family, address, chain, name, folded }.run(db)?
                }
                None => ForgetNameOfWallet { family, address }.run(db)?,
            };
            recorded(db, command, named(changed == 1))
        }),
    }
}

fn recorded(db: &mut impl Database, command: &NameSubject, put: NamePut) -> Result<NamePut, SqlError> {
    if put == NamePut::Stored {
        record(db, command.event.as_deref())?;
    }
    Ok(put)
}

pub fn names_of(db: &mut impl Database, who: &[Subject]) -> Result<Vec<Option<KnownName>>, SqlError> {
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
        let of_users: Vec<NameRow> =
            if users.is_empty() { Vec::new() } else { NamesOfUsers { users: Ids(users) }.all(db)? };
        let of_wallets: Vec<NameRow> = if wallets.is_empty() {
            Vec::new()
        } else {
            NamesOfWallets { wallets: WalletKeys(wallets) }.all(db)?
        };
        let (mut of_users, mut of_wallets) = (in_order(of_users), in_order(of_wallets));
        let name_of = |who: &Subject| match who {
            Subject::User(_) => of_users.next().flatten(),
            Subject::Wallet(_) => of_wallets.next().flatten(),
        };
        Ok(who.iter().map(name_of).collect())
    })
}

/// The place in the question, the own name, and the one that comes from elsewhere.
type NameRow = (i64, Option<String>, Option<String>);

/// The names in the order of the question. A stored name that is none, as another program might have written it, is not
/// shown.
fn in_order(mut rows: Vec<NameRow>) -> impl Iterator<Item = Option<KnownName>> {
    rows.sort_by_key(|(place, ..)| *place);
    let known = |name: Option<String>, is_own| {
        name.and_then(|name| PersonName::parse(&name).ok()).map(|name| KnownName { name, is_own })
    };
    rows.into_iter().map(move |(_, own, other)| known(own, true).or_else(|| known(other, false)))
}

pub fn find_named(db: &mut impl Database, beginning: &str, limit: u32) -> Result<Vec<NamedPerson>, SqlError> {
    let from = folded(beginning);
    // Nothing that is sorted by its bytes comes after the last character.
    let to = format!("{from}{}", char::MAX);
    let limit = limit.into();
    db.snapshot(|db| {
        let users: Vec<(StoredId, String)> =
            UsersByName { from: from.clone(), to: to.clone(), limit }.all(db)?;
        let wallets: Vec<NamedWalletRow> = WalletsByName { from, to, limit }.all(db)?;
        let mut found = read(users, wallets)?;
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(found)
    })
}

pub fn list_named(
    db: &mut impl Database,
    after: Option<&Subject>,
    limit: u32,
) -> Result<Vec<NamedPerson>, SqlError> {
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    db.snapshot(|db| {
        let users: Vec<(StoredId, String)> = match after {
            None => NamedUsers { after: Id(uuid::Uuid::nil()), limit: limit.into() }.all(db)?,
            Some(Subject::User(user)) => NamedUsers { after: (*user).into(), limit: limit.into() }.all(db)?,
            Some(Subject::Wallet(_)) => Vec::new(),
        };
        // No family is the empty text.
        let (family, address) = match after {
            Some(Subject::Wallet(wallet)) => (&*wallet.family, &*wallet.address),
            Some(Subject::User(_)) | None => ("", ""),
        };
        let wallets: Vec<NamedWalletRow> = NamedWallets { family, address, limit: limit.into() }.all(db)?;
        let mut found = read(users, wallets)?;
        found.truncate(most);
        Ok(found)
    })
}

pub fn find_wallets(
    db: &mut impl Database,
    question: &FindWallets,
) -> Result<Vec<(WalletAccount, UserId)>, SqlError> {
    let from = question.beginning.to_ascii_lowercase();
    let to = format!("{from}{}", char::MAX);
    let end = question.end.to_ascii_lowercase();
    let length = i64::try_from(end.chars().count()).unwrap_or(i64::MAX);
    let rows: Vec<(String, Option<String>, String, StoredId)> =
        WalletsByLetters { from, to, end, length, limit: question.limit.into() }.all(db)?;
    let read = |(family, chain, address, user): (String, Option<String>, String, StoredId)| {
        let user = Row { table: "wallets", key: &address }.id("user_id", &user)?;
        let chain = chain.unwrap_or_else(|| chain_of_old_wallet(&family));
        Ok((WalletAccount { family, chain, address }, user))
    };
    rows.into_iter().map(read).collect()
}

/// Family, chain, address and name.
type NamedWalletRow = (String, String, String, String);

/// Users before wallets, without names that are none.
fn read(users: Vec<(StoredId, String)>, wallets: Vec<NamedWalletRow>) -> Result<Vec<NamedPerson>, SqlError> {
    let mut named = Vec::with_capacity(users.len() + wallets.len());
    for (user, name) in users {
        let user: UserId = Row { table: "named_users", key: &user }.id("user_id", &user)?;
        named
            .extend(PersonName::parse(&name).ok().map(|name| NamedPerson { who: Subject::User(user), name }));
    }
    for (family, chain, address, name) in wallets {
        let who = Subject::Wallet(WalletAccount { family, chain, address });
        named.extend(PersonName::parse(&name).ok().map(|name| NamedPerson { who, name }));
    }
    Ok(named)
}

statement! {
    /// One row if the user had another name, or none.
    NameUser<'a> { user: Id as Key, name: &'a str as Text, folded: String as Text } = "\
        INSERT INTO named_users (user_id, name, folded) VALUES (:user, :name, :folded) \
        ON CONFLICT (user_id) DO UPDATE SET name = excluded.name, folded = excluded.folded \
        WHERE named_users.name <> excluded.name"
}

statement! {
    /// One row if the wallet had another name, or none. The chain stays that of the first one.
    NameWalletOfAnyone<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        chain: &'a str as Text,
        name: &'a str as Text,
        folded: String as Text,
    } = "\
        INSERT INTO named_wallets (family, address, chain, name, folded) \
        VALUES (:family, :address, :chain, :name, :folded) \
        ON CONFLICT (family, address) DO UPDATE SET name = excluded.name, folded = excluded.folded \
        WHERE named_wallets.name <> excluded.name"
}

statement! {
    pub ForgetNameOfUser { user: Id as Key } = "DELETE FROM named_users WHERE user_id = :user"
}

statement! {
    /// The user's own name, or that of the wallet that they have had longest among those with a name.
    pub NamesOfUsers { users: Ids as Keys } -> (BigInt, Nullable<Text>, Nullable<Text>),
    sqlite = "\
        SELECT asked.key, \
          (SELECT name FROM named_users WHERE user_id = unhex(asked.value)), \
          (SELECT named.name FROM wallets CROSS JOIN named_wallets AS named \
            ON named.family = wallets.family AND named.address = wallets.address \
            WHERE wallets.user_id = unhex(asked.value) \
            ORDER BY wallets.linked_at, wallets.family, wallets.address LIMIT 1) \
        FROM json_each(:users) AS asked",
    postgres = "\
        SELECT asked.place, \
          (SELECT name FROM named_users WHERE user_id = asked.id), \
          (SELECT named.name FROM wallets CROSS JOIN LATERAL ( \
              SELECT name FROM named_wallets \
              WHERE named_wallets.family = wallets.family COLLATE \"C\" \
                AND named_wallets.address = wallets.address COLLATE \"C\" OFFSET 0 \
            ) AS named \
            WHERE wallets.user_id = asked.id \
            ORDER BY wallets.linked_at, wallets.family COLLATE \"C\", wallets.address COLLATE \"C\" LIMIT 1) \
        FROM unnest(:users) WITH ORDINALITY AS asked (id, place)"
}

statement! {
    /// The wallet's own name, or that of its user.
    pub NamesOfWallets { wallets: WalletKeys as Accounts } -> (BigInt, Nullable<Text>, Nullable<Text>),
    sqlite = "\
        SELECT asked.key, \
          (SELECT name FROM named_wallets \
            WHERE family = CAST(unhex(substr(asked.value, 1, instr(asked.value, ' ') - 1)) AS TEXT) \
            AND address = CAST(unhex(substr(asked.value, instr(asked.value, ' ') + 1)) AS TEXT)), \
          (SELECT named.name FROM wallets CROSS JOIN named_users AS named ON named.user_id = wallets.user_id \
            WHERE wallets.family = CAST(unhex(substr(asked.value, 1, instr(asked.value, ' ') - 1)) AS TEXT) \
            AND wallets.address = CAST(unhex(substr(asked.value, instr(asked.value, ' ') + 1)) AS TEXT)) \
        FROM json_each(:wallets) AS asked",
    postgres = "\
        SELECT asked.place, \
          (SELECT name FROM named_wallets \
            WHERE family = split_part(asked.wallet, ' ', 1) COLLATE \"C\" \
              AND address = split_part(asked.wallet, ' ', 2) COLLATE \"C\"), \
          (SELECT named.name FROM wallets CROSS JOIN LATERAL ( \
              SELECT name FROM named_users WHERE user_id = wallets.user_id OFFSET 0 \
            ) AS named \
            WHERE wallets.family = split_part(asked.wallet, ' ', 1) \
              AND wallets.address = split_part(asked.wallet, ' ', 2)) \
        FROM unnest(:wallets) WITH ORDINALITY AS asked (wallet, place)"
}

statement! {
    pub UsersByName { from: String as Text, to: String as Text, limit: i64 as BigInt } -> (Key, Text) = "\
        SELECT user_id, name FROM named_users WHERE folded >= :from AND folded < :to \
        ORDER BY folded, user_id LIMIT :limit"
}

statement! {
    pub WalletsByName {
        from: String as Text,
        to: String as Text,
        limit: i64 as BigInt,
    } -> (Text, Text, Text, Text) = "\
        SELECT family, chain, address, name FROM named_wallets WHERE folded >= :from AND folded < :to \
        ORDER BY folded, family, address LIMIT :limit"
}

statement! {
    pub NamedUsers { after: Id as Key, limit: i64 as BigInt } -> (Key, Text) = "\
        SELECT user_id, name FROM named_users WHERE user_id > :after ORDER BY user_id LIMIT :limit"
}

statement! {
    pub NamedWallets<'a> {
        family: &'a str as Text,
        address: &'a str as Text,
        limit: i64 as BigInt,
    } -> (Text, Text, Text, Text) = "\
        SELECT family, chain, address, name FROM named_wallets WHERE (family, address) > (:family, :address) \
        ORDER BY family, address LIMIT :limit"
}

statement! {
    pub WalletsByLetters {
        from: String as Text,
        to: String as Text,
        end: String as Text,
        length: i64 as BigInt,
        limit: i64 as BigInt,
    } -> (Text, Nullable<Text>, Text, Key),
    sqlite = "\
        SELECT family, chain, address, user_id FROM wallets \
        WHERE lower(address) >= :from AND lower(address) < :to \
        AND (:length = 0 OR substr(lower(address), -:length) = :end) \
        ORDER BY lower(address), family LIMIT :limit",
    postgres = "\
        SELECT family, chain, address, user_id FROM wallets \
        WHERE lower(address) COLLATE \"C\" >= :from AND lower(address) COLLATE \"C\" < :to \
          AND (:length = 0 OR right(lower(address), CAST(:length AS int)) = :end) \
        ORDER BY lower(address) COLLATE \"C\", family COLLATE \"C\" LIMIT :limit"
}
