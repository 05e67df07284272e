//! ADR-036: what is signed when a text is signed.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Hashes the document around a text: a transaction that no chain would take, because its chain has no name.
///
/// This is the document's canonical form in amino's JSON: keys sorted, nothing between them. What it says of the text and
/// the signer is base64 and bech32, so there is nothing to escape.
pub(super) fn digest(signer: &str, text: &str) -> [u8; 32] {
    let data = STANDARD.encode(text);
    let document = format!(
        concat!(
            r#"{{"account_number":"0","chain_id":"","fee":{{"amount":[],"gas":"0"}},"memo":"","#,
            r#""msgs":[{{"type":"sign/MsgSignData","value":{{"data":"{data}","signer":"{signer}"}}}}],"#,
            r#""sequence":"0"}}"#
        ),
        data = data,
        signer = signer,
    );
    Sha256::digest(document).into()
}
