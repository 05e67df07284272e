// The sign-in page on another host: a copy of it, and proxies between a person and the server. The first line
// of the page tells them apart, and no wallet signs anything that the server accepts.
// node copies.mjs http://localhost:8080          Screenshots go to target/screenshots/copies.

import assert from "node:assert/strict";
import { BASE, Cookies, authorizeUrl, check } from "./client.mjs";
import { SLOW, TestWallet, allowedHosts, arrive, clientPage, close, inState, loopback, person, picturesIn } from "./people.mjs";

const picture = picturesIn("target/screenshots/copies");
const HOST = new URL(BASE).host;
const EVIL = "https://auth.evil.example";
const EVIL_HOST = new URL(EVIL).host;
const STOP = "Do not sign. Close this page.";
allowedHosts.add(EVIL_HOST);

/**
 * A person's browser, and a proxy at another host that has a session of its own with the server. `rewrite`
 * changes what passes, by its kind.
 */
async function proxied({ rewrite = (body) => body, ...settings } = {}) {
  const wallet = new TestWallet();
  const context = await person({ wallet, eip6963: true, ...settings });
  const jar = new Cookies();
  const logins = [];
  const pass = async (method, path, { headers = {}, body } = {}) => {
    const response = await fetch(BASE + path, { method, redirect: "manual", body, headers: { ...headers, cookie: String(jar) } });
    jar.take(response);
    if (path === "/oauth/login") logins.push(response.status);
    return response;
  };
  const request = authorizeUrl(loopback, { redirectUri: clientPage, scope: "profile", state: "a copy" });
  assert.equal((await pass("GET", request.pathname + request.search)).status, 302);
  await context.route(`${EVIL}/**`, async (route) => {
    const made = route.request();
    const { pathname, search } = new URL(made.url());
    const accept = made.headers().accept ?? "*/*";
    const headers = { accept, ...(made.postData() ? { "content-type": made.headers()["content-type"], origin: new URL(BASE).origin } : {}) };
    // What a rewritten page sends is turned back, so that the server sees its own host.
    const response = await pass(made.method(), pathname + search, { headers, body: made.postData() ?? undefined });
    const contentType = response.headers.get("content-type") ?? "";
    const body = Buffer.from(await response.arrayBuffer());
    const text = /html|json|javascript/.test(contentType) ? rewrite(body.toString(), contentType) : body;
    await route.fulfill({ status: response.status, contentType, body: text });
  });
  const page = await context.newPage();
  await page.goto(`${EVIL}/auth`);
  return { context, page, wallet, logins };
}

/** The first line that a person reads. */
const firstLine = async (page) => (await page.locator("body").innerText()).split("\n").find((line) => line.trim() !== "");

async function isStopped(page) {
  await inState(page, "wrong-host");
  assert.equal(await firstLine(page), STOP);
  assert.ok(!(await page.locator("header").innerText()).includes("evil"), "the header names no host");
  assert.equal(await page.locator("button:visible, select:visible, input:visible").count(), 0, "nothing can be signed");
  assert.ok(await page.getByText(`You opened this page as ${EVIL_HOST} but it belongs to ${HOST}.`).isVisible());
}

await check("the page itself says what its address bar must read, and it does", async () => {
  const context = await person({ wallet: new TestWallet(), eip6963: true });
  const { page } = await arrive(context);
  await inState(page, "ready");
  assert.equal(await firstLine(page), `Your address bar must read ${HOST}`);
  assert.equal(new URL(page.url()).host, HOST);
  await picture(page, "real");
  await context.close();
});

await check("a proxy in front of the page: the first line says not to sign, and nothing can be signed", async () => {
  const { context, page, wallet } = await proxied();
  await isStopped(page);
  await picture(page, "proxy");
  assert.deepEqual(wallet.calls, []);
  await context.close();
});

await check("a copy of the page that was saved: the same", async () => {
  const { context: real } = { context: await person() };
  const { page: saved } = await arrive(real);
  const html = await (await fetch(saved.url(), { headers: { cookie: (await real.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ") } })).text();
  await real.close();
  const context = await person({ wallet: new TestWallet(), eip6963: true });
  await context.route(`${EVIL}/**`, async (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === "/auth") return route.fulfill({ contentType: "text/html", body: html });
    const response = await fetch(BASE + pathname);
    return route.fulfill({ status: response.status, contentType: response.headers.get("content-type"), body: Buffer.from(await response.arrayBuffer()) });
  });
  const page = await context.newPage();
  await page.goto(`${EVIL}/auth`);
  await isStopped(page);
  await picture(page, "copy");
  await context.close();
});

await check("a proxy that writes its own host into the page is found out by the text to sign", async () => {
  const { context, page, wallet, logins } = await proxied({ rewrite: (body, type) => (type.includes("html") ? body.replaceAll(HOST, EVIL_HOST) : body) });
  assert.equal(await firstLine(page), `Your address bar must read ${EVIL_HOST}`, "the name is all that is left to tell");
  await inState(page, "ready");
  await picture(page, "rewritten");
  await page.locator("#wallet-list .wallet").click();
  await isStopped(page);
  await picture(page, "rewritten-found-out");
  assert.ok(!wallet.calls.includes("personal_sign"));
  assert.deepEqual(logins, []);
  await context.close();
});

await check("a proxy that writes its own host everywhere gets a signature that the server refuses", async () => {
  const { context, page, wallet, logins } = await proxied({ rewrite: (body) => body.replaceAll(HOST, EVIL_HOST) });
  assert.equal(await firstLine(page), `Your address bar must read ${EVIL_HOST}`);
  await inState(page, "ready");
  await page.locator("#wallet-list .wallet").click();
  await inState(page, "confirm");
  await page.locator("#sign").click();
  await inState(page, "expired");
  assert.ok(wallet.calls.includes("personal_sign"));
  assert.deepEqual(logins, [401]);
  await context.close();
});

await check("without scripts the first line still tells what the address bar does not read", async () => {
  const { context, page } = await proxied({ javaScriptEnabled: false });
  assert.equal(await firstLine(page), `Your address bar must read ${HOST}`);
  assert.notEqual(new URL(page.url()).host, HOST);
  await page.locator("#address").waitFor(SLOW);
  await picture(page, "proxy-no-js");
  await context.close();
});

await close();
