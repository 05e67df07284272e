// What the judges of contract wallets share: the contracts, and the program that is a chain.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { JsonRpcProvider } from "ethers";
import solc from "solc";

/** The chain that anvil is. */
export const CHAIN = 31337;

/** The contracts in the folder `contracts`, compiled. */
export const contracts = (() => {
  const sources = Object.fromEntries(
    ["Wallets.sol", "Misfits.sol", "Attacks.sol"].map((name) => [name, { content: readFileSync(new URL(`contracts/${name}`, import.meta.url), "utf8") }]),
  );
  const input = { language: "Solidity", sources, settings: { outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } } } };
  const output = JSON.parse(solc.compile(JSON.stringify(input)));
  const errors = (output.errors ?? []).filter((each) => each.severity === "error");
  assert.deepEqual(errors, [], "solc compiles the contracts");
  return Object.assign({}, ...Object.values(output.contracts));
})();

/** The program in the package for this machine. If npm has none, the one that is installed on the machine. */
export const anvil = (() => {
  const machine = process.arch === "x64" ? "amd64" : process.arch;
  try {
    return createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${process.platform}-${machine}/bin/anvil`);
  } catch {
    return "anvil";
  }
})();

/** What starts anvil at a port. */
export const anvilAt = (port) => ["--host", "127.0.0.1", "--port", String(port), "--chain-id", String(CHAIN), "--hardfork", "prague", "--silent"];

/** Waits until anvil responds at a port. */
export async function providerAt(port, node) {
  const provider = new JsonRpcProvider(`http://127.0.0.1:${port}`, CHAIN, { staticNetwork: true, cacheTimeout: -1, pollingInterval: 50 });
  for (let tries = 0; ; tries += 1) {
    try {
      await provider.send("eth_chainId", []);
      return provider;
    } catch (error) {
      assert.ok(tries < 200 && node.exitCode === null, `anvil does not respond: ${error}`);
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}
