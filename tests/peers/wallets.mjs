// Wallets of every family for the judge of the page: each announces itself with its family's own protocol,
// and signs with a real key as its family does. The part in the page is a function that runs before the
// page's own scripts, as an extension's content script does. The keys stay outside, behind the function of
// window that `answers` names.

import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, randomBytes, sign as signEdwards } from "node:crypto";
import { SigningKey, Wallet, encodeBase58, getBytes, keccak256, ripemd160, toUtf8Bytes } from "ethers";

export const ICON = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAzMiAzMiI+PGNpcmNsZSBjeD0iMTYiIGN5PSIxNiIgcj0iMTYiIGZpbGw9IiM3YjVjZDYiLz48L3N2Zz4=";

const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest();
const hash256 = (...parts) => sha256(sha256(...parts));
const hash160 = (bytes) => Buffer.from(getBytes(ripemd160(sha256(bytes))));
const base58check = (...parts) => encodeBase58(Buffer.concat([...parts, hash256(...parts).subarray(0, 4)]));

// --- encoding (BIP-173) ------------------------------------------------------------------------------------

function bech32(prefix, numbers) {
  const letters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
  const expanded = [...Array.from(prefix, (c) => c.charCodeAt(0) >> 5), 0, ...Array.from(prefix, (c) => c.charCodeAt(0) & 31)];
  let check = 1;
  for (const number of [...expanded, ...numbers, 0, 0, 0, 0, 0, 0]) {
    const top = check >>> 25;
    check = ((check & 0x1ffffff) << 5) ^ number;
    [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3].forEach((each, bit) => ((top >>> bit) & 1 ? (check ^= each) : 0));
  }
  check ^= 1;
  const sums = [0, 1, 2, 3, 4, 5].map((place) => (check >>> (5 * (5 - place))) & 31);
  return `${prefix}1${[...numbers, ...sums].map((number) => letters[number]).join("")}`;
}

function inFives(bytes) {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
  return bits.match(/.{1,5}/g).map((five) => parseInt(five.padEnd(5, "0"), 2));
}

// --- keys --------------------------------------------------------------------------------------------------

class CurveKey {
  #key = new SigningKey(randomBytes(32));

