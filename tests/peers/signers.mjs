// Signatures made by other people's libraries, checked with `countersign challenge verify`. All of them must
// be valid, and none of them after the smallest change, for another address or for an address of another
// family.
//
//     node signers.mjs ../../target/debug/countersign

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash, createPrivateKey, createPublicKey, sign as nodeSign } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import amino from "@cosmjs/amino";
import * as offchain from "@solana/offchain-messages";
import bs58 from "bs58";
import { Mnemonic, SigningKey, Wallet, getBytes, hexlify } from "ethers";
import { TronWeb } from "tronweb";
import nacl from "tweetnacl";

const require = createRequire(import.meta.url);
const bip322 = require("bip322-js");
const bitcoin = require("bitcoinjs-lib");
const bitcoinMessage = require("bitcoinjs-message");

const BINARY = process.argv[2];
if (!BINARY) {
  console.error("usage: node signers.mjs ../../target/debug/countersign");
  process.exit(2);
}

// `@solana/offchain-messages` is written for Node 20. This is all that it needs to run on Node 18.
Array.prototype.toSorted ??= function toSorted(compare) {
  return [...this].sort(compare);
};

const KEYS = 3;
const SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

const utf8 = (text) => Buffer.from(text, "utf8");
const sha256 = (bytes) => createHash("sha256").update(bytes).digest();
const base64 = (bytes) => Buffer.from(bytes).toString("base64");
const base58 = (bytes) => bs58.encode(Uint8Array.from(bytes));
const hex = (bytes) => hexlify(Uint8Array.from(bytes));

/** 32 bytes that are the same in every run and different for each name and number. */
const seed = (name, number) => sha256(utf8(`countersign signers.mjs ${name} ${number}`));

// --- the texts ---------------------------------------------------------------------------------------------

/** A text that the server lets people sign: about 600 bytes of ASCII on many lines. */
const signIn = (kind, chainId, address) => `auth.example.com wants you to sign in with your ${kind} account:
${address}

Sign in to https://client.example, which asks for: profile, email. If you did not start this, reject it.

URI: https://auth.example.com/oauth/login
Version: 1
Chain ID: ${chainId}
Nonce: ${sha256(utf8(address)).toString("hex").slice(0, 24)}
Issued At: 2026-01-01T00:00:00Z
Expiration Time: 2026-01-01T00:05:00Z
Request ID: 0b4c9c3e-9f8e-4d2a-8a53-5f0a4f6d3c21
Resources:
- https://client.example
- urn:countersign:client:6f1e2b1c-7a1d-4f5e-9f59-2a4d9c0f7e11
- urn:countersign:scope:profile
- urn:countersign:scope:email`;

const UNICODE = "Grüße, Ελλάδα, 日本語 🦀 — e\u0301 <\"&\\> \u200d";
const SHORT = "Hello";

const textsFor = ({ kind, chainId }, address) => [signIn(kind, chainId, address), UNICODE, SHORT];

/** The text with one character in the middle replaced. */
function altered(text) {
  const characters = Array.from(text);
  const middle = Math.floor(characters.length / 2);
  characters[middle] = characters[middle] === "x" ? "y" : "x";
  return characters.join("");
}

const flipped = (bytes, bit) => Uint8Array.from(bytes, (byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));

// --- the signers -------------------------------------------------------------------------------------------
//
// A signer has a name and a family. For a key, it returns an address and a function from a text to the bytes
// of a signature and their encoding. `spell` also encodes bytes that were changed.

const ethereum = { kind: "Ethereum", chainId: "1" };
const tron = { kind: "Tron", chainId: "728126428" };
const solana = { kind: "Solana", chainId: "mainnet" };

const signers = [];
const signer = (name, family, make) => signers.push({ name, family, make: (number) => make(seed(name, number)) });

function ethersSigner(key, spell = hex) {
  const wallet = new Wallet(hex(key));
  return { address: wallet.address, sign: async (text) => getBytes(await wallet.signMessage(text)), spell };
}
signer("ethers signMessage", ethereum, (key) => ethersSigner(key));
signer("ethers signMessage, base64", ethereum, (key) => ethersSigner(key, base64));

