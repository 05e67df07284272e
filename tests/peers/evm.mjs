// Contract wallets on a real Ethereum virtual machine: anvil runs contracts that solc compiled, ethers signs,
// and the server checks the sign-ins.
// node evm.mjs http://localhost:8080 8545
//
// The server must be configured to ask 127.0.0.1 at that port about chains 31337 (which anvil is) and 1
// (which it is not), and to have no service for chain 10.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer, request as ask } from "node:http";
import { AbiCoder, ContractFactory, Wallet, concat, hashMessage, id, parseEther } from "ethers";
import { CHAIN, anvil, anvilAt, contracts, providerAt } from "./chain.mjs";
import { Cookies, begin, challenge, check, codeOf, exchange, finish, login, refused, register, request, userinfo } from "./client.mjs";

const PORT = Number(process.argv[3] ?? process.env.PORT);
assert.ok(PORT > 0, "usage: node evm.mjs http://localhost:8080 8545");

const BAD_SIGNATURE = [401, "access_denied", "Failed to verify signature"];
const DOWN = [503, "temporarily_unavailable", /./];
const MAGIC = "0x6492649264926492649264926492649264926492649264926492649264926492";

const client = await register({ client_name: "Peers: contract wallets" });

// --- signing in --------------------------------------------------------------------------------------------

/** Submits what `sign` makes of the text for an account. */
async function present(address, sign, chain = CHAIN) {
  const visit = await begin(client);
  const issued = await challenge(visit, `eip155:${chain}:${address}`);
  const text = issued.challenge;
  assert.match(text, new RegExp(`^Chain ID: ${chain}$`, "m"));
  return { visit, answer: await login(visit, { address, text, signature: await sign(text) }) };
}

/** Signs in and returns the user's `sub` from userinfo. */
async function signIn(address, sign, chain = CHAIN) {
  const { visit, answer } = await present(address, sign, chain);
  assert.equal(answer.status, 200, answer.text);
  const user = await userinfo(await exchange(visit, codeOf(answer.json.redirect_to, visit)));
  assert.equal(user.wallet_account, `eip155:${chain}:${user.wallet_address}`);
  assert.equal(user.wallet_address, address);
  return user.sub;
}

/** Expects a refusal with this status, code and description. */
async function isRefused(address, sign, [status, code, words] = BAD_SIGNATURE, chain = CHAIN) {
  const { answer } = await present(address, sign, chain);
  refused(answer, status, code, words);
}

const by = (wallet) => (text) => wallet.signMessage(text);
const always = (signature) => () => signature;
const wrapped = (factory, calldata, sign) => async (text) =>
  concat([AbiCoder.defaultAbiCoder().encode(["address", "bytes", "bytes"], [factory, calldata, await sign(text)]), MAGIC]);

/** Links or unlinks: `key` signs for the user and `contract` is the other account, of these kinds. */
async function change(what, { key, contract, kinds: [kind, otherKind] }, signFor, signOther) {
  const cookies = new Cookies();
  const asked = {
    change: what, wallet_address: `eip155:${CHAIN}:${key}`, kind, other_wallet_address: `eip155:${CHAIN}:${contract}`, other_kind: otherKind,
  };
  const { status, json, text } = await request("POST", "/account/wallets/challenge", { cookies, body: asked });
  assert.equal(status, 200, text);
  assert.deepEqual([json.kind, json.other_kind], [kind, otherKind]);
  const said = (each) => (each === "contract" ? "contract wallet" : "wallet");
  assert.match(json.challenge, new RegExp(`the ${said(otherKind)} eip155:${CHAIN}:${contract} `));
  assert.match(json.challenge, new RegExp(`^- urn:countersign:other-kind:${otherKind}$`, "m"));
  assert.match(json.challenge, new RegExp(`^- urn:countersign:kind:${kind}$`, "m"));
  const body = { form: json.form, challenge: json.challenge, signature: await signFor(json.challenge) };
  if (what === "link") {
    assert.match(json.other_challenge, new RegExp(`the ${said(kind)} eip155:${CHAIN}:${key} `));
    Object.assign(body, { other_challenge: json.other_challenge, other_signature: await signOther(json.other_challenge) });
  }
  const send = () => request("POST", `/account/wallets/${what}`, { cookies: cookies.copy(), body });
  const answer = await send();
  // The same signatures a second time are refused, whatever they did the first time (F-17).
  if (answer.status !== 401) assert.equal((await send()).status, 401);
  return answer;
}

