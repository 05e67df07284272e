// The interactive API documentation. It reads the OpenAPI document, shows every operation in the order of a
// sign-in, and lets users try each against this server. Values in one response (ids, codes, tokens) are
// offered in the next form. Everything is kept in this module and is gone with the page. Texts are only
// written as text. The document's texts are English; this page's own texts are in the user's language.

import { say } from "./texts.js";

const TAGS_AFTER_STEPS = ["Sign-in", "Clients", "Discovery", "Pages", "Probes"];
const LONG_FIELDS = new Set(["challenge"]);
const LONGEST_BODY = 20_000;
const CREDENTIAL_OF = { accessToken: "access_token", registrationToken: "registration_access_token" };
const ENGLISH = { lang: "en", dir: "ltr" };
/**
 * These are pages, or respond with a redirect that a script cannot follow. So they are opened, not fetched.
 */
const isVisited = (operation) => operation.method === "get" && (operation.id === "authorize" || operation.shown.length > 0);

const root = document.getElementById("docs");
const known = new Map(); // The newest value of each name, from requests and responses.
const fields = []; // {name, input, hint, touched}
let description;

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

const pretty = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

// --- reading the document ----------------------------------------------------------------------------------

function resolved(value) {
  if (!value?.$ref) return value;
  return value.$ref.slice(2).split("/").reduce((place, part) => place[part], description);
}

/** The document's operations as a list, with what this page needs of each. */
function operations() {
  return Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      id: operation.operationId,
      path,
      method,
      parameters: operation.parameters ?? [],
      encodings: Object.keys(operation.requestBody?.content ?? {}),
      credentials: (operation.security ?? []).flatMap(Object.keys).filter((name) => CREDENTIAL_OF[name]),
      shown: Object.entries(operation.responses)
        .filter(([status]) => status.startsWith("2"))
        .flatMap(([, response]) => Object.keys(response.content ?? {}))
        .filter((media, _, all) => !all.includes("application/json") && media === "text/html"),
    })),
  );
}

/** One entry for each step. An operation that is used in two steps has an example for each. */
function steps(all) {
  return all
    .flatMap((operation) => (operation["x-steps"] ?? []).map((step, index) => ({ operation, step, index })))
    .sort((one, other) => one.step - other.step);
}

const media = (operation) => operation.requestBody?.content[operation.encodings[0]];
const examplesOf = (operation) => Object.values(media(operation)?.examples ?? {});

function typeOf(schema) {
  if (schema.type === "array") return say("list_of", { type: typeOf(resolved(schema.items ?? {})) });
  const names = { string: "type_text", integer: "type_number", boolean: "type_boolean", object: "type_object" };
  const name = say(names[schema.type] ?? "type_any");
  return schema.format && schema.format !== "int64" ? `${name} (${schema.format})` : name;
}

function rulesOf(schema) {
  const item = schema.items ?? schema;
  const values = item.enum?.filter((value) => value !== null);
  return [
    values?.length ? say("one_of", { values: values.join(", ") }) : null,
    schema.maxLength ? say("at_most_characters", { count: schema.maxLength }) : null,
    schema.maxItems ? say("at_most", { count: schema.maxItems }) : null,
  ].filter(Boolean);
}

// --- describing --------------------------------------------------------------------------------------------

function fieldList(rows) {
  const list = element("dl", { className: "fields" });
  for (const { name, schema, required, text } of rows) {
    const facts = [typeOf(schema), required ? say("required") : null, ...rulesOf(schema)].filter(Boolean).join(" · ");
    list.append(
      element("dt", {}, element("code", {}, name), " ", element("span", { className: "hint" }, facts)),
      english(text, "dd"),
    );
  }
  return list;
}

/** The fields of an object, the required ones first. */
const rowsOf = (schema) =>
  Object.entries(schema.properties ?? {})
    .map(([name, property]) => ({
      name,
      schema: resolved(property),
      required: schema.required?.includes(name) ?? false,
      text: property.description,
    }))
    .sort((one, other) => other.required - one.required);

