// Bitcoin wallets: found by the Wallet Standard (bitcoin:connect), in window.btc_providers (WBIP004: Xverse,
// Leather), and as window.unisat. They sign by BIP-322 where they can, and by BIP-137 for older kinds of
// addresses.

const CHAIN = "bip122:000000000019d6689c085ae165831e93";
const MAINNET = "bitcoin:mainnet"; // The same in the Wallet Standard.
const CONNECT = "bitcoin:connect";
const EVENTS = "standard:events";
const SIGN = "bitcoin:signMessage";
const PURPOSES = ["payment", "ordinals"];
// Wallets that use sats-connect have error codes of their own: rejected, not for this address, no permission.
const SATS_CONNECT_CODES = { [-32000]: 4001, [-32001]: 4200, [-32002]: 4100 };

export function find(add, { utf8, base64, ask, standardWallets }) {
  const names = new Set();
  const list = (name, icon, id, ways) => {
    // One wallet may appear in several of these ways; the first counts.
    if (typeof name !== "string" || names.has(name)) return undefined;
    names.add(name);
    const remove = add({ id, name, icon, kind: "Bitcoin", ...ways });
    return () => remove() && names.delete(name);
  };

  standardWallets(({ name, icon, features }) => {
    if (!features[CONNECT] || !features[SIGN]) return undefined;
    return list(name, icon, name, {
      connect: () => ask(async () => onMainnet((await features[CONNECT].connect({ purposes: PURPOSES })).accounts)),
      sign: (text, { account }) =>
        ask(async () => {
          const [{ signature }] = await features[SIGN].signMessage({ account, message: utf8(text) });
          return base64(signature);
        }),
      onAccounts: (changed) => features[EVENTS]?.on("change", ({ accounts }) => accounts && changed(onMainnet(accounts))),
    });
  });

  const again = () => {
    for (const { id, name, icon, methods } of Array.isArray(window.btc_providers) ? window.btc_providers : []) {
      // The id is the path to the wallet from window, such as XverseProviders.BitcoinProvider.
      const provider = String(id).split(".").reduce((at, part) => at?.[part], window);
      if (typeof provider?.request === "function") list(name, icon, id, byRequest(provider, methods ?? [], ask));
    }
    const { unisat } = window;
    if (typeof unisat?.requestAccounts === "function") list("UniSat Wallet", null, "unisat", byUnisat(unisat, ask));
  };
  window.addEventListener("unisat#initialized", again);
  again();
  return { again };
}

function onMainnet(accounts) {
  return ofBitcoin(accounts.filter((account) => account.chains.includes(MAINNET)));
}

function ofBitcoin(accounts) {
  return accounts.map((account) => ({ address: account.address, chain: CHAIN, account }));
}

function hasSegwitAddress({ address }) {
  return /^bc1/i.test(address);
}

function byUnisat(unisat, ask) {
  const accounts = (addresses) => ofBitcoin(addresses.map((address) => ({ address })));
  return {
    connect: () => ask(async () => accounts(await unisat.requestAccounts())),
    sign: (text, account) => ask(() => unisat.signMessage(text, hasSegwitAddress(account) ? "bip322-simple" : "ecdsa")),
    onAccounts: (changed) => unisat.on?.("accountsChanged", (addresses) => changed(accounts(addresses))),
  };
}

function byRequest(provider, methods, ask) {
  // Answers and refusals come in a JSON-RPC envelope. Leather throws refusals, Xverse returns them.
  const request = (method, params) =>
    ask(async () => {
      const answer = await provider.request(method, params).catch((error) => ({ error: error?.error ?? error }));
      if (answer?.error) throw answer.error;
      return answer?.result;
    }, SATS_CONNECT_CODES);
  const addresses = () => {
    const message = `Sign in at ${location.host}`.slice(0, 80);
    if (methods.includes("wallet_connect")) return request("wallet_connect", { addresses: PURPOSES, message });
    if (methods.includes("getAccounts")) return request("getAccounts", { purposes: PURPOSES, message });
    return request("getAddresses");
  };
  return {
    connect: () =>
      addresses().then((found) => {
        const all = Array.isArray(found) ? found : (found?.addresses ?? []);
        const ours = all.filter(({ purpose, symbol }) => (symbol ? symbol === "BTC" : PURPOSES.includes(purpose)));
        return ofBitcoin(ours.sort((one, other) => PURPOSES.indexOf(one.purpose) - PURPOSES.indexOf(other.purpose)));
      }),
    sign: (text, { address, account }) => {
      const protocol = hasSegwitAddress(account) ? "BIP322" : "ECDSA";
      const which = account.symbol ? { paymentType: account.type } : { address, protocol };
      return request("signMessage", { message: text, ...which }).then((signed) => signed?.signature);
    },
  };
}
