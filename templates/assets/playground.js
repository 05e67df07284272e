// The playground's steps. The page acts as the client: it registers, sends the browser to the sign-in page,
// and shows every request and response. What is sent wrongly on purpose is in playground-breaks.js.

import { byId } from "./dom.js";
import { BREAKS } from "./playground-breaks.js";
import { ALL_HABITS, accounts, forgetWallet, habits, newAccounts, setHabit } from "./playground-keys.js";
import { snippets } from "./playground-snippets.js";
import { forget, forgetAfter, save, state } from "./playground-state.js";
import { copy, exchangeView, make } from "./playground-view.js";
import { challengeOf, jsonOf, randomText, send, visit } from "./playground-wire.js";
import { say } from "./texts.js";

const STEPS = ["register", "authorize", "sign_in", "token", "userinfo", "refresh", "revoke", "userinfo_again"];
const { issuer, redirectUri } = document.querySelector("main").dataset;
const formOf = (step) => document.querySelector(`form[data-step="${step}"]`);
const after = (step) => STEPS.slice(STEPS.indexOf(step));
const fillSnippets = snippets(byId("use"));

// --- what a step shows -------------------------------------------------------------------------------------

function show(step) {
  const section = byId(step);
  const { outcome, key, values } = state.verdicts[step] ?? {};
  const verdict = section.querySelector(".verdict");
  verdict.textContent = key ? say(key, values) : step === "sign_in" ? say("waiting") : "";
  verdict.dataset.outcome = outcome ?? "";
  section.querySelector(".exchanges").replaceChildren(...(state.exchanges[step] ?? []).map(exchangeView));
  const entry = document.querySelector(`.progress [data-step="${step}"]`);
  entry.dataset.outcome = outcome ?? "";
  entry.querySelector(".outcome").textContent = outcome ? say(`step_${outcome}`) : "";
}

function showAll() {
  STEPS.forEach(show);
  showChecks();
  const next = STEPS.find((step) => state.verdicts[step]?.outcome !== "done");
  for (const link of document.querySelectorAll(".progress a")) {
    if (link.hash === `#${next}`) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  }
  const canRest = Boolean(state.code);
  byId("run-rest").classList.toggle("primary", canRest);
  byId("run-to-sign-in").classList.toggle("primary", !canRest);
  fillSnippets({
    issuer,
    client: state.client,
    redirectUri: state.client?.callback ?? byId("callback").value,
    scope: state.client?.scope ?? "profile",
  });
  save();
}

/** A message is kept as a key and values, because the user may change the language in between. */
function rule(step, outcome, key, values = {}) {
  state.verdicts[step] = { outcome, key, values };
  return outcome;
}

/** Checks the last response of a step: was it the expected one? */
function judge(step, exchange, wanted, doneKey = "done") {
  const error = jsonOf(exchange.answer)?.error ?? "";
  const status = exchange.status;
  if (!status) return rule(step, "failed", "no_answer");
  const what = `${status} ${error}`.trim();
  const broken = BREAKS[step][chosenBreak(step)];
  if (broken) {
    const right = status === broken.status && (!broken.error || error === broken.error);
    const expected = `${broken.status} ${broken.error ?? ""}`.trim();
    return rule(step, right ? "provoked" : "failed", right ? "as_meant" : "not_as_meant", { what, expected });
  }
  const right = status === wanted;
  return rule(step, right ? "done" : "failed", right ? doneKey : "failed", { what });
}

// --- making steps go wrong ---------------------------------------------------------------------------------

const chosenBreak = (step) => byId(`break-${step}`)?.value ?? "";

function offerBreaks(step) {
  const place = formOf(step)?.querySelector(".break");
  const names = Object.keys(BREAKS[step] ?? {});
  if (!place || names.length === 0) return;
  const field = byId("break-template").content.cloneNode(true);
  const [label, select, hint] = ["label", "select", ".hint"].map((part) => field.querySelector(part));
  select.id = `break-${step}`;
  hint.id = `break-${step}-hint`;
  label.htmlFor = select.id;
  select.setAttribute("aria-describedby", hint.id);
  for (const name of names) select.append(make("option", { value: name }, say(`break_${step}_${name}`)));
  select.addEventListener("change", () => {
    hint.textContent = select.value ? say(`break_${step}_${select.value}_hint`) : "";
    if (step === "authorize") showTarget();
  });
  place.replaceWith(field);
}

