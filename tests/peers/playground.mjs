// The playground as a developer sees it: all steps in Chromium with the throw-away wallet, and every way to
// go wrong. ethers checks the wallet's keys and signatures; axe-core checks that the page is accessible.
// node playground.mjs http://localhost:8080          Screenshots go to target/screenshots.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Wallet, hexlify, keccak256, verifyMessage } from "ethers";
import { judgeLooks, violationsOf } from "./axe.mjs";
import { BASE, authorizeUrl, check, register, request } from "./client.mjs";
import { PLAYGROUND, STEPS, choose, chooseWallet, developer, habit, kept, keysOf, outcome, press, run, sent, walletKeys, wire, withCode } from "./developer.mjs";
import { SLOW, close, inState, picturesIn, project } from "./people.mjs";

const picture = picturesIn("target/screenshots");
const WIDTHS = [320, 768, 1280];

/** Makes a step go wrong in the named way. */
async function goWrong(page, step, name) {
  await page.locator(`#break-${step}`).selectOption(name);
  assert.notEqual(await page.locator(`#break-${step}-hint`).textContent(), "", "the hint says what will happen");
  await press(page, step);
}

/**
 * The step ended with the announced error. Returns what the page says about it, and makes the step go right
 * from now on.
 */
async function noticed(page, step) {
  await outcome(page, step, "provoked");
  await page.locator(`#break-${step}`).selectOption("");
  return page.locator(`#${step} .verdict`).textContent();
}

async function accessible(page, what) {
  assert.deepEqual(await violationsOf(page), [], what);
}

// --- the wallet against ethers -----------------------------------------------------------------------------

await check("200 keys of the throw-away wallet: addresses, signatures and hashes are those of ethers", async () => {
  const page = await developer();
  const script = await page.locator('script[src*="/playground."]').getAttribute("src");
  const source = (await request("GET", script)).text;
  const module = (name, text) => new URL(new RegExp(`"\\./(${name}\\.[^"]*js|${name}\\.js)"`).exec(text)[1], new URL(script, BASE)).href;
  const keys = module("playground-keys", source);
  const keccak = module("keccak", (await request("GET", keys)).text);
  const wallets = Array.from({ length: 200 }, () => Wallet.createRandom());
  const given = wallets.map(({ privateKey }, index) => ({ privateKey, text: `Text ${index}\n${"é".repeat(index)}` }));
  const made = await page.evaluate(
    async ([path, all]) => {
      const { accountOf, personalSign } = await import(path);
      return all.map(({ privateKey, text }) => {
        const { key, address } = accountOf(BigInt(privateKey));
        return { address, signature: personalSign(new TextEncoder().encode(text), key) };
      });
    },
    [keys, given],
  );
  for (const [index, { address, signature }] of made.entries()) {
    assert.equal(address, wallets[index].address);
    assert.equal(verifyMessage(given[index].text, signature), address); // ethers refuses a high s.
    assert.match(signature, /^0x[0-9a-f]{128}(1b|1c)$/);
  }
  const lengths = [0, 1, 31, 32, 134, 135, 136, 137, 271, 272, 273, 1000];
  const texts = lengths.map((length) => Array.from(crypto.getRandomValues(new Uint8Array(length))));
  const hashes = await page.evaluate(
    async ([path, all]) => {
      const { keccak256: hash } = await import(path);
      return all.map((bytes) => Array.from(hash(Uint8Array.from(bytes))));
    },
    [keccak, texts],
  );
  for (const [index, hash] of hashes.entries()) assert.equal(hexlify(Uint8Array.from(hash)), keccak256(Uint8Array.from(texts[index])));
  await page.context().close();
});

// --- all steps ---------------------------------------------------------------------------------------------

