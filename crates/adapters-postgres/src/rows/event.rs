//! What a page of events is asked for by.

use diesel::sql_types::{Array, BigInt, Binary, Bool, Nullable, Text, Uuid as SqlUuid};
use uuid::Uuid;

use crate::statement::row;

row! {
    /// What a page of events has, for the statements that read one.
    pub(crate) AskedPage<'a> {
        user: Option<Uuid> as Nullable<SqlUuid>,
        pseudonym: Option<&'a [u8]> as Nullable<Binary>,
        family: Option<&'a str> as Nullable<Text>,
        address: Option<&'a str> as Nullable<Text>,
        client: Option<Uuid> as Nullable<SqlUuid>,
        kinds: Option<Vec<&'a str>> as Nullable<Array<Text>>,
        /// The kinds to find by the index of clients, if that is the index to use.
        of_client: Vec<&'a str> as Array<Text>,
        /// The kinds to find by the index of kinds, if that is the index to use.
        of_kind: Vec<&'a str> as Array<Text>,
        /// Whether all events are to be read in their order.
        everything: bool as Bool,
        lowest: Uuid as SqlUuid,
        highest: Uuid as SqlUuid,
        limit: i64 as BigInt,
    }
}
