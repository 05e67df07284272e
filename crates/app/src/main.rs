//! Everything except the allocator is in the library, so that another binary can wire other adapters.

/// Requests make many small values and drop them soon. For that, this allocator takes half the time of the
/// system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    countersign_app::run(std::env::args_os(), countersign_app::wiring::Wiring::standard())
}