function tronSigner(key) {
  const tronWeb = new TronWeb({ fullHost: "http://127.0.0.1:1", privateKey: key.toString("hex") });
  return { address: tronWeb.defaultAddress.base58, sign: async (text) => getBytes(await tronWeb.trx.signMessageV2(text)), spell: hex };
}
signer("tronweb signMessageV2", tron, tronSigner);

// Bitcoin, and the coins that use the same signed messages.

const COINS = {
  Bitcoin: { id: "000000000019d6689c085ae165831e93", pubKeyHash: 0x00, scriptHash: 0x05, bech32: "bc", magic: "Bitcoin" },
  Litecoin: { id: "12a765e31ffd4059bada1e25190f6e98", pubKeyHash: 0x30, scriptHash: 0x32, bech32: "ltc", magic: "Litecoin" },
  Dogecoin: { id: "1a91e3dace36e2be3bf030a65679fe82", pubKeyHash: 0x1e, scriptHash: 0x16, magic: "Dogecoin" },
  Ravencoin: { id: "0000006b444bc2f2ffe627be9d9e7e7a", pubKeyHash: 0x3c, scriptHash: 0x7a, magic: "Raven" },
  Evrmore: { id: "0000007b11d0481b2420a7c656ef7677", pubKeyHash: 0x21, scriptHash: 0x5c, magic: "Evrmore" },
};
const coinFamily = (coin) => ({ kind: coin, chainId: COINS[coin].id });
const publicKey = (key, compressed = true) => Buffer.from(getBytes(SigningKey.computePublicKey(key, compressed)));
const messagePrefix = (coin) => {
  const magic = `${COINS[coin].magic} Signed Message:\n`;
  return String.fromCharCode(magic.length) + magic;
};

const ADDRESSES = {
  P2PKH: (pubkey, network) => bitcoin.payments.p2pkh({ pubkey, network }).address,
  P2WPKH: (pubkey, network) => bitcoin.payments.p2wpkh({ pubkey, network }).address,
  "P2SH-P2WPKH": (pubkey, network) => bitcoin.payments.p2sh({ redeem: bitcoin.payments.p2wpkh({ pubkey, network }), network }).address,
};
const SEGWIT_TYPES = { P2WPKH: "p2wpkh", "P2SH-P2WPKH": "p2sh(p2wpkh)" };

function messageSigner(key, coin, type = "P2PKH", compressed = true) {
  const address = ADDRESSES[type](publicKey(key, compressed), COINS[coin]);
  const options = type in SEGWIT_TYPES ? { segwitType: SEGWIT_TYPES[type] } : undefined;
  return { address, sign: (text) => bitcoinMessage.sign(text, key, compressed, messagePrefix(coin), options), spell: base64 };
}
signer("bitcoinjs-message P2PKH, compressed key", coinFamily("Bitcoin"), (key) => messageSigner(key, "Bitcoin"));
signer("bitcoinjs-message P2PKH, uncompressed key", coinFamily("Bitcoin"), (key) => messageSigner(key, "Bitcoin", "P2PKH", false));
for (const coin of ["Bitcoin", "Litecoin"]) {
  for (const type of Object.keys(SEGWIT_TYPES)) {
    signer(`bitcoinjs-message ${coin} ${type}`, coinFamily(coin), (key) => messageSigner(key, coin, type));
  }
}
for (const coin of ["Litecoin", "Dogecoin", "Ravencoin", "Evrmore"]) {
  signer(`bitcoinjs-message ${coin} P2PKH`, coinFamily(coin), (key) => messageSigner(key, coin));
}

