// Five walks through the sign-in page, as people take them who never read about wallets: how often they click
// or type, how many words they read, and how many screens they see. A word counts once, when it can be seen on
// the way down to what the person presses next. Clicks in the wallet's own windows do not count. At the end: how
// many words are on the page while a person chooses a wallet and signs, and how long it is on a phone.
// node walks.mjs http://localhost:8080 '{"client_id": …, "client_secret": …}'
// The client is the operator's, with the redirect URI https://client.example/cb and the home page
// https://client.example/; the server has the setting
// wallet_links = "Test Wallet=https://wallet.example/open?url={url}".

import assert from "node:assert/strict";
import { BASE, check } from "./client.mjs";
import { SLOW, TestWallet, allowedHosts, arrive, arrivedAs, close, inState, loopback, person } from "./people.mjs";

/**
 * Clicks, words and screens: what each walk took before the page was written for lay people (November 2026),
 * and what it may take now, with a few words to spare for other fonts. With WALKS=print nothing is compared.
 */
const NUMBERS = {
  "a phone without a wallet": { before: [8, 199, 6], now: [4, 138, 3] },
  "a phone, in a wallet's browser": { before: [2, 132, 2], now: [2, 115, 1] },
  "a laptop with two wallets": { before: [2, 181, 2], now: [2, 167, 1] },
  "a remembered person": { before: [1, 58, 1], now: [1, 53, 1] },
  "an application that nobody looked at": { before: [2, 206, 2], now: [2, 180, 1] },
};
const PRINTS = process.env.WALKS === "print";

/**
 * Words on the page, without the text to sign, while a person chooses one of two wallets, and while that person signs; and the
 * height of the page then, at a width of 390. Before it made each promise once, it took 94 and 127 words, and 2018 points.
 */
const AT_MOST = { choosing: 67, signing: 95, height: 1388 };

const PHONE = { viewport: { width: 390, height: 844 }, phone: true };
const LAPTOP = { viewport: { width: 1280, height: 720 } };
const SHOP = "https://client.example/";
const shop = { ...JSON.parse(process.argv[3] ?? "null"), redirect_uris: [`${SHOP}cb`] };
assert.ok(shop.client_id, "the operator's client is the second argument");
allowedHosts.add("wallet.example");

// --- a person who reads -------------------------------------------------------------------------------------

class Walk {
  clicks = 0;
  screens = 0;
  #read = new Set();
  #at = 0; // How far down the page was.

  get words() {
    return this.#read.size;
  }

  /** The person sees another page, or the browser of another application. */
  opens(page) {
    this.page = page;
    this.#at = 0;
    this.screens += 1;
    return page;
  }

  /** Something to click or to type that is not on the page, such as the browser's address bar. */
  does(times) {
    this.clicks += times;
  }

  /** Reads down to a place on the page, or to its end, screen by screen. */
  async reads(target) {
    await this.page.waitForTimeout(250); // The page has settled, and the focus is where it belongs.
    const jumped = Math.abs((await this.#scrolled()) - this.#at);
    if (jumped > this.page.viewportSize().height / 2) this.screens += 1; // The focus moved, and the page with it.
    for (let more = true; more; ) {
      const { seen, isThere, isEnd } = await this.page.evaluate(look, target ? await target.elementHandle() : null);
      for (const word of seen) this.#read.add(word);
      more = !isThere && !isEnd;
      if (more) {
        this.screens += 1;
        await this.page.evaluate(() => window.scrollBy({ top: window.innerHeight * 0.85, behavior: "instant" }));
      }
    }
    this.#at = await this.#scrolled();
  }

  #scrolled() {
    return this.page.evaluate(() => window.scrollY);
  }

  /** Reads until the next thing to press, and presses it. */
  async presses(target) {
    await target.waitFor(SLOW);
    await this.reads(target);
    this.clicks += 1;
    await target.click();
  }
}

/** Runs in the page: the words that can be seen, and whether the target is one of the things on the screen. */
function look(target) {
  const seen = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  const below = target?.getBoundingClientRect().bottom ?? Infinity;
  const isThere = target !== null && target.getBoundingClientRect().top >= 0 && below <= window.innerHeight;
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    if (node.parentElement.closest("select, script, noscript, style") || !node.parentElement.checkVisibility()) continue;
    for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const { left, right, top, bottom, width } = range.getBoundingClientRect();
      const [x, y] = [(left + right) / 2, (top + bottom) / 2];
      if (width < 2 || y < 0 || y > window.innerHeight || (isThere && y > below)) continue;
      const shown = document.elementFromPoint(x, y);
      if (shown && node.parentElement.contains(shown)) seen.push(`${node.data.trim()} ${index}`);
    }
  }
  return { seen, isThere, isEnd: window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2 };
}

