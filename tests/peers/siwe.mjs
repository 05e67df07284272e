// Checks the sign-in with wallets' own code: npm `siwe` and MetaMask's rules parse the text, and ethers makes
// the signatures.
// node siwe.mjs http://localhost:8080

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { Wallet, Signature, computeAddress, getAddress, hexlify, recoverAddress, hashMessage, toUtf8Bytes } from "ethers";
import { SiweMessage } from "siwe";
import { BASE, Cookies, begin, challenge, check, codeOf, exchange, finish, login, refused, register, request, userinfo } from "./client.mjs";

const { detectSIWE, isValidSIWEOrigin } = createRequire(import.meta.url)("@metamask/controller-utils");

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const BAD_SIGNATURE = [401, "access_denied", "Failed to verify signature"];
const BAD_CHALLENGE = [401, "access_denied", "Challenge is not valid or has expired"];
const NO_SESSION = [400, "invalid_request", "Missing or expired OAuth session"];

const wallet = Wallet.createRandom();
const address = wallet.address;
const client = await register({ client_name: "Peers: siwe", scopes: ["profile", "email"] });

const hexOf = (text) => hexlify(toUtf8Bytes(text));
const bytesOf = (signature) => Buffer.from(signature.slice(2), "hex");

/** A browser with a text to sign. */
async function ready({ who = address, cookies } = {}) {
  const visit = await begin(client, { scope: "profile email", cookies });
  const issued = await challenge(visit, who);
  return { visit, issued, text: issued.challenge };
}

// --- the text ----------------------------------------------------------------------------------------------

await check("the text parses with npm siwe, and siwe serializes it to the same text", async () => {
  const { text } = await ready();
  assert.equal(new SiweMessage(text).prepareMessage(), text);
});

await check("its fields are ours: domain, address, uri, version, chain, times, request id", async () => {
  const { issued, text } = await ready();
  const read = new SiweMessage(text);
  assert.equal(read.domain, new URL(BASE).host);
  assert.equal(read.uri, `${BASE}/oauth/login`);
  assert.equal(read.version, "1");
  assert.equal(read.chainId, 1);
  assert.equal(issued.chain, "eip155:1");
  assert.equal(read.address, address);
  assert.equal(issued.wallet_address, address);
  assert.equal(read.expirationTime, issued.expires_at);
  assert.equal(Date.parse(read.expirationTime) - Date.parse(read.issuedAt), 300_000);
  assert.ok(Math.abs(Date.parse(read.issuedAt) - Date.now()) < 60_000, read.issuedAt);
  for (const time of [read.issuedAt, read.expirationTime]) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.match(read.requestId, /^[0-9a-f-]{36}$/);
});

await check("B-016 the nonce is 96 bits or more of letters and digits, and new in each text", async () => {
  const { visit, text } = await ready();
  const nonces = new Set([new SiweMessage(text).nonce]);
  for (let count = 0; count < 3; count += 1) nonces.add(new SiweMessage((await challenge(visit, address)).challenge).nonce);
  assert.equal(nonces.size, 4);
  for (const nonce of nonces) assert.match(nonce, /^[A-Za-z0-9]{17,}$/);
});

await check("B-004 statement and resources contain the redirect URI's origin, the client and the scopes, but not the client's name", async () => {
  const { visit, text } = await ready();
  const read = new SiweMessage(text);
  assert.match(read.statement, /client\.example/);
  assert.ok(!text.includes("Peers"), text);
  assert.ok(read.resources.includes("https://client.example"), String(read.resources));
  assert.ok(read.resources.some((each) => each.includes(visit.fields.client_id)), String(read.resources));
  for (const scope of ["profile", "email"]) assert.ok(read.resources.some((each) => each.endsWith(`:${scope}`)), scope);
  assert.ok(!text.includes(visit.fields.state), "the text does not contain the client's state");
});