/** What `bitcoin-cli signmessage` prints, built by hand without a Bitcoin library. */
function commandLineSigner(key) {
  const length = (bytes) => Buffer.from(bytes.length < 0xfd ? [bytes.length] : [0xfd, bytes.length & 0xff, bytes.length >> 8]);
  const sign = (text) => {
    const parts = [utf8("Bitcoin Signed Message:\n"), utf8(text)].flatMap((bytes) => [length(bytes), bytes]);
    const { r, s, yParity } = new SigningKey(key).sign(sha256(sha256(Buffer.concat(parts))));
    return Buffer.concat([Buffer.from([31 + yParity]), getBytes(r), getBytes(s)]);
  };
  return { address: ADDRESSES.P2PKH(publicKey(key), COINS.Bitcoin), sign, spell: base64 };
}
signer("bitcoin-cli signmessage, by hand", coinFamily("Bitcoin"), commandLineSigner);

function bip322Signer(key, type) {
  const address = bip322.Address.convertPubKeyIntoAddress(publicKey(key), type).mainnet;
  const versioned = Buffer.concat([Buffer.from([0x80]), key, Buffer.from([0x01])]);
  const wif = base58(Buffer.concat([versioned, sha256(sha256(versioned)).subarray(0, 4)]));
  return { address, sign: (text) => Buffer.from(bip322.Signer.sign(wif, address, text), "base64"), spell: base64 };
}
for (const type of ["p2wpkh", "p2tr", "p2sh-p2wpkh"]) {
  signer(`bip322-js ${type.toUpperCase()}`, coinFamily("Bitcoin"), (key) => bip322Signer(key, type));
}

/**
 * The full form with its prefix: the whole transaction, which script addresses need. bip322-js builds the
 * transactions and ethers signs.
 */
function bip322FullSigner(key, type) {
  const address = ADDRESSES[type](publicKey(key), COINS.Bitcoin);
  const script = bitcoin.payments.p2wpkh({ pubkey: publicKey(key) }).output;
  const holder = {
    publicKey: publicKey(key),
    sign: (digest) => Buffer.concat(["r", "s"].map((part) => Buffer.from(getBytes(new SigningKey(key).sign(digest)[part])))),
  };
  const sign = (text) => {
    const toSpend = bip322.BIP322.buildToSpendTx(text, bitcoin.address.toOutputScript(address));
    const toSign = type === "P2WPKH"
      ? bip322.BIP322.buildToSignTx(toSpend.getId(), script)
      : bip322.BIP322.buildToSignTx(toSpend.getId(), bitcoin.address.toOutputScript(address)).updateInput(0, { redeemScript: script });
    return toSign.signAllInputs(holder).finalizeAllInputs().extractTransaction().toBuffer();
  };
  return { address, sign, spell: (bytes) => `ful${base64(bytes)}` };
}
for (const type of Object.keys(SEGWIT_TYPES)) {
  signer(`bip322-js ${type}, full form`, coinFamily("Bitcoin"), (key) => bip322FullSigner(key, type));
}

// Solana: the raw text, and the byte strings that hardware wallets and command lines sign instead.

const SIGNING_DOMAIN = Buffer.concat([Buffer.from([0xff]), utf8("solana offchain")]);
const NO_DOMAIN = Buffer.alloc(32);
const HOST = Buffer.concat([utf8("auth.example.com"), NO_DOMAIN]).subarray(0, 32);
const isPrintable = (text) => /^[\x20-\x7e]*$/.test(text);
const isForLedger = (text) => /^[\x20-\x7e\n]*$/.test(text);
const short = (number) => Buffer.from([number & 0xff, number >> 8]);

function solanaSigner(key, bytesOf = utf8, spell = base58) {
  const { publicKey: account, secretKey } = nacl.sign.keyPair.fromSeed(key);
  return { address: base58(account), sign: (text) => nacl.sign.detached(Uint8Array.from(bytesOf(text, account)), secretKey), spell };
}
const versionZero = (domain, format, account, text) =>
  Buffer.concat([SIGNING_DOMAIN, Buffer.from([0]), domain, Buffer.from([format, 1]), account, short(utf8(text).length), utf8(text)]);