const walletOf = (page, name = "Test Wallet") => page.locator("#wallet-list .wallet", { hasText: name });

/** The person presses the application's button, and reads the page that it leads to. */
async function signsIn(walk, context, options) {
  const visit = await arrive(context, options);
  walk.opens(visit.page);
  return visit;
}

/** Chooses a wallet, and signs. */
async function signs(walk, visit, wallet) {
  await inState(visit.page, "ready");
  await walk.presses(walletOf(visit.page, wallet.name));
  await inState(visit.page, "confirm");
  await walk.presses(visit.page.locator("#sign"));
  await arrivedAs(visit, wallet.key.address);
}

const ofShop = { client: shop, redirectUri: shop.redirect_uris[0] };

async function walks(name, body) {
  await check(`${name} takes no more than it did`, async () => {
    const walk = new Walk();
    await body(walk);
    const took = [walk.clicks, walk.words, walk.screens];
    console.log(`        ${name}: ${took[0]} clicks, ${took[1]} words, ${took[2]} screens`);
    if (PRINTS) return;
    const { before, now } = NUMBERS[name];
    took.forEach((count, index) => assert.ok(count <= now[index], `${took} is more than ${now}`));
    now.forEach((count, index) => assert.ok(count <= before[index], `${now} is more than ${before}`));
  });
}

// --- the walks ----------------------------------------------------------------------------------------------

