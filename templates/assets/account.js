// The account page's script: it links and unlinks wallets without copying and pasting, writes times as people do here, and
// copies. Without it the page works by its forms.

import "./account-tools.js";
import { startChanges } from "./account-change.js";
import { byId } from "./dom.js";

// A page that comes back from the browser's memory may show what is gone by now.
window.addEventListener("pageshow", (event) => event.persisted && location.reload());
byId("by-hand").open = false;
startChanges();
