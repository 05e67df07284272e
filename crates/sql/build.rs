//! Lists the migrations of both databases with their text.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for database in ["postgres", "sqlite"] {
        countersign_statement::scripts::write(database)?;
    }
    Ok(())
}
