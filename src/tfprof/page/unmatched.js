// The twin of query/unmatched.py: filters that match nothing, as remarks that say what would match.
import { nearest, quoted } from "./nearest.js";
import { UsageError } from "./query.js";
import { matcher } from "./regex.js";

/** @typedef {import("./strings.js").Strings} Strings */

const MOST = 5; // remarks on one filter, and names in one remark
const MOST_COMPARED = 5000; // names that a misspelled one is compared with

/**
 * A remark on each regex of every filter that matches nothing at all.
 * @param {import("./profile.js").Profile} profile
 * @param {import("./profile.js").Drawing} drawing
 * @param {import("./query.js").Query} query
 * @param {(patterns: string[]) => Uint8Array} labelsMatch
 * @returns {string[]}
 */
export function unmatched(profile, drawing, query, labelsMatch) {
  const { accountTypes, startNames, trimNames, showNames, hideNames, devices } = query;
  const remarks = [];
  if (accountTypes) {
    const test = matcher(accountTypes);
    if (!test.text(drawing.filler) && !test.rows(profile.types).includes(1)) {
      remarks.push(...accountTypes.slice(0, MOST).map((pattern) => noType(pattern, profile.types)));
    }
  }
  for (const names of [startNames, trimNames, showNames, hideNames]) {
    if (!names?.length || labelsMatch(names).includes(1)) continue;
    remarks.push(...names.slice(0, MOST).map((name) => noName(name, withoutRoot(drawing.label))));
  }
  if (devices) {
    const test = matcher(devices.map((pattern) => `(?i:${pattern})`));
    const used = profile.types.take([...new Set(profile.nodes.device)].filter((at) => at >= 0).sort((a, b) => a - b));
    if (!test.text("") && !test.rows(used).includes(1)) {
      remarks.push(...devices.slice(0, MOST).map((pattern) => noName(pattern, used, "device")));
    }
  }
  return remarks;
}

/** @param {Strings} labels */
function withoutRoot(labels) {
  return labels.take(Array.from({ length: labels.length - 1 }, (_, at) => at + 1));
}

/** Some texts that are not empty, repaired. @param {Strings} strings @param {number} most */
export function repaired(strings, most = Infinity) {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const texts = [];
  for (let row = 0; row < strings.length && texts.length < most; row++) {
    if (strings.size[row]) texts.push(decoder.decode(strings.bytes(row)));
  }
  return texts;
}

/** The sentence that no name matches, with a regex that does, or a name near it. @param {string} pattern @param {Strings} names @param {string} noun */
function noName(pattern, names, noun = "name") {
  const sentence = `no ${noun} matches ${quoted(pattern)}`;
  const plain = pattern.replace(/^[\^$]+|[\^$]+$/g, "");
  const around = plain.includes("|") ? `.*(${plain}).*` : `.*${plain}.*`;
  try {
    for (const candidate of /[^.*]/s.test(plain) ? [around, `(?i)${around}`] : []) {
      if (matcher([candidate]).rows(names).includes(1)) {
        return `${sentence} (a regex matches the whole name): try ${quoted(candidate)}`;
      }
    }
  } catch (problem) {
    if (!(problem instanceof UsageError)) throw problem; // it is not valid without its anchors
  }
  return sentence + nearest(pattern, repaired(names, MOST_COMPARED));
}

/** The sentence that no node has a type that matches, with the types that are near. @param {string} pattern @param {Strings} types */
function noType(pattern, types) {
  const known = [...new Set(repaired(types))];
  const plain = pattern.replace(/^[.*^$]+|[.*^$]+$/g, "");
  const tests = [
    (/** @type {string} */ name) => name.startsWith(plain),
    (/** @type {string} */ name) => name.includes(plain),
    (/** @type {string} */ name) => name.toLowerCase().includes(plain.toLowerCase()),
  ];
  const near = plain ? (tests.map((test) => known.filter(test)).find((names) => names.length) ?? []) : [];
  const sentence = `no node has the type ${quoted(pattern)}`;
  if (!near.length) return sentence + nearest(pattern, known);
  const more = near.length > MOST ? ", …" : "";
  return `${sentence}; there ${near.length === 1 ? "is" : "are"} ${near.slice(0, MOST).map(quoted).join(", ")}${more}`;
}
