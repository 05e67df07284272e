//! The whole answer of `signArbitrary`, as people copy it from a wallet or a command line: a key and a signature in JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::address::Address;
use crate::wallet::secp256k1::SCALARS_LENGTH;

/// How many bytes an answer may have. Indented, one has about 250.
const LONGEST: usize = 1024;

/// What wallets call a plain key on secp256k1.
const KEY_TYPE: &str = "tendermint/PubKeySecp256k1";

/// How many bytes a key has in its compressed form.
const KEY_LENGTH: usize = 33;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    pub_key: PublicKey,
    signature: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PublicKey {
    r#type: String,
    value: String,
}

/// Reads the signature out of an answer whose key is the account's.
///
/// The key says nothing that the signature does not: it is compared with the address and then forgotten, so that an answer
/// is never good where its signature alone would not be.
pub(super) fn signature_in(text: &str, signer: &Address) -> Result<Vec<u8>, &'static str> {
    if text.len() > LONGEST {
        return Err("it is longer than 1 KiB");
    }
    let Ok(Answer { pub_key, signature }) = serde_json::from_str(text) else {
        return Err("it is not the JSON that wallets answer with");
    };
    if pub_key.r#type != KEY_TYPE {
        return Err("its public key is of another type than tendermint/PubKeySecp256k1");
    }
    let key = STANDARD.decode(pub_key.value).unwrap_or_default();
    if key.len() != KEY_LENGTH || !bool::from(signer.is_of_key(&key)) {
        return Err("its public key is not the account's");
    }
    let Some(signature) = STANDARD.decode(signature).ok().filter(|bytes| bytes.len() == SCALARS_LENGTH)
    else {
        return Err("its signature is not 64 bytes in base64");
    };
    Ok(signature)
}
