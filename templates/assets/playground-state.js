// What the playground remembers, in this tab's sessionStorage: it outlives the way to the sign-in page and back.

const NAME = "countersign.playground";

const empty = () => ({
  client: null, // As registered; `callback` is the redirect URI of the person's own app.
  form: {}, // What stands in the fields of step 1.
  attempt: null, // The parameters that went to the authorization endpoint, the verifier, and what was broken.
  answer: null, // What came back, and how it was judged.
  code: null,
  tokens: null,
  exchanges: {}, // The last ones of each step.
  verdicts: {}, // Of each step: its outcome, and the key and values of what is said about it.
});

function load() {
  try {
    return { ...empty(), ...JSON.parse(sessionStorage.getItem(NAME) ?? "{}") };
  } catch {
    return empty();
  }
}

export const state = load();

/** Keeps the state; where the browser keeps nothing, the page works until it is left. */
export function save() {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(state));
  } catch {
    // Full, or forbidden.
  }
}

/** Forgets everything. */
export function forget() {
  sessionStorage.removeItem(NAME);
  Object.assign(state, empty());
}

/** Forgets what came after a step, for that step is done anew. */
export function forgetAfter(steps) {
  for (const step of steps) {
    delete state.exchanges[step];
    delete state.verdicts[step];
  }
}
