// A real Ethereum virtual machine as a judge of contract wallets: anvil runs contracts that solc compiled, ethers signs, and
// the sign-in is the server's own.   node evm.mjs http://localhost:8080 8545
//
// The server must have been told to ask 127.0.0.1 at that port about chains 31337 (which anvil is) and 1 (which it is not), and
// nobody about chain 10.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { AbiCoder, ContractFactory, JsonRpcProvider, Wallet, concat, hashMessage, id, parseEther } from "ethers";
import solc from "solc";
import { begin, challenge, check, codeOf, exchange, finish, login, refused, register, userinfo } from "./client.mjs";

const PORT = Number(process.argv[3] ?? process.env.PORT);
assert.ok(PORT > 0, "say at which port anvil is to listen: node evm.mjs http://localhost:8080 8545");

const CHAIN = 31337;
const BAD_SIGNATURE = [401, "access_denied", "Failed to verify signature"];
const DOWN = [503, "temporarily_unavailable", /./];
const MAGIC = "0x6492649264926492649264926492649264926492649264926492649264926492";

const client = await register({ client_name: "Peers: contract wallets" });

// --- signing in ----------------------------------------------------------------------------------------------------------------

/** Hands in what `sign` makes of the text for an account. */
async function present(address, sign, chain = CHAIN) {
  const visit = await begin(client);
  const issued = await challenge(visit, `eip155:${chain}:${address}`);
  const text = issued.challenge;
  assert.match(text, new RegExp(`^Chain ID: ${chain}$`, "m"));
  return { visit, answer: await login(visit, { address, text, signature: await sign(text) }) };
}

/** Signs in and gives the user, as userinfo knows it. */
async function signIn(address, sign, chain = CHAIN) {
  const { visit, answer } = await present(address, sign, chain);
  assert.equal(answer.status, 200, answer.text);
  const user = await userinfo(await exchange(visit, codeOf(answer.json.redirect_to, visit)));
  assert.equal(user.wallet_account, `eip155:${chain}:${user.wallet_address}`);
  assert.equal(user.wallet_address, address);
  return user.sub;
}

/** Is refused, in the words of the contract. */
async function isRefused(address, sign, [status, code, words] = BAD_SIGNATURE, chain = CHAIN) {
  const { answer } = await present(address, sign, chain);
  refused(answer, status, code, words);
}

const by = (wallet) => (text) => wallet.signMessage(text);
const always = (signature) => () => signature;
const wrapped = (factory, calldata, sign) => async (text) =>
  concat([AbiCoder.defaultAbiCoder().encode(["address", "bytes", "bytes"], [factory, calldata, await sign(text)]), MAGIC]);

// --- a chain -------------------------------------------------------------------------------------------------------------------

const contracts = (() => {
  const sources = Object.fromEntries(
    ["Wallets.sol", "Misfits.sol"].map((name) => [name, { content: readFileSync(new URL(`contracts/${name}`, import.meta.url), "utf8") }]),
  );
  const input = { language: "Solidity", sources, settings: { outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } } } };
  const output = JSON.parse(solc.compile(JSON.stringify(input)));
  const errors = (output.errors ?? []).filter((each) => each.severity === "error");
  assert.deepEqual(errors, [], "solc takes the contracts");
  return Object.assign({}, ...Object.values(output.contracts));
})();

