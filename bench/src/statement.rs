//! Statements with constant text, which diesel prepares once per connection.

/// Makes a type from a statement. Its fields are bound to the question marks in order.
macro_rules! statement {
    (
        $(#[$doc:meta])*
        $name:ident on $backend:ty, $connection:ty {
            $($field:ident: $rust:ty as $sql:ty),+ $(,)?
        } $(-> ($($row:ty),+))? = $text:expr
    ) => {
        $(#[$doc])*
        pub(crate) struct $name<'a> { $(pub(crate) $field: $rust),+ }

        // The type identifies the statement in the cache, without the lifetime of its values.
        impl<'a> ::diesel::query_builder::QueryId for $name<'a> {
            type QueryId = $name<'static>;
            const HAS_STATIC_QUERY_ID: bool = true;
        }

        impl<'a> ::diesel::query_builder::QueryFragment<$backend> for $name<'a> {
            fn walk_ast<'b>(
                &'b self,
                mut out: ::diesel::query_builder::AstPass<'_, 'b, $backend>,
            ) -> ::diesel::QueryResult<()> {
                let mut pieces = str::split($text, '?');
                $(
                    out.push_sql(pieces.next().unwrap_or_default());
                    out.push_bind_param::<$sql, _>(&self.$field)?;
                )+
                out.push_sql(pieces.next().unwrap_or_default());
                Ok(())
            }
        }

        impl<'a> ::diesel::RunQueryDsl<$connection> for $name<'a> {}

        $(impl<'a> ::diesel::query_builder::Query for $name<'a> {
            type SqlType = ($($row,)+);
        })?
    };
}

pub(crate) use statement;
