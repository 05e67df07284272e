//! `countersign demo-wallet`: a wallet for people who do not have one.

use std::fs;
use std::io::{self, Read, Write};

use countersign_adapters_crypto::DemoWallet;
use countersign_ports::Entropy;

use crate::cli::{DemoKey, DemoWalletCommand};
use crate::failure::Failure;
use crate::files::private_file;

/// Prints the address, or signs a text.
pub(crate) fn demo_wallet(
    command: DemoWalletCommand,
    entropy: &dyn Entropy,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    // If the warning cannot be printed, the text is signed all the same.
    let _ = writeln!(io::stderr().lock(), "demo-wallet is for trying out; keep nothing of value in it");
    match command {
        DemoWalletCommand::Address { key } => writeln!(out, "{}", open(&key, entropy)?.address())?,
        DemoWalletCommand::Sign { key, text_file } => {
            let wallet = open(&key, entropy)?;
            let text = match text_file {
                Some(path) => fs::read_to_string(&path)
                    .map_err(|error| Failure::because(&format!("read {}", path.display()), &error))?,
                None => standard_input()?,
            };
            writeln!(out, "{}", wallet.sign(&text))?;
        }
    }
    Ok(())
}

fn standard_input() -> Result<String, Failure> {
    let mut text = String::new();
    io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Failure::because("read the text from standard input", &error))?;
    Ok(text)
}

fn open(key: &DemoKey, entropy: &dyn Entropy) -> Result<DemoWallet, Failure> {
    let text = private_file::read_or_create(&key.key_file, || {
        let bytes = DemoWallet::generate(entropy).to_bytes();
        format!("{}\n", hex::encode(bytes))
    })
    .map_err(|error| Failure::because("open the wallet", &error))?;
    let mut bytes = [0; 32];
    hex::decode_to_slice(text.trim(), &mut bytes)
        .ok()
        .and_then(|()| DemoWallet::from_bytes(bytes))
        .ok_or_else(|| {
            Failure::Failed(format!("failed to open the wallet: {} contains no key", key.key_file.display()))
        })
}
