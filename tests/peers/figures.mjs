// What the pages cost: bytes, requests, the server's time, and what Chromium reports about painting, layout
// shifts and blocking. It prints the tables of docs/pages.md and checks nothing. The server must be running,
// and should be a release build on an idle machine.
// node figures.mjs http://localhost:8080

import { Agent, get } from "node:http";
import { BASE, authorizeUrl } from "./client.mjs";
import { TestWallet, arrivedAs, arrive, browser, confirmed, inState, loopback, clientPage, person } from "./people.mjs";

const TIMED_REQUESTS = 50;
const LOADS = 5;
const SETTLED_MS = 2000; // Longer than the sign-in page waits before it says that it found no wallet.
const LANGUAGES = ["en", "de", "es", "fr", "pt-BR", "ja", "zh-CN", "ar"];
const NATURAL = { name: "this machine", viewport: { width: 1280, height: 900 } };
// A quarter of this machine's speed on a slow mobile network. Chromium adds the latency once to each request;
// opening a connection costs nothing.
const SLOW_PHONE = { name: "slow phone", viewport: { width: 390, height: 844 }, slowdown: 4, latency: 150, bytesPerSecond: 1.6e6 / 8 };

// --- the pages ---------------------------------------------------------------------------------------------

const wallet = new TestWallet();
const known = await person({ wallet, eip6963: true });
const stranger = await person();

/** Sends the user to the server and stops at the sign-in page; returns its URL. */
async function pageOf(context) {
  const page = await context.newPage();
  await page.goto(authorizeUrl(loopback, { redirectUri: clientPage, scope: "profile email", state: "figures" }).href);
  const address = page.url();
  await page.close();
  return address;
}

const visit = await arrive(known);
await inState(visit.page, "ready");
await visit.page.locator("#wallet-list .wallet").first().click();
await confirmed(visit.page);
await visit.page.locator("#remember").check();
await visit.page.locator("#sign").click();
await arrivedAs(visit, wallet.key.address);

const PAGES = [
  { name: "`/auth`, first visit", url: await pageOf(stranger), context: stranger, withWallet: true },
  { name: "`/auth`, no wallet found", url: await pageOf(stranger), context: stranger },
  { name: "`/auth`, remembered", url: await pageOf(known), context: known, withWallet: true },
  { name: "`/account`", url: `${BASE}/account`, context: known, withWallet: true },
  { name: "`/playground`", url: `${BASE}/playground`, context: stranger },
  { name: "`/verify`", url: `${BASE}/verify`, context: stranger },
  { name: "`/`", url: `${BASE}/`, context: stranger },
  { name: "`/docs`", url: `${BASE}/docs`, context: stranger },
];

// --- measuring ---------------------------------------------------------------------------------------------

const median = (values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
const sum = (values) => values.reduce((one, other) => one + other, 0);

/** Milliseconds until the first byte of a response, over one connection that is already open. */
async function timeToFirstByte({ url, context }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const cookie = (await context.cookies(url)).map(({ name, value }) => `${name}=${value}`).join("; ");
  const ask = () =>
    new Promise((done, fail) => {
      const started = performance.now();
      get(url, { agent, headers: { cookie, accept: "text/html" } }, (answer) => {
        const waited = performance.now() - started;
        if (answer.statusCode !== 200) fail(new Error(`${url}: ${answer.statusCode}`));
        answer.on("end", () => done(waited)).resume();
      }).on("error", fail);
    });
  await ask();
  const times = [];
  while (times.length < TIMED_REQUESTS) times.push(await ask());
  agent.destroy();
  return median(times);
}

/**
 * Loads a page with an empty cache. Returns what went over the wire, including response headers, and what the
 * browser measured.
 */
async function load({ url, cookies, withWallet }, { viewport, slowdown, latency, bytesPerSecond }, locale = "en") {
  const context = await browser.newContext({ viewport, locale });
  await context.addCookies(cookies);
  await context.addInitScript(observe);
  if (withWallet) await context.addInitScript(announceWallet);
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  const requests = new Map();
  devtools.on("Network.requestWillBeSent", ({ requestId, request }) => {
    if (/^https?:/.test(request.url)) requests.set(requestId, { plain: 0, wire: 0 });
  });
  devtools.on("Network.requestServedFromCache", ({ requestId }) => requests.delete(requestId));
  devtools.on("Network.responseReceived", ({ requestId, response }) => response.fromDiskCache && requests.delete(requestId));
  devtools.on("Network.dataReceived", ({ requestId, dataLength }) => {
    if (requests.has(requestId)) requests.get(requestId).plain += dataLength;
  });
  devtools.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (requests.has(requestId)) requests.get(requestId).wire = encodedDataLength;
  });
  await devtools.send("Network.enable");
  if (slowdown) {
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
    await devtools.send("Network.emulateNetworkConditions", { offline: false, latency, downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond });
  }
  const answer = await page.goto(url, { waitUntil: "networkidle" });
  if (answer.status() !== 200 || new URL(page.url()).pathname !== new URL(url).pathname) throw new Error(`${url}: ${answer.status()} at ${page.url()}`);
  await page.waitForTimeout(SETTLED_MS);
  const seen = await page.evaluate(() => window.seen);
  await context.close();
  const all = [...requests.values()];
  return { requests: all.length, wire: sum(all.map(({ wire }) => wire)), plain: sum(all.map(({ plain }) => plain)), ...seen };
}