  get compressed() {
    return Buffer.from(getBytes(this.#key.compressedPublicKey));
  }

  get wallet() {
    return new Wallet(this.#key);
  }

  /** r and s, and which of the two possible keys it is. */
  sign(digest) {
    const { r, s, yParity } = this.#key.sign(digest);
    return { bytes: Buffer.concat([getBytes(r), getBytes(s)].map(Buffer.from)), yParity };
  }
}

class SolanaKey {
  #pair = generateKeyPairSync("ed25519");
  address = encodeBase58(Buffer.from(this.#pair.publicKey.export({ format: "jwk" }).x, "base64url"));

  bytes(text) {
    return signEdwards(null, Buffer.from(text), this.#pair.privateKey);
  }

  signature(text) {
    return this.bytes(text).toString("base64");
  }
}

/** P2WPKH with BIP-322 (simple), or P2PKH with the older signatures of BIP-137. */
class BitcoinKey {
  #key = new CurveKey();

  constructor({ segwit }) {
    this.segwit = segwit;
    this.address = segwit ? bech32("bc", [0, ...inFives(this.#hash)]) : base58check(Buffer.from([0]), this.#hash);
  }

  get #hash() {
    return hash160(this.#key.compressed);
  }

  bytes(text) {
    return this.segwit ? this.#bip322(text) : this.#bip137(text);
  }

  signature(text) {
    return this.bytes(text).toString("base64");
  }

  #bip137(text) {
    const message = Buffer.from(text);
    const { bytes, yParity } = this.#key.sign(hash256(sized(Buffer.from("Bitcoin Signed Message:\n")), sized(message)));
    return Buffer.concat([Buffer.from([31 + yParity]), bytes]);
  }

  #bip322(text) {
    const tag = sha256(Buffer.from("BIP0322-signed-message"));
    const script = Buffer.concat([Buffer.from([0x00, 0x14]), this.#hash]);
    const zero = Buffer.alloc(4);
    const one = Buffer.from([1]);
    const ofMessage = Buffer.concat([Buffer.from([0x00, 0x20]), sha256(tag, tag, Buffer.from(text))]);
    const toSpend = hash256(zero, one, Buffer.alloc(32), Buffer.alloc(4, 0xff), sized(ofMessage), zero, one, Buffer.alloc(8), sized(script), zero);
    const outpoint = Buffer.concat([toSpend, zero]);
    const output = Buffer.concat([Buffer.alloc(8), sized(Buffer.from([0x6a]))]);
    const code = Buffer.concat([Buffer.from([0x76, 0xa9, 0x14]), this.#hash, Buffer.from([0x88, 0xac])]);
    const all = Buffer.from([1, 0, 0, 0]);
    const digest = hash256(zero, hash256(outpoint), hash256(zero), outpoint, sized(code), Buffer.alloc(8), zero, hash256(output), zero, all);
    const signature = Buffer.concat([der(this.#key.sign(digest).bytes), one]);
    return Buffer.concat([Buffer.from([2]), sized(signature), sized(this.#key.compressed)]);
  }
}

function sized(bytes) {
  const length = bytes.length < 0xfd ? [bytes.length] : [0xfd, bytes.length & 0xff, bytes.length >> 8];
  return Buffer.concat([Buffer.from(length), bytes]);
}

function der(signature) {
  const integers = [signature.subarray(0, 32), signature.subarray(32)].map((bytes) => {
    const short = bytes.subarray(Math.max(0, bytes.findIndex((byte) => byte !== 0)));
    const value = short[0] >= 0x80 ? Buffer.concat([Buffer.from([0]), short]) : short;
    return Buffer.concat([Buffer.from([0x02, value.length]), value]);
  });
  const both = Buffer.concat(integers);
  return Buffer.concat([Buffer.from([0x30, both.length]), both]);
}

/** Signs documents of ADR-036. */
class CosmosKey {
  #key = new CurveKey();
  address = bech32("cosmos", inFives(hash160(this.#key.compressed)));

  signature(text) {
    const value = { data: Buffer.from(text).toString("base64"), signer: this.address };
    const document = {
      account_number: "0",
      chain_id: "",
      fee: { amount: [], gas: "0" },
      memo: "",
      msgs: [{ type: "sign/MsgSignData", value }],
      sequence: "0",
    };
    return this.#key.sign(sha256(Buffer.from(JSON.stringify(document)))).bytes.toString("base64");
  }
}

class TronKey {
  #key = new CurveKey();
  address = base58check(Buffer.from([0x41]), Buffer.from(getBytes(this.#key.wallet.address)));

  signature(text) {
    const message = toUtf8Bytes(text);
    const digest = keccak256(Buffer.concat([Buffer.from(`\x19TRON Signed Message:\n${message.length}`), message]));
    const { bytes, yParity } = this.#key.sign(digest);
    return `0x${bytes.toString("hex")}${(27 + yParity).toString(16)}`;
  }
}

// --- wallets -----------------------------------------------------------------------------------------------

/**
 * A wallet whose page side calls `connect` and `sign`. `no` is the error that the page gets when the user
 * declines, in the wallet's own format.
 */
class FamilyWallet {
  calls = [];
  refusals = [];

  constructor({ keys, ...about }) {
    Object.assign(this, about);
    this.keys = keys;
    [this.key] = keys;
    this.settings = { ...about.settings, icon: ICON, name: about.name, addresses: keys.map((key) => key.address) };
  }

  answer(method, params) {
    this.calls.push(method);
    if (this.refusals[0] === method) {
      this.refusals.shift();
      return { error: this.no };
    }
    if (method === "connect") return { result: true };
    const key = this.keys.find((each) => each.address === params.address);
    assert.ok(key, `the page asks for a signature of ${params.address}`);
    this.signed = params;
    return { result: params.asBytes ? Array.from(key.bytes(params.text)) : key.signature(params.text) };
  }
}

const REJECTED = { code: 4001, message: "User rejected the request." };
const BITCOIN = "bip122:000000000019d6689c085ae165831e93";
const segwit = () => new BitcoinKey({ segwit: true });
const ofThePast = () => new BitcoinKey({ segwit: false });

/** One wallet for each way in which wallets of the four families announce themselves and are called. */
export const FAMILY_WALLETS = [
  {
    title: "a Solana wallet (Wallet Standard)",
    make: () =>
      new FamilyWallet({
        family: "solana", kind: "Solana", name: "Test Solana", keys: [new SolanaKey()], no: { message: "User rejected the request." },
        chain: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", announce: standardWallet,
        settings: { chain: "solana:mainnet", connects: "standard:connect", signs: "solana:signMessage" },
      }),
  },
  {
    title: "a Bitcoin wallet (Wallet Standard)",
    make: () =>
      new FamilyWallet({
        family: "bitcoin", kind: "Bitcoin", name: "Test Bitcoin", keys: [segwit()], no: REJECTED, chain: BITCOIN, announce: standardWallet,
        settings: { chain: "bitcoin:mainnet", connects: "bitcoin:connect", signs: "bitcoin:signMessage" },
      }),
  },
  {
    title: "UniSat with a segwit address",
    make: () => new FamilyWallet({ family: "bitcoin", kind: "Bitcoin", name: "UniSat Wallet", keys: [segwit()], no: REJECTED, chain: BITCOIN, announce: unisat }),
  },
  {
    title: "UniSat with an address of the older kind",
    make: () => new FamilyWallet({ family: "bitcoin", kind: "Bitcoin", name: "UniSat Wallet", keys: [ofThePast()], no: REJECTED, chain: BITCOIN, announce: unisat }),
  },
  {
    title: "Xverse (WBIP004, sats-connect)",
    make: () =>
      new FamilyWallet({ family: "bitcoin", kind: "Bitcoin", name: "Xverse Wallet", keys: [segwit(), segwit()], no: { code: -32000, message: "no" }, chain: BITCOIN, announce: xverse }),
  },
  {
    title: "Leather (WBIP004)",
    make: () => new FamilyWallet({ family: "bitcoin", kind: "Bitcoin", name: "Leather", keys: [segwit()], no: REJECTED, chain: BITCOIN, announce: leather }),
  },
  ...["keplr", "leap"].map((id) => ({
    title: `${id === "keplr" ? "Keplr" : "Leap"} (ADR-036)`,
    make: () =>
      new FamilyWallet({
        family: "cosmos", kind: "Cosmos", name: id === "keplr" ? "Keplr" : "Leap", keys: [new CosmosKey()], no: { message: "Request rejected" },
        chain: "cosmos:cosmoshub-4", announce: keplr, settings: { id },
      }),
  })),
  ...["announced", "tron", "tronLink"].map((way) => ({
    title: `a Tron wallet (${{ announced: "TIP-6963", tron: "window.tron", tronLink: "the older window.tronLink" }[way]})`,
    make: () =>
      new FamilyWallet({
        family: "tron", kind: "Tron", name: { announced: "Test Tron", tron: "Tron wallet", tronLink: "TronLink" }[way], keys: [new TronKey()],
        no: { code: 4001, message: "Confirmation declined by user", plain: way === "tronLink" }, announce: tron, settings: { way },
      }),
  })),
];

// --- in the page; every function here is self-contained ----------------------------------------------------

/** The Wallet Standard, for any family. */
function standardWallet({ answers, name, icon, addresses, chain, connects, signs }) {
  const ask = async (method, params) => {
    const { result, error } = await window[answers](method, params);
    if (error) throw Object.assign(new Error(error.message), error.code ? { code: error.code } : {});
    return result;
  };
  const accounts = addresses.map((address) => Object.freeze({ address, publicKey: new Uint8Array(32), chains: [chain], features: [signs] }));
  const connect = async () => (await ask("connect"), { accounts });
  const signMessage = async ({ account, message }) => {
    const text = new TextDecoder().decode(message);
    const signature = Uint8Array.from(await ask("sign", { address: account.address, text, asBytes: true }));
    return [{ signedMessage: message, signature }];
  };
  const features = { [connects]: { version: "1.0.0", connect }, [signs]: { version: "1.0.0", signMessage }, "standard:events": { version: "1.0.0", on: () => () => {} } };
  const wallet = Object.freeze({ version: "1.0.0", name, icon, chains: [chain], accounts: [], features });
  const register = (api) => api.register(wallet);
  window.dispatchEvent(new CustomEvent("wallet-standard:register-wallet", { detail: register }));
  window.addEventListener("wallet-standard:app-ready", ({ detail }) => register(detail));
}

function unisat({ answers, addresses }) {
  const ask = async (method, params) => {
    const { result, error } = await window[answers](method, params);
    if (error) throw { code: error.code, message: error.message };
    return result;
  };
  window.unisat = {
    requestAccounts: async () => (await ask("connect"), addresses),
    signMessage: (text, type) => {
      if (type !== (addresses[0].startsWith("bc1") ? "bip322-simple" : "ecdsa")) throw new Error(`signing by ${type}`);
      return ask("sign", { address: addresses[0], text });
    },
    on: () => {},
  };
  window.dispatchEvent(new Event("unisat#initialized"));
}

/** It returns refusals, and has a second address for ordinals. */
function xverse({ answers, name, icon, addresses }) {
  const request = async (method, params) => {
    const sign = method === "signMessage";
    if (!sign && method !== "getAccounts") return { jsonrpc: "2.0", id: "1", error: { code: -32601, message: method } };
    const { result, error } = await window[answers](sign ? "sign" : "connect", sign ? { address: params.address, text: params.message } : {});
    if (error) return { jsonrpc: "2.0", id: "1", error };
    if (sign) return { jsonrpc: "2.0", id: "1", result: { signature: result, address: params.address, messageHash: "", protocol: params.protocol } };
    const purposes = ["payment", "ordinals"].filter((purpose) => params.purposes.includes(purpose));
    const found = purposes.map((purpose, place) => ({ address: addresses[place], publicKey: "", purpose, addressType: "p2wpkh", walletType: "software" }));
    const stacks = { address: "SP000000000000000000002Q6VF78", publicKey: "", purpose: "stacks", addressType: "stacks", walletType: "software" };
    return { jsonrpc: "2.0", id: "1", result: [stacks, ...found.reverse()] };
  };
  window.XverseProviders = { BitcoinProvider: { request } };
  (window.btc_providers ??= []).push({ id: "XverseProviders.BitcoinProvider", name, icon, methods: ["getInfo", "getAddresses", "getAccounts", "signMessage"] });
}

/** It throws refusals, and selects the account by the type of its address. */
function leather({ answers, name, icon, addresses }) {
  const request = async (method, params) => {
    const sign = method === "signMessage";
    if (sign && params.paymentType !== "p2wpkh") throw { jsonrpc: "2.0", id: "1", error: { code: -32602, message: "paymentType" } };
    const { result, error } = await window[answers](sign ? "sign" : "connect", sign ? { address: addresses[0], text: params.message } : {});
    if (error) throw { jsonrpc: "2.0", id: "1", error };
    if (sign) return { jsonrpc: "2.0", id: "1", result: { signature: result, address: addresses[0], message: params.message } };
    const bitcoin = { symbol: "BTC", type: "p2wpkh", address: addresses[0], publicKey: "", derivationPath: "m/84'/0'/0'/0/0" };
    const stacks = { symbol: "STX", publicKey: "", address: "SP000000000000000000002Q6VF78" };
    return { jsonrpc: "2.0", id: "1", result: { addresses: [stacks, bitcoin] } };
  };
  window.LeatherProvider = { request };
  (window.btc_providers ??= []).push({ id: "LeatherProvider", name, icon, methods: ["getInfo", "getAddresses", "signMessage"] });
}

function keplr({ answers, id, addresses }) {
  const ask = async (method, params) => {
    const { result, error } = await window[answers](method, params);
    if (error) throw new Error(error.message);
    return result;
  };
  const ofTheHub = (chainId) => {
    if (chainId !== "cosmoshub-4") throw new Error(`There is no chain info for ${chainId}`);
  };
  window[id] = {
    enable: async (chainId) => (ofTheHub(chainId), await ask("connect"), undefined),
    getKey: async (chainId) => (ofTheHub(chainId), { bech32Address: addresses[0], algo: "secp256k1" }),
    signArbitrary: async (chainId, address, text) => {
      ofTheHub(chainId);
      return { pub_key: { type: "tendermint/PubKeySecp256k1", value: "" }, signature: await ask("sign", { address, text }) };
    },
  };
}

function tron({ answers, way, name, icon, addresses }) {
  const ask = async (method, params) => {
    const { result, error } = await window[answers](method, params);
    if (error?.plain) throw error.message;
    if (error) throw Object.assign(new Error(error.message), { code: error.code });
    return result;
  };
  const tronWeb = { defaultAddress: { base58: addresses[0] }, trx: { signMessageV2: (text) => ask("sign", { address: addresses[0], text }) } };
  const byRequest = async ({ method }) => {
    if (method !== "eth_requestAccounts") throw Object.assign(new Error(method), { code: 4200 });
    await ask("connect");
    return addresses;
  };
  const byOldRequest = async ({ method }) => {
    if (method !== "tron_requestAccounts") throw new Error(method);
    const { error } = await window[answers]("connect");
    return error ? { code: error.code, message: error.message } : { code: 200, message: "ok" };
  };
  if (way === "tron") window.tron = { request: byRequest, on: () => {}, tronWeb };
  if (way === "tronLink") window.tronLink = { request: byOldRequest, tronWeb };
  if (way !== "announced") return;
  window.tron = { request: byRequest, on: () => {}, tronWeb };
  const info = Object.freeze({ uuid: "3d6c1c9c-0d3c-4d3e-9d0a-9f5b5f1b7c11", name, icon, rdns: "example.test-tron" });
  const detail = Object.freeze({ info, provider: { request: byRequest, on: () => {}, tronWeb } });
  const tell = () => window.dispatchEvent(new CustomEvent("TIP6963:announceProvider", { detail }));
  window.addEventListener("TIP6963:requestProvider", tell);
  tell();
}
