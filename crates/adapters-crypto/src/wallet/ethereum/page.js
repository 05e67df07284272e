// Ethereum wallets: found by EIP-6963 and as window.ethereum, called by EIP-1193, signing with personal_sign.

const CHAIN_WITHIN_MS = 1000;
const KEYS_SIGNATURE = 65; // Bytes.
const MADE_LATER = "6492".repeat(16); // The end of a signature that deploys its contract (ERC-6492).
const DELEGATED = "0xef0100"; // A key's account that delegates to a contract (EIP-7702); the key still signs.
// The usual names of the chains with most contract wallets.
const NETWORKS = new Map([
  [1, "Ethereum"], [10, "Optimism"], [56, "BNB Smart Chain"], [100, "Gnosis"], [137, "Polygon"], [324, "zkSync Era"],
  [8453, "Base"], [42161, "Arbitrum One"], [42220, "Celo"], [43114, "Avalanche"], [59144, "Linea"], [534352, "Scroll"],
]);

export function find(add, { utf8, hex }) {
  const listed = new Map(); // Each provider, and a function that takes it off the list.
  let legacy;

  function list(provider, wallet) {
    if (!listed.has(provider)) listed.set(provider, add({ ...wallet, kind: "Ethereum", ...speakTo(provider) }));
  }

  function announced(event) {
    const { info, provider } = event.detail ?? {};
    if (typeof provider?.request !== "function" || typeof info?.name !== "string") return;
    // The same wallet may be in the list as window.ethereum, without its name.
    if (provider === legacy && listed.get(provider)()) {
      listed.delete(provider);
      legacy = undefined;
    }
    list(provider, { id: info.rdns, name: info.name, icon: info.icon });
  }

  function addLegacy() {
    const provider = window.ethereum;
    if (typeof provider?.request !== "function" || listed.has(provider)) return;
    legacy = provider;
    list(provider, { name: "Browser wallet", legacy: true });
  }

  function again() {
    window.dispatchEvent(new Event("eip6963:requestProvider"));
    addLegacy();
  }

  function speakTo(provider) {
    const ask = async (method, params) => provider.request(params ? { method, params } : { method });
    const onChain = (addresses) => onItsChain(addresses, () => ask("eth_chainId"));
    return {
      connect: () => ask("eth_requestAccounts").then(onChain),
      sign: (text, { address }) => ask("personal_sign", [hex(utf8(text)), address]),
      changeAccount: () => ask("wallet_requestPermissions", [{ eth_accounts: {} }]).then(() => undefined),
      signs: async ({ address }) => (isContract(await ask("eth_getCode", [address, "latest"])) ? "contract" : "key"),
      explain: async (signature, { address }) => explain(signature, await ask("eth_getCode", [address, "latest"])),
      onAccounts: (changed) => {
        if (typeof provider.on !== "function") return;
        provider.on("accountsChanged", (addresses) => onChain(addresses).then(changed));
        provider.on("chainChanged", () => ask("eth_accounts").then(onChain).then(changed, () => undefined));
      },
    };
  }

  window.addEventListener("eip6963:announceProvider", announced);
  window.addEventListener("ethereum#initialized", addLegacy);
  again();
  return { again };
}

// The chain matters only to contract wallets. If a wallet does not report its chain soon, it is assumed to be
// on the usual chain, for which no chain is named.
async function onItsChain(addresses, ask) {
  if (!Array.isArray(addresses) || addresses.length === 0) return [];
  const tooLate = new Promise((done) => setTimeout(done, CHAIN_WITHIN_MS));
  const id = Number(await Promise.race([ask(), tooLate]).catch(() => undefined));
  const chain = Number.isSafeInteger(id) && id > 1 ? `eip155:${id}` : undefined;
  return addresses.map((address) => ({ address, chain, network: NETWORKS.get(id) }));
}

const hasCode = (code) => typeof code === "string" && !/^0x0*$/.test(code);
const isContract = (code) => hasCode(code) && !code.toLowerCase().startsWith(DELEGATED);

// What a signature that the server did not accept shows about its account, together with the account's code
// on the wallet's chain.
function explain(signature, code) {
  const isKeys = signature.replace(/^0x/, "").length / 2 === KEYS_SIGNATURE;
  if (isContract(code) || (hasCode(code) && !isKeys)) return "contract";
  if (signature.endsWith(MADE_LATER)) return "contract";
  return hasCode(code) || isKeys ? undefined : "undeployed";
}
