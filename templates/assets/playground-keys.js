// The throw-away wallet's keys and habits. Both are in this tab's sessionStorage, so they survive the way
// from the playground to the sign-in page and back, and are deleted with the tab. Keys are never sent
// anywhere.

import { keccak256 } from "./keccak.js";
import { bytesOf, numberOf, publicKey, randomScalar, sign } from "./secp256k1.js";

const KEYS = "countersign.playground.keys";
const HABITS = "countersign.playground.habits";

/** What the wallet can be made to do, so that a developer sees how the sign-in page reacts. */
export const ALL_HABITS = [
  "reject_connection",
  "reject_signature",
  "locked",
  "pending",
  "wrong_account",
  "second_account",
  "switches_account",
  "slow",
  "cannot_sign",
];

const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The bytes of a hex text such as 0x00ff. */
export function bytesOfHex(text) {
  return Uint8Array.from(text.replace(/^0x/, "").match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

function read(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? "null");
  } catch {
    return null; // A value that this module did not write.
  }
}

/** An account: its key, and its address in mixed case (EIP-55). */
export function accountOf(key) {
  const plain = hexOf(keccak256(publicKey(key)).slice(12));
  const hash = hexOf(keccak256(new TextEncoder().encode(plain)));
  const mixed = Array.from(plain, (digit, index) => (Number.parseInt(hash[index], 16) > 7 ? digit.toUpperCase() : digit));
  return { key, address: `0x${mixed.join("")}` };
}

/** The two accounts of this tab. They are created if there are none. */
export function accounts() {
  const kept = read(KEYS);
  const good = Array.isArray(kept) && kept.length === 2 && kept.every((key) => /^[0-9a-f]{64}$/.test(key));
  return good ? kept.map((key) => accountOf(numberOf(bytesOfHex(key)))) : newAccounts();
}

/** Deletes the keys and creates new ones. */
export function newAccounts() {
  const keys = [randomScalar(), randomScalar()];
  sessionStorage.setItem(KEYS, JSON.stringify(keys.map((key) => hexOf(bytesOf(key)))));
  return keys.map(accountOf);
}

/** Signs a text as wallets do for personal_sign (EIP-191): 65 bytes in hex, the last one 27 or 28. */
export function personalSign(text, key) {
  const prefix = new TextEncoder().encode(`\x19Ethereum Signed Message:\n${text.length}`);
  const { r, s, recovery } = sign(keccak256(new Uint8Array([...prefix, ...text])), key);
  return `0x${hexOf(bytesOf(r))}${hexOf(bytesOf(s))}${(27 + recovery).toString(16)}`;
}

/** The habits that are switched on. */
export function habits() {
  const kept = read(HABITS);
  return new Set(Array.isArray(kept) ? kept.filter((habit) => ALL_HABITS.includes(habit)) : []);
}

/** Switches a habit on or off. */
export function setHabit(habit, on) {
  const all = habits();
  if (on) all.add(habit);
  else all.delete(habit);
  sessionStorage.setItem(HABITS, JSON.stringify([...all]));
}

/** Deletes the keys and the habits. */
export function forgetWallet() {
  sessionStorage.removeItem(KEYS);
  sessionStorage.removeItem(HABITS);
}
