// Tron wallets: found by TIP-6963, as window.tron (TIP-1193) and as the older window.tronLink. They sign with
// signMessageV2.

export function find(add, { ask }) {
  const listed = new Set();
  let removeLegacy;

  function list(provider, wallet, connect) {
    listed.add(provider);
    return add({
      ...wallet,
      kind: "Tron",
      connect: () => ask(() => connect(provider)),
      sign: (text) => ask(() => provider.tronWeb.trx.signMessageV2(text)),
      onAccounts: (changed) => provider.on?.("accountsChanged", (addresses) => changed(accounts(addresses))),
    });
  }

  function announced(event) {
    const { info, provider } = event.detail ?? {};
    if (typeof provider?.request !== "function" || typeof info?.name !== "string") return;
    // window.tron is for wallets that do not announce themselves.
    if (removeLegacy?.()) listed.clear();
    removeLegacy = undefined;
    if (!listed.has(provider)) list(provider, { id: info.rdns, name: info.name, icon: info.icon }, byRequest);
  }

  function addLegacy() {
    const { tron, tronLink } = window;
    const provider = tron ?? tronLink;
    if (typeof provider?.request !== "function" || listed.size > 0) return;
    const name = tronLink || tron.isTronLink ? "TronLink" : "Tron wallet";
    removeLegacy = list(provider, { name, legacy: true }, tron ? byRequest : byOldRequest);
  }

  function again() {
    window.dispatchEvent(new Event("TIP6963:requestProvider"));
    addLegacy();
  }

  window.addEventListener("TIP6963:announceProvider", announced);
  window.addEventListener("tronLink#initialized", addLegacy);
  again();
  return { again };
}

function accounts(addresses) {
  return (Array.isArray(addresses) ? addresses : []).map((address) => ({ address }));
}

async function byRequest(provider) {
  return accounts(await provider.request({ method: "eth_requestAccounts" }));
}

// The code says how it went; no answer at all means that the wallet is locked.
async function byOldRequest(provider) {
  const { code } = (await provider.request({ method: "tron_requestAccounts" })) || { code: 4100 };
  if (code !== 200) throw Object.assign(new Error("not connected"), { code: code === 4000 ? -32002 : code });
  return accounts([provider.tronWeb?.defaultAddress?.base58]);
}
