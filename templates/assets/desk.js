// The page of a change at the desk. A wallet of this browser signs the text, and the form for signing by hand is sent with its
// signature. So there is one way to the server, with this script and without it. The server trusts only the signature.

import "./account-tools.js";
import { Side } from "./account-side.js";
import { afterEachChange, isBusy, setButton, show, surfaces } from "./auth-states.js";
import { byId } from "./dom.js";

const { dataset } = document.querySelector("main");
const on = surfaces.wallet;
const signButton = byId("sign");
const form = byId("sign-form");
const side = new Side({ mine: JSON.parse(dataset.wallets), signedInAs: dataset.signedInAs, chosen });

let choice = null; // The wallet that signs, and its account.

// A page that the browser restores from memory may show a text that was used.
window.addEventListener("pageshow", (event) => event.persisted && location.reload());
byId("by-hand").open = byId("trouble") !== null;
byId("exactly").open = byId("trouble") !== null;
signButton.addEventListener("click", () => choice && sign());
afterEachChange(() => {
  setButton(signButton, choice !== null && !isBusy());
  signButton.hidden = choice === null;
  side.refresh();
});
side.ask("signer");

// What the text says is in view all the time, so a person who chooses a wallet wants it to sign.
function chosen(_, entry, account) {
  choice = { entry, account };
  show(on, "confirm", { focus: signButton });
  return sign();
}

async function sign({ again = false } = {}) {
  const { entry, account } = choice;
  const retry = () => sign({ again: true });
  const signature = await side.sign(entry, account, byId("text").textContent, { host: dataset.host, again, retry, button: signButton });
  if (signature === undefined) return;
  byId("signature").value = signature;
  show(on, "verifying", { busy: true });
  form.requestSubmit();
}