// --- a chain -----------------------------------------------------------------------------------------------

let node;
let proxy;

/** How long a request to the chain takes, in milliseconds. */
const slow = { ms: 0 };

/**
 * Listens at the port that the server asks, and forwards each request after a delay. Returns the port that
 * the chain must use.
 */
async function startProxy() {
  const free = createServer();
  const behind = await new Promise((done) => free.listen(0, "127.0.0.1", () => done(free.address().port)));
  await new Promise((done) => free.close(done));
  proxy = createServer((incoming, answer) => {
    setTimeout(() => {
      const headers = { ...incoming.headers, host: `127.0.0.1:${behind}` };
      const onward = ask({ host: "127.0.0.1", port: behind, method: incoming.method, path: incoming.url, headers }, (came) => {
        answer.writeHead(came.statusCode, came.headers);
        came.pipe(answer);
      });
      onward.on("error", () => answer.destroy());
      incoming.pipe(onward);
    }, slow.ms);
  });
  await new Promise((done) => proxy.listen(PORT, "127.0.0.1", done));
  return behind;
}

/** Starts anvil and waits until it responds. */
async function startChain() {
  const behind = await startProxy();
  node = spawn(anvil, anvilAt(behind), { stdio: ["ignore", "ignore", "inherit"] });
  return providerAt(behind, node);
}

function stopChain() {
  const ended = new Promise((done) => node.once("exit", done));
  node.kill("SIGKILL");
  proxy.closeAllConnections();
  proxy.close();
  return ended;
}
process.on("exit", () => node?.kill("SIGKILL"));

// --- before there is a chain -------------------------------------------------------------------------------

const person = Wallet.createRandom();
const nobody = Wallet.createRandom();

await check("B-052 while the service is down a contract gets 503 and a key signs in", async () => {
  await isRefused(nobody.address, always("0x0102"), DOWN);
  await signIn(person.address, by(person));
});

await check("P-15 about a chain without a service no request is sent: its contracts are refused, keys sign in", async () => {
  await isRefused(nobody.address, always("0x0102"), BAD_SIGNATURE, 10);
  assert.equal(await signIn(person.address, by(person), 10), await signIn(person.address, by(person), CHAIN));
});

const provider = await startChain();
const payer = await provider.getSigner(0);
const deploy = async (name, ...words) => {
  const { abi, evm } = contracts[name];
  const contract = await new ContractFactory(abi, evm.bytecode.object, payer).deploy(...words);
  await contract.waitForDeployment();
  return contract;
};
const codeAt = (address) => provider.getCode(address);

// --- deployed wallets --------------------------------------------------------------------------------------

const owner = Wallet.createRandom();
const owned = await deploy("OwnedWallet", owner.address);
const ownedAddress = await owned.getAddress();

await check("B-046 a service of another chain is not trusted", async () => {
  const content = await deploy("YesToAll");
  await isRefused(await content.getAddress(), always("0x0102"), DOWN, 1);
});

await check("ERC-1271: the owner of a wallet signs in as the wallet, always as the same user", async () => {
  const sub = await signIn(ownedAddress, by(owner));
  assert.equal(await signIn(ownedAddress, by(owner)), sub);
  assert.notEqual(await signIn(owner.address, by(owner)), sub, "the owner's key is another user");
});