const broken = (step, fields) => {
  const change = BREAKS[step][chosenBreak(step)]?.change;
  return change ? change(fields) : fields;
};

// --- step 1: the client ------------------------------------------------------------------------------------

function readForm() {
  const form = formOf("register");
  return {
    name: byId("name").value,
    scopes: [...form.querySelectorAll('[name="scope"]:checked')].map((box) => box.value),
    kind: form.querySelector('[name="kind"]:checked').value,
    pkce: byId("pkce").checked,
    callback: byId("callback").value,
  };
}

function writeForm({ name, scopes, kind, pkce, callback }) {
  if (name === undefined) return;
  const form = formOf("register");
  byId("name").value = name;
  for (const box of form.querySelectorAll('[name="scope"]')) box.checked = scopes.includes(box.value);
  for (const choice of form.querySelectorAll('[name="kind"]')) choice.checked = choice.value === kind;
  byId("pkce").checked = pkce;
  byId("callback").value = callback;
}

/** A public client always uses PKCE. */
function tiePkce() {
  const isPublic = readForm().kind === "public";
  byId("pkce").disabled = isPublic;
  if (isPublic) byId("pkce").checked = true;
}

async function register() {
  const { name, scopes, kind, callback } = readForm();
  const fields = {
    client_name: name,
    redirect_uris: [redirectUri, ...(callback ? [callback] : [])],
    scopes,
    token_endpoint_auth_method: kind === "public" ? "none" : "client_secret_post",
  };
  const bearer = byId("initial-token")?.value;
  const exchange = await send({ method: "POST", url: `${issuer}/oauth/clients`, json: broken("register", fields), bearer });
  forgetAfter(after("register"));
  state.exchanges.register = [exchange];
  const outcome = judge("register", exchange, 201);
  if (outcome === "done") await useClient({ ...jsonOf(exchange.answer), callback });
  return outcome;
}

async function useClient(client) {
  Object.assign(state, { client, answer: null, code: null, tokens: null });
  await freshDraft();
}

async function useOwnClient() {
  const secret = byId("own-secret").value.trim();
  forgetAfter(after("register"));
  const client = { client_id: byId("own-id").value.trim(), callback: byId("callback").value, scope: "profile" };
  await useClient(secret ? { ...client, client_secret: secret } : client);
  rule("register", "done", "client_ready", { client: client.client_id });
  byId("own-secret").value = "";
}

// --- step 2: the URL ---------------------------------------------------------------------------------------

let draft; // The next attempt; the last one is in the state.

async function freshDraft() {
  const verifier = state.client?.client_secret && !byId("pkce").checked ? null : randomText();
  const fields = {
    client_id: state.client?.client_id ?? "",
    redirect_uri: redirectUri,
    response_type: "code",
    scope: state.client?.scope ?? "profile",
    state: randomText(),
  };
  if (verifier) Object.assign(fields, { code_challenge: await challengeOf(verifier), code_challenge_method: "S256" });
  draft = { parameters: fields, verifier };
  for (const input of formOf("authorize").querySelectorAll("input[name]")) input.value = draft.parameters[input.name] ?? "";
  showTarget();
}

function parameters() {
  const inputs = [...formOf("authorize").querySelectorAll("input[name]")].filter((input) => input.value);
  return Object.fromEntries(inputs.map((input) => [input.name, input.value]));
}

function target() {
  const query = new URLSearchParams(broken("authorize", parameters()));
  for (const [name, value] of new URLSearchParams(byId("extra").value)) query.append(name, value);
  return `${issuer}/oauth/authorize?${query}`;
}

function showTarget() {
  byId("authorize-url").textContent = target().replaceAll("&", "\n  &");
}