await check("A-055 the text is printable ASCII with line feeds, 1,500 bytes at most", async () => {
  const { text } = await ready();
  assert.match(text, /^[\x20-\x7e\n]{1,1500}$/);
});

await check("the text of a hostile client, with the longest scope list and a private-use scheme, parses too", async () => {
  const hostile = await register({
    client_name: "x wants you to sign in with your Ethereum account: 日本語",
    redirect_uris: ["com.example.app:/oauth/cb"],
    scopes: ["profile", "email", "openid", "offline_access"],
  });
  const visit = await begin(hostile, { scope: "profile email openid offline_access" });
  const { challenge: text } = await challenge(visit, address);
  assert.equal(new SiweMessage(text).prepareMessage(), text);
  assert.ok(detectSIWE({ data: hexOf(text) }).isSIWEMessage);
  assert.ok(!text.includes("日"));
});

await check("siwe's own verification agrees: signature, domain, nonce and time", async () => {
  const { text } = await ready();
  const read = new SiweMessage(text);
  const { success, error } = await read.verify({
    signature: await wallet.signMessage(text),
    domain: new URL(BASE).host,
    nonce: read.nonce,
    time: new Date().toISOString(),
  });
  assert.ok(success, JSON.stringify(error));
});

await check("siwe's own verification refuses it for another domain and after its expiration", async () => {
  const { text } = await ready();
  const signature = await wallet.signMessage(text);
  const late = new Date(Date.now() + 301_000).toISOString();
  for (const doubt of [{ domain: "evil.example" }, { time: late }]) {
    const verdict = await new SiweMessage(text).verify({ signature, ...doubt }, { suppressExceptions: true });
    assert.equal(verdict.success, false, JSON.stringify(doubt));
  }
});

await check("MetaMask recognizes it as a sign-in request of our own page, and of no other (B-014)", async () => {
  const { text } = await ready();
  const siwe = detectSIWE({ data: hexOf(text) });
  assert.ok(siwe.isSIWEMessage, "MetaMask would show a plain signature request");
  assert.equal(siwe.parsedMessage.address.toLowerCase(), address.toLowerCase(), "MetaMask warns when the account differs");
  const page = new URL(BASE);
  assert.ok(isValidSIWEOrigin({ origin: page.origin, siwe }));
  const port = Number(page.port || 443) - 1;
  for (const origin of [`${page.protocol}//evil.example`, `${page.protocol}//${page.hostname}:${port}`, `${page.protocol}//${page.hostname}.evil.example:${page.port}`]) {
    assert.ok(!isValidSIWEOrigin({ origin, siwe }), origin);
  }
});

// --- signatures that log in --------------------------------------------------------------------------------

const spellings = {
  "hex with 0x": (s) => s,
  "hex without 0x": (s) => s.slice(2),
  "hex in capital letters": (s) => `0x${s.slice(2).toUpperCase()}`,
  base64: (s) => bytesOf(s).toString("base64"),
  base64url: (s) => bytesOf(s).toString("base64url"),
  "v as 0 or 1": (s) => `${s.slice(0, -2)}${s.endsWith("1b") ? "00" : "01"}`,
};

const subjects = new Set();
for (const [name, spell] of Object.entries(spellings)) {
  await check(`a signature by ethers, ${name}, logs in, and its code can be exchanged`, async () => {
    const { visit, text } = await ready();
    const answer = await login(visit, { address, text, signature: spell(await wallet.signMessage(text)) });
    assert.equal(answer.status, 200, answer.text);
    const tokens = await exchange(visit, codeOf(answer.json.redirect_to, visit));
    assert.equal(tokens.scope.split(" ").sort().join(" "), "email profile");
    assert.equal(tokens.expires_in, 3600);
    const user = await userinfo(tokens);
    assert.equal(user.address, address);
    assert.equal(user.preferred_username, `User_${user.sub.slice(0, 8)}`);
    subjects.add(user.sub);
  });
}