await check("ERC-1271: another key, another text, and a truncated signature are refused", async () => {
  await isRefused(ownedAddress, by(nobody));
  await isRefused(ownedAddress, (text) => owner.signMessage(`${text} `));
  await isRefused(ownedAddress, (text) => owner.signMessage(text.replace(/Nonce: ./, "Nonce: X")));
  await isRefused(ownedAddress, async (text) => (await owner.signMessage(text)).slice(0, -2));
  await isRefused(ownedAddress, always("0x"));
});

await check("ERC-1271: one owner's signature for one wallet is not valid for the other, as the text names the wallet", async () => {
  const second = await (await deploy("OwnedWallet", owner.address)).getAddress();
  const visit = await begin(client);
  const issued = await challenge(visit, `eip155:${CHAIN}:${ownedAddress}`);
  const signature = await owner.signMessage(issued.challenge);
  refused(await login(visit, { address: second, text: issued.challenge, signature }), 401, "access_denied", /Challenge/);
  await isRefused(second, always(signature));
});

await check("B-050 after the owner has changed, the old one is refused and the new one is the same user", async () => {
  const [first, next] = [Wallet.createRandom().connect(provider), Wallet.createRandom()];
  const contract = await deploy("OwnedWallet", first.address);
  const address = await contract.getAddress();
  const sub = await signIn(address, by(first));
  await (await payer.sendTransaction({ to: first.address, value: parseEther("1") })).wait();
  await (await contract.connect(first).setOwner(next.address)).wait();
  await isRefused(address, by(first));
  assert.equal(await signIn(address, by(next)), sub);
});

// --- undeployed wallets ------------------------------------------------------------------------------------

const factory = await deploy("WalletFactory");
const factoryAddress = await factory.getAddress();

await check("ERC-6492, B-049, B-054: an undeployed wallet signs in without leaving a trace, and is the same user once deployed", async () => {
  const salt = id("an undeployed wallet");
  const address = await factory.addressOf(owner.address, salt);
  const calldata = factory.interface.encodeFunctionData("make", [owner.address, salt]);
  const sign = wrapped(factoryAddress, calldata, by(owner));
  const [block, made] = [await provider.getBlockNumber(), await factory.made()];
  await isRefused(address, by(owner));
  const sub = await signIn(address, sign);
  assert.equal(await signIn(address, sign), sub);
  await isRefused(address, wrapped(factoryAddress, calldata, by(nobody)));
  await isRefused(nobody.address, sign);
  assert.equal(await codeAt(address), "0x", "the wallet is still not deployed");
  assert.equal(await factory.made(), made, "the factory has created nothing");
  assert.equal(await provider.getBlockNumber(), block, "there is no transaction");

  await (await factory.make(owner.address, salt)).wait();
  assert.notEqual(await codeAt(address), "0x");
  assert.equal(await signIn(address, by(owner)), sub, "by ERC-1271");
  assert.equal(await signIn(address, sign), sub, "also with a wrapper that is no longer needed");
  await isRefused(address, wrapped(factoryAddress, calldata, by(nobody)));
});

await check("ERC-6492: one's own wallet cannot sign in to another owner's wallet", async () => {
  const salt = id("somebody else's wallet");
  const victim = await factory.addressOf(owner.address, salt);
  const mine = factory.interface.encodeFunctionData("make", [nobody.address, salt]);
  await isRefused(victim, wrapped(factoryAddress, mine, by(nobody)));
  await isRefused(ownedAddress, wrapped(factoryAddress, mine, by(nobody)));
});

await check("F-13: a deployed wallet is asked as it is, whatever a wrapper would prepare, and gets the signature from the wrapper", async () => {
  const contract = await deploy("UnreadyWallet", owner.address);
  const address = await contract.getAddress();
  const calldata = contract.interface.encodeFunctionData("makeReady");
  await isRefused(address, by(owner));
  await isRefused(address, wrapped(address, calldata, by(owner)));
  assert.equal(await contract.ready(), false);
  await (await contract.makeReady()).wait();
  const sub = await signIn(address, by(owner));
  assert.equal(await signIn(address, wrapped(address, calldata, by(owner))), sub);
  await isRefused(address, wrapped(address, calldata, by(nobody)));
});

