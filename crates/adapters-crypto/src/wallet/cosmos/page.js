// Cosmos wallets: Keplr, and Leap, which has the same interface. They sign by ADR-036 (signArbitrary) with
// the account of the hub.

const CHAIN_ID = "cosmoshub-4";
const WALLETS = [
  { id: "keplr", name: "Keplr" },
  { id: "leap", name: "Leap" },
];

export function find(add, { ask }) {
  const listed = new Set();

  function again() {
    for (const { id, name } of WALLETS) {
      const wallet = window[id];
      if (typeof wallet?.signArbitrary !== "function" || listed.has(wallet)) continue;
      listed.add(wallet);
      const accounts = async () => {
        const { bech32Address } = await wallet.getKey(CHAIN_ID);
        return [{ address: bech32Address, chain: `cosmos:${CHAIN_ID}` }];
      };
      add({
        id,
        name,
        kind: "Cosmos",
        connect: () => ask(() => wallet.enable(CHAIN_ID).then(accounts)),
        sign: (text, { address }) => ask(async () => (await wallet.signArbitrary(CHAIN_ID, address, text)).signature),
        onAccounts: (changed) =>
          window.addEventListener(`${id}_keystorechange`, () => accounts().then(changed, () => changed([]))),
      });
    }
  }

  window.addEventListener("load", again);
  again();
  return { again };
}
