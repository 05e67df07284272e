// Solana wallets: found by the Wallet Standard, signing with solana:signMessage.

const MAINNET = "solana:mainnet";
const CHAIN = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"; // The same by CAIP-2.
const CONNECT = "standard:connect";
const EVENTS = "standard:events";
const SIGN = "solana:signMessage";

export function find(add, { utf8, base64, ask, standardWallets }) {
  standardWallets((wallet) => {
    const { features, chains } = wallet;
    if (!chains.includes(MAINNET) || !features[CONNECT] || !features[SIGN]) return undefined;
    return add({
      id: wallet.name,
      name: wallet.name,
      icon: wallet.icon,
      kind: "Solana",
      connect: () => ask(async () => ofSolana((await features[CONNECT].connect()).accounts)),
      sign: (text, { account }) =>
        ask(async () => {
          const [{ signature }] = await features[SIGN].signMessage({ account, message: utf8(text) });
          return base64(signature);
        }),
      onAccounts: (changed) => features[EVENTS]?.on("change", ({ accounts }) => accounts && changed(ofSolana(accounts))),
    });
  });
}

function ofSolana(accounts) {
  const ours = accounts.filter((account) => account.chains.includes(MAINNET));
  const able = ours.filter((account) => account.features.includes(SIGN));
  if (ours.length > 0 && able.length === 0) throw Object.assign(new Error("the account cannot sign messages"), { code: 4200 });
  return able.map((account) => ({ address: account.address, chain: CHAIN, account }));
}
