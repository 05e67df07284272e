// The forms of the API documentation, which try out an operation on this server. Values in one response (ids,
// codes, tokens) are offered in the next form, and what is entered under "Authorization" goes into every form.
// Everything is kept in this module and is gone with the page. Texts are only written as text. The document's
// texts are English; this page's own texts are in the user's language.

import { say } from "./texts.js";

const LONG_FIELDS = new Set(["challenge"]);
const LONGEST_BODY = 20_000;
const CREDENTIAL_OF = { accessToken: "access_token", registrationToken: "registration_access_token" };
/** What is entered once, for all operations. */
const ACCESS = ["access_token", "client_id", "client_secret", "registration_access_token"];
const ENGLISH = { lang: "en", dir: "ltr" };

const root = document.querySelector("main");
const known = new Map(); // The newest value of each name, from requests and responses.
const entered = new Set(); // The names of those that the user entered under "Authorization": they stay.
const fields = []; // {place, name, schema, input, origin, touched, row}
let sendsBasic = false;
let reading;

// --- making elements ---------------------------------------------------------------------------------------

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes("-") || key === "for" || key === "role") made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Text with code between backticks. */
function prose(text, name = "p", properties = {}) {
  const parts = String(text ?? "").split("`");
  return element(name, properties, ...parts.map((part, index) => (index % 2 ? element("code", {}, part) : part)));
}

/** A text of the document. */
const english = (text, name = "p", properties = {}) => prose(text, name, { ...ENGLISH, ...properties });

function folded(title, ...children) {
  return element("details", {}, element("summary", {}, title), ...children);
}

function shown(text, label) {
  return element("pre", { tabIndex: 0, role: "region", "aria-label": label }, text);
}

function badge(status) {
  return element("code", { className: `status s${String(status)[0]}` }, String(status));
}

const pretty = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

// --- reading the document ----------------------------------------------------------------------------------

async function read() {
  const answer = await fetch(root.dataset.document);
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return answer.json();
}

async function description() {
  reading ??= read();
  try {
    return await reading;
  } catch (error) {
    reading = undefined; // The next one who opens a form asks again.
    throw error;
  }
}

function resolved(value, whole) {
  if (!value?.$ref) return value;
  return value.$ref.slice(2).split("/").reduce((place, part) => place[part], whole);
}

/** An operation with what a form needs of it. */
function operationOf(id, whole) {
  for (const [path, methods] of Object.entries(whole.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.operationId !== id) continue;
      const encodings = Object.keys(operation.requestBody?.content ?? {});
      const body = operation.requestBody?.content[encodings[0]];
      const schema = resolved(body?.schema, whole) ?? {};
      return {
        ...operation,
        path,
        method,
        encodings,
        isShown: shows(operation),
        parameters: operation.parameters ?? [],
        examples: Object.values(body?.examples ?? {}),
        properties: Object.entries(schema.properties ?? {})
          .map(([name, property]) => ({ name, schema: resolved(property, whole), required: schema.required?.includes(name) ?? false, text: property.description }))
          .sort((one, other) => other.required - one.required),
        credentials: [...new Set((operation.security ?? []).flatMap(Object.keys))].filter((name) => CREDENTIAL_OF[name]),
        takesBasic: (operation.security ?? []).some((way) => way.clientBasic),
        base: new URL(whole.servers[0].url).pathname.replace(/\/$/, ""),
        schemes: whole.components.securitySchemes,
      };
    }
  }
  throw new Error(id);
}

/** Does it respond with a page? */
function shows({ responses }) {
  const good = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  const media = good.flatMap(([, response]) => Object.keys(response.content ?? {}));
  return media.includes("text/html") && !media.includes("application/json");
}

/**
 * These are pages, or respond with a redirect that a script cannot follow. So they are opened, not fetched.
 */
const isVisited = (operation) => operation.method === "get" && (operation.operationId === "authorize" || operation.isShown);

// --- what is known -----------------------------------------------------------------------------------------

function offer() {
  for (const field of fields) {
    const offered = known.get(field.name);
    if (!offered || field.touched || field.input.value === offered.value || field.schema.type === "array") continue;
    if (field.input.tagName === "SELECT") continue;
    field.input.value = offered.value;
    if (field.input.tagName === "TEXTAREA") field.input.rows = Math.min(12, offered.value.split("\n").length);
    field.origin.textContent = say("from", { source: offered.from });
    field.input.dispatchEvent(new Event("filled"));
  }
}