for (const [name, settings] of [
  ["a confidential client with PKCE", {}],
  ["a confidential client without PKCE", { pkce: false }],
  ["a public client", { kind: "public" }],
]) {
  await check(`two buttons and one signature complete all eight steps: ${name}`, async () => {
    const page = await developer();
    await choose(page, settings);
    await withCode(page);
    assert.equal(new URL(page.url()).search, "", "the code is removed from the URL");
    await page.locator("#run-rest").click();
    for (const step of STEPS) await outcome(page, step, "done");
    const { client } = await kept(page);
    assert.equal(Boolean(client.client_secret), settings.kind !== "public");
    const [exchanged] = await wire(page, "token");
    assert.equal(exchanged.includes("code_verifier="), settings.pkce !== false);
    assert.equal(await page.locator("#sign_in .checks li[data-good=true]").count(), settings.pkce === false ? 3 : 4);
    const [, told] = await wire(page, "userinfo");
    assert.equal(JSON.parse(told.slice(told.indexOf("{"))).wallet_address, await page.locator("#wallet-address").textContent());
    assert.match((await wire(page, "userinfo_again"))[1], /^HTTP 401\n[^]*invalid_token/);
    await page.context().close();
  });
}

await check("secrets are hidden until the user shows them; the curl command is the request; the token is shown decoded", async () => {
  const page = await developer();
  await withCode(page);
  await press(page, "token");
  await outcome(page, "token", "done");
  await press(page, "userinfo");
  await outcome(page, "userinfo", "done");
  const { tokens, client } = await kept(page);
  const visible = async () => (await page.locator("#register, #token, #userinfo").allInnerTexts()).join("\n");
  for (const secret of [tokens.access_token, tokens.refresh_token, client.client_secret]) assert.ok(!(await visible()).includes(secret));
  for (const button of await page.locator(".exchange .line .link").all()) await button.click();
  for (const secret of [tokens.access_token, tokens.refresh_token, client.client_secret]) assert.ok((await visible()).includes(secret));
  const command = await page.locator("#userinfo .exchange details pre").first().textContent();
  const answer = await run("bash", ["-c", command]).ended;
  assert.match(answer, /^HTTP\/1.1 200/m);
  assert.ok(answer.includes((await page.locator("#wallet-address").textContent()).slice(2)));
  const payload = JSON.parse(await page.locator("#token .exchange details pre").last().textContent());
  assert.equal(payload.client_id, client.client_id);
  assert.equal(payload.iss, BASE);
  await page.locator("#start-again").click();
  await page.locator('.progress [data-step="register"][data-outcome=""]').waitFor();
  assert.deepEqual(await page.evaluate(() => Object.values(sessionStorage).join("").includes("client_secret")), false);
  await page.context().close();
});

await check("a response that this tab did not request, or that has another state, is not used", async () => {
  const page = await developer();
  await page.goto(`${PLAYGROUND}?code=stolen-code&state=x&iss=${encodeURIComponent(BASE)}`);
  await outcome(page, "sign_in", "failed");
  assert.equal((await kept(page)).code, null);
  await page.locator("#run-to-sign-in").click();
  await page.waitForURL((url) => url.pathname.endsWith("/auth"), SLOW);
  await page.goto(`${PLAYGROUND}?code=stolen-code&state=another&iss=${encodeURIComponent(BASE)}`);
  await outcome(page, "sign_in", "failed");
  assert.ok((await page.locator('.checks [data-good="false"]').count()) >= 1);
  assert.equal((await kept(page)).code, null);
  await press(page, "token");
  await outcome(page, "token", "failed");
  await page.context().close();
});

// --- going wrong -------------------------------------------------------------------------------------------

const options = (page, step) => page.locator(`#break-${step} option`).evaluateAll((all) => all.map(({ value }) => value).filter(Boolean));

