//! The secrets that files point to. Their texts stand in no mistake.

use std::path::Path;

use countersign_domain::secret::Secret;

use crate::files::private_file;

/// Only its hash is stored, and a short secret could be guessed from it.
const SHORTEST: usize = 16;
const LONGEST: usize = 512;

/// Reads a secret from a file, whose path may be relative to the folder of the file that names it.
pub(super) fn in_file(declaring: &str, path: &str) -> Result<Secret, String> {
    let folder = Path::new(declaring).parent().unwrap_or_else(|| Path::new(""));
    let path = folder.join(path);
    let shown = path.display();
    match private_file::read_handed_over(&path) {
        Ok((_, Some(mode))) => Err(format!(
            "{shown} has mode {mode:03o}, so others on this machine may read or change it; take that access away \
             (`chmod 600`, or `chmod 640` for a group that must read it)"
        )),
        Ok((text, None)) => {
            judge(text.trim_end_matches(['\n', '\r'])).map_err(|what| format!("{shown} {what}"))
        }
        Err(error) => Err(format!("{shown} cannot be read: {error}")),
    }
}

/// Reads a secret from a variable of this process.
pub(super) fn in_environment(name: &str) -> Result<Secret, String> {
    match std::env::var(name) {
        Ok(text) => judge(&text).map_err(|what| format!("the environment variable {name} {what}")),
        Err(_) => Err(format!("there is no environment variable {name}")),
    }
}

/// A client sends its secret in a form or a header, so it is plain (RFC 6749 appendix A.2).
fn judge(text: &str) -> Result<Secret, String> {
    if !(SHORTEST..=LONGEST).contains(&text.len()) {
        return Err(format!(
            "has no secret of {SHORTEST} to {LONGEST} characters: `openssl rand -hex 32` makes one"
        ));
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("has a secret with spaces, control characters, or others than those of ASCII".to_owned());
    }
    Ok(Secret::new(text))
}
