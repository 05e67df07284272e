// An operator whose wallet is a contract (ERC-1271): a real Ethereum virtual machine runs it, its owner's key signs, and the
// desk asks the chain. By hand, as with a wallet that is elsewhere.
// node desk-contract.mjs http://localhost:8080 COUNTERSIGN DATABASE_URL http://ADMIN_LISTEN ADMIN_KEY 8545
//
// The server must be configured to ask 127.0.0.1 at that port about chain 31337.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { ContractFactory, Wallet, parseEther } from "ethers";
import { CHAIN, anvil, anvilAt, contracts, providerAt } from "./chain.mjs";
import { check } from "./client.mjs";
import { CHANGES, manage, operate } from "./desk-changes.mjs";
import { ask, isDone, operator, signByHand } from "./desk-people.mjs";
import { SLOW, close } from "./people.mjs";

const PORT = process.argv[7];
const node = spawn(anvil, anvilAt(PORT), { stdio: ["ignore", "ignore", "inherit"] });
process.on("exit", () => node.kill("SIGKILL"));
const provider = await providerAt(PORT, node);
const payer = await provider.getSigner(0);

const [owner, next] = [Wallet.createRandom().connect(provider), Wallet.createRandom()];
const { abi, evm } = contracts.OwnedWallet;
const contract = await new ContractFactory(abi, evm.bytecode.object, payer).deploy(owner.address);
await contract.waitForDeployment();
const account = `eip155:${CHAIN}:${await contract.getAddress()}`;
await manage("POST", "/groups/operators/members/add", { members: [account], kind: "contract" });

const signedBy = (key) => ({ wallet: { key: { address: account } }, settings: {}, sign: (text) => key.signMessage(text) });
const create = CHANGES.find(({ change }) => change === "group-create");
const seat = await operator(() => signedBy(owner), { javaScriptEnabled: false, isOperator: false });
const { page, context } = seat;

await check("a contract wallet is an operator's, and its owner signs a change", async () => {
  const text = await ask(page, create.change, await create.prepare());
  assert.match(text, new RegExp(`^Chain ID: ${CHAIN}$`, "m"));
  assert.match(text, /^- urn:countersign:kind:contract$/m);
  await signByHand(seat);
  await isDone(page, create.change);
});

await check("a key that does not own the contract signs nothing", async () => {
  await ask(page, create.change, await create.prepare());
  await signByHand({ page, sign: (text) => next.signMessage(text) });
  await page.locator("#trouble").waitFor(SLOW);
});

await check("after the contract has another owner, the new one signs and the old one does not", async () => {
  await (await payer.sendTransaction({ to: owner.address, value: parseEther("1") })).wait();
  await (await contract.connect(owner).setOwner(next.address)).wait();
  await ask(page, create.change, await create.prepare());
  await signByHand(seat);
  await page.locator("#trouble").waitFor(SLOW);
  await signByHand({ page, sign: (text) => next.signMessage(text) });
  await isDone(page, create.change);
});

await check("the record counts what nobody can verify without the chain", async () => {
  let said = {};
  for (let tries = 0; tries < 60 && said.not_sealed_yet !== 0; tries++) {
    await sleep(500);
    said = JSON.parse(operate("event", "verify", "--output", "json"));
  }
  assert.deepEqual([said.holds, said.signatures, said.signatures_not_checked], [true, 0, 2]);
});

await context.close();
await close();
