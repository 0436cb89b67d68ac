// What the reader looks at, in the fragment of the address, so that a link opens the same picture:
//
//   #tab=table&view=scope&order_by=micros&node=unit_1_0/sub1/Conv2D
//
// A flat object of strings. View options have their names of the command line. A key that nobody
// reads is ignored; a value that is the empty string is left out.

/** @typedef {Object<string, string>} State */

const KEY = /^[a-z][a-z0-9_]*$/;

/** @param {string} fragment with or without the leading # @returns {State} */
export function parseFragment(fragment) {
  /** @type {State} */ const state = {};
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    const key = part.slice(0, at);
    if (at > 0 && KEY.test(key)) state[key] = decoded(part.slice(at + 1));
  }
  return state;
}

/** @param {State} state @returns {string} with the leading # */
export function fragmentOf(state) {
  const parts = Object.entries(state).filter(([key, value]) => value !== "" && KEY.test(key));
  return `#${parts.map(([key, value]) => `${key}=${encoded(value)}`).join("&")}`;
}

/** The state with some of it changed; an empty string or null takes a key out. @param {State} state
 * @param {Object<string, string | number | null | undefined>} changes @returns {State} */
export function merged(state, changes) {
  const next = { ...state };
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") delete next[key];
    else next[key] = String(value);
  }
  return next;
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // cut off in the middle of an escape, as mail programs do
  }
}

/** @param {string} text */
function encoded(text) {
  // Escapes what a fragment cannot hold, and keeps what makes names readable.
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd")).replace(/%(2F|3A|2C|24)/g, decodeURIComponent);
}