await walks("a phone without a wallet", async (walk) => {
  const wallet = new TestWallet();
  const [phone, inWallet] = [await person(PHONE), await person({ ...PHONE, wallet, eip6963: true })];
  await phone.route("https://wallet.example/**", (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html><h1>The wallet opens</h1>" }));
  const { page } = await signsIn(walk, phone, ofShop);
  await inState(page, "no-wallet");
  const link = page.locator('a[href^="https://wallet.example/"]');
  if ((await link.count()) > 0) {
    await walk.presses(link.first());
    await page.waitForURL("https://wallet.example/**", SLOW);
    assert.equal(new URL(page.url()).searchParams.get("url"), SHOP, "the wallet opens the application, and not the pending request");
  } else {
    // "Open this page in your wallet's browser": copy the address, open the wallet's browser, paste and go.
    await walk.reads(page.locator("#ways-to-sign-in"));
    walk.does(3);
    const lost = walk.opens(await inWallet.newPage());
    await lost.goto(page.url());
    await lost.getByText("Missing or expired OAuth session").first().waitFor(SLOW);
    await walk.reads(lost.locator("main"));
    walk.does(2); // The application's address, and go.
  }
  walk.screens += 1; // The application, in the wallet's browser.
  walk.does(1);
  await signs(walk, await signsIn(walk, inWallet, ofShop), wallet);
  await phone.close();
  await inWallet.close();
});

await walks("a phone, in a wallet's browser", async (walk) => {
  const wallet = new TestWallet();
  const context = await person({ ...PHONE, wallet, eip6963: true, legacy: true });
  await signs(walk, await signsIn(walk, context, ofShop), wallet);
  await context.close();
});

await walks("a laptop with two wallets", async (walk) => {
  const wallets = [new TestWallet({ name: "First Wallet" }), new TestWallet({ name: "Second Wallet" })];
  const context = await person({ ...LAPTOP, wallets, eip6963: true });
  await signs(walk, await signsIn(walk, context, ofShop), wallets[1]);
  await context.close();
});

await walks("a remembered person", async (walk) => {
  const wallet = new TestWallet();
  const context = await person({ ...PHONE, wallet, eip6963: true });
  const before = await arrive(context, ofShop);
  await inState(before.page, "ready");
  await walletOf(before.page).click();
  await inState(before.page, "confirm");
  await before.page.locator("#remember").check();
  await before.page.locator("#sign").click();
  await arrivedAs(before, wallet.key.address);
  const visit = await signsIn(walk, context, ofShop);
  await inState(visit.page, "remembered");
  await walk.presses(visit.page.locator("#continue"));
  await arrivedAs(visit, wallet.key.address);
  await context.close();
});

await walks("an application that nobody looked at", async (walk) => {
  const wallet = new TestWallet();
  const context = await person({ ...LAPTOP, wallet, eip6963: true });
  await signs(walk, await signsIn(walk, context, { client: loopback }), wallet);
  await context.close();
});

// --- what the page takes ------------------------------------------------------------------------------------

/** Runs in the page: the words of <main>, also those that are only read out, without the text to sign. */
function countWords() {
  const main = document.querySelector("main");
  const count = (text) => text.split(/\s+/).filter(Boolean).length;
  return [...main.querySelectorAll("pre")].reduce((words, { innerText }) => words - count(innerText), count(main.innerText));
}

await check(`choosing a wallet takes ${AT_MOST.choosing} words, and signing ${AT_MOST.signing} on ${AT_MOST.height} points`, async () => {
  const wallets = [new TestWallet({ name: "MetaMask" }), new TestWallet({ name: "Rabby" })];
  const context = await person({ ...PHONE, wallets, eip6963: true });
  const { page } = await arrive(context, ofShop);
  await inState(page, "ready");
  await walletOf(page, "Rabby").waitFor(SLOW);
  const choosing = await page.evaluate(countWords);
  const screen = await page.evaluate(() => document.documentElement.scrollHeight);
  await walletOf(page, "MetaMask").click();
  await inState(page, "confirm");
  const signing = await page.evaluate(countWords);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  console.log(`        ${choosing} words on ${screen} points, then ${signing} on ${height}`);
  if (!PRINTS) {
    assert.ok(choosing <= AT_MOST.choosing && signing <= AT_MOST.signing && height <= AT_MOST.height);
    assert.ok(screen <= PHONE.viewport.height, "choosing fits on one screen");
  }
  await context.close();
});

await check("what is optional comes before the text to sign, and is seen without scrolling", async () => {
  const context = await person({ ...PHONE, wallet: new TestWallet(), eip6963: true });
  const { page } = await arrive(context, ofShop);
  await inState(page, "ready");
  await walletOf(page).click();
  await inState(page, "confirm");
  assert.ok(await page.locator("#remember").isChecked(), "who is remembered unless they decline must see that before they sign");
  const placeOf = async (id) => page.locator(id).boundingBox();
  const [email, remember, text, bar] = await Promise.all(["#email", "#remember", "#text", "#decide"].map(placeOf));
  const [first, second, third] = [email.y + email.height, remember.y + remember.height, text.y];
  assert.ok(first < second && second < third && second < bar.y, JSON.stringify({ email, remember, text, bar }));
  const follows = ([before, after]) => page.evaluate(([one, other]) => document.querySelector(one).compareDocumentPosition(document.querySelector(other)) & 4, [before, after]);
  for (const pair of [["#email", "#remember"], ["#remember", "#text"], ["#text", "#sign"]]) assert.ok(await follows(pair), pair.join(" is before "));
  await context.close();
});

await close();