// --- deployed wallets, and an attacker who changes them first ----------------------------------------------

const thief = Wallet.createRandom();
const money = parseEther("1");
const preparation = await (async () => {
  const { abi, evm } = contracts.Preparation;
  const contract = await new ContractFactory(abi, evm.bytecode.object, payer).deploy({ value: parseEther("10") });
  await contract.waitForDeployment();
  return contract;
})();
const preparationAddress = await preparation.getAddress();
const prepares = (to, value, data) => preparation.interface.encodeFunctionData("prepare", [to, value, data]);

/** Every way in which a wrapper could try to make `calls` before a deployed account is asked. */
function attacks(to, value, data) {
  const inside = preparation.interface.encodeFunctionData("prepareAndAnswer", [to, data]);
  const sign = by(thief);
  return [
    wrapped(preparationAddress, prepares(to, value, data), sign),
    wrapped(to, data, sign),
    wrapped(preparationAddress, inside, sign),
    wrapped(preparationAddress, preparation.interface.encodeFunctionData("end"), sign),
    wrapped(preparationAddress, preparation.interface.encodeFunctionData("returnMuch"), sign),
    wrapped(preparationAddress, "0x", sign),
    wrapped(preparationAddress, prepares(preparationAddress, 0, prepares(to, value, data)), sign),
    wrapped(preparationAddress, prepares(to, value, data), () => "0x"),
    wrapped(preparationAddress, prepares(to, value, data), async (text) => `0x1b${(await sign(text)).slice(2)}`),
    wrapped(preparationAddress, prepares(to, value, data), wrapped(to, data, sign)),
  ];
}

await check("F-13 an account that belongs to a token's holder (ERC-6551) cannot be taken over by buying the token within the call", async () => {
  const tokens = await deploy("Tokens");
  await (await tokens.mint(owner.address, 7, money)).wait();
  const account = await deploy("TokenAccount", await tokens.getAddress(), 7);
  const address = await account.getAddress();
  const sub = await signIn(address, by(owner));
  const buying = tokens.interface.encodeFunctionData("buy", [7, thief.address]);
  const tried = attacks(await tokens.getAddress(), money, buying);
  for (const sign of tried) await isRefused(address, sign);
  assert.equal(await account.owner(), owner.address);
  assert.equal(await signIn(address, by(owner)), sub);
  // A buyer in a real transaction is the holder.
  await (await tokens.buy(7, thief.address, { value: money })).wait();
  assert.equal(await signIn(address, by(thief)), sub);
  await isRefused(address, by(owner));
  console.log(`        ${tried.length} wrappers were refused`);
});

await check("F-13 an uninitialized wallet or proxy cannot be taken over by initializing it within the call", async () => {
  const wallet = await deploy("UninitializedWallet");
  const proxy = await deploy("Proxy", await wallet.getAddress());
  const taking = wallet.interface.encodeFunctionData("initialize", [thief.address]);
  let count = 0;
  for (const each of [wallet, proxy]) {
    const address = await each.getAddress();
    for (const sign of attacks(address, 0, taking)) {
      await isRefused(address, sign);
      count += 1;
    }
    await isRefused(address, by(thief));
    const initializing = wallet.interface.encodeFunctionData("initialize", [owner.address]);
    await (await payer.sendTransaction({ to: address, data: initializing })).wait();
    await signIn(address, by(owner));
    await isRefused(address, by(thief));
  }
  console.log(`        ${count} wrappers were refused`);
});