function learn(values, from) {
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === "string" && value && !entered.has(name)) known.set(name, { value, from });
  }
}

function learnFromAnswer(body, from) {
  if (body === null || typeof body !== "object") return;
  learn(body, from);
  learn({ token: body.refresh_token }, from); // Most revocations are of a refresh token.
  if (Array.isArray(body.redirect_uris)) learn({ redirect_uri: body.redirect_uris[0] }, from);
  if (typeof body.redirect_to === "string" && URL.canParse(body.redirect_to)) {
    learn(Object.fromEntries(new URL(body.redirect_to).searchParams), from);
  }
}

// --- forms -------------------------------------------------------------------------------------------------

let counter = 0;

/**
 * A labeled control. `place` is where its value goes: path, query, header, body, credential, or access, which
 * means into all other forms.
 */
function control(place, name, schema, required, text, example) {
  const id = `field-${(counter += 1)}`;
  const isList = schema.type === "array";
  const isLong = LONG_FIELDS.has(name) || isList || schema.type === "object";
  const choices = isList ? null : schema.enum?.filter((value) => value !== null);
  const value = example === undefined ? "" : isList ? example.join("\n") : schema.type === "object" ? pretty(example) : String(example);
  const common = { id, name, autocomplete: "off", spellcheck: false };
  let input;
  if (choices) {
    input = element("select", common, ...(required ? choices : ["", ...choices]).map((choice) => element("option", { value: choice }, choice || say("left_out"))));
    input.value = value;
  } else if (isLong) {
    input = element("textarea", { ...common, value, rows: Math.min(12, Math.max(2, value.split("\n").length)) });
  } else {
    input = element("input", { ...common, value, type: "text" });
  }
  const origin = element("span", { className: "hint origin", role: "status" });
  const note = isList ? say("one_to_a_line") : schema.type === "object" ? say("as_json") : "";
  const help = element("p", { className: "hint", id: `${id}-help` }, english(text, "span"), note && ` ${note}`);
  input.setAttribute("aria-describedby", `${id}-help`);
  const row = element(
    "div",
    { className: "field" },
    element("label", { for: id }, element("code", {}, name), required ? ` (${say("required")}) ` : " ", origin),
    input,
    help,
  );
  const field = { place, name, schema, input, origin, touched: false, row };
  input.addEventListener("input", () => {
    field.touched = true;
    origin.textContent = "";
  });
  fields.push(field);
  return field;
}

/** The value for the body; undefined is omitted. */
function valueOf(field) {
  const text = field.input.value;
  if (text === "") return undefined;
  if (field.schema.type === "array") return text.split("\n").map((line) => line.trim()).filter(Boolean);
  if (field.schema.type === "object") return JSON.parse(text);
  return text;
}

function target(operation, controls) {
  let path = operation.base + operation.path;
  const query = new URLSearchParams();
  for (const field of controls) {
    const value = field.input.value;
    if (field.place === "path") path = path.replace(`{${field.name}}`, encodeURIComponent(value));
    if (field.place === "query" && value) query.append(field.name, value);
  }
  return query.size ? `${path}?${query}` : path;
}

/** `Basic …` of RFC 6749, 2.3.1: both are encoded as in a form first. */
function basic(id, secret) {
  const encoded = (text) => new URLSearchParams({ "": text }).toString().slice(1);
  return `Basic ${btoa(`${encoded(id)}:${encoded(secret)}`)}`;
}

function request(operation, controls, encoding) {
  const headers = { accept: operation.isShown ? "text/html" : "application/json" };
  const body = Object.fromEntries(
    controls.filter((field) => field.place === "body").map((field) => [field.name, valueOf(field)]).filter(([, value]) => value !== undefined),
  );
  for (const field of controls) if (field.place === "header" && field.input.value) headers[field.name.toLowerCase()] = field.input.value;
  const credential = controls.find((field) => field.place === "credential" && field.input.value);
  if (credential) headers.authorization = `Bearer ${credential.input.value}`;
  if (sendsBasic && operation.takesBasic && body.client_id && body.client_secret) {
    headers.authorization = basic(body.client_id, body.client_secret);
    delete body.client_id;
    delete body.client_secret;
  }
  // Only the browser can see where a redirect goes. The page shows that there was one.
  const options = { method: operation.method.toUpperCase(), headers, redirect: "manual", cache: "no-store" };
  if (encoding === "application/json") {
    options.body = JSON.stringify(body);
  } else if (encoding) {
    options.body = new URLSearchParams(body).toString();
  }
  if (encoding) headers["content-type"] = encoding;
  return options;
}

