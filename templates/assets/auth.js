// The sign-in page's script. It finds wallets, lets one sign the server's text, and submits the signature.
// Without it, the page works with its forms. It reads the data attributes of <main> once, keeps all of its
// state in its modules, and writes values from others (names, texts, errors) only as text. A remembered user
// gets a page with one button.

import { refreshByHand, resumeByHand, startByHand, textByHand } from "./auth-by-hand.js";
import { refreshConnected, shownText, startConnected } from "./auth-connected.js";
import { leave, page, postFor, reportFor } from "./auth-request.js";
import { afterEachChange, end, hasEnded, isBusy, isOver, mayLeave, newTurn, show, surfaces, turnAway, wrongHost } from "./auth-states.js";
import { byId, element, initial, showAddress } from "./dom.js";
import { write } from "./texts.js";

const RENEW_AT_MOST_EVERY_MS = 10_000; // Whatever lifetime the server sets, the page does not flood it.

// --- deny, and continue without a signature ----------------------------------------------------------------

async function denied(event) {
  event.preventDefault();
  if (!mayLeave()) return;
  const on = byId("manual")?.contains(event.submitter) ? surfaces.manual : surfaces.wallet;
  const mine = newTurn();
  try {
    const { answer } = await postFor("/oauth/deny", { form: byId("deny").elements.form.value });
    leave(answer, "denied", "taking_back");
  } catch (problem) {
    if (mine()) reportFor(on, problem, { retry: () => byId("deny").requestSubmit() });
  }
}

// The fields of the page's form: the account that it names, and its secret.
function continueFields() {
  const { wallet_account: account, form } = byId("continue-form").elements;
  return { wallet_account: account.value, form: form.value };
}

async function continued(event) {
  event.preventDefault();
  if (isOver()) return;
  const mine = newTurn();
  show(surfaces.wallet, "verifying", { key: "continuing", busy: true });
  try {
    const { answer } = await postFor("/oauth/continue", continueFields());
    leave(answer, "success", "taking_to");
  } catch (problem) {
    if (!mine()) return;
    if (problem.id === "not-admitted") turnAway(byId("account").textContent, problem.values);
    // The remembered sign-in has ended or is no longer enough, so a wallet is needed.
    else if (problem.status === 401 || problem.status === 403) location.assign(byId("another").href);
    else reportFor(surfaces.wallet, problem, { retry: () => byId("continue-form").requestSubmit() });
  }
}

// --- time --------------------------------------------------------------------------------------------------

const flows = [shownText, textByHand];

function countDown() {
  for (const { challenge, timer } of flows) {
    const seconds = challenge ? Math.max(0, Math.ceil((challenge.ends - Date.now()) / 1000)) : 0;
    timer.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }
}

// An expired text is replaced while the user looks at it, so no one has to hurry (WCAG 2.2.1), and while a
// wallet waits with it, because the server would refuse its signature.
function tick() {
  countDown();
  if (document.visibilityState !== "visible") return;
  for (const { challenge, isInWallet, renewBeforeMs, renew } of flows) {
    if (!challenge || (isBusy() && !isInWallet) || Date.now() - challenge.came < RENEW_AT_MOST_EVERY_MS) continue;
    if (challenge.ends - Date.now() <= (isInWallet ? 0 : renewBeforeMs)) renew();
  }
}

function startClock() {
  for (const flow of flows) {
    flow.timer = element("span");
    flow.timer.role = "timer";
    flow.place.replaceChildren(...write("valid_for", { time: flow.timer }));
  }
  document.addEventListener("visibilitychange", tick);
  setInterval(tick, 1000);
}

// --- the start ---------------------------------------------------------------------------------------------

// The tab keeps its request, whatever other tabs start: its URL names the request, for reload and Back.
function nameRequest() {
  const address = new URL(location.href);
  if (address.pathname !== `${page.base}/auth` || address.searchParams.has("request")) return;
  address.searchParams.set("request", page.requestLabel);
  history.replaceState(history.state, "", address);
}

function start() {
  document.querySelector("main").classList.add("js");
  nameRequest();
  const avatar = byId("avatar");
  if (avatar) {
    avatar.textContent = initial(page.clientName);
    avatar.hidden = false;
  }
  for (const place of document.querySelectorAll("main .address:not(:empty)")) showAddress(place, place.textContent);
  window.addEventListener("pageshow", (event) => event.persisted && location.reload());
  byId("deny")?.addEventListener("submit", denied);

  if (!window.isSecureContext) return end("insecure", { how: "insecure_how", alert: true });
  if (location.host !== page.host) return wrongHost(page.host);
  if (hasEnded()) return;
  const resume = byId("continue-form");
  if (resume) return resume.addEventListener("submit", continued);

  afterEachChange(() => {
    refreshConnected();
    refreshByHand();
    countDown();
  });
  startClock();
  startByHand();
  startConnected();
  if (page.step === "sign") resumeByHand();
}

start();