await check("F-13 such a wallet cannot be linked, and cannot unlink another", async () => {
  const wallet = await deploy("UninitializedWallet");
  const address = await wallet.getAddress();
  const taking = wallet.interface.encodeFunctionData("initialize", [thief.address]);
  const mine = Wallet.createRandom();
  await signIn(mine.address, by(mine));
  const signers = { key: mine.address, contract: address };
  for (const sign of attacks(address, 0, taking)) {
    const linked = await change("link", { ...signers, kinds: ["key", "contract"] }, by(mine), sign);
    refused(linked, 401, "access_denied", /./);
    const unlinked = await change("unlink", { key: address, contract: mine.address, kinds: ["contract", "key"] }, sign);
    refused(unlinked, 401, "access_denied", /./);
  }
});

await check("a wallet that accepts simulations accepts no one here: the caller is neither zero nor predictable", async () => {
  await isRefused(await (await deploy("TrustsSimulations")).getAddress(), by(thief));
});

await check("B-045 wrappers with any byte changed, removed or doubled do not sign in to a deployed wallet", async () => {
  const visit = await begin(client);
  const issued = await challenge(visit, `eip155:${CHAIN}:${ownedAddress}`);
  const calldata = factory.interface.encodeFunctionData("make", [owner.address, id("mutated")]);
  const good = (await wrapped(factoryAddress, calldata, by(thief))(issued.challenge)).slice(2);
  const mutants = [];
  for (let at = 0; at < good.length; at += 22) mutants.push(good.slice(0, at) + (good[at] === "0" ? "f" : "0") + good.slice(at + 1));
  for (let cut = 64; cut < good.length; cut += 128) mutants.push(good.slice(cut), good.slice(0, cut) + good, good.slice(0, cut) + good.slice(-64));
  // One text allows no more than five failures.
  for (let from = 0; from < mutants.length; from += 4) {
    const again = await begin(client);
    const { challenge: text } = await challenge(again, `eip155:${CHAIN}:${ownedAddress}`);
    for (const mutant of mutants.slice(from, from + 4)) {
      refused(await login(again, { address: ownedAddress, text, signature: `0x${mutant}` }), ...BAD_SIGNATURE);
    }
  }
  console.log(`        ${mutants.length} mutants were refused`);
});

await check("ERC-6492: a factory that reverts, burns all gas, halts or creates nothing is refused", async () => {
  const salt = id("never made");
  const address = await factory.addressOf(owner.address, salt);
  const calldata = factory.interface.encodeFunctionData("make", [owner.address, salt]);
  for (const name of ["Reverts", "BurnsAll", "Halts", "SaysNothing", "YesToAll", "ReturnsMuch"]) {
    const bad = await (await deploy(name)).getAddress();
    await isRefused(address, wrapped(bad, calldata, by(owner)));
  }
  await isRefused(address, wrapped(nobody.address, calldata, by(owner)));
  await isRefused(address, wrapped(factoryAddress, "0x", by(owner)));
});

await check("B-045 a wrapper around a key's own signature is refused", async () => {
  const calldata = factory.interface.encodeFunctionData("make", [owner.address, id("of no use")]);
  await isRefused(owner.address, wrapped(factoryAddress, calldata, by(owner)));
});

// --- contracts that are not honest wallets -----------------------------------------------------------------

await check("B-051 a wallet that accepts everything signs in as itself and as no other user", async () => {
  const address = await (await deploy("YesToAll")).getAddress();
  const second = await (await deploy("YesToAll")).getAddress();
  const anything = always("0x00");
  const sub = await signIn(address, anything);
  assert.equal(await signIn(address, always(`0x${"ab".repeat(65)}`)), sub);
  assert.notEqual(await signIn(second, anything), sub, "another contract is another user");
  await isRefused(person.address, anything);
  await isRefused(ownedAddress, anything);
  assert.notEqual(await signIn(person.address, by(person)), sub);
  await isRefused(address, anything, BAD_SIGNATURE, 10);
});

