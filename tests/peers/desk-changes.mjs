// Every change of the desk, for its judges: what there must be for it, what an operator fills in, and what somebody else does
// meanwhile so that it is no longer as the operator saw it. All of that is made by the admin interface, which answers at once;
// the command line makes what the interface cannot.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { Wallet } from "ethers";
import { BASE, begin, challenge, codeOf, exchange, login, register } from "./client.mjs";

const [, , , BINARY, DATABASE, ADMIN, ADMIN_KEY] = process.argv;

/** Runs a command of the operator. */
export function operate(...words) {
  const env = { ...process.env, COUNTERSIGN_DATABASE_URL: DATABASE, COUNTERSIGN_PUBLIC_URL: BASE, COUNTERSIGN_LOG: "warn" };
  try {
    return execFileSync(BINARY, words, { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    throw new Error(`countersign ${words.join(" ")}: ${error.stdout}${error.stderr}`);
  }
}

/** Asks the admin interface. */
export async function manage(method, path, body) {
  const answer = await fetch(`${ADMIN}/admin/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}`, ...(body ? { "content-type": "application/json" } : {}) },
    body: body ? JSON.stringify(body) : undefined,
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}

const part = encodeURIComponent;
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
  return (await manage("GET", `/users/${key.address}`)).id;
}

export const addMembers = (name, ...members) => manage("POST", `/groups/${name}/members/add`, { members });
const removeMember = (name, member) => manage("POST", `/groups/${name}/members/remove`, { members: [member] });
const block = (what, id, reason) => manage("PUT", `/${what}/${part(id)}/block`, reason ? { reason } : {});
/** Gives a user or a wallet a name for operators. */
export const giveName = (what, id, text) => manage("PUT", `/${what}/${part(id)}/name`, { name: text });
const unblock = (what, id) => manage("DELETE", `/${what}/${part(id)}/block`);

async function group({ members = [] } = {}) {
  const name = unique();
  await manage("POST", "/groups", { name });
  if (members.length > 0) await addMembers(name, ...members);
  return name;
}

const client = async () => (await manage("POST", "/clients", { client_name: `App ${unique()}`, redirect_uris: ["https://app.example/cb"] })).client_id;
const rename = (id) => manage("PATCH", `/clients/${id}`, { client_name: "Faster" });
const open = (id, uri) => manage("POST", `/clients/${id}/resources/open`, { resources: [uri] });

const scope = (name, title) => ({ scopes: [{ name, title }] });
const declare = (uri, name) => manage("POST", "/resources", { uri, ...scope(name, "Read") });
const redeclare = (uri) => manage("PUT", `/resources/${part(uri)}`, scope(`${unique()}.all`, "All"));

async function resource() {
  const uri = `https://${unique()}.example`;
  await declare(uri, `${unique()}.read`);
  return uri;
}

const suspend = (id) => manage("PUT", `/operators/${id}/suspension`, {});

/** Another operator, who signed in. */
async function operatorToBe() {
  const id = await user();
  await addMembers("operators", id);
  return id;
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
      return { page: `/people/${id}`, fields: { reason: "Rude — \"very\" ✗" }, meanwhile: () => block("users", id) };
    },
  },
  {
    change: "user-unblock",
    async prepare() {
      const id = await user();
      await block("users", id, "one");
      return { page: `/people/${id}`, meanwhile: () => unblock("users", id) };
    },
  },
  {
    change: "user-sign-out",
    async prepare() {
      const id = await user();
      return { page: `/people/${id}`, meanwhile: () => manage("DELETE", `/users/${id}`) };
    },
  },
  {
    change: "user-delete",
    async prepare() {
      const id = await user();
      return { page: `/people/${id}`, meanwhile: () => block("users", id) };
    },
  },
  {
    change: "wallet-block",
    async prepare() {
      const wallet = somebody();
      return { page: "/wallets", fields: { wallet, reason: "ticket 4711" }, meanwhile: () => block("wallets", wallet) };
    },
  },
  {
    change: "wallet-unblock",
    async prepare() {
      const wallet = somebody();
      await block("wallets", wallet);
      return { page: `/wallets/${wallet}`, meanwhile: () => unblock("wallets", wallet) };
    },
  },
  {
    change: "user-name",
    async prepare() {
      const id = await user();
      return { page: `/people/${id}`, fields: { person_name: "Zoë \"Zo\" O'Neill <b>" }, meanwhile: () => giveName("users", id, "Faster") };
    },
  },
  {
    change: "wallet-name",
    async prepare() {
      const wallet = somebody();
      return { page: `/wallets/${wallet}`, fields: { person_name: "نور حداد" }, meanwhile: () => giveName("wallets", wallet, "Faster") };
    },
  },
  {
    change: "operator-suspend",
    async prepare() {
      const id = await operatorToBe();
      return { page: `/people/${id}`, fields: { reason: "last day" }, meanwhile: () => suspend(id) };
    },
  },
  {
    change: "operator-restore",
    async prepare() {
      const id = await operatorToBe();
      await suspend(id);
      return { page: `/people/${id}`, meanwhile: () => manage("DELETE", `/operators/${id}/suspension`) };
    },
  },
  {
    change: "group-create",
    async prepare() {
      const name = unique();
      return { page: "/groups", fields: { group: name, title: "Team <b>Süd</b>" }, meanwhile: () => manage("POST", "/groups", { name }) };
    },
  },
  {
    change: "group-retitle",
    async prepare() {
      const name = await group();
      return { page: `/groups/${name}`, fields: { title: "Another" }, meanwhile: () => manage("DELETE", `/groups/${name}`) };
    },
  },
  {
    change: "group-delete",
    async prepare() {
      const name = await group();
      return { page: `/groups/${name}`, meanwhile: () => addMembers(name, somebody()) };
    },
  },
  {
    change: "member-add",
    async prepare() {
      const [name, member] = [await group(), somebody()];
      return { page: `/groups/${name}`, fields: { member }, meanwhile: () => addMembers(name, member) };
    },
  },
  {
    change: "member-remove",
    async prepare() {
      const member = somebody();
      const name = await group({ members: [member] });
      return { page: `/groups/${name}`, meanwhile: () => removeMember(name, member) };
    },
  },
  {
    // Nothing can make it stale: what it makes is not there yet.
    change: "client-register",
    async prepare() {
      return { page: "/clients", fields: { client_name: "Wiki", redirect_uris: "https://wiki.example/cb", scope: "openid profile", rule: "default" } };
    },
  },
  {
    change: "client-change",
    async prepare() {
      const id = await client();
      return { page: `/clients/${id}`, fields: { client_name: "Photos" }, meanwhile: () => rename(id) };
    },
  },
  {
    change: "client-rotate-secret",
    async prepare() {
      const id = await client();
      return { page: `/clients/${id}`, meanwhile: () => manage("POST", `/clients/${id}/secret`, {}) };
    },
  },
  {
    change: "client-open-resources",
    async prepare() {
      const [id, uri] = [await client(), await resource()];
      return { page: `/clients/${id}`, fields: { resources: uri }, meanwhile: () => open(id, uri) };
    },
  },
  {
    change: "client-close-resources",
    async prepare() {
      const [id, uri] = [await client(), await resource()];
      await open(id, uri);
      return { page: `/clients/${id}`, about: uri, meanwhile: () => manage("POST", `/clients/${id}/resources/close`, { resources: [uri] }) };
    },
  },
  {
    change: "client-access",
    async prepare() {
      const id = await client();
      return { page: `/clients/${id}`, fields: { rule: "nobody" }, meanwhile: () => manage("PUT", `/clients/${id}/access`, { rule: "everyone" }) };
    },
  },
  {
    change: "client-delete",
    async prepare() {
      const id = await client();
      return { page: `/clients/${id}`, meanwhile: () => rename(id) };
    },
  },
  {
    change: "resource-create",
    async prepare() {
      const [uri, name] = [`https://${unique()}.example`, `${unique()}.read`];
      const fields = { uri, resource_scopes: `${name} = Read what is new` };
      return { page: "/resources", fields, meanwhile: () => declare(uri, name) };
    },
  },
  {
    change: "resource-update",
    async prepare() {
      const uri = await resource();
      const fields = { resource_scopes: `${unique()}.write = Write` };
      return { page: "/resources", about: uri, fields, meanwhile: () => redeclare(uri) };
    },
  },
  {
    change: "resource-delete",
    async prepare() {
      const uri = await resource();
      return { page: "/resources", about: uri, meanwhile: () => redeclare(uri) };
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
      return { page: "/keys", fields: { at_once: true }, meanwhile: () => manage("POST", "/keys/rotate", { now: true }) };
    },
  },
  {
    change: "key-withdraw",
    async prepare() {
      await manage("POST", "/keys/rotate", { now: true });
      const { items } = await manage("POST", "/keys/rotate", {});
      const kid = items.find(({ state }) => state === "announced").kid;
      return { page: "/keys", about: kid, meanwhile: () => manage("POST", `/keys/${part(kid)}/withdraw`) };
    },
  },
];