for (const kind of ["confidential", "public"]) {
  await check(`every way to go wrong ends with the announced error: a ${kind} client`, async () => {
    const page = await developer();
    await choose(page, { kind });
    for (const name of await options(page, "register")) {
      await goWrong(page, "register", name);
      assert.match(await noticed(page, "register"), /400/, name);
    }
    await press(page, "register");
    await outcome(page, "register", "done");
    for (const name of await options(page, "authorize")) {
      await goWrong(page, "authorize", name);
      if (name === "deny") {
        await page.waitForURL((url) => url.pathname.endsWith("/auth"), SLOW);
        await page.locator('button[form="deny"]:visible').first().click();
      }
      const shownAt = ["wrong_redirect_uri", "unknown_client"].includes(name) ? "authorize" : "sign_in";
      await outcome(page, shownAt, "provoked");
      const answer = (await page.locator(`#${shownAt} .wire pre`).last().textContent()) + (await page.locator(`#${shownAt} .verdict`).textContent());
      const error = { unknown_client: "invalid_client", unknown_scope: "invalid_scope", deny: "access_denied" }[name] ?? "invalid_request";
      assert.ok(answer.includes(error), `${name}: ${answer}`);
      await page.locator("#break-authorize").selectOption("");
    }
    for (const step of ["token", "userinfo", "refresh", "revoke"]) {
      for (const name of await options(page, step)) {
        const { code, tokens } = await kept(page);
        if (step === "token" && !code) await withCode(page);
        if (step !== "token" && !tokens) {
          if (!code) await withCode(page);
          await press(page, "token");
          await outcome(page, "token", "done");
        }
        await goWrong(page, step, name);
        await outcome(page, step, "provoked");
        const answer = (await wire(page, step)).at(-1);
        const announced = await page.locator(`#break-${step}-hint`).textContent();
        for (const word of announced.match(/\b\d{3}\b|\b[a-z]+_[a-z_]+\b/g).filter((each) => /^\d|^invalid_/.test(each))) {
          assert.ok(answer.includes(word), `${step} ${name}: ${word} in ${answer}`);
        }
        await page.locator(`#break-${step}`).selectOption("");
      }
    }
    await page.context().close();
  });
}

await check("using a code or a refresh token twice revokes all tokens of the sign-in", async () => {
  for (const step of ["token", "refresh"]) {
    const page = await developer();
    await withCode(page);
    if (step === "refresh") {
      await press(page, "token");
      await outcome(page, "token", "done");
    }
    await goWrong(page, step, step === "token" ? "code_twice" : "reuse");
    await outcome(page, step, "provoked");
    await press(page, "userinfo");
    await outcome(page, "userinfo", "failed");
    assert.match((await wire(page, "userinfo"))[1], /^HTTP 401/);
    await page.context().close();
  }
});

await check("the wallet misbehaves as configured, and the sign-in page copes with it", async () => {
  const page = await developer();
  await press(page, "register");
  await outcome(page, "register", "done");
  const attempt = async (name, then) => {
    await habit(page, name);
    await press(page, "authorize");
    await chooseWallet(page);
    await then();
    await page.goto(PLAYGROUND);
    await page.locator("#break-token").waitFor();
    await habit(page, name, false);
  };
  const sign = async () => {
    await inState(page, "confirm");
    await page.locator("#sign").click();
  };
  const agree = () => page.locator("dialog.test-wallet button.primary").click();
  await attempt("reject_connection", () => inState(page, "connect-rejected"));
  await attempt("locked", () => inState(page, "locked"));
  await attempt("pending", () => inState(page, "pending"));
  await attempt("cannot_sign", () => sign().then(() => inState(page, "unsupported")));
  await attempt("reject_signature", () => sign().then(() => inState(page, "sign-rejected")));
  await attempt("wrong_account", () => sign().then(agree).then(() => inState(page, "bad-signature")));
  await attempt("second_account", () => inState(page, "pick-account", "confirm"));
  await attempt("switches_account", async () => {
    const [, second] = await keysOf(page);
    await inState(page, "confirm");
    await page.locator("#account", { hasText: new Wallet(`0x${second}`).address.slice(2, 6) }).waitFor();
  });
  await attempt("slow", async () => {
    await inState(page, "connecting");
    const started = Date.now();
    await inState(page, "confirm");
    assert.ok(Date.now() - started > 2000);
  });
  // The user declines in the wallet's own dialog, with its button and with Escape.
  for (const refuse of [() => page.locator("dialog.test-wallet button").first().click(), () => page.keyboard.press("Escape")]) {
    await press(page, "authorize");
    await chooseWallet(page);
    await sign();
    await page.locator("dialog.test-wallet[open]").waitFor();
    await accessible(page, "the wallet's dialog");
    await refuse();
    await inState(page, "sign-rejected");
    await page.goto(PLAYGROUND);
    await page.locator("#break-token").waitFor();
  }
  await page.context().close();
});

