//! ADR-036: the document that is signed when a wallet signs a text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Hashes the document around a text. It is a transaction that no chain would accept, because its chain id is
/// empty.
///
/// This is the canonical form of the document in amino's JSON: sorted keys, no spaces. The text is in base64
/// and the signer in bech32, so nothing needs escaping.
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
