//! The whole answer of `signArbitrary`, as people copy it from a wallet or a command line: a key and a
//! signature in JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::address::Address;
use crate::wallet::secp256k1::SCALARS_LENGTH;

/// The longest accepted answer, in bytes. An indented one has about 250.
const LONGEST: usize = 1024;

/// The type that wallets give for a plain key on secp256k1.
const KEY_TYPE: &str = "tendermint/PubKeySecp256k1";

/// The length of a compressed key.
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

/// Takes the signature out of an answer, if its key belongs to the account.
///
/// The key adds nothing to the signature. It is compared with the address and then dropped, so an answer is
/// never valid if its signature alone would not be.
pub(super) fn signature_in(text: &str, signer: &Address) -> Result<Vec<u8>, &'static str> {
    if text.len() > LONGEST {
        return Err("it is longer than 1 KiB");
    }
    let Ok(Answer { pub_key, signature }) = serde_json::from_str(text) else {
        return Err("it is not JSON in the form that wallets return");
    };
    if pub_key.r#type != KEY_TYPE {
        return Err("the type of its public key is not tendermint/PubKeySecp256k1");
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
