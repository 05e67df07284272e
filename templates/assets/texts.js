// The texts of a page. They come in the data-texts of <main>, and in its data-shared-texts if a page also
// uses modules of another page. A text has {placeholders}; their values often come from others and are
// written only as text.

const { texts = "{}", sharedTexts = "{}" } = document.querySelector("main").dataset;
const known = { ...JSON.parse(sharedTexts), ...JSON.parse(texts) };

/** Is there a text with this key? */
export function has(key) {
  return Object.hasOwn(known, key);
}

/** A text as a plain string. */
export function say(key, values = {}) {
  return pieces(key).map(({ text, name }) => text ?? String(values[name] ?? "")).join("");
}

/**
 * A text as nodes, for element.append(…). Each value is a separate node, so that its direction does not
 * affect the sentence.
 */
export function write(key, values = {}) {
  return pieces(key).map(({ text, name }) => {
    if (text !== undefined) return text;
    const value = document.createElement("bdi");
    value.append(values[name] ?? "");
    return value;
  });
}

function pieces(key) {
  return (known[key] ?? key).split(/(\{\w+\})/).map((part) => (/^\{\w+\}$/.test(part) ? { name: part.slice(1, -1) } : { text: part }));
}
