// The twin of query/unmatched.py: filters that match nothing, as remarks that say what would match.
import { range } from "./arrays.js";
import { nearest, quoted } from "./nearest.js";
import { UsageError } from "./query.js";
import { matcher } from "./regex.js";

/** @typedef {import("./strings.js").Strings} Strings */

const MOST = 5; // remarks on one filter, and names in one remark
const MOST_COMPARED = 5000; // names that a misspelled one is compared with

/** A remark on each regex of every filter that matches nothing at all.
 * @param {import("./stages.js").ViewCache} of @param {import("./query.js").Query} query @returns {Generator<string>} */
export function* unmatched(of, query) {
  const { drawing: { label, filler }, profile: { types, nodes } } = of;
  const { accountTypes, startNames, trimNames, showNames, hideNames, devices } = query;
  const matchesNone = (/** @type {string[]} */ patterns, /** @type {Strings} */ names, /** @type {string} */ other) => {
    const test = matcher(patterns);
    return !test.text(other) && !test.rows(names).includes(1);
  };
  if (accountTypes && matchesNone(accountTypes, types, filler)) {
    for (const pattern of accountTypes.slice(0, MOST)) yield noType(pattern, types);
  }
  for (const names of [startNames, trimNames, showNames, hideNames]) {
    if (!names?.length || of.labelsMatch(names).includes(1)) continue;
    for (const pattern of names.slice(0, MOST)) yield noName(pattern, "name", label, 1, of.scopes);
  }
  const used = types.take([...new Set(nodes.device)].filter((device) => device >= 0).sort((one, other) => one - other));
  if (devices && matchesNone(devices.map((pattern) => `(?i:${pattern})`), used, "")) {
    for (const pattern of devices.slice(0, MOST)) yield noName(pattern, "device", used, 0, null);
  }
}

/** A text whose bytes that are not UTF-8 are replaced. @param {Strings} strings @param {number} row */
export function repaired(strings, row) {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(strings.bytes(row));
}

/** Some texts that are not empty. @param {Strings} strings @param {number} first row @param {number} most */
function texts(strings, first, most) {
  const rows = range(strings.length).filter((row) => row >= first && strings.size[row]);
  return Array.from(rows.subarray(0, most), (row) => repaired(strings, row));
}

/** The sentence that no name matches, with a regex that does, or a name near it.
 * @param {string} pattern @param {string} noun @param {Strings} names @param {number} first row @param {Int32Array | null} scopes */
function noName(pattern, noun, names, first, scopes) {
  const sentence = `no ${noun} matches ${quoted(pattern)}`;
  const plain = pattern.replace(/^[\^$]+|[\^$]+$/g, "");
  const around = plain.includes("|") ? `.*(${plain}).*` : `.*${plain}.*`;
  try {
    for (const candidate of /[^.*]/s.test(plain) ? [around, `(?i)${around}`] : []) {
      if (!matcher([candidate]).rows(names, scopes).includes(1, first)) continue;
      return `${sentence} (a regex matches the whole name): try ${quoted(candidate)}`;
    }
  } catch (problem) {
    if (!(problem instanceof UsageError)) throw problem; // it is not valid without its anchors
  }
  return sentence + nearest(pattern, texts(names, first, MOST_COMPARED));
}

/** The sentence that no node has a type that matches, with the types that are near. @param {string} pattern @param {Strings} types */
function noType(pattern, types) {
  const known = [...new Set(texts(types, 0, Infinity))];
  const plain = pattern.replace(/^[.*^$]+|[.*^$]+$/g, "");
  const near = plain ? [
    known.filter((name) => name.startsWith(plain)),
    known.filter((name) => name.includes(plain)),
    known.filter((name) => name.toLowerCase().includes(plain.toLowerCase())),
  ].find((names) => names.length) ?? [] : [];
  const sentence = `no node has the type ${quoted(pattern)}`;
  if (!near.length) return sentence + nearest(pattern, known);
  const there = near.slice(0, MOST).map(quoted).join(", ") + (near.length > MOST ? ", …" : "");
  return `${sentence}; there ${near.length === 1 ? "is" : "are"} ${there}`;
}
