// Every change of the desk, for its judge: what there must be for it, what an operator fills in, and what somebody else does
// meanwhile so that it is no longer as the operator saw it. Everything is made by the command line.

import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { Wallet } from "ethers";
import { BASE, begin, challenge, exchange, login, codeOf, register } from "./client.mjs";

const [, , , BINARY, DATABASE] = process.argv;

/** Runs a command of the operator. */
export function operate(...words) {
  const env = { ...process.env, COUNTERSIGN_DATABASE_URL: DATABASE, COUNTERSIGN_PUBLIC_URL: BASE, COUNTERSIGN_LOG: "warn" };
  try {
    return execFileSync(BINARY, words, { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    throw new Error(`countersign ${words.join(" ")}: ${error.stdout}${error.stderr}`);
  }
}

const told = (...words) => JSON.parse(operate(...words, "--output", "json"));
const unique = () => `g${randomBytes(5).toString("hex")}`;
const somebody = () => `eip155:1:${Wallet.createRandom().address}`;

/** Somebody who signed in. */
async function user() {
  const client = await register();
  const key = Wallet.createRandom();
  const visit = await begin(client);
  const { challenge: text } = await challenge(visit, key.address);
  const answer = await login(visit, { address: key.address, text, signature: await key.signMessage(text) });
  await exchange(visit, codeOf(answer.json.redirect_to, visit));
  return told("user", "show", key.address).id;
}

function group({ members = [] } = {}) {
  const name = unique();
  operate("group", "create", name);
  if (members.length > 0) operate("group", "add", name, ...members);
  return name;
}

const client = () => told("client", "create", "--name", `App ${unique()}`, "--redirect-uri", "https://app.example/cb").client_id;

function resource() {
  const uri = `https://${unique()}.example`;
  operate("resource", "create", uri, "--scope", `${unique()}.read=Read`);
  return uri;
}

function adminKey() {
  const name = unique();
  operate("admin-key", "create", "--name", name, "--scope", "users:read");
  return name;
}

/** `prepare` makes what there must be. `about` is a hidden value that tells one form of a page from others. */
export const CHANGES = [
  {
    change: "user-block",
    async prepare() {
      const id = await user();
      return { page: `/people/${id}`, fields: { reason: "Rude — \"very\" ✗" }, meanwhile: () => operate("user", "block", id) };
    },
  },
  {
    change: "user-unblock",
    async prepare() {
      const id = await user();
      operate("user", "block", id, "--reason", "one");
      return { page: `/people/${id}`, meanwhile: () => operate("user", "unblock", id) };
    },
  },
  {
    change: "user-sign-out",
    async prepare() {
      const id = await user();
      return { page: `/people/${id}`, meanwhile: () => operate("user", "delete", id, "--yes") };
    },
  },
  {
    change: "user-delete",
    async prepare() {
      const id = await user();
      return { page: `/people/${id}`, meanwhile: () => operate("user", "block", id) };
    },
  },
  {
    change: "wallet-block",
    async prepare() {
      const wallet = somebody();
      return { page: "/wallets", fields: { wallet, reason: "ticket 4711" }, meanwhile: () => operate("wallet", "block", wallet) };
    },
  },
  {
    change: "wallet-unblock",
    async prepare() {
      const wallet = somebody();
      operate("wallet", "block", wallet);
      return { page: `/wallets/${wallet}`, meanwhile: () => operate("wallet", "unblock", wallet) };
    },
  },
  {
    change: "group-create",
    async prepare() {
      const name = unique();
      return { page: "/groups", fields: { group: name, title: "Team <b>Süd</b>" }, meanwhile: () => operate("group", "create", name) };
    },
  },
  {
    change: "group-retitle",
    async prepare() {
      const name = group();
      return { page: `/groups/${name}`, fields: { title: "Another" }, meanwhile: () => operate("group", "delete", name, "--force") };
    },
  },
  {
    change: "group-delete",
    async prepare() {
      const name = group();
      return { page: `/groups/${name}`, meanwhile: () => operate("group", "add", name, somebody()) };
    },
  },
  {
    change: "member-add",
    async prepare() {
      const [name, member] = [group(), somebody()];
      return { page: `/groups/${name}`, fields: { member }, meanwhile: () => operate("group", "add", name, member) };
    },
  },
  {
    change: "member-remove",
    async prepare() {
      const member = somebody();
      const name = group({ members: [member] });
      return { page: `/groups/${name}`, meanwhile: () => operate("group", "remove", name, member) };
    },
  },
  {
    // Nothing can make it stale: what it makes is not there yet.
    change: "client-register",
    async prepare() {
      return { page: "/clients", fields: { client_name: "Wiki", redirect_uris: "https://wiki.example/cb", scope: "openid profile" } };
    },
  },
  {
    change: "client-change",
    async prepare() {
      const id = client();
      return { page: `/clients/${id}`, fields: { client_name: "Photos" }, meanwhile: () => operate("client", "update", id, "--name", "Faster") };
    },
  },
  {
    change: "client-rotate-secret",
    async prepare() {
      const id = client();
      return { page: `/clients/${id}`, meanwhile: () => operate("client", "rotate-secret", id) };
    },
  },
  {
    change: "client-open-resources",
    async prepare() {
      const [id, uri] = [client(), resource()];
      return { page: `/clients/${id}`, fields: { resources: uri }, meanwhile: () => operate("client", "open-resource", id, uri) };
    },
  },
  {
    change: "client-close-resources",
    async prepare() {
      const [id, uri] = [client(), resource()];
      operate("client", "open-resource", id, uri);
      return { page: `/clients/${id}`, about: uri, meanwhile: () => operate("client", "close-resource", id, uri) };
    },
  },
  {
    change: "client-access",
    async prepare() {
      const id = client();
      return { page: `/clients/${id}`, fields: { rule: "nobody" }, meanwhile: () => operate("access", "set", id, "everyone") };
    },
  },
  {
    change: "client-delete",
    async prepare() {
      const id = client();
      return { page: `/clients/${id}`, meanwhile: () => operate("client", "update", id, "--name", "Faster") };
    },
  },
  {
    change: "resource-create",
    async prepare() {
      const [uri, name] = [`https://${unique()}.example`, `${unique()}.read`];
      const fields = { uri, resource_scopes: `${name} = Read what is new` };
      return { page: "/resources", fields, meanwhile: () => operate("resource", "create", uri, "--scope", `${name}=Read`) };
    },
  },
  {
    change: "resource-update",
    async prepare() {
      const uri = resource();
      const fields = { resource_scopes: `${unique()}.write = Write` };
      return { page: "/resources", about: uri, fields, meanwhile: () => operate("resource", "update", uri, "--scope", `${unique()}.all=All`) };
    },
  },
  {
    change: "resource-delete",
    async prepare() {
      const uri = resource();
      return { page: "/resources", about: uri, meanwhile: () => operate("resource", "update", uri, "--scope", `${unique()}.all=All`) };
    },
  },
  {
    change: "admin-key-create",
    async prepare() {
      const name = unique();
      const fields = { key_name: name, admin_scopes: ["users:read", "groups:write"], expires_days: "30" };
      return { page: "/admin-keys", fields, meanwhile: () => operate("admin-key", "create", "--name", name, "--scope", "users:read") };
    },
  },
  {
    change: "admin-key-revoke",
    async prepare() {
      const name = adminKey();
      return { page: "/admin-keys", about: name, meanwhile: () => operate("admin-key", "revoke", name) };
    },
  },
  {
    change: "keys-rotate",
    async prepare() {
      return { page: "/keys", fields: { at_once: true }, meanwhile: () => operate("key", "rotate", "--now", "--yes") };
    },
  },
  {
    change: "key-withdraw",
    async prepare() {
      operate("key", "rotate", "--now", "--yes");
      operate("key", "rotate");
      const kid = told("key", "list").find(({ state }) => state === "next").kid;
      return { page: "/keys", about: kid, meanwhile: () => operate("key", "retire", kid) };
    },
  },
];