signer("tweetnacl, raw text, base58", solana, (key) => solanaSigner(key));
signer("tweetnacl, raw text, base64", solana, (key) => solanaSigner(key, utf8, base64));
signer("tweetnacl, raw text, hex", solana, (key) => solanaSigner(key, utf8, (bytes) => Buffer.from(bytes).toString("hex")));
signer("tweetnacl, version 0 as a Ledger makes it, by hand", solana, (key) =>
  solanaSigner(key, (text, account) => versionZero(NO_DOMAIN, isForLedger(text) ? 0 : 1, account, text)));
// Only a text that contains a host can have the host as its domain.
signer("tweetnacl, version 0 with the host as its domain, by hand", solana, (key) =>
  solanaSigner(key, (text, account) => versionZero(text.startsWith("auth.example.com ") ? HOST : NO_DOMAIN, isForLedger(text) ? 0 : 1, account, text)));
signer("tweetnacl, version 1, by hand", solana, (key) =>
  solanaSigner(key, (text, account) => Buffer.concat([SIGNING_DOMAIN, Buffer.from([1, 1]), account, utf8(text)])));
signer("@solana/offchain-messages, version 0", solana, (key) =>
  solanaSigner(key, (text, account) => offchain.compileOffchainMessageV0Envelope({
    version: 0,
    applicationDomain: base58(NO_DOMAIN),
    requiredSignatories: [{ address: base58(account) }],
    content: isPrintable(text) ? offchain.offchainMessageContentRestrictedAsciiOf1232BytesMax(text) : offchain.offchainMessageContentUtf8Of1232BytesMax(text),
  }).content));
signer("@solana/offchain-messages, version 1", solana, (key) =>
  solanaSigner(key, (text, account) => offchain.compileOffchainMessageV1Envelope({
    version: 1,
    requiredSignatories: [{ address: base58(account) }],
    content: text,
  }).content));

/**
 * What `solana sign-offchain-message` prints, built by hand: the short header of the Rust crate, signed by
 * OpenSSL.
 */
function solanaCommandLineSigner(key) {
  const pkcs8 = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), key]);
  const secret = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
  const account = createPublicKey(secret).export({ format: "der", type: "spki" }).subarray(-32);
  const sign = (text) => {
    const format = Buffer.from([0, isPrintable(text) ? 0 : 1]);
    return nodeSign(null, Buffer.concat([SIGNING_DOMAIN, format, short(utf8(text).length), utf8(text)]), secret);
  };
  return { address: base58(account), sign, spell: base58 };
}
signer("solana sign-offchain-message, by hand", solana, solanaCommandLineSigner);

// Cosmos: the document that Keplr builds for `signArbitrary`, signed by cosmjs.

async function cosmosSigner(key, prefix, spellAnswer) {
  const wallet = await amino.Secp256k1HdWallet.fromMnemonic(Mnemonic.fromEntropy(hex(key)).phrase, { prefix });
  const [{ address, pubkey }] = await wallet.getAccounts();
  const sign = async (text) => {
    const message = { type: "sign/MsgSignData", value: { signer: address, data: base64(utf8(text)) } };
    const document = amino.makeSignDoc([message], { gas: "0", amount: [] }, "", "", 0, 0);
    const { signature } = await wallet.signAmino(address, document);
    return Buffer.from(signature.signature, "base64");
  };
  const spell = spellAnswer
    ? (bytes) => JSON.stringify({ pub_key: amino.encodeSecp256k1Pubkey(pubkey), signature: base64(bytes) })
    : base64;
  return { address, sign, spell };
}
const cosmos = { kind: "Cosmos", chainId: "cosmoshub-4" };
const osmosis = { kind: "Osmosis", chainId: "osmosis-1" };
signer("@cosmjs/amino as Keplr signs, only the signature", cosmos, (key) => cosmosSigner(key, "cosmos", false));
signer("@cosmjs/amino as Keplr returns it", cosmos, (key) => cosmosSigner(key, "cosmos", true));
signer("@cosmjs/amino for Osmosis", osmosis, (key) => cosmosSigner(key, "osmo", false));

// --- the judge ---------------------------------------------------------------------------------------------

