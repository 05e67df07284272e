// A page in Chromium, from a different origin than the server's, so that CORS applies. The sign-in page's
// requests are sent directly, with the browser's own cookies.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { Wallet } from "ethers";
import { chromium } from "playwright-core";
import { fieldsOf } from "./browser.mjs";
import { Web, knows, question } from "./surfaces.mjs";

const system = "/usr/bin/chromium-headless-shell";
const PATIENCE = 20_000;
let started;

const browser = () => (started ??= chromium.launch({ executablePath: existsSync(system) ? system : undefined, args: ["--no-sandbox"] }));

/** Closes the browser, if there is one. */
export const closeChromium = async () => (await started)?.close();

export class Chromium extends Web {
  async login({ landing = (back) => back } = {}) {
    await this.context?.close();
    this.context = await (await browser()).newContext();
    this.context.setDefaultTimeout(PATIENCE);
    this.page = await this.context.newPage();
    const wallet = Wallet.createRandom();
    this.address = wallet.address;
    await this.page.goto(`${this.url}/`);
    await this.page.locator("#login").click();
    await this.page.waitForURL(`${this.issuer}/auth**`);
    const of = fieldsOf(await (await this.context.request.get(this.page.url())).text());
    const { challenge } = await this.#post("/oauth/challenge", { wallet_address: wallet.address, ...of });
    const signature = await wallet.signMessage(challenge);
    const signed = { wallet_address: wallet.address, challenge, signature, remember: true, ...of };
    const { redirect_to } = await this.#post("/oauth/login", signed);
    await this.page.goto(landing(redirect_to.replace(encodeURIComponent(this.issuer), encodeURIComponent(this.alias))));
    await this.#settled();
    return this.held();
  }

  async held() {
    const user = JSON.parse((await this.page.locator("#user").textContent()) || "null");
    return user ? { claims: user.profile, tokens: user } : undefined;
  }

  /** Presses the button of a step; signing out redirects away and back. */
  async act(step) {
    if (step === "userinfo") return (await this.held()).claims;
    await this.page.evaluate(() => (document.title = "..."));
    await this.page.locator(`#${step}`).click();
    await this.#settled();
    return {};
  }

  async known() {
    return knows(await (await this.context.request.get(question(this.issuer, this.client))).text());
  }

  /** The script writes into the title how a step ended. */
  async #settled() {
    await this.page.waitForFunction(() => document.title !== "..." && document.getElementById("user"));
    this.title = await this.page.title();
  }

  async #post(path, data) {
    const answer = await this.context.request.post(`${this.issuer}${path}`, { data, headers: { accept: "application/json" } });
    assert.equal(answer.status(), 200, `${path} returned ${answer.status()}: ${await answer.text()}`);
    return answer.json();
  }

  why() {
    return `${this.title} ${this.page?.url()} ${super.why()}`;
  }

  async stop() {
    await this.context?.close();
    await super.stop();
  }
}
