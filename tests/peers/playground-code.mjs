// Runs the code that the playground offers for people's own apps unchanged, with a client that was registered
// there, and a user who signs in with a wallet of ethers.
// node playground-code.mjs http://localhost:8080

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { Wallet } from "ethers";
import { BASE, Cookies, challenge, check, login, request } from "./client.mjs";
import { choose, developer, here, kept, outcome, press, run } from "./developer.mjs";
import { close } from "./people.mjs";

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

async function until(what, isSo) {
  for (const started = Date.now(); Date.now() - started < 30_000; await new Promise((done) => setTimeout(done, 100))) {
    if (await isSo()) return;
  }
  assert.fail(what());
}

const listens = (port) =>
  new Promise((tell) => {
    const socket = connect(port, "127.0.0.1", () => tell(true) || socket.destroy());
    socket.on("error", () => tell(false));
  });

/** The browser of a user whom an app sent to the server: signs, and returns where it is redirected to. */
async function signedBy(wallet, target, client) {
  const cookies = new Cookies();
  const arrived = await request("GET", target, { cookies });
  assert.equal(arrived.status, 302, arrived.text);
  const asked = new URL(target).searchParams;
  const visit = { client, cookies, fields: { client_id: client.client_id, redirect_uri: asked.get("redirect_uri"), state: asked.get("state") } };
  const { challenge: text } = await challenge(visit, wallet.address);
  const answer = await login(visit, { address: wallet.address, text, signature: await wallet.signMessage(text) });
  assert.equal(answer.status, 200, answer.text);
  return answer.json.redirect_to;
}

const PROGRAMS = {
  oauth4webapi: ["node", ["--input-type=module", "-"]],
  "simple-oauth2": ["node", ["--input-type=module", "-"]],
  "passport-oauth2": ["node", ["--input-type=module", "-"]],
  authlib: [`${here}.venv/bin/python`, ["-"]],
  "requests-oauthlib": [`${here}.venv/bin/python`, ["-"]],
};

async function codeOnPage(kind) {
  const port = await freePort();
  const page = await developer();
  await choose(page, { kind, callback: `http://127.0.0.1:${port}/callback` });
  await press(page, "register");
  await outcome(page, "register", "done");
  const { client } = await kept(page);
  const panels = await page.locator(".snippet").evaluateAll((all) => all.map((each) => [each.id.replace("use-", ""), each.querySelector("pre code").textContent]));
  await page.context().close();
  return { port, client, code: Object.fromEntries(panels) };
}

for (const kind of ["confidential", "public"]) {
  const { port, client, code } = await codeOnPage(kind);
  for (const [name, [program, args]] of Object.entries(PROGRAMS)) {
    await check(`the code for ${name} on the page signs in unchanged: a ${kind} client`, async () => {
      const app = run(program, args, code[name]);
      try {
        await until(() => app.printed(), () => listens(port));
        const wallet = Wallet.createRandom();
        const cookies = new Cookies();
        const begun = await request("GET", `http://127.0.0.1:${port}/`, { cookies });
        assert.equal(begun.status, 302, `${begun.text} ${app.printed()}`);
        assert.equal(new URL(begun.location).searchParams.get("code_challenge_method"), "S256");
        const target = await signedBy(wallet, begun.location, client);
        const stolen = await request("GET", target, { cookies: new Cookies() });
        assert.ok(stolen.status >= 400, `the response came from another browser: ${stolen.status} ${stolen.text}`);
        const done = await request("GET", target, { cookies });
        assert.equal(done.status, 200, `${done.text} ${app.printed()}`);
        assert.equal(done.json.wallet_address, wallet.address);
      } finally {
        app.child.kill("SIGKILL");
        await app.ended;
      }
    });
  }

  await check(`the code for curl on the page signs in unchanged: a ${kind} client`, async () => {
    const shell = run("bash", ["-c", code.curl]);
    await until(() => shell.printed(), () => /^http\S+authorize\?\S+$/m.test(shell.printed()));
    const wallet = Wallet.createRandom();
    shell.child.stdin.end(`${await signedBy(wallet, /^http\S+authorize\?\S+$/m.exec(shell.printed())[0], client)}\n`);
    const printed = await shell.ended;
    assert.equal(JSON.parse(printed.slice(printed.indexOf("{"))).wallet_address, wallet.address, printed);
  });

  await check(`no placeholder and no marker is left in any code: a ${kind} client`, () => {
    assert.equal(Object.keys(code).length, 7);
    for (const [name, text] of Object.entries(code)) {
      assert.doesNotMatch(text, /%[A-Z_]+%|\[(confidential|public|http|https)\]|&(lt|gt|amp|quot|#\w+);/, name);
      assert.equal(text.includes("CLIENT_SECRET") && !/CLIENT_SECRET=|\$CLIENT_SECRET/.test(text), false, name);
      assert.ok(text.includes(client.client_id) && text.includes(BASE), name);
      assert.equal(text.includes(client.client_secret ?? "client_secret="), kind === "confidential", name);
    }
  });
}

await check("the packages that the page lists are the ones used here", async () => {
  const { dependencies } = JSON.parse(readFileSync(`${here}package.json`, "utf8"));
  const pinned = readFileSync(`${here}requirements.txt`, "utf8").toLowerCase().split("\n");
  const { text } = await request("GET", "/playground");
  const packages = [...text.matchAll(/<code>(npm|pip) install ([^<]*)<\/code>/g)];
  assert.equal(packages.length, 5);
  for (const [, tool, list] of packages) {
    for (const each of list.split(" ")) {
      const [name, version] = each.split(tool === "npm" ? "@" : "==");
      if (tool === "npm") assert.equal(dependencies[name], version, each);
      else assert.ok(pinned.includes(each.toLowerCase()), each);
    }
  }
});

await close();