await check("B-047 every response that is not exactly the one of ERC-1271 is refused, and does not count against the service", async () => {
  const names = ["Reverts", "RightAligned", "SaysTrue", "TwoWords", "FourBytes", "DirtyWord", "SaysNothing", "Halts", "BurnsAll", "HasNoSuchFunction"];
  for (const name of names) {
    const address = await (await deploy(name)).getAddress();
    for (const sign of [by(owner), wrapped(factoryAddress, factory.interface.encodeFunctionData("make", [owner.address, id(name)]), by(owner))]) {
      const { answer } = await present(address, sign);
      assert.equal(answer.status, 401, `${name}: ${answer.text}`);
      refused(answer, ...BAD_SIGNATURE);
    }
  }
  assert.ok(await signIn(ownedAddress, by(owner)));
});

await check("B-049 a wallet that writes while it checks is refused, because ERC-1271 forbids it, and nothing is written", async () => {
  const contract = await deploy("Writes");
  await isRefused(await contract.getAddress(), always("0x00"));
  assert.equal(await contract.count(), 0n);
});

await check("B-048 a wallet that returns too much data is refused, and does not block others", async () => {
  const address = await (await deploy("ReturnsMuch")).getAddress();
  for (let tries = 0; tries < 8; tries += 1) await isRefused(address, by(owner));
  assert.ok(await signIn(ownedAddress, by(owner)));
});

await check("E-10 a signature of 8 KiB reaches the wallet, one of more than 16 KiB does not", async () => {
  const address = await (await deploy("YesToAll")).getAddress();
  await signIn(address, always(`0x${"ab".repeat(8 * 1024)}`));
  await signIn(address, always(`0x${"ab".repeat(16 * 1024)}`));
  await isRefused(address, always(`0x${"ab".repeat(16 * 1024 + 1)}`));
});

// --- keys that delegate ------------------------------------------------------------------------------------

await check("B-053 the key of an account with EIP-7702 code stays the same user, and a signature by the delegate is another user's", async () => {
  const key = Wallet.createRandom().connect(provider);
  const before = await signIn(key.address, by(key));
  await (await payer.sendTransaction({ to: key.address, value: parseEther("1") })).wait();
  const delegate = await (await deploy("Delegate")).getAddress();
  const authorization = await key.authorize({ address: delegate, nonce: (await key.getNonce()) + 1, chainId: CHAIN });
  await (await key.sendTransaction({ type: 4, to: await payer.getAddress(), authorizationList: [authorization] })).wait();
  assert.equal(await codeAt(key.address), `0xef0100${delegate.slice(2).toLowerCase()}`);

  assert.equal(await signIn(key.address, by(key)), before, "the key signs in as before");
  const byDelegate = async (text) => concat(["0x01", await key.signMessage(text)]);
  const through = await signIn(key.address, byDelegate);
  assert.notEqual(through, before, "the contract at the address is a separate user, for its chain");
  assert.equal(await signIn(key.address, byDelegate), through);
  await isRefused(key.address, async (text) => concat(["0x01", await nobody.signMessage(text)]));
  await isRefused(key.address, by(nobody));
});

/**
 * A key with code that also accepts the signatures of a second key, and functions that sign as each of them.
 */
async function delegating() {
  const key = Wallet.createRandom().connect(provider);
  const second = Wallet.createRandom();
  await (await payer.sendTransaction({ to: key.address, value: parseEther("1") })).wait();
  const delegate = await (await deploy("SharedDelegate", second.address)).getAddress();
  const authorization = await key.authorize({ address: delegate, nonce: (await key.getNonce()) + 1, chainId: CHAIN });
  await (await key.sendTransaction({ type: 4, to: await payer.getAddress(), authorizationList: [authorization] })).wait();
  assert.match(await codeAt(key.address), /^0xef0100/);
  return { key, second };
}

