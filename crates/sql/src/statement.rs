//! Statements of constant text, whose values are bound by name, and rows whose columns are named once.
//!
//! Diesel prepares a statement once for each connection if its type says that its text never changes. `sql_query` cannot
//! say that, and diesel's own `INSERT … ON CONFLICT` and `UPDATE` are written again each time, which would be a good part
//! of the work under load. A type made by [`statement!`](crate::statement!) says it.

use diesel::QueryResult;
use diesel::backend::Backend;
use diesel::query_builder::AstPass;

pub use countersign_statement::{Own, Piece, Row, index_of, is_used, parse};

pub use crate::{row, statement};

/// A database for which statements are written.
pub trait Dialect: Backend {
    /// Is this SQLite? The other one is PostgreSQL.
    const IS_SQLITE: bool;
}

#[cfg(feature = "sqlite")]
impl Dialect for diesel::sqlite::Sqlite {
    const IS_SQLITE: bool = true;
}

#[cfg(feature = "postgres")]
impl Dialect for diesel::pg::Pg {
    const IS_SQLITE: bool = false;
}

/// A row whose values can be bound in statements for this database.
pub trait Bind<DB: Backend> {
    /// Binds the value of the column with this number.
    fn bind<'ast>(&'ast self, column: usize, out: &mut AstPass<'_, 'ast, DB>) -> QueryResult<()>;
}