/**
 * Runs in the page before its own scripts: records the paints, the layout shifts and the time in which the
 * page was blocked.
 */
function observe() {
  window.seen = { firstPaint: 0, largestPaint: 0, shift: 0, blocked: 0 };
  const on = (type, take) => new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  on("paint", ({ name, startTime }) => {
    if (name === "first-contentful-paint") window.seen.firstPaint = startTime;
  });
  on("largest-contentful-paint", ({ startTime }) => (window.seen.largestPaint = startTime));
  on("layout-shift", ({ value, hadRecentInput }) => (window.seen.shift += hadRecentInput ? 0 : value));
  on("longtask", ({ duration }) => (window.seen.blocked += duration - 50));
}

/** Runs in the page before its own scripts: a wallet that is not used. */
function announceWallet() {
  const info = { uuid: crypto.randomUUID(), name: "Test Wallet", rdns: "example.test-wallet", icon: "data:," };
  const detail = Object.freeze({ info, provider: { on() {}, request: async () => [] } });
  const tell = () => window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
  window.addEventListener("eip6963:requestProvider", tell);
  tell();
}

// --- the tables --------------------------------------------------------------------------------------------

const row = (cells) => console.log(`| ${cells.join(" | ")} |`);
const kilobytes = (bytes) => (bytes / 1000).toFixed(1);

const measured = [];
for (const page of PAGES) {
  const visitor = { ...page, cookies: await page.context.cookies() };
  const firstByte = await timeToFirstByte(page);
  const conditions = [];
  for (const condition of [NATURAL, SLOW_PHONE]) {
    const loads = [];
    while (loads.length < LOADS) loads.push(await load(visitor, condition));
    const figures = Object.keys(loads[0]).map((figure) => [figure, median(loads.map((each) => each[figure]))]);
    conditions.push(Object.fromEntries(figures));
  }
  measured.push({ name: page.name, firstByte, conditions });
}

row(["page", "requests", "KB over the wire", "KB uncompressed", "first byte, ms"]);
row(["---", "--:", "--:", "--:", "--:"]);
for (const { name, firstByte, conditions: [{ requests, wire, plain }] } of measured) {
  row([name, requests, kilobytes(wire), kilobytes(plain), firstByte.toFixed(1)]);
}
console.log();
row(["page", ...[NATURAL, SLOW_PHONE].flatMap(({ name }) => [`${name}: first paint, ms`, "largest paint, ms", "shift", "blocked, ms"])]);
row(["---", ...Array.from({ length: 8 }, () => "--:")]);
for (const { name, conditions } of measured) {
  row([name, ...conditions.flatMap(({ firstPaint, largestPaint, shift, blocked }) => [firstPaint.toFixed(0), largestPaint.toFixed(0), shift.toFixed(3), blocked.toFixed(0)])]);
}
console.log();
const [firstVisit] = PAGES;
const inLanguages = [];
for (const language of LANGUAGES) {
  const { wire } = await load({ ...firstVisit, cookies: await firstVisit.context.cookies() }, NATURAL, language);
  inLanguages.push(`${language} ${kilobytes(wire)}`);
}
console.log(`KB over the wire of ${firstVisit.name}, by language: ${inLanguages.join(", ")}`);
await browser.close();
process.exit(0);
