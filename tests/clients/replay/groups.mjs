// Maps the claim `groups` to roles as Grafana and Gitea do, with the requests of applications.mjs, for three users.
// node groups.mjs http://localhost:8080 '{"client": …, "admin": "0x<private key>", "staff": "0x<private key>"}'
//
// The operator registered the client and released all groups to it. The first wallet is in the groups `admins` and `staff`, the second
// in `staff`; a third, made here, is in none.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Wallet } from "ethers";
import jmespath from "jmespath";
import { CALLBACK, Person, Site, form } from "../oracle/site.mjs";
import { applications } from "./applications.mjs";

const [base, told] = process.argv.slice(2);
const { client, admin, staff } = JSON.parse(told);
const site = new Site(base);
const users = { admin: new Wallet(admin), staff: new Wallet(staff), other: Wallet.createRandom() };
const SCOPE = "openid profile groups";

/** `role_attribute_path`, with `role_attribute_strict = true`: without a role nobody comes in. */
const GRAFANA = "contains(groups[*], 'admins') && 'Admin' || contains(groups[*], 'staff') && 'Editor'";
/** `--required-claim-name groups --required-claim-value staff --group-claim-name groups --admin-group admins` */
const GITEA = { required: "staff", admin: "admins" };

/** Grafana looks into the ID token first, then into what userinfo says. */
const grafana = ({ id_token, userinfo }) => jmespath.search(id_token, GRAFANA) || jmespath.search(userinfo, GRAFANA) || "refused";
/** Gitea knows both at once; a claim may be one text or a list. */
const gitea = ({ id_token, userinfo }) => {
  const groups = [{ ...id_token, ...userinfo }.groups ?? []].flat();
  if (!groups.includes(GITEA.required)) return "refused";
  return groups.includes(GITEA.admin) ? "administrator" : "user";
};

async function send(path, { headers, body }) {
  const { status, json, text } = await site.send(path, { method: "POST", headers, body: String(form(body)) });
  assert.equal(status, 200, text);
  return json;
}

/** What an application learns about a user. */
async function learned(application, wallet) {
  const metadata = (await site.send("/.well-known/openid-configuration")).json;
  const given = { client, metadata, redirect_uri: CALLBACK, state: randomBytes(16).toString("hex"), nonce: randomBytes(16).toString("hex"), verifier: randomBytes(48).toString("base64url") };
  const { location } = await new Person(site, wallet).authorize({ ...application.authorize(given), scope: SCOPE });
  given.code = new URL(location).searchParams.get("code");
  assert.ok(given.code, location);
  given.tokens = await send(metadata.token_endpoint, application.token[0](given));
  const id_token = JSON.parse(Buffer.from(given.tokens.id_token.split(".")[1], "base64url"));
  const userinfo = (await site.send(metadata.userinfo_endpoint, { headers: application.userinfo(given) })).json;
  assert.deepEqual(userinfo.groups, id_token.groups, "both tell the same groups");
  return { id_token, userinfo };
}

const WANTED = [
  ["Grafana, generic_oauth", grafana, { admin: "Admin", staff: "Editor", other: "refused" }],
  ["Gitea", gitea, { admin: "administrator", staff: "user", other: "refused" }],
];
let failed = 0;
for (const [name, role, wanted] of WANTED) {
  const application = applications.find((each) => each.name === name);
  for (const [user, expected] of Object.entries(wanted)) {
    try {
      assert.equal(role(await learned(application, users[user])), expected);
      console.log(`ok      ${name}: ${user} is ${expected}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}: ${user} is ${expected}\n        ${error.message}`);
    }
  }
}
process.exitCode = failed === 0 ? 0 : 1;