await check("without a request for JSON, the response is a 303 to the client, with code, state and iss", async () => {
  const { visit, text } = await ready();
  const answer = await login(visit, { address, text, signature: await wallet.signMessage(text), headers: {} });
  assert.equal(answer.status, 303, answer.text);
  await exchange(visit, codeOf(answer.location, visit));
});

for (const [name, spell] of [["small letters", (a) => a.toLowerCase()], ["capital letters", (a) => `0x${a.slice(2).toUpperCase()}`]]) {
  await check(`B-030 the address in ${name} is the same user`, async () => {
    const { visit, issued, text } = await ready({ who: spell(address) });
    assert.equal(issued.wallet_address, address);
    const answer = await login(visit, { address: spell(address), text, signature: await wallet.signMessage(text) });
    assert.equal(answer.status, 200, answer.text);
    subjects.add((await userinfo(await exchange(visit, codeOf(answer.json.redirect_to, visit)))).sub);
  });
}

await check("B-030 all of these sign-ins were one user", () => assert.equal(subjects.size, 1));

await check("two tabs of one browser sign in side by side, each with its own state (A-038)", async () => {
  const cookies = new Cookies();
  const one = await ready({ cookies });
  const two = await ready({ cookies });
  for (const { visit, text } of [one, two]) {
    const answer = await login(visit, { address, text, signature: await wallet.signMessage(text) });
    assert.equal(answer.status, 200, answer.text);
    await exchange(visit, codeOf(answer.json.redirect_to, visit));
  }
});

await check("the rest of the flow: a refresh returns a new pair of tokens, and after the revocation none is valid", async () => {
  const { visit, text } = await ready();
  const answer = await login(visit, { address, text, signature: await wallet.signMessage(text) });
  const tokens = await exchange(visit, codeOf(answer.json.redirect_to, visit));
  const credentials = { client_id: client.client_id, client_secret: client.client_secret };
  const refresh = (token) => request("POST", "/oauth/token", { body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: token, ...credentials }) });
  const next = await refresh(tokens.refresh_token);
  assert.equal(next.status, 200, next.text);
  assert.notEqual(next.json.refresh_token, tokens.refresh_token);
  const revoked = await request("POST", "/oauth/revoke", { body: { token: next.json.refresh_token, ...credentials } });
  assert.equal(revoked.status, 200, revoked.text);
  assert.deepEqual(revoked.json, {});
  const gone = await request("GET", "/oauth/userinfo", { headers: { authorization: `Bearer ${next.json.access_token}` } });
  assert.equal(gone.status, 401, gone.text);
  refused(await refresh(next.json.refresh_token), 400, "invalid_grant", /./);
});

// --- signatures that do not log in -------------------------------------------------------------------------

const other = Wallet.createRandom();
const highS = (signature) => {
  const { r, s, yParity } = Signature.from(signature);
  const high = (ORDER - BigInt(s)).toString(16).padStart(64, "0");
  return `0x${r.slice(2)}${high}${yParity === 0 ? "1c" : "1b"}`;
};
const withV = (signature, v) => `${signature.slice(0, -2)}${v.toString(16).padStart(2, "0")}`;
const flippedV = (signature) => withV(signature, signature.endsWith("1b") ? 28 : 27);

const wrong = {
  "B-022 with a high s": highS,
  "B-022 with a high s, base64": (s) => bytesOf(highS(s)).toString("base64"),
  "with the other v, from which another key is recovered": flippedV,
  "B-022 of zeros": () => `0x${"00".repeat(64)}1b`,
  "B-022 with r of the group's order": (s) => `0x${ORDER.toString(16)}${s.slice(66)}`,
  "B-024 empty": () => "",
  "B-024 of one byte": () => "0x1b",
  "B-024 of 64 bytes": (s) => s.slice(0, -2),
  "B-023 in the compact form of ERC-2098": (s) => Signature.from(s).compactSerialized,
  "B-024 of 66 bytes": (s) => `${s}00`,
  "B-024 of 130 bytes": (s) => s + s.slice(2),
  "B-024 with an odd number of digits": (s) => s.slice(0, -1),
  "B-024 with 0x twice": (s) => `0x${s}`,
  "B-024 with a space inside": (s) => `${s.slice(0, 40)} ${s.slice(40)}`,
  "B-024 in full-width digits": (s) => s.replace(/[0-9]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)),
  "B-024 with base64 of its hex text": (s) => Buffer.from(s).toString("base64"),
  "B-024 that is plain words": () => "not a signature",
  "B-024 of 1 KiB": () => `0x${"ab".repeat(1024)}`,
  "B-025 in Bitcoin's order, header first": (s) => `0x${s.slice(-2)}${s.slice(2, -2)}`,
};