/** Verifies all claims in one run, and returns the results in order. */
async function judge(claims) {
  const child = spawn(BINARY, ["challenge", "verify", "--batch"], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(claims.map(({ address, chain, text, signature }) => `${JSON.stringify({ address, chain, text, signature })}\n`).join(""));
  const chunks = [];
  for await (const chunk of child.stdout) chunks.push(chunk);
  const answers = Buffer.concat(chunks).toString("utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line));
  assert.equal(answers.length, claims.length, "every line has one result");
  for (const answer of answers) assert.deepEqual(Object.keys(answer), ["valid", "family", "reason"]);
  return answers;
}

let passed = 0;
let failed = 0;
let judged = 0;

function report(claim, faults) {
  if (faults.length === 0) passed += 1;
  else failed += 1;
  console.log(`${faults.length === 0 ? "ok     " : "FAILED "} ${claim}`);
  for (const fault of faults.slice(0, 3)) console.log(`        ${fault}`);
  if (faults.length > 3) console.log(`        and ${faults.length - 3} more`);
}

/**
 * Verifies what was collected, and prints one line whatever the number. The family must be right even if the
 * signature is not, so that an unknown address is never mistaken for a refused signature.
 */
async function expect(claim, valid, claims) {
  assert.ok(claims.length > 0, claim);
  const answers = await judge(claims);
  const faults = answers.flatMap(({ valid: given, family, reason }, index) => {
    const { address, what = "", family: wanted } = claims[index];
    return given !== valid || family !== wanted ? [`${what} ${address}: ${given ? "valid" : "not valid"}, ${family}, ${reason}`] : [];
  });
  judged += claims.length;
  report(`${claim} (${claims.length})`, faults);
}

// --- the checks --------------------------------------------------------------------------------------------

const samples = new Map();
for (const { name, family, make } of signers) {
  const own = [];
  for (let number = 0; number < KEYS; number += 1) {
    const { address, sign, spell } = await make(number);
    for (const text of textsFor(family, address)) {
      const bytes = await sign(text);
      own.push({ address, text, bytes, spell, signature: spell(bytes), family: family.kind.toLowerCase(), what: JSON.stringify(text.slice(0, 20)) });
    }
  }
  samples.set(name, own);
}

for (const [name, own] of samples) {
  const next = (sample) => own.find(({ address }) => address !== sample.address).address;
  const everyBit = own.slice(0, 1).flatMap((sample) => Array.from({ length: sample.bytes.length * 8 }, (_, bit) => ({ sample, bit })));
  const someBits = own.slice(1).map((sample, index) => ({ sample, bit: (index * 97 + 200) % (sample.bytes.length * 8) }));
  await expect(`${name}: valid`, true, own);
  await expect(`${name}: not valid with one character altered`, false, own.map((sample) => ({ ...sample, text: altered(sample.text) })));
  await expect(`${name}: not valid with an extra line feed or in another normal form`, false, own.flatMap((sample) =>
    [`${sample.text}\n`, ` ${sample.text}`, sample.text.normalize("NFC")].filter((text) => text !== sample.text).map((text) => ({ ...sample, text }))));
  await expect(`${name}: not valid for another address`, false, own.map((sample) => ({ ...sample, address: next(sample) })));
  await expect(`${name}: not valid with one bit flipped`, false, [...everyBit, ...someBits].map(({ sample, bit }) =>
    ({ ...sample, what: `bit ${bit}`, signature: sample.spell(flipped(sample.bytes, bit)) })));
}

const first = [...samples].map(([name, [sample]]) => ({ name, sample }));
await expect("no signature of one signer is valid for an address of another", false, first.flatMap(({ name, sample }) =>
  first.filter((other) => other.name !== name).map((other) =>
    ({ ...sample, address: other.sample.address, family: other.sample.family, what: `${name} for ${other.name}` }))));

const oneKey = seed("one key for all", 0);
const text = signIn("Bitcoin", "1", "nobody");
const coins = Object.keys(COINS);
await expect("no coin's signature is valid for the same key's address of another coin", false, coins.flatMap((coin) => {
  const signature = base64(messageSigner(oneKey, coin).sign(text));
  return coins.filter((other) => other !== coin).map((other) =>
    ({ address: messageSigner(oneKey, other).address, family: other.toLowerCase(), text, signature, what: coin }));
}));
const types = Object.keys(ADDRESSES);
await expect("no BIP-137 signature is valid for the same key's address of another type (P-07)", false, types.flatMap((type) => {
  const signature = base64(messageSigner(oneKey, "Bitcoin", type).sign(text));
  const others = types.filter((other) => other !== type).map((other) => messageSigner(oneKey, "Bitcoin", other).address);
  return [...others, bip322Signer(oneKey, "p2tr").address].map((address) => ({ address, family: "bitcoin", text, signature, what: type }));
}));
const bip322Types = ["p2wpkh", "p2tr", "p2sh-p2wpkh"];
await expect("no BIP-322 signature is valid for the same key's address of another type", false, bip322Types.flatMap((type) => {
  const signature = base64(bip322Signer(oneKey, type).sign(text));
  return bip322Types.filter((other) => other !== type).map((other) =>
    ({ address: bip322Signer(oneKey, other).address, family: "bitcoin", text, signature, what: type }));
}));
const [ether, tronAccount] = [ethersSigner(oneKey), tronSigner(oneKey)];
await expect("no Ethereum signature is valid for the same key's Tron address, or the other way round", false, [
  { address: tronAccount.address, family: "tron", text, signature: hex(await ether.sign(text)), what: "Ethereum's" },
  { address: ether.address, family: "ethereum", text, signature: hex(await tronAccount.sign(text)), what: "Tron's" },
]);
const [hub, osmo] = [await cosmosSigner(oneKey, "cosmos", false), await cosmosSigner(oneKey, "osmo", false)];
await expect("no signature for one Cosmos chain is valid for the same key's address on another", false, [
  { address: osmo.address, family: "osmosis", text, signature: base64(await hub.sign(text)), what: "Cosmos Hub's" },
  { address: hub.address, family: "cosmos", text, signature: base64(await osmo.sign(text)), what: "Osmosis'" },
]);
const foreign = solanaSigner(oneKey, (each, account) => versionZero(utf8("evil.example".padEnd(32, "\0")), 0, account, each));
const twoSigners = solanaSigner(oneKey, (each, account) => Buffer.concat([SIGNING_DOMAIN, Buffer.from([1, 2]), account, NO_DOMAIN, utf8(each)]));
await expect("a Solana signature for another domain or with another signer in the header is not valid (B-041)", false, [
  { address: foreign.address, text: signIn("Solana", "mainnet", foreign.address), what: "another domain", signer: foreign },
  { address: twoSigners.address, text, what: "two signers", signer: twoSigners },
].map(({ signer: { sign }, ...claim }) => ({ ...claim, family: "solana", signature: base58(sign(claim.text)) })));
await expect("a chain that is given with the address must be the address's own", false, first.map(({ sample }) =>
  ({ ...sample, family: "unknown", chain: sample.family === "solana" ? "eip155:1" : SOLANA })));

// As people do it: the text in a file, the tool's output in another, and one command.
const folder = mkdtempSync(join(tmpdir(), "countersign-signers-"));
const faults = [];
for (const { name, sample } of first) {
  writeFileSync(join(folder, "sign-in.txt"), sample.text);
  writeFileSync(join(folder, "signature.txt"), sample.signature);
  const ask = ["challenge", "verify", "--address", sample.address, "--text-file", "sign-in.txt", "--signature-file", "signature.txt"];
  try {
    const said = execFileSync(BINARY, ask, { cwd: folder, encoding: "utf8", stdio: "pipe" });
    if (!said.startsWith(`valid: ${sample.family}, `) || !said.endsWith(`:${sample.address}\n`)) faults.push(`${name}: ${said.trim()}`);
  } catch (error) {
    faults.push(`${name}: ${error.stdout?.trim() || error}`);
  }
}
rmSync(folder, { recursive: true });
judged += first.length;
report(`each is valid from files, byte for byte (${first.length})`, faults);

console.log(`${passed} passed, ${failed} failed; ${judged} signatures judged`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