function answers(operation) {
  const list = element("div", { className: "answers" });
  for (const [status, response] of Object.entries(operation.responses)) {
    const parts = status >= "4" ? [english(response.description)] : []; // For the others the summary is enough.
    const headers = Object.entries(response.headers ?? {}).map(([name, header]) => ({
      name,
      schema: resolved(header).schema,
      required: resolved(header).required,
      text: resolved(header).description,
    }));
    for (const [type, content] of Object.entries(response.content ?? {})) {
      // Every error also exists as a page, as the introduction says.
      if (status >= "4" && type === "text/html") continue;
      const schema = resolved(content.schema);
      parts.push(element("p", { className: "hint" }, type));
      if (schema.properties && status < "4") parts.push(fieldList(rowsOf(schema)));
      const values = content.examples ? Object.values(content.examples).map((each) => each.value) : [content.example];
      for (const value of values) parts.push(shown(pretty(value), say("example_answer", { status })));
    }
    parts.push(folded(say("headers"), fieldList(headers)));
    list.append(folded(element("span", {}, badge(status), " ", element("span", ENGLISH, summaryOf(response, status))), ...parts));
  }
  return list;
}

const summaryOf = (response, status) => (status >= "4" ? response.description.split(":")[0] : response.description.replaceAll("`", ""));

function badge(status) {
  return element("code", { className: `status s${String(status)[0]}` }, String(status));
}

// --- trying out --------------------------------------------------------------------------------------------

let counter = 0;

/** A labeled control. `place` is where its value goes: path, query, body or credential. */
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
    if (typeof value === "string" && value) known.set(name, { value, from });
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

/** The value for the body; undefined is omitted. */
function valueOf(field) {
  const text = field.input.value;
  if (text === "") return undefined;
  if (field.schema.type === "array") return text.split("\n").map((line) => line.trim()).filter(Boolean);
  if (field.schema.type === "object") return JSON.parse(text);
  return text;
}

const base = () => new URL(description.servers[0].url).pathname.replace(/\/$/, "");

function target(operation, controls) {
  let path = base() + operation.path;
  const query = new URLSearchParams();
  for (const field of controls) {
    const value = field.input.value;
    if (field.place === "path") path = path.replace(`{${field.name}}`, encodeURIComponent(value));
    if (field.place === "query" && value) query.append(field.name, value);
  }
  return query.size ? `${path}?${query}` : path;
}

function request(operation, controls, encoding) {
  const headers = { accept: operation.shown.length ? "text/html" : "application/json" };
  const credential = controls.find((field) => field.place === "credential" && field.input.value);
  if (credential) headers.authorization = `Bearer ${credential.input.value}`;
  // Only the browser can see where a redirect goes. The page shows that there was one.
  const options = { method: operation.method.toUpperCase(), headers, redirect: "manual", cache: "no-store" };
  const body = Object.fromEntries(
    controls.filter((field) => field.place === "body").map((field) => [field.name, valueOf(field)]).filter(([, value]) => value !== undefined),
  );
  if (encoding === "application/json") {
    options.body = JSON.stringify(body);
  } else if (encoding) {
    options.body = new URLSearchParams(body).toString();
  }
  if (encoding) headers["content-type"] = encoding;
  return options;
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

function tryOut(operation, example, from) {
  const controls = [];
  const rest = [];
  const add = (field, isExtra) => {
    controls.push(field);
    if (isExtra) rest.push(field.row);
    return isExtra ? null : field.row;
  };
  const rows = [];
  for (const name of new Set(operation.credentials)) {
    const credential = CREDENTIAL_OF[name];
    // Here it is a field of the form.
    if (resolved(media(operation)?.schema)?.properties?.[credential]) continue;
    const needed = !operation.security.some((way) => Object.keys(way).length === 0);
    const text = description.components.securitySchemes[name].description;
    const field = control("credential", credential, { type: "string" }, needed, text);
    field.touched = !needed; // Not one of the tokens in responses, so it is not offered.
    rows.push(add(field, !needed));
  }
  for (const parameter of operation.parameters) {
    const value = parameter.required ? parameter.example : undefined;
    rows.push(add(control(parameter.in, parameter.name, parameter.schema, parameter.required, parameter.description, value), !parameter.required));
  }
  const schema = resolved(media(operation)?.schema ?? {});
  const value = example?.value ?? {};
  for (const row of rowsOf(schema)) {
    const given = value[row.name];
    rows.push(add(control("body", row.name, row.schema, row.required, row.text, given), given === undefined && !row.required));
  }
  const form = element("form", { className: "try", autocomplete: "off", noValidate: true });
  form.append(...rows.filter(Boolean));
  if (rest.length) form.append(folded(say("more_fields", { count: rest.length }), ...rest));
  if (controls.some((field) => field.name === "signature")) {
    form.append(prose(say("demo_wallet")));
  }
  if (isVisited(operation)) {
    const link = element("a", { className: "button primary", target: "_blank", rel: "noopener" }, say("open_tab"));
    const update = () => (link.href = target(operation, controls));
    for (const field of controls) for (const kind of ["input", "filled"]) field.input.addEventListener(kind, update);
    link.addEventListener("click", () => {
      learn(Object.fromEntries(controls.map((field) => [field.name, field.input.value])), from);
      offer();
    });
    update();
    form.append(element("p", { className: "tools" }, link));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      link.click();
    });
    return form;
  }
  const output = element("div", { className: "output", role: "status" });
  const tools = element("div", { className: "tools" });
  let encoding = () => operation.encodings[0];
  if (operation.encodings.length > 1) {
    const choice = element("select", { id: `field-${(counter += 1)}` }, ...operation.encodings.map((each) => element("option", { value: each }, each)));
    tools.append(element("div", { className: "field" }, element("label", { for: choice.id }, "Content-Type"), choice));
    encoding = () => choice.value;
  }
  const button = element("button", { className: "primary", type: "submit" }, say("send"));
  tools.append(button);
  form.append(tools, output);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.setAttribute("aria-disabled", "true");
    await send(operation, controls, encoding(), output, from);
    button.removeAttribute("aria-disabled");
  });
  return form;
}

