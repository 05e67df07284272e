//! Lists the migrations with their text.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    countersign_statement::scripts::write("../../migrations/sqlite")
}
