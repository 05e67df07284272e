//! SQL statements of constant text, whose values are bound by name.
//!
//! Diesel prepares a statement once for each connection if its type says that its text never changes.
//! `sql_query` cannot say that, and diesel's own `INSERT … ON CONFLICT` and `UPDATE` are written again each
//! time. A type made by [`statement!`] says it. [`row!`] names the columns of a table once, for every
//! statement that writes them.
//!
//! The text is taken apart when the program is compiled. A name that the statement does not have is a compile
//! error, and so is a value that the text does not use.
//!
//! This crate knows no database. The crate that uses the macros has a module `statement` with two types:
//! `Backend` and `Connection`, diesel's for its database.
#![expect(
    clippy::crate_in_macro_def,
    reason = "the crate that uses the macros says which database its statements are for"
)]

mod text;

pub use text::{Own, Piece, Row, index_of, is_used, parse};

/// Declares a statement.
///
/// ```ignore
/// statement! {
///     /// One row if the code was good, none otherwise.
///     StoreToken<'a> {
///         ..token: NewToken<'a>,
///         now: OffsetDateTime as Timestamptz,
///     } -> SqlUuid = "INSERT INTO tokens (:token.columns) SELECT :token.values FROM grants WHERE … < :now RETURNING id"
/// }
/// ```
///
/// `:now` stands for the field of that name, as often as it is needed. A field with two dots before it is a
/// row that [`row!`] declared: `:token.columns` stands for the names of its columns, `:token.values` for all
/// of its values in the same order, and `:token.scope` for one of them. A colon has no other use in the text.
///
/// After `->` comes the SQL type of the rows that the statement returns. Without it the statement is executed
/// for its row count.
#[macro_export]
macro_rules! statement {
    (@returns) => { () };
    (@returns $returns:ty) => { $returns };
    (
        $(#[$doc:meta])*
        $name:ident $(<$life:lifetime>)? {
            $(..$group:ident: $row:ident $(<$row_life:lifetime>)?,)*
            $($field:ident: $rust:ty as $sql:ty),* $(,)?
        }
        $(-> $returns:ty)?
        = $text:expr
    ) => {
        $(#[$doc])*
        struct $name $(<$life>)? { $($group: $row $(<$row_life>)?,)* $($field: $rust),* }

        const _: () = {
            const OWN: $crate::Own = $crate::Own {
                fields: &[$(stringify!($field)),*],
                rows: &[$($crate::Row {
                    name: stringify!($group),
                    columns: $row::COLUMNS,
                    list: $row::COLUMN_LIST,
                }),*],
            };
            const LENGTH: usize = $crate::parse::<0>($text, OWN).1;
            const PIECES: [$crate::Piece; LENGTH] = $crate::parse::<LENGTH>($text, OWN).0;
            $(const { assert!($crate::is_used(&PIECES, OWN, stringify!($field)), "the text does not use a field") };)*
            $(const { assert!($crate::is_used(&PIECES, OWN, stringify!($group)), "the text does not use a row") };)*

            /// Stands for the statement in diesel's cache, without the lifetime of its values.
            struct Id;

            impl $(<$life>)? ::diesel::query_builder::QueryId for $name $(<$life>)? {
                type QueryId = Id;
                const HAS_STATIC_QUERY_ID: bool = true;
            }

            impl $(<$life>)? ::diesel::query_builder::QueryFragment<crate::statement::Backend> for $name $(<$life>)? {
                fn walk_ast<'ast>(
                    &'ast self,
                    mut out: ::diesel::query_builder::AstPass<'_, 'ast, crate::statement::Backend>,
                ) -> ::diesel::QueryResult<()> {
                    for piece in &PIECES {
                        out.push_sql(piece.text);
                        let Some(value) = piece.value else { continue };
                        $(if value == const { $crate::index_of(OWN, stringify!($field)) } {
                            out.push_bind_param::<$sql, _>(&self.$field)?;
                            continue;
                        })*
                        $({
                            const FIRST: usize = $crate::index_of(OWN, stringify!($group));
                            if value >= FIRST && value < FIRST + $row::COLUMNS.len() {
                                self.$group.bind(value - FIRST, &mut out)?;
                            }
                        })*
                    }
                    Ok(())
                }
            }

            impl $(<$life>)? ::diesel::RunQueryDsl<crate::statement::Connection> for $name $(<$life>)? {}

            impl $(<$life>)? ::diesel::query_builder::Query for $name $(<$life>)? {
                type SqlType = $crate::statement!(@returns $($returns)?);
            }
        };
    };
}

/// Declares a row: a struct with a field for each column, which a [`statement!`] can hold. With a second name
/// it also declares the same for many rows, with a list for each column, to be bound as arrays.
#[macro_export]
macro_rules! row {
    (
        $(#[$attribute:meta])*
        $name:ident $(<$life:lifetime>)? {
            $first:ident: $first_rust:ty as $first_sql:ty
            $(, $(#[$on_field:meta])* $field:ident: $rust:ty as $sql:ty)* $(,)?
        }
    ) => {
        $(#[$attribute])*
        pub(crate) struct $name $(<$life>)? {
            pub(crate) $first: $first_rust,
            $($(#[$on_field])* pub(crate) $field: $rust,)*
        }

        $crate::row! { @bind $name $(<$life>)? { $first: $first_sql $(, $field: $sql)* } }
    };
    (
        $(#[$attribute:meta])*
        $name:ident $(<$life:lifetime>)?, $many:ident {
            $first:ident: $first_rust:ty as $first_sql:ty
            $(, $(#[$on_field:meta])* $field:ident: $rust:ty as $sql:ty)* $(,)?
        }
    ) => {
        $crate::row! {
            $(#[$attribute])*
            $name $(<$life>)? {
                $first: $first_rust as $first_sql
                $(, $(#[$on_field])* $field: $rust as $sql)*
            }
        }

        /// The same for many rows: a list for each column.
        pub(crate) struct $many $(<$life>)? {
            $first: Vec<$first_rust>,
            $($field: Vec<$rust>,)*
        }

        $crate::row! {
            @bind $many $(<$life>)? {
                $first: ::diesel::sql_types::Array<$first_sql> $(, $field: ::diesel::sql_types::Array<$sql>)*
            }
        }

        impl $(<$life>)? FromIterator<$name $(<$life>)?> for $many $(<$life>)? {
            fn from_iter<I: IntoIterator<Item = $name $(<$life>)?>>(rows: I) -> Self {
                let rows = rows.into_iter();
                let count = rows.size_hint().0;
                let mut columns = Self {
                    $first: Vec::with_capacity(count),
                    $($field: Vec::with_capacity(count),)*
                };
                for row in rows {
                    columns.$first.push(row.$first);
                    $(columns.$field.push(row.$field);)*
                }
                columns
            }
        }
    };
    (@bind $name:ident $(<$life:lifetime>)? { $first:ident: $first_sql:ty $(, $field:ident: $sql:ty)* }) => {
        impl $(<$life>)? $name $(<$life>)? {
            pub(crate) const COLUMNS: &'static [&'static str] = &[stringify!($first) $(, stringify!($field))*];
            pub(crate) const COLUMN_LIST: &'static str = concat!(stringify!($first) $(, ", ", stringify!($field))*);

            /// Binds the value of the column with this number.
            pub(crate) fn bind<'ast>(
                &'ast self,
                column: usize,
                out: &mut ::diesel::query_builder::AstPass<'_, 'ast, crate::statement::Backend>,
            ) -> ::diesel::QueryResult<()> {
                const OWN: $crate::Own =
                    $crate::Own { fields: &[stringify!($first) $(, stringify!($field))*], rows: &[] };
                $(if column == const { $crate::index_of(OWN, stringify!($field)) } {
                    return out.push_bind_param::<$sql, _>(&self.$field);
                })*
                out.push_bind_param::<$first_sql, _>(&self.$first)
            }
        }
    };
}
