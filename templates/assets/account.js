// The account page's script. It links and unlinks wallets without copying and pasting, shows local times, and
// copies. Without it, the page works with its forms.

import "./account-tools.js";
import { startChanges } from "./account-change.js";
import { byId } from "./dom.js";

// A page that the browser restores from memory may show outdated data.
window.addEventListener("pageshow", (event) => event.persisted && location.reload());
byId("by-hand").open = false;
startChanges();