/** The request as a command. A single quote is the one character that a shell reads between single quotes. */
function curl(operation, controls, encoding) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const { method, headers, body } = request(operation, controls, encoding);
  const lines = [`curl -i ${method === "GET" ? "" : `-X ${method} `}${quoted(location.origin + target(operation, controls))}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body) lines.push(`--data-raw ${quoted(body)}`);
  return lines.join(" \\\n  ");
}

/** The request as curl, which follows the form while it is unfolded. */
function command(operation, controls, encoding) {
  const text = shown("", say("curl"));
  const says = element("span", { className: "hint", role: "status" });
  const copy = element("button", { type: "button" }, say("copy"));
  const place = folded(say("curl"), text, element("p", { className: "tools" }, copy, says));
  const update = () => {
    if (!place.open) return;
    says.textContent = "";
    try {
      text.textContent = curl(operation, controls, encoding());
    } catch (error) {
      text.textContent = say("not_json", { error: error.message });
    }
  };
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      says.textContent = say("copied");
    } catch {
      getSelection().selectAllChildren(text);
      says.textContent = say("not_copied");
    }
  });
  place.addEventListener("toggle", update);
  return { place, update };
}

async function send(operation, controls, encoding, output, from) {
  output.replaceChildren(element("p", { className: "busy" }, say("sending")));
  const started = performance.now();
  let response;
  try {
    response = await fetch(target(operation, controls), request(operation, controls, encoding));
  } catch (error) {
    const says = error instanceof SyntaxError ? say("not_json", { error: error.message }) : say("no_answer");
    output.replaceChildren(element("p", { className: "message alert" }, says));
    return;
  }
  const took = Math.round(performance.now() - started);
  if (response.type === "opaqueredirect") {
    output.replaceChildren(element("p", { className: "message" }, say("redirect", { milliseconds: took })));
    return;
  }
  const text = (await response.text()).slice(0, LONGEST_BODY);
  let body = text;
  try {
    body = JSON.parse(text);
  } catch {
    // Not JSON: a page, or empty.
  }
  if (response.ok) {
    learn(Object.fromEntries(controls.filter((field) => field.place !== "credential").map((field) => [field.name, field.input.value])), from);
    learnFromAnswer(body, from);
    offer();
  }
  output.replaceChildren(
    element("p", {}, badge(response.status), ` ${say("answered", { milliseconds: took })}`),
    text ? shown(pretty(body), say("answer_body")) : element("p", { className: "hint" }, say("no_body")),
    folded(say("headers"), shown([...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n"), say("answer_headers"))),
  );
}

/** Puts the form of an operation into its place. */
export async function tryOut(place) {
  const { operation: id, example, step } = place.closest(".part").dataset;
  const whole = await description();
  if (place.querySelector("form")) return; // It was closed and opened again meanwhile.
  const operation = operationOf(id, whole);
  const from = step ? say("step", { number: step }) : operation.summary.toLowerCase();
  place.append(formOf(operation, operation.examples[example]?.value ?? {}, from));
  offer();
}

function formOf(operation, example, from) {
  const controls = [];
  const rest = [];
  const rows = [];
  const add = (field, isExtra) => {
    controls.push(field);
    (isExtra ? rest : rows).push(field.row);
  };
  for (const name of operation.credentials) {
    const credential = CREDENTIAL_OF[name];
    if (operation.properties.some((property) => property.name === credential)) continue; // Here it is a field of the form.
    const needed = !operation.security.some((way) => Object.keys(way).length === 0);
    const field = control("credential", credential, { type: "string" }, needed, operation.schemes[name].description);
    field.touched = !needed; // Not one of the tokens in responses, so it is not offered.
    add(field, !needed);
  }
  for (const parameter of operation.parameters) {
    const value = parameter.required ? parameter.example : undefined;
    add(control(parameter.in, parameter.name, parameter.schema, parameter.required, parameter.description, value), !parameter.required);
  }
  for (const { name, schema, required, text } of operation.properties) {
    const given = example[name];
    const isExtra = given === undefined && !required;
    const field = control("body", name, schema, required, text, given);
    // What the example leaves out is not offered, unless it says which client sends the request.
    field.touched = isExtra && !(operation.takesBasic && ACCESS.includes(name));
    add(field, isExtra);
  }
  const form = element("form", { className: "try", autocomplete: "off", noValidate: true }, ...rows);
  if (rest.length) form.append(folded(say("more_fields", { count: rest.length }), ...rest));
  if (controls.some((field) => field.name === "signature")) form.append(prose(say("demo_wallet")));
  let encoding = () => operation.encodings[0];
  const tools = element("div", { className: "tools" });
  if (operation.encodings.length > 1) {
    const choice = element("select", { id: `field-${(counter += 1)}` }, ...operation.encodings.map((each) => element("option", { value: each }, each)));
    tools.append(element("div", { className: "field" }, element("label", { for: choice.id }, "Content-Type"), choice));
    encoding = () => choice.value;
  }
  const { place, update } = command(operation, controls, encoding);
  form.addEventListener("input", update);
  for (const field of controls) field.input.addEventListener("filled", update);
  const output = element("div", { className: "output", role: "status" });
  form.append(tools, place, output);
  if (isVisited(operation)) {
    const link = element("a", { className: "button primary", target: "_blank", rel: "noopener" }, say("open_tab"));
    const point = () => (link.href = target(operation, controls));
    for (const field of controls) for (const kind of ["input", "filled"]) field.input.addEventListener(kind, point);
    link.addEventListener("click", () => {
      learn(Object.fromEntries(controls.map((field) => [field.name, field.input.value])), from);
      offer();
    });
    point();
    tools.append(link);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      link.click();
    });
    return form;
  }
  const button = element("button", { className: "primary", type: "submit" }, say("send"));
  tools.append(button);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.getAttribute("aria-disabled")) return;
    button.setAttribute("aria-disabled", "true");
    await send(operation, controls, encoding(), output, from);
    button.removeAttribute("aria-disabled");
  });
  return form;
}

// --- authorization -----------------------------------------------------------------------------------------

/** Puts the form of what is entered once into its place. */
export async function showAccess(place) {
  const { Client, Tokens } = (await description()).components.schemas;
  if (place.querySelector("form")) return;
  const says = { ...Client.properties, ...Tokens.properties };
  const controls = ACCESS.map((name) => control("access", name, { type: "string" }, false, says[name]?.description));
  for (const field of controls) {
    field.input.addEventListener("input", () => {
      const { value } = field.input;
      entered.delete(field.name);
      known.delete(field.name);
      if (value) known.set(field.name, { value, from: say("access") });
      if (value) entered.add(field.name);
      // What stood in the forms from before does not stay there.
      for (const other of fields) if (other !== field && other.name === field.name && other.place !== "access" && !value) other.input.value = "";
      offer();
    });
  }
  const id = `field-${(counter += 1)}`;
  const tick = element("input", { id, type: "checkbox", checked: sendsBasic });
  tick.addEventListener("input", () => {
    sendsBasic = tick.checked;
    for (const field of fields) if (field.name === "client_secret") field.input.dispatchEvent(new Event("filled"));
  });
  const forget = element("button", { type: "button" }, say("forget"));
  const status = element("span", { className: "hint", role: "status" });
  forget.addEventListener("click", () => {
    known.clear();
    entered.clear();
    for (const field of fields) {
      if (!ACCESS.includes(field.name)) continue;
      field.input.value = "";
      field.touched = false;
      field.origin.textContent = "";
      field.input.dispatchEvent(new Event("filled"));
    }
    status.textContent = say("forgotten");
  });
  const form = element(
    "form",
    { className: "try", autocomplete: "off", noValidate: true },
    ...controls.map((field) => field.row),
    element("p", { className: "tick" }, tick, element("label", { for: id }, say("as_basic"))),
    element("p", { className: "tools" }, forget, status),
  );
  form.addEventListener("input", () => (status.textContent = ""));
  form.addEventListener("submit", (event) => event.preventDefault());
  place.append(form);
  offer();
}
