//! Statements as text with named values.
//!
//! diesel prepares a statement once for each connection if its type says that its text never changes; `sql_query`
//! cannot say that and is prepared again each time. A type made by [`statement!`] says it.

/// Makes a type of a statement. In the text `:name` stands for the field of that name, as often as it is needed; a
/// colon has no other use there. With `-> (types)` the statement gives rows, without it is executed for its row count.
macro_rules! statement {
    (
        $(#[$doc:meta])*
        $name:ident $(<$life:lifetime>)? { $($field:ident: $rust:ty as $sql:ty),+ $(,)? }
        $(-> ($($row:ty),+))?
        = $text:literal
    ) => {
        $(#[$doc])*
        struct $name $(<$life>)? { $($field: $rust),+ }

        const _: () = {
            /// Stands for the statement in the cache, without the lifetime of its values.
            struct Id;

            impl $(<$life>)? diesel::query_builder::QueryId for $name $(<$life>)? {
                type QueryId = Id;
                const HAS_STATIC_QUERY_ID: bool = true;
            }
        };

        impl $(<$life>)? diesel::query_builder::QueryFragment<diesel::pg::Pg> for $name $(<$life>)? {
            fn walk_ast<'ast>(
                &'ast self,
                mut out: diesel::query_builder::AstPass<'_, 'ast, diesel::pg::Pg>,
            ) -> diesel::QueryResult<()> {
                for piece in crate::statement::pieces($text) {
                    match piece.value {
                        None => {}
                        $(Some(stringify!($field)) => out.push_bind_param::<$sql, _>(&self.$field)?,)+
                        Some(unknown) => return Err(crate::statement::no_such_value(unknown)),
                    }
                    out.push_sql(piece.text);
                }
                Ok(())
            }
        }

        impl $(<$life>)? diesel::RunQueryDsl<diesel::PgConnection> for $name $(<$life>)? {}

        impl $(<$life>)? diesel::query_builder::Query for $name $(<$life>)? {
            type SqlType = ($($($row,)+)?);
        }
    };
}

pub(crate) use statement;

/// A piece of a statement: the value that stands there, and the text that follows.
pub(crate) struct Piece {
    pub(crate) value: Option<&'static str>,
    pub(crate) text: &'static str,
}

/// Takes a statement apart at its values.
pub(crate) fn pieces(statement: &'static str) -> impl Iterator<Item = Piece> {
    statement.split(':').enumerate().map(|(index, piece)| {
        if index == 0 {
            return Piece { value: None, text: piece };
        }
        let is_name = |character: char| character.is_ascii_lowercase() || character == '_';
        let end = piece.find(|character| !is_name(character)).unwrap_or(piece.len());
        let (value, text) = piece.split_at(end);
        Piece { value: Some(value), text }
    })
}

/// The error of a statement whose text names a value that it has not.
pub(crate) fn no_such_value(name: &str) -> diesel::result::Error {
    diesel::result::Error::QueryBuilderError(format!("statement has no value :{name}").into())
}
