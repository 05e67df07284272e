//! Statements of constant text.
//!
//! Diesel finds the prepared form of such a statement by its type, without writing the SQL again; of its own `INSERT …
//! ON CONFLICT` and `UPDATE` it writes the text each time. Under load that text would be a good part of the work.

/// Declares a statement: its fields are bound to the question marks in their order.
macro_rules! statement {
    ($(#[$doc:meta])* struct $name:ident<'a> { $($field:ident: $type:ty as $sql_type:ty,)* } $text:literal) => {
        $(#[$doc])*
        struct $name<'a> { $($field: $type,)* }
        $crate::ops::statement::constant_text!([$name<'_>] [$name<'static>] $($field as $sql_type,)* $text);
    };
    ($(#[$doc:meta])* struct $name:ident { $($field:ident: $type:ty as $sql_type:ty,)* } $text:literal) => {
        $(#[$doc])*
        struct $name { $($field: $type,)* }
        $crate::ops::statement::constant_text!([$name] [$name] $($field as $sql_type,)* $text);
    };
}

/// What diesel must know of a statement.
macro_rules! constant_text {
    ([$statement:ty] [$query_id:ty] $($field:ident as $sql_type:ty,)* $text:literal) => {
        impl ::diesel::query_builder::QueryFragment<::diesel::sqlite::Sqlite> for $statement {
            fn walk_ast<'b>(
                &'b self,
                mut out: ::diesel::query_builder::AstPass<'_, 'b, ::diesel::sqlite::Sqlite>,
            ) -> ::diesel::QueryResult<()> {
                let mut pieces = $text.split('?');
                $(
                    out.push_sql(pieces.next().unwrap_or_default());
                    out.push_bind_param::<$sql_type, _>(&self.$field)?;
                )*
                out.push_sql(pieces.next().unwrap_or_default());
                Ok(())
            }
        }

        impl ::diesel::query_builder::QueryId for $statement {
            type QueryId = $query_id;
            const HAS_STATIC_QUERY_ID: bool = true;
        }

        impl ::diesel::RunQueryDsl<::diesel::SqliteConnection> for $statement {}
    };
}

pub(crate) use {constant_text, statement};
