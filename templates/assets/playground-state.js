// What the playground remembers in this tab's sessionStorage. It survives the way to the sign-in page and
// back.

const NAME = "countersign.playground";

const empty = () => ({
  client: null, // As registered; `callback` is the redirect URI of the developer's own app.
  form: {}, // The values of the fields in step 1.
  attempt: null, // The parameters that went to the authorization endpoint, the verifier, and what was broken.
  answer: null, // The response, and the result of its checks.
  code: null,
  tokens: null,
  exchanges: {}, // The last ones of each step.
  verdicts: {}, // For each step: its outcome, and the key and values of its message.
});

function load() {
  try {
    return { ...empty(), ...JSON.parse(sessionStorage.getItem(NAME) ?? "{}") };
  } catch {
    return empty();
  }
}

export const state = load();

/** Saves the state. If the browser stores nothing, the page works until the user leaves it. */
export function save() {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(state));
  } catch {
    // The storage is full or forbidden.
  }
}

/** Deletes everything. */
export function forget() {
  sessionStorage.removeItem(NAME);
  Object.assign(state, empty());
}

/** Deletes what came after a step that is done again. */
export function forgetAfter(steps) {
  for (const step of steps) {
    delete state.exchanges[step];
    delete state.verdicts[step];
  }
}