// --- the page ----------------------------------------------------------------------------------------------

function card(operation, step = null, index = 0) {
  const examples = examplesOf(operation);
  const example = examples[index];
  const twice = (operation["x-steps"] ?? []).length > 1;
  const title = twice ? example.summary : operation.summary;
  const id = step === null ? operation.id : `step-${step}-${operation.id}`;
  const heading = element("h3", { id }, step === null ? null : element("span", { className: "number", "aria-hidden": "true" }, String(step)), element("span", ENGLISH, title));
  const from = step === null ? title.toLowerCase() : say("step", { number: step });
  const inputs = [
    ...operation.parameters.map((each) => ({ name: each.name, schema: each.schema, required: each.required, text: each.description })),
    ...rowsOf(resolved(media(operation)?.schema ?? {})),
  ];
  return element(
    "section",
    { className: "card operation", "aria-labelledby": id },
    heading,
    element("p", { className: "line" }, element("code", { className: "method" }, operation.method.toUpperCase()), " ", element("code", {}, operation.path)),
    english(operation.description),
    folded(say(isVisited(operation) ? "open_it" : "try_it"), tryOut(operation, example, from)),
    inputs.length
      ? folded(
          say("takes"),
          fieldList(inputs),
          ...examples.map((each) => shown(pretty(each.value), say("example_request", { name: each.summary }))),
        )
      : null,
    folded(say("answers"), answers(operation)),
  );
}

function show() {
  const all = operations();
  const ordered = steps(all);
  const others = all.filter((operation) => !operation["x-steps"]);
  const contents = element("nav", { className: "card", "aria-label": say("contents") }, element("h2", {}, say("steps")));
  const list = element("ol", { className: "contents" });
  for (const { operation, step, index } of ordered) {
    const title = operation["x-steps"].length > 1 ? examplesOf(operation)[index].summary : operation.summary;
    list.append(
      element("li", {}, element("span", { className: "number", "aria-hidden": "true" }, String(step)), element("a", { href: `#step-${step}-${operation.id}`, ...ENGLISH }, title)),
    );
  }
  contents.append(list);
  root.append(contents, ...ordered.map(({ operation, step, index }) => card(operation, step, index)));
  for (const tag of TAGS_AFTER_STEPS) {
    const group = others.filter((operation) => operation.tags[0] === tag);
    if (!group.length) continue;
    const about = description.tags.find((each) => each.name === tag);
    const title = tag === "Sign-in" ? element("h2", {}, say("beside")) : element("h2", ENGLISH, tag);
    root.append(
      element("section", { className: "group" }, title, tag === "Sign-in" ? null : english(about.description)),
      ...group.map((operation) => card(operation)),
    );
  }
  document.getElementById("about").append(...description.info.description.split("\n\n").map((text) => english(text)));
}

const reading = document.getElementById("reading");
try {
  const answer = await fetch(new URL("openapi.json", location.href));
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  description = await answer.json();
  show();
  reading.hidden = true;
  // The element that the URL's fragment names exists only now.
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
} catch (error) {
  reading.classList.add("alert");
  reading.textContent = say("failed", { error: error.message });
}