for (const [goes, stays] of [["key", "contract"], ["contract", "key"]]) {
  await check(`F-15 EIP-7702: the key and the code at its address are linked to one user, and the ${goes} is unlinked separately`, async () => {
    const home = Wallet.createRandom();
    const sub = await signIn(home.address, by(home));
    const { key, second } = await delegating();
    const signs = { key: by(key), contract: by(second) };
    const here = (kinds) => ({ key: home.address, contract: key.address, kinds });
    for (const kind of ["key", "contract"]) {
      const linked = await change("link", here(["key", kind]), by(home), signs[kind]);
      assert.equal(linked.status, 200, linked.text);
      const idle = await change("link", here(["key", kind]), by(home), signs[kind]);
      assert.equal(idle.status, 200, idle.text);
    }
    assert.equal(await signIn(key.address, by(key)), sub, "the key signs in");
    assert.equal(await signIn(key.address, by(second)), sub, "the code signs in");

    // Neither signs for the other: the second key is not one of the account's keys.
    const both = (kinds) => ({ key: key.address, contract: home.address, kinds });
    refused(await change("unlink", both(["key", "key"]), by(second)), 401, "access_denied", /./);

    const gone = await change("unlink", { key: key.address, contract: key.address, kinds: [stays, goes] }, signs[stays]);
    assert.equal(gone.status, 200, gone.text);
    assert.equal(gone.json.wallets.length, 2);
    assert.equal(await signIn(key.address, signs[stays]), sub, "the one that stays still signs in as the user");
    // Nothing is left to unlink, and nothing else is unlinked instead.
    const again = await change("unlink", { key: home.address, contract: key.address, kinds: ["key", goes] }, by(home));
    assert.equal(again.status, 409, again.text);
    assert.equal(await signIn(key.address, signs[stays]), sub);
    assert.notEqual(await signIn(key.address, signs[goes]), sub, "the one that was unlinked is a new user");
  });
}

await check("F-15 a sign-in for a key accepts no contract's signature, one for a contract accepts no key's, and the text says which it is", async () => {
  const { key, second } = await delegating();
  const other = Wallet.createRandom();
  for (const [kind, good, bad] of [["key", [key], [second, other]], ["contract", [key, second], [other]]]) {
    for (const [signer, status] of [...good.map((each) => [each, 200]), ...bad.map((each) => [each, 401])]) {
      const visit = await begin(client);
      const body = { wallet_address: `eip155:${CHAIN}:${key.address}`, kind, ...visit.fields };
      const { json, text: said } = await request("POST", "/oauth/challenge", { cookies: visit.cookies, body });
      assert.ok(json?.challenge, said);
      assert.match(json.challenge, new RegExp(`^- urn:countersign:kind:${kind}$`, "m"));
      const signature = await signer.signMessage(json.challenge);
      const answer = await login(visit, { address: key.address, text: json.challenge, signature });
      assert.equal(answer.status, status, `${kind}: ${answer.text}`);
      const told = await request("POST", "/verify", { body: { text: json.challenge, signature } });
      assert.equal(told.json.signature, status === 200 ? "valid" : "invalid");
    }
  }
  const visit = await begin(client);
  const wrong = { wallet_address: key.address, kind: "eoa", ...visit.fields };
  refused(await request("POST", "/oauth/challenge", { cookies: visit.cookies, body: wrong }), 400, "invalid_request", /kind must be/);
});

await check("F-15 a change that names a chain with contracts but no kind is refused as ambiguous; a bare address means a key", async () => {
  const mine = Wallet.createRandom();
  const ask = (body) => request("POST", "/account/wallets/challenge", { cookies: new Cookies(), body: { change: "unlink", ...body } });
  const there = `eip155:${CHAIN}:${mine.address}`;
  refused(await ask({ wallet_address: there, other_wallet_address: mine.address }), 400, "invalid_request", /^kind is missing.*key, contract/);
  refused(await ask({ wallet_address: mine.address, other_wallet_address: there }), 400, "invalid_request", /^other_kind is missing/);
  assert.equal((await ask({ wallet_address: mine.address, other_wallet_address: `eip155:10:${mine.address}` })).json.other_kind, "key");
  const bitcoin = { wallet_address: mine.address, other_wallet_address: "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa" };
  refused(await ask({ ...bitcoin, other_kind: "contract" }), 400, "invalid_request", /^other_kind is not one/);
  assert.equal((await ask(bitcoin)).json.other_kind, undefined);
});