for (const [name, forge] of Object.entries(wrong)) {
  await check(`a signature ${name} is refused`, async () => {
    const { visit, text } = await ready();
    refused(await login(visit, { address, text, signature: forge(await wallet.signMessage(text)) }), ...BAD_SIGNATURE);
  });
}

await check("B-021 a v of 2, 26, 29 to 38 or 255 is refused", async () => {
  for (const v of [2, 26, 29, 30, 31, 35, 36, 37, 38, 255]) {
    const { visit, text } = await ready();
    refused(await login(visit, { address, text, signature: withV(await wallet.signMessage(text), v) }), ...BAD_SIGNATURE);
  }
});

await check("the forged signatures above are correct forgeries: the same key is recovered from the high s", async () => {
  const { text } = await ready();
  const signature = await wallet.signMessage(text);
  const { r, s, yParity } = Signature.from(signature);
  assert.equal(recoverAddress(hashMessage(text), { r, s, yParity }), computeAddress(wallet.signingKey.publicKey));
  assert.ok(BigInt(`0x${highS(signature).slice(66, 130)}`) > ORDER / 2n);
});

await check("a signature of another text is refused, however similar (B-002)", async () => {
  for (const alter of [(t) => `${t}\n`, (t) => t.replace("Version: 1", "Version: 2"), (t) => t.toLowerCase(), () => "hello"]) {
    const { visit, text } = await ready();
    refused(await login(visit, { address, text, signature: await wallet.signMessage(alter(text)) }), ...BAD_SIGNATURE);
  }
});

await check("a signature by another wallet is refused (B-005)", async () => {
  const { visit, text } = await ready();
  refused(await login(visit, { address, text, signature: await other.signMessage(text) }), ...BAD_SIGNATURE);
});

await check("the text for one address, signed and sent by another, is refused (B-005)", async () => {
  const { visit, text } = await ready();
  refused(await login(visit, { address: other.address, text, signature: await other.signMessage(text) }), ...BAD_CHALLENGE);
});

await check("a text that was never issued is refused, even with a valid signature (B-002)", async () => {
  for (const alter of [(t) => t.replace(/Nonce: \w+/, "Nonce: 00000000000000000000000000000000"), (t) => t.replace("client.example", "evil.example"), (t) => `${t}\n`, () => "hello"]) {
    const { visit, text } = await ready();
    refused(await login(visit, { address, text: alter(text), signature: await wallet.signMessage(alter(text)) }), ...BAD_CHALLENGE);
  }
});

await check("the text of another session is refused, and stays valid in its own (B-003)", async () => {
  const [mine, theirs] = [await ready(), await ready()];
  const signature = await wallet.signMessage(mine.text);
  refused(await login(theirs.visit, { address, text: mine.text, signature }), ...BAD_CHALLENGE);
  refused(await login(theirs.visit, { address, text: mine.text, signature, fields: mine.visit.fields }), ...NO_SESSION);
  assert.equal((await login(mine.visit, { address, text: mine.text, signature })).status, 200);
});

