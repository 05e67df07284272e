//! Three lines: everything else is in the library, so that another binary can wire other adapters.
fn main() -> std::process::ExitCode {
    countersign_app::run(std::env::args_os(), countersign_app::wiring::Wiring::standard())
}