await check("/verify says if a text names a different chain from the one in the request", async () => {
  const visit = await begin(client);
  const { challenge: text } = await challenge(visit, `eip155:${CHAIN}:${person.address}`);
  const signature = await person.signMessage(text);
  const told = async (more) => (await request("POST", "/verify", { body: { text, signature, ...more } })).json.signature;
  assert.equal(await told({}), "valid");
  assert.equal(await told({ wallet_address: person.address }), "valid");
  assert.equal(await told({ wallet_address: `eip155:10:${person.address}` }), "names_another");
  assert.equal(await told({ wallet_address: person.address, chain: "eip155:1" }), "names_another");
  const stranger = await nobody.signMessage(text);
  const asked = { text, signature: stranger, wallet_address: nobody.address };
  assert.equal((await request("POST", "/verify", { body: asked })).json.signature, "names_another");
});

// --- a slow chain, and anonymous requests ------------------------------------------------------------------

await check("F-16 during 60 anonymous requests a second to a slow, honest service, contract wallets still sign in", async () => {
  slow.ms = 700;
  const curious = Wallet.createRandom();
  let asked = 0;
  let answered = 0;
  const told = new Map();
  const from = Date.now();
  const question = () => {
    asked += 1;
    const body = { text: `a question ${asked}`, signature: "0x0102", wallet_address: `eip155:${CHAIN}:${ownedAddress}` };
    request("POST", "/verify", { body }).then(({ status, json }) => {
      answered += 1;
      const said = status === 200 ? json.signature : status;
      told.set(said, (told.get(said) ?? 0) + 1);
    }, () => undefined);
  };
  const asking = setInterval(() => {
    while (asked < ((Date.now() - from) * 60) / 1000) question();
  }, 10);
  try {
    const ends = Date.now() + 8_000;
    let times = 0;
    let longest = 0;
    while (Date.now() < ends) {
      const begun = Date.now();
      await signIn(ownedAddress, by(owner));
      longest = Math.max(longest, Date.now() - begun);
      times += 1;
    }
    assert.ok(times >= 5, `${times} sign-ins`);
    await signIn(curious.address, by(curious));
    console.log(`        ${asked} questions, ${answered} answered (${JSON.stringify(Object.fromEntries(told))}), ${times} sign-ins, ${longest} ms at most`);
  } finally {
    clearInterval(asking);
    slow.ms = 0;
  }
  await signIn(ownedAddress, by(owner));
});

// --- the chain is down again -------------------------------------------------------------------------------

await check("what the server hashes is what ethers hashes", async () => {
  const visit = await begin(client);
  const { challenge: text } = await challenge(visit, `eip155:${CHAIN}:${ownedAddress}`);
  const signature = await owner.signMessage(text);
  const said = await owned.isValidSignature(hashMessage(text), signature);
  assert.equal(said, "0x1626ba7e");
  assert.equal((await login(visit, { address: ownedAddress, text, signature })).status, 200);
});

provider.destroy();
await stopChain();

await check("B-052, D-25: when the service goes, contracts get 503 within 3.5 s, later at once, and keys sign in", async () => {
  for (let tries = 0; tries < 8; tries += 1) {
    const begun = Date.now();
    await isRefused(ownedAddress, by(owner), DOWN);
    assert.ok(Date.now() - begun < 3_500, `${Date.now() - begun} ms`);
  }
  await signIn(person.address, by(person));
});

finish();