async function authorize() {
  if (!state.client) return rule("authorize", "failed", "needs_client");
  const name = chosenBreak("authorize");
  const url = target();
  forgetAfter(after("authorize"));
  Object.assign(state, { answer: null, code: null, tokens: null });
  if (name && !BREAKS.authorize[name].visits) {
    const exchange = await send({ method: "GET", url });
    state.exchanges.authorize = [exchange];
    return judge("authorize", exchange, 302);
  }
  state.attempt = { parameters: Object.fromEntries(new URL(url).searchParams), verifier: draft.verifier, break: name };
  state.exchanges.authorize = [visit(url)];
  rule("authorize", "done", "visited");
  save();
  location.assign(url);
  return "left";
}

// --- step 3: the way back ----------------------------------------------------------------------------------

/** Checks what the browser was redirected back with, as every client must. */
function takeAnswer() {
  const answer = Object.fromEntries(new URLSearchParams(location.search));
  if (!answer.code && !answer.error) return false;
  const came = { ...visit(location.href), cameBack: true, secrets: answer.code ? [answer.code] : [] };
  history.replaceState(null, "", location.pathname); // A code must not stay in the history.
  const { parameters: sent, verifier, break: name } = state.attempt ?? {};
  const asked = state.verdicts.authorize?.outcome === "done" && !state.answer;
  const checks = [];
  const check = (good, key, values = {}) => checks.push({ good, key, values });
  if (!asked) check(false, "unasked");
  else if (answer.state === sent.state) check(Boolean(sent.state), sent.state ? "state_good" : "state_unsent");
  else check(false, "state_bad");
  check(answer.iss === issuer, answer.iss === issuer ? "iss_good" : "iss_bad");
  if (answer.code) {
    check(true, "code_good");
    check(Boolean(verifier), verifier ? "verifier_good" : "verifier_unused");
  } else {
    check(false, "error_came", { error: answer.error, description: answer.error_description ?? "" });
  }
  const meant = BREAKS.authorize[name]?.error;
  const trusted = asked && answer.state === sent.state && answer.iss === issuer;
  forgetAfter(after("sign_in"));
  state.exchanges.sign_in = [came];
  state.answer = { checks };
  state.code = trusted && answer.code ? answer.code : null;
  if (meant && answer.error === meant) rule("sign_in", "provoked", "as_meant", { what: meant });
  else if (state.code) rule("sign_in", "done", "signed_in");
  else rule("sign_in", "failed", "failed", { what: answer.error ?? "" });
  return true;
}

function showChecks() {
  const list = document.querySelector("#sign_in .checks");
  const checks = state.answer?.checks ?? [];
  list.hidden = checks.length === 0;
  list.replaceChildren(
    ...checks.map(({ good, key, values }) =>
      make("li", { "data-good": String(good) }, make("span", { class: "unseen" }, say(good ? "check_good" : "check_bad")), " ", say(key, values)),
    ),
  );
}

// --- steps 4 to 8: the client's own requests ---------------------------------------------------------------

const credentials = () => {
  const { client_id, client_secret } = state.client;
  return client_secret ? { client_id, client_secret } : { client_id };
};
const post = (path, form) => send({ method: "POST", url: `${issuer}${path}`, form });
const take = (exchange) => {
  const answer = exchange.status === 200 ? jsonOf(exchange.answer) : null;
  if (answer?.access_token) state.tokens = { ...state.tokens, ...answer };
  return answer;
};

async function exchangeCode() {
  if (!state.code) return rule("token", "failed", "needs_code");
  const kind = BREAKS.token[chosenBreak("token")] ?? {};
  const fields = { grant_type: "authorization_code", code: state.code, redirect_uri: state.attempt.parameters.redirect_uri, ...credentials() };
  if (state.attempt.verifier && state.attempt.parameters.code_challenge) fields.code_verifier = state.attempt.verifier;
  const url = `${issuer}/oauth/token`;
  const first = await (kind.json ? send({ method: "POST", url, json: fields }) : post("/oauth/token", broken("token", fields)));
  const exchanges = [first];
  forgetAfter(after("token"));
  if (take(first) || kind.spends) state.code = null;
  if (kind.twice) exchanges.push(await post("/oauth/token", fields));
  state.exchanges.token = exchanges;
  return judge("token", exchanges.at(-1), 200);
}

async function userinfo(step, wanted, doneKey) {
  if (!state.tokens) return rule(step, "failed", "needs_tokens");
  const bearer = broken(step, state.tokens.access_token);
  const exchange = await send({ method: "GET", url: `${issuer}/oauth/userinfo`, bearer });
  state.exchanges[step] = [exchange];
  return judge(step, exchange, wanted, doneKey);
}