/// Declares a statement.
///
/// ```ignore
/// statement! {
///     /// One row if the code was good, none otherwise.
///     StoreToken<'a> {
///         ..token: NewToken<'a>,
///         now: At as Moment,
///     } -> Key = "INSERT INTO tokens (:token.columns) SELECT :token.values FROM grants WHERE … < :now RETURNING id"
/// }
/// ```
///
/// `:now` means the field of that name, as often as it is needed. A field with two dots before it is a
/// row that [`row!`](crate::row!) declared: `:token.columns` means the names of its columns, `:token.values` all
/// of its values in the same order, and `:token.scope` one of them. A colon has no other use in the text.
///
/// After `->` comes the SQL type of the rows that the statement returns. Without it the statement is executed
/// for its row count. If the databases differ, the statement has two texts: `, sqlite = "…", postgres = "…"`.
///
/// The text is taken apart when the program is compiled. A name that the statement does not have is a compile
/// error, and so is a value that no text uses.
#[macro_export]
macro_rules! statement {
    (@id $name:ident) => { $name };
    (@id $name:ident <$life:lifetime>) => { $name<'static> };
    (@returns) => { () };
    (@returns $returns:ty) => { $returns };
    (
        $(#[$doc:meta])*
        $vis:vis $name:ident $(<$life:lifetime>)? {
            $(..$group:ident: $row:ident $(<$row_life:lifetime>)?,)*
            $($field:ident: $rust:ty as $sql:ty),* $(,)?
        }
        $(-> $returns:ty)?
        = $text:expr
    ) => {
        $crate::statement! {
            $(#[$doc])*
            $vis $name $(<$life>)? {
                $(..$group: $row $(<$row_life>)?,)*
                $($field: $rust as $sql),*
            }
            $(-> $returns)?
            , sqlite = $text, postgres = $text
        }
    };
    (
        $(#[$doc:meta])*
        $vis:vis $name:ident $(<$life:lifetime>)? {
            $(..$group:ident: $row:ident $(<$row_life:lifetime>)?,)*
            $($field:ident: $rust:ty as $sql:ty),* $(,)?
        }
        $(-> $returns:ty)?
        , sqlite = $sqlite:expr, postgres = $postgres:expr
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        $vis struct $name $(<$life>)? {
            $($vis $group: $row $(<$row_life>)?,)*
            $($vis $field: $rust),*
        }

        const _: () = {
            const OWN: $crate::statement::Own = $crate::statement::Own {
                fields: &[$(stringify!($field)),*],
                rows: &[$($crate::statement::Row {
                    name: stringify!($group),
                    columns: $row::COLUMNS,
                    list: $row::COLUMN_LIST,
                }),*],
            };
            const IN_SQLITE: [$crate::statement::Piece; $crate::statement::parse::<0>($sqlite, OWN).1] =
                $crate::statement::parse($sqlite, OWN).0;
            const IN_POSTGRES: [$crate::statement::Piece; $crate::statement::parse::<0>($postgres, OWN).1] =
                $crate::statement::parse($postgres, OWN).0;
            $(const { assert!(
                $crate::statement::is_used(&IN_SQLITE, OWN, stringify!($field))
                    || $crate::statement::is_used(&IN_POSTGRES, OWN, stringify!($field)),
                "no text uses a field"
            ) };)*
            $(const { assert!(
                $crate::statement::is_used(&IN_SQLITE, OWN, stringify!($group))
                    || $crate::statement::is_used(&IN_POSTGRES, OWN, stringify!($group)),
                "no text uses a row"
            ) };)*

            impl $(<$life>)? ::diesel::query_builder::QueryId for $name $(<$life>)? {
                type QueryId = $crate::statement!(@id $name $(<$life>)?);
                const HAS_STATIC_QUERY_ID: bool = true;
            }

            impl $(<$life>)? ::diesel::query_builder::Query for $name $(<$life>)? {
                type SqlType = $crate::statement!(@returns $($returns)?);
            }

            impl<$($life,)? DB> ::diesel::query_builder::QueryFragment<DB> for $name $(<$life>)?
            where
                DB: $crate::statement::Dialect,
                $($row $(<$row_life>)?: $crate::statement::Bind<DB>,)*
                $($rust: ::diesel::serialize::ToSql<$sql, DB>, DB: ::diesel::sql_types::HasSqlType<$sql>,)*
            {
                fn walk_ast<'ast>(
                    &'ast self,
                    mut out: ::diesel::query_builder::AstPass<'_, 'ast, DB>,
                ) -> ::diesel::QueryResult<()> {
                    let pieces: &[$crate::statement::Piece] =
                        if DB::IS_SQLITE { &IN_SQLITE } else { &IN_POSTGRES };
                    for piece in pieces {
                        out.push_sql(piece.text);
                        let Some(_value) = piece.value else { continue };
                        $(if _value == const { $crate::statement::index_of(OWN, stringify!($field)) } {
                            out.push_bind_param::<$sql, $rust>(&self.$field)?;
                            continue;
                        })*
                        $({
                            const FIRST: usize = $crate::statement::index_of(OWN, stringify!($group));
                            if _value >= FIRST && _value < FIRST + $row::COLUMNS.len() {
                                $crate::statement::Bind::<DB>::bind(&self.$group, _value - FIRST, &mut out)?;
                            }
                        })*
                    }
                    Ok(())
                }
            }

            impl<$($life,)? Connection> ::diesel::RunQueryDsl<Connection> for $name $(<$life>)? {}
        };
    };
}

/// Declares a row: a struct with a field for each column, which a [`statement!`](crate::statement!) can hold. In this crate
/// it can have a second name, and then also declares the same for many rows in PostgreSQL, with a list for each column, to be
/// bound as arrays.
#[macro_export]
macro_rules! row {
    (
        $(#[$attribute:meta])*
        $vis:vis $name:ident $(<$life:lifetime>)? {
            $($(#[$on_field:meta])* $field:ident: $rust:ty as $sql:ty),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug)]
        #[allow(missing_docs, clippy::allow_attributes, reason = "a field is the column of its name")]
        $vis struct $name $(<$life>)? {
            $($(#[$on_field])* $vis $field: $rust,)*
        }

        $crate::row! { @bind $name $(<$life>)? { $($field: $rust as $sql),* } }
    };
    (
        $(#[$attribute:meta])*
        $vis:vis $name:ident $(<$life:lifetime>)?, $many:ident {
            $($(#[$on_field:meta])* $field:ident: $rust:ty as $sql:ty),* $(,)?
        }
    ) => {
        $crate::row! {
            $(#[$attribute])*
            $vis $name $(<$life>)? { $($(#[$on_field])* $field: $rust as $sql),* }
        }

        /// The same for many rows: a list for each column.
        #[cfg(feature = "postgres")]
        #[derive(Debug)]
        $vis struct $many $(<$life>)? {
            $($field: Vec<$rust>,)*
        }

        #[cfg(feature = "postgres")]
        $crate::row! {
            @bind $many $(<$life>)? { $($field: Vec<$rust> as ::diesel::sql_types::Array<$sql>),* }
        }

        #[cfg(feature = "postgres")]
        impl $(<$life>)? FromIterator<$name $(<$life>)?> for $many $(<$life>)? {
            fn from_iter<I: IntoIterator<Item = $name $(<$life>)?>>(rows: I) -> Self {
                let rows = rows.into_iter();
                let count = rows.size_hint().0;
                let mut columns = Self { $($field: Vec::with_capacity(count),)* };
                for row in rows {
                    $(columns.$field.push(row.$field);)*
                }
                columns
            }
        }
    };
    (@list $first:ident $($field:ident)*) => { concat!(stringify!($first) $(, ", ", stringify!($field))*) };
    (@bind $name:ident $(<$life:lifetime>)? { $($field:ident: $rust:ty as $sql:ty),* }) => {
        impl $(<$life>)? $name $(<$life>)? {
            /// The columns, in the order of their values.
            pub const COLUMNS: &'static [&'static str] = &[$(stringify!($field)),*];

            /// The same as SQL has them in an `INSERT`.
            pub const COLUMN_LIST: &'static str = $crate::row!(@list $($field)*);
        }

        impl<$($life,)? DB> $crate::statement::Bind<DB> for $name $(<$life>)?
        where
            DB: $crate::statement::Dialect,
            $($rust: ::diesel::serialize::ToSql<$sql, DB>, DB: ::diesel::sql_types::HasSqlType<$sql>,)*
        {
            fn bind<'ast>(
                &'ast self,
                column: usize,
                out: &mut ::diesel::query_builder::AstPass<'_, 'ast, DB>,
            ) -> ::diesel::QueryResult<()> {
                const OWN: $crate::statement::Own =
                    $crate::statement::Own { fields: &[$(stringify!($field)),*], rows: &[] };
                $(if column == const { $crate::statement::index_of(OWN, stringify!($field)) } {
                    return out.push_bind_param::<$sql, $rust>(&self.$field);
                })*
                Ok(())
            }
        }
    };
}
