//! Real accounts with texts that their holders signed. Each family is a module here and a name in [`FAMILIES`].

mod bitcoin;
mod coins;
mod cosmos;
mod ethereum;
mod solana;
mod tron;

use std::sync::OnceLock;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use countersign_domain::wallet::WalletAccount;
use countersign_ports::{Verdict, WalletVerifier};

use crate::{ROUTER, verdict};

pub use bitcoin::BITCOIN;
pub use coins::COINS;
pub use cosmos::COSMOS;
pub use ethereum::ETHEREUM;
pub use solana::SOLANA;
pub use tron::TRON;

/// One text and its holder's signature.
#[derive(Debug)]
pub struct Signed {
    /// The account.
    pub address: &'static str,
    /// Its chain, if the address alone could mean several accounts.
    pub chain: Option<&'static str>,
    /// The text.
    pub text: &'static str,
    /// The signature as the wallet wrote it.
    pub signature: &'static str,
    /// The part of the signature that only the holder can create.
    pub core: Core,
}

/// The part that every valid signature of the text must contain.
#[derive(Debug)]
pub enum Core {
    /// All bytes.
    Exact,
    /// All bytes but the last, which is the recovery byte of Ethereum and has two spellings.
    Recoverable,
    /// `r` and `s`, or the point and the scalar, in hex, anywhere in a longer structure.
    Parts(&'static [&'static str]),
}

/// A wallet family.
#[derive(Debug)]
pub struct Family {
    /// One row or more.
    pub signed: &'static [Signed],
    /// How bytes can be written. All spellings of the same bytes, at the valid signature's length, must get the
    /// same verdict.
    pub spellings: &'static [fn(&[u8]) -> String],
    accounts: OnceLock<Vec<WalletAccount>>,
}

impl Family {
    const fn new(signed: &'static [Signed], spellings: &'static [fn(&[u8]) -> String]) -> Self {
        Self { signed, spellings, accounts: OnceLock::new() }
    }

    /// The account of a row. The first call checks that the signatures of all rows are valid.
    pub fn account(&self, row: usize) -> &WalletAccount {
        &self.accounts.get_or_init(|| self.signed.iter().map(account_of).collect())[row]
    }
}

fn account_of(row: &Signed) -> WalletAccount {
    let mut recognized = ROUTER.recognize(row.address, row.chain);
    assert_eq!(recognized.len(), 1, "{row:?} means one account");
    let account = recognized.remove(0).account;
    match verdict(&account, row.text, row.signature) {
        Ok(Verdict::Valid(_)) => account,
        other => panic!("{row:?} is judged {other:?}"),
    }
}

/// Every family of the router.
pub const FAMILIES: [&Family; 6] = [&ETHEREUM, &BITCOIN, &COINS, &SOLANA, &COSMOS, &TRON];

/// The spellings of bytes that most families accept.
const USUAL: &[fn(&[u8]) -> String] = &[
    |bytes| format!("0x{}", hex::encode(bytes)),
    |bytes| format!("0x{}", hex::encode_upper(bytes)),
    |bytes| hex::encode(bytes),
    |bytes| STANDARD.encode(bytes),
    |bytes| STANDARD_NO_PAD.encode(bytes),
    |bytes| URL_SAFE.encode(bytes),
    |bytes| URL_SAFE_NO_PAD.encode(bytes),
];