async function refresh() {
  if (!state.tokens?.refresh_token) return rule("refresh", "failed", "needs_tokens");
  const kind = BREAKS.refresh[chosenBreak("refresh")] ?? {};
  const present = (token) => ({ grant_type: "refresh_token", refresh_token: token, ...credentials() });
  const old = state.tokens.refresh_token;
  const exchanges = [await post("/oauth/token", broken("refresh", present(old)))];
  take(exchanges[0]);
  if (kind.twice) {
    // A public client may lose a response, so its old token works until the new one is used. That is why the
    // new one is used here.
    if (!state.client.client_secret) {
      exchanges.push(await post("/oauth/token", present(state.tokens.refresh_token)));
      take(exchanges[1]);
    }
    exchanges.push(await post("/oauth/token", present(old)));
  }
  state.exchanges.refresh = exchanges;
  return judge("refresh", exchanges.at(-1), 200);
}

async function revoke() {
  if (!state.tokens) return rule("revoke", "failed", "needs_tokens");
  const fields = { token: state.tokens.refresh_token ?? state.tokens.access_token, ...credentials() };
  const exchange = await post("/oauth/revoke", broken("revoke", fields));
  state.exchanges.revoke = [exchange];
  return judge("revoke", exchange, 200);
}

const ACTIONS = {
  register,
  authorize,
  token: exchangeCode,
  userinfo: () => userinfo("userinfo", 200),
  refresh,
  revoke,
  userinfo_again: () => userinfo("userinfo_again", 401, "done_401"),
};

// --- running -----------------------------------------------------------------------------------------------

let running = false;

async function run(steps) {
  if (running) return;
  running = true;
  byId("run-says").textContent = say("sending");
  let outcome = "done";
  let last;
  for (const step of steps) {
    last = step;
    delete state.verdicts[step];
    delete state.exchanges[step];
    show(step);
    outcome = await ACTIONS[step]();
    showAll();
    if (outcome !== "done") break;
  }
  running = false;
  byId("run-says").textContent = steps.length > 1 && outcome === "done" ? say("ran") : "";
  if (steps.length > 1 && outcome !== "left") byId(last).scrollIntoView({ block: "nearest" });
}

function startAgain() {
  forget();
  forgetWallet();
  location.replace(location.pathname);
}

function showWallet() {
  byId("wallet-address").textContent = accounts()[0].address;
}

function offerHabits() {
  const current = habits();
  for (const habit of ALL_HABITS) {
    const box = make("input", { type: "checkbox", value: habit });
    box.checked = current.has(habit);
    box.addEventListener("change", () => setHabit(habit, box.checked));
    byId("habits").append(make("label", { class: "option" }, box, " ", say(`habit_${habit}`)));
  }
}

function listen() {
  for (const step of Object.keys(ACTIONS)) {
    formOf(step).addEventListener("submit", (event) => {
      event.preventDefault();
      run([step]);
    });
  }
  formOf("register").addEventListener("change", (event) => {
    if (event.target.id.startsWith("break-")) return;
    tiePkce();
    state.form = readForm();
    save();
    freshDraft();
  });
  formOf("authorize").addEventListener("input", showTarget);
  byId("own-client").addEventListener("submit", (event) => {
    event.preventDefault();
    useOwnClient().then(showAll);
  });
  byId("fresh").addEventListener("click", freshDraft);
  byId("copy-url").addEventListener("click", (event) => copy(event.currentTarget, target()));
  byId("other-wallet").addEventListener("click", () => {
    newAccounts();
    showWallet();
  });
  byId("run-to-sign-in").addEventListener("click", () => run(state.client ? ["authorize"] : ["register", "authorize"]));
  byId("run-rest").addEventListener("click", () => run(STEPS.slice(3)));
  byId("start-again").addEventListener("click", startAgain);
}

writeForm(state.form);
tiePkce();
STEPS.forEach(offerBreaks);
offerHabits();
showWallet();
listen();
const cameBack = takeAnswer();
await freshDraft();
showAll();
if (cameBack) byId("sign_in").scrollIntoView({ block: "start" });