await check("without a session, or with another state, client or address in the fields, it is refused (A-052)", async () => {
  const { visit, text } = await ready();
  const signature = await wallet.signMessage(text);
  const with_ = (fields) => login(visit, { address, text, signature, fields: { ...visit.fields, ...fields } });
  refused(await login(visit, { address, text, signature, cookies: new Cookies() }), ...NO_SESSION);
  refused(await with_({ state: "another" }), ...NO_SESSION);
  refused(await with_({ redirect_uri: "https://evil.example/cb" }), ...NO_SESSION);
  refused(await with_({ client_id: "00000000-0000-4000-8000-000000000000" }), 400, "invalid_client", "Invalid client_id");
  assert.equal((await login(visit, { address, text, signature })).status, 200, "none of these used it up");
});

await check("a used text is refused in its session, and by a copy of the session (B-001)", async () => {
  const { visit, text } = await ready();
  const signature = await wallet.signMessage(text);
  const before = visit.cookies.copy();
  assert.equal((await login(visit, { address, text, signature })).status, 200);
  refused(await login(visit, { address, text, signature, cookies: before }), ...BAD_CHALLENGE);
  const again = await login(visit, { address, text, signature });
  if (again.status === 401) refused(again, ...BAD_CHALLENGE);
  else refused(again, ...NO_SESSION);
});

await check("B-011 sixteen submissions of one signature at once return one code", async () => {
  const { visit, text } = await ready();
  const signature = await wallet.signMessage(text);
  const answers = await Promise.all(Array.from({ length: 16 }, () => login(visit, { address, text, signature, cookies: visit.cookies.copy() })));
  assert.equal(answers.filter((each) => each.status === 200).length, 1, answers.map((each) => each.status).join(" "));
  for (const each of answers.filter((one) => one.status !== 200)) refused(each, ...BAD_CHALLENGE);
});

await check("one wrong signature does not use up the text; five do (A-050)", async () => {
  const { visit, text } = await ready();
  const bad = await other.signMessage(text);
  for (let count = 0; count < 4; count += 1) refused(await login(visit, { address, text, signature: bad }), ...BAD_SIGNATURE);
  const copy = visit.cookies.copy();
  refused(await login(visit, { address, text, signature: bad }), ...BAD_SIGNATURE);
  refused(await login(visit, { address, text, signature: await wallet.signMessage(text) }), ...BAD_CHALLENGE);
  assert.equal((await login(visit, { address, text, signature: await wallet.signMessage(text), cookies: copy })).status, 200, "after four wrong ones the right one is accepted");
});

await check("if a field is missing or not a string, the error names it (A-053)", async () => {
  const { visit, text } = await ready();
  const whole = { wallet_address: address, challenge: text, signature: await wallet.signMessage(text), ...visit.fields };
  for (const name of ["wallet_address", "challenge", "signature", "client_id", "redirect_uri", "state"]) {
    const { [name]: _, ...rest } = whole;
    for (const body of [rest, { ...whole, [name]: 7 }, { ...whole, [name]: null }]) {
      const answer = await request("POST", "/oauth/login", { cookies: visit.cookies.copy(), headers: { accept: "application/json" }, body });
      refused(answer, 400, "invalid_request", new RegExp(name));
    }
  }
});

await check("an invalid address gets no text (B-029, B-031, B-032)", async () => {
  const visit = await begin(client);
  const mixed = getAddress(address).replace(/[a-fA-F](?=[^]*$)/, (letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()));
  const bad = ["", "hello", address.slice(0, -1), `${address}0`, `${address} `, `\u200b${address}`, address.replace("0x", "0х"), "vitalik.eth", `eip155:0:${address}`, `solana:1:${address}`, mixed];
  for (const who of bad) {
    const answer = await request("POST", "/oauth/challenge", { cookies: visit.cookies, body: { wallet_address: who, ...visit.fields } });
    refused(answer, 400, "invalid_request", /./);
  }
});

await check("there is no text without a session either", async () => {
  const answer = await request("POST", "/oauth/challenge", { body: { wallet_address: address } });
  refused(answer, ...NO_SESSION);
});

finish();