/** The program in the package for this machine; where npm has none, the one that people installed themselves. */
const anvil = (() => {
  const machine = process.arch === "x64" ? "amd64" : process.arch;
  try {
    return createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${process.platform}-${machine}/bin/anvil`);
  } catch {
    return "anvil";
  }
})();
let node;

/** Starts anvil and waits until it answers. */
async function startChain() {
  const words = ["--host", "127.0.0.1", "--port", String(PORT), "--chain-id", String(CHAIN), "--hardfork", "prague", "--silent"];
  node = spawn(anvil, words, { stdio: ["ignore", "ignore", "inherit"] });
  const provider = new JsonRpcProvider(`http://127.0.0.1:${PORT}`, CHAIN, { staticNetwork: true, cacheTimeout: -1, pollingInterval: 50 });
  for (let tries = 0; ; tries += 1) {
    try {
      await provider.send("eth_chainId", []);
      return provider;
    } catch (error) {
      assert.ok(tries < 200 && node.exitCode === null, `anvil does not answer: ${error}`);
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}

function stopChain() {
  const ended = new Promise((done) => node.once("exit", done));
  node.kill("SIGKILL");
  return ended;
}
process.on("exit", () => node?.kill("SIGKILL"));

// --- before there is a chain -----------------------------------------------------------------------------------------------------

const person = Wallet.createRandom();
const nobody = Wallet.createRandom();

await check("B-052 while the service is down a contract gets 503 and a key signs in", async () => {
  await isRefused(nobody.address, always("0x0102"), DOWN);
  await signIn(person.address, by(person));
});

await check("P-15 nobody is asked about a chain without a service: its contracts are refused, keys sign in", async () => {
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

// --- wallets that are there --------------------------------------------------------------------------------------------------------

const owner = Wallet.createRandom();
const owned = await deploy("OwnedWallet", owner.address);
const ownedAddress = await owned.getAddress();

await check("B-046 a service that is of another chain is not believed", async () => {
  const content = await deploy("YesToAll");
  await isRefused(await content.getAddress(), always("0x0102"), DOWN, 1);
});

await check("ERC-1271: the owner of a wallet signs in as the wallet, and every time as the same user", async () => {
  const sub = await signIn(ownedAddress, by(owner));
  assert.equal(await signIn(ownedAddress, by(owner)), sub);
  assert.notEqual(await signIn(owner.address, by(owner)), sub, "the owner's key is somebody else");
});

await check("ERC-1271: another key, another text, and a cut signature are refused", async () => {
  await isRefused(ownedAddress, by(nobody));
  await isRefused(ownedAddress, (text) => owner.signMessage(`${text} `));
  await isRefused(ownedAddress, (text) => owner.signMessage(text.replace(/Nonce: ./, "Nonce: X")));
  await isRefused(ownedAddress, async (text) => (await owner.signMessage(text)).slice(0, -2));
  await isRefused(ownedAddress, always("0x"));
});

await check("ERC-1271: one owner's signature for one wallet is none for the other, as the text names the wallet", async () => {
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

// --- wallets that are not there yet ---------------------------------------------------------------------------------------------

const factory = await deploy("WalletFactory");
const factoryAddress = await factory.getAddress();

await check("ERC-6492, B-049, B-054: an undeployed wallet signs in, nothing of it stays, and deployed it is the same user", async () => {
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
  assert.equal(await codeAt(address), "0x", "the wallet is still not there");
  assert.equal(await factory.made(), made, "the factory has made nothing");
  assert.equal(await provider.getBlockNumber(), block, "there was no transaction");

  await (await factory.make(owner.address, salt)).wait();
  assert.notEqual(await codeAt(address), "0x");
  assert.equal(await signIn(address, by(owner)), sub, "by ERC-1271");
  assert.equal(await signIn(address, sign), sub, "and with a wrapper that is needed no more");
  await isRefused(address, wrapped(factoryAddress, calldata, by(nobody)));
});

await check("ERC-6492: another owner's wallet cannot be signed in to with a wallet of one's own", async () => {
  const salt = id("somebody else's wallet");
  const victim = await factory.addressOf(owner.address, salt);
  const mine = factory.interface.encodeFunctionData("make", [nobody.address, salt]);
  await isRefused(victim, wrapped(factoryAddress, mine, by(nobody)));
  await isRefused(ownedAddress, wrapped(factoryAddress, mine, by(nobody)));
});

await check("ERC-6492: a wallet that is there is made ready first, and is not ready afterwards", async () => {
  const contract = await deploy("UnreadyWallet", owner.address);
  const address = await contract.getAddress();
  const calldata = contract.interface.encodeFunctionData("makeReady");
  await isRefused(address, by(owner));
  await signIn(address, wrapped(address, calldata, by(owner)));
  await isRefused(address, wrapped(address, calldata, by(nobody)));
  assert.equal(await contract.ready(), false);
});

await check("ERC-6492: a factory that reverts, burns all gas, halts or makes nothing is refused", async () => {
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

await check("B-045 a wrapper around a key's own signature does not sign the key in", async () => {
  const calldata = factory.interface.encodeFunctionData("make", [owner.address, id("of no use")]);
  await isRefused(owner.address, wrapped(factoryAddress, calldata, by(owner)));
});

// --- contracts that are no honest wallets ---------------------------------------------------------------------------------------

await check("B-051 a wallet that says yes to all signs in as itself and as nobody else", async () => {
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

await check("B-047 whatever is not exactly the answer of ERC-1271 is refused, and says nothing about the service", async () => {
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

await check("B-049 a wallet that writes while it judges has written nothing afterwards", async () => {
  const contract = await deploy("Writes");
  await signIn(await contract.getAddress(), always("0x00"));
  assert.equal(await contract.count(), 0n);
});

await check("B-048 a wallet that returns more than anybody reads gets no verdict, and does not keep others from theirs", async () => {
  const address = await (await deploy("ReturnsMuch")).getAddress();
  for (let tries = 0; tries < 8; tries += 1) await isRefused(address, by(owner), DOWN);
  assert.ok(await signIn(ownedAddress, by(owner)));
});

await check("E-10 a signature of 8 KiB reaches the wallet, one of more than 16 KiB does not", async () => {
  const address = await (await deploy("YesToAll")).getAddress();
  await signIn(address, always(`0x${"ab".repeat(8 * 1024)}`));
  await signIn(address, always(`0x${"ab".repeat(16 * 1024)}`));
  await isRefused(address, always(`0x${"ab".repeat(16 * 1024 + 1)}`));
});

// --- keys that delegate -------------------------------------------------------------------------------------------------------------

await check("B-053 the key of an account with EIP-7702 code stays the user it was, and the delegate's signature is another one's", async () => {
  const key = Wallet.createRandom().connect(provider);
  const before = await signIn(key.address, by(key));
  await (await payer.sendTransaction({ to: key.address, value: parseEther("1") })).wait();
  const delegate = await (await deploy("Delegate")).getAddress();
  const authorization = await key.authorize({ address: delegate, nonce: (await key.getNonce()) + 1, chainId: CHAIN });
  await (await key.sendTransaction({ type: 4, to: await payer.getAddress(), authorizationList: [authorization] })).wait();
  assert.equal(await codeAt(key.address), `0xef0100${delegate.slice(2).toLowerCase()}`);

  assert.equal(await signIn(key.address, by(key)), before, "by the key");
  const byDelegate = async (text) => concat(["0x01", await key.signMessage(text)]);
  const through = await signIn(key.address, byDelegate);
  assert.notEqual(through, before, "the contract at the address is a user of its own chain");
  assert.equal(await signIn(key.address, byDelegate), through);
  await isRefused(key.address, async (text) => concat(["0x01", await nobody.signMessage(text)]));
  await isRefused(key.address, by(nobody));
});

// --- and without the chain again ------------------------------------------------------------------------------------------------------

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

await check("B-052, D-25: when the service goes, contracts get 503 within 3.5 s, at once after a while, and keys sign in", async () => {
  for (let tries = 0; tries < 8; tries += 1) {
    const begun = Date.now();
    await isRefused(ownedAddress, by(owner), DOWN);
    assert.ok(Date.now() - begun < 3_500, `${Date.now() - begun} ms`);
  }
  await signIn(person.address, by(person));
});

finish();