await check("the wallet is on the sign-in page only for the playground", async () => {
  const page = await developer();
  // No other client can register a URL of ours, not even one next to the playground's.
  await assert.rejects(register({ redirect_uris: [`${PLAYGROUND}/`] }), /invalid_redirect_uri/);
  const client = await register({ redirect_uris: ["http://127.0.0.1/playground"] });
  await page.goto(authorizeUrl(client, { state: "x" }).href);
  await inState(page, "no-wallet");
  assert.equal(await page.locator("script[data-wallet-texts]").count(), 0);
  await page.context().close();
});

await check("a client that was registered elsewhere can be used", async () => {
  const client = await register({ redirect_uris: [PLAYGROUND] });
  const page = await developer();
  await page.locator("details.own summary").click();
  await page.locator("#own-id").fill(client.client_id);
  await page.locator("#own-secret").fill(client.client_secret);
  await page.locator("#own-client button").click();
  await outcome(page, "register", "done");
  await withCode(page);
  await page.locator("#run-rest").click();
  await outcome(page, "userinfo_again", "done");
  await page.context().close();
});

// --- how it looks ------------------------------------------------------------------------------------------

await check("the page is accessible and fits, at the start and with everything shown, narrow and wide, light and dark", async () => {
  const page = await developer({ width: 320 });
  await judgeLooks(page, "playground-start", { widths: WIDTHS, picture });
  await page.setViewportSize({ width: 320, height: 900 });
  await goWrong(page, "register", "bad_redirect_uri");
  await noticed(page, "register");
  await withCode(page);
  await page.locator("#run-rest").click();
  await outcome(page, "userinfo_again", "done");
  await page.locator("main details").evaluateAll((all) => all.forEach((each) => (each.open = true)));
  await judgeLooks(page, "playground", { widths: WIDTHS, picture });
  await page.context().close();
});

await check("the keyboard selects the tabs", async () => {
  const page = await developer();
  await page.locator('[role="tab"]').first().focus();
  await page.keyboard.press("ArrowLeft");
  assert.equal(await page.locator('[role="tab"][aria-selected="true"]').textContent(), "oauth2 (Rust)");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator('[role="tab"]:focus').textContent(), "oauth4webapi");
  assert.equal(await page.locator(".snippet:visible").count(), 1);
  await page.context().close();
});

await check("without JavaScript the page says what it needs, and the code is readable", async () => {
  const page = await developer({ javaScriptEnabled: false });
  assert.match(await page.locator("noscript p").innerText(), /needs JavaScript/);
  for (const snippet of await page.locator(".snippet pre").all()) {
    assert.ok(await snippet.isVisible());
    const source = readFileSync(`${project}templates/snippets/${await snippet.getAttribute("aria-label")}`, "utf8");
    assert.equal(await snippet.textContent(), source);
  }
  assert.equal(await page.locator(".snippet").count(), 7);
  await page.context().close();
});

// --- after all of the above --------------------------------------------------------------------------------

await check("the keys of the throw-away wallets were in no request", () => {
  assert.ok(walletKeys.size >= 20 && sent.length > 500, `${walletKeys.size} keys, ${sent.length} requests`);
  for (const key of walletKeys) assert.ok(sent.every((each) => !each.toLowerCase().includes(key)));
});
await close();
