//! Clients in the orders of an operator's lists.

use countersign_domain::admission::AccessRule;
use countersign_domain::client::{Client, ClientOrigin};
use countersign_domain::id::ClientId;
use countersign_ports::{
    ClientFilter, ClientListed, ClientOrder, ClientPlace, MOST_LOOKED_THROUGH, SortClients, SortedClients,
    Total,
};
use time::OffsetDateTime;
use uuid::Uuid;

use super::client_table::ClientTable;
use crate::columns::{At, BigInt, Id, Key, Moment, Nullable, Row, StoredId, StoredTime, Text};
use crate::database::Statement;
use crate::ops::people::sort_people::LATEST;
use crate::statement::statement;
use crate::{Database, SqlError};

/// One more than a page looks through.
const LOOKED: i64 = MOST_LOOKED_THROUGH as i64 + 1;

pub fn sort_clients<D: ClientTable>(db: &mut D, question: &SortClients) -> Result<SortedClients, SqlError> {
    db.snapshot(|db| {
        let SortClients { filter, default_access, order, after, limit } = question;
        let most = usize::try_from(*limit).unwrap_or(usize::MAX);
        let is_asked = |seen: &Seen| seen.is_asked(filter, default_access);
        let (total, mut page, end) = if filter.is_empty() {
            let total: i64 = CountClients { limit: LOOKED }.one(db)?;
            let page = seen_after(db, *order, after.as_ref(), i64::from(*limit) + 1)?;
            (Total::of(usize::try_from(total).unwrap_or(0)), page, None)
        } else {
            let all = seen_after(db, *order, None, LOOKED)?;
            let more = Total::of(all.len()).more;
            let counted = all.iter().filter(|seen| is_asked(seen)).count();
            let total = Total { more, ..Total::of(counted) };
            let mut walked =
                if after.is_some() { seen_after(db, *order, after.as_ref(), LOOKED)? } else { all };
            let goes_on = Total::of(walked.len()).more;
            if goes_on {
                walked.pop();
            }
            // Where the next page begins if too few of these match.
            let end = walked.last().filter(|_| goes_on).map(|seen| seen.place.clone());
            (total, walked.into_iter().filter(is_asked).collect(), end)
        };
        let more = page.len() > most;
        page.truncate(most);
        let last = page.last().filter(|_| more).map(|seen| seen.place.clone());
        let mut clients = Vec::new();
        for seen in page {
            if let Some(row) = db.row(seen.place.client.into())? {
                clients.push(ClientListed { client: Client::try_from(row)?, used_at: seen.used_at });
            }
        }
        Ok(SortedClients { clients, next: last.or(end), total })
    })
}

/// A client that was looked at.
struct Seen {
    place: ClientPlace,
    used_at: Option<OffsetDateTime>,
    rule: Option<AccessRule>,
    origin: Option<ClientOrigin>,
}

type SeenRow = (StoredId, String, StoredTime, Option<StoredTime>, Option<String>, String);

impl Seen {
    /// A rule or an origin that cannot be read is shown when its client is: then the page says which it is.
    fn is_asked(&self, filter: &ClientFilter, default: &AccessRule) -> bool {
        self.origin.is_none_or(|origin| filter.asks_for(default, self.rule.as_ref(), origin))
    }

    fn of(
        (id, name, created_at, used_at, rule, origin): SeenRow,
        order: ClientOrder,
    ) -> Result<Self, SqlError> {
        let row = Row { table: "clients", key: &id };
        let created_at = row.time("created_at", created_at)?;
        let used_at = row.optional_time("used_at", used_at)?;
        let at = match order {
            ClientOrder::Name | ClientOrder::LastUse => used_at.unwrap_or(created_at),
            ClientOrder::Created => created_at,
        };
        let client: ClientId = row.id("id", &id)?;
        let rule = rule.as_deref().map(AccessRule::parse).transpose();
        Ok(Self {
            place: ClientPlace { name, at, client },
            used_at,
            rule: rule.map_err(|_| row.impossible("access_rule"))?,
            origin: ClientOrigin::parse(&origin),
        })
    }
}

fn seen_after(
    db: &mut impl Database,
    order: ClientOrder,
    after: Option<&ClientPlace>,
    limit: i64,
) -> Result<Vec<Seen>, SqlError> {
    let at = after.map_or(LATEST, |after| At(after.at));
    let latest = after.map_or(Id(Uuid::max()), |after| after.client.into());
    let rows: Vec<SeenRow> = match order {
        ClientOrder::Name => {
            let id = after.map_or(Id(Uuid::nil()), |after| after.client.into());
            ClientsByName { name: after.map_or("", |after| &after.name), id, limit }.all(db)?
        }
        ClientOrder::LastUse => ClientsByUse { at, id: latest, limit }.all(db)?,
        ClientOrder::Created => ClientsByCreated { at, id: latest, limit }.all(db)?,
    };
    rows.into_iter().map(|row| Seen::of(row, order)).collect()
}

statement! {
    /// The first condition follows from the second. SQLite uses an index over an expression for it alone.
    pub ClientsByName<'a> { name: &'a str as Text, id: Id as Key, limit: i64 as BigInt }
        -> (Key, Text, Moment, Nullable<Moment>, Nullable<Text>, Text),
    sqlite = "\
        SELECT id, lower(name), created_at, used_at, access_rule, origin FROM clients \
        WHERE lower(name) >= :name AND (lower(name), id) > (:name, :id) ORDER BY lower(name), id LIMIT :limit",
    postgres = "\
        SELECT id, lower(name COLLATE \"C\"), created_at, used_at, access_rule, origin FROM clients \
        WHERE (lower(name COLLATE \"C\"), id) > (:name, :id) ORDER BY lower(name COLLATE \"C\"), id LIMIT :limit"
}

statement! {
    /// So here.
    pub ClientsByUse { at: At as Moment, id: Id as Key, limit: i64 as BigInt }
        -> (Key, Text, Moment, Nullable<Moment>, Nullable<Text>, Text),
    sqlite = "\
        SELECT id, lower(name), created_at, used_at, access_rule, origin FROM clients \
        WHERE coalesce(used_at, created_at) <= :at AND (coalesce(used_at, created_at), id) < (:at, :id) \
        ORDER BY coalesce(used_at, created_at) DESC, id DESC LIMIT :limit",
    postgres = "\
        SELECT id, lower(name COLLATE \"C\"), created_at, used_at, access_rule, origin FROM clients \
        WHERE coalesce(used_at, created_at) <= :at AND (coalesce(used_at, created_at), id) < (:at, :id) \
        ORDER BY coalesce(used_at, created_at) DESC, id DESC LIMIT :limit"
}

statement! {
    pub ClientsByCreated { at: At as Moment, id: Id as Key, limit: i64 as BigInt }
        -> (Key, Text, Moment, Nullable<Moment>, Nullable<Text>, Text),
    sqlite = "\
        SELECT id, lower(name), created_at, used_at, access_rule, origin FROM clients \
        WHERE (created_at, id) < (:at, :id) ORDER BY created_at DESC, id DESC LIMIT :limit",
    postgres = "\
        SELECT id, lower(name COLLATE \"C\"), created_at, used_at, access_rule, origin FROM clients \
        WHERE (created_at, id) < (:at, :id) ORDER BY created_at DESC, id DESC LIMIT :limit"
}

statement! {
    pub CountClients { limit: i64 as BigInt } -> BigInt = "\
        SELECT count(*) FROM (SELECT 1 FROM clients LIMIT :limit) AS found"
}
