// The twin of query/query.py and query/defaults.py: options as the command line spells them, checked,
// with defaults that fit the files. What options there are is in the profile's meta.
import { nearest, quoted } from "./nearest.js";

/** The request is invalid; the message is the sentence of the command line. */
export class UsageError extends Error {}

const TRUE_WORDS = ["true", "t", "yes", "y", "1"];
const FALSE_WORDS = ["false", "f", "no", "n", "0"];
const INT64_MAX = 2n ** 63n - 1n;

/** @typedef {{name: string, kind: string, default: any, choices?: string[]}} Option */

/** The value of an option as it is written. @param {Option} option @param {string} text @param {any[]} fields */
function parsed(option, text, fields) {
  /** @param {string} word */
  const named = (word) => fields.find((field) => field.aliases?.includes(word))?.name ?? word;
  if (option.kind === "int") {
    const value = /^[+-]?\d+$/.test(text) ? BigInt(text.replace(/^\+/, "")) : null;
    if (value !== null && value <= INT64_MAX && value >= -INT64_MAX - 1n) return value;
    throw new UsageError(`--${option.name} takes a whole number of 64 bits, not ${quoted(text)}`);
  }
  if (option.kind === "bool") {
    const word = text.toLowerCase();
    if (TRUE_WORDS.includes(word)) return true;
    if (FALSE_WORDS.includes(word)) return false;
    throw new UsageError(`--${option.name} takes true or false, not ${quoted(text)}`);
  }
  if (option.kind === "regexes") return withoutBlanks(text.split(",").filter(Boolean));
  if (option.kind === "list") return text.split(",").map((word) => word.trim()).filter(Boolean).map(named);
  return named(text);
}

/** A list of regexes without the blanks around its commas; a single one stays as it is. @param {string[]} items */
function withoutBlanks(items) {
  if (items.length < 2) return items;
  return items.map((item) => item.replace(item.includes("\\ ") ? /^ +/ : /^ +| +$/g, ""));
}

/** The regexes; null where the only one matches everything. @param {string[]} regexes */
function restriction(regexes) {
  return regexes.length === 1 && regexes[0] === ".*" ? null : regexes;
}

/** The options of an answer; null means no restriction. */
export class Query {
  /** @param {{[name: string]: any}} value of every option @param {Set<string>} leftOpen options that nobody set */
  constructor(value, leftOpen) {
    this.leftOpen = leftOpen;
    this.maxDepth = Number(value.max_depth);
    /** @type {{[metric: string]: bigint}} */ this.minimum = {};
    for (const name of Object.keys(value)) {
      if (name.startsWith("min_") && BigInt(value[name])) this.minimum[name.slice(4)] = BigInt(value[name]);
    }
    /** @type {bigint | null} */ this.step = BigInt(value.step ?? -1) >= 0n ? BigInt(value.step) : null; // a fleet has none
    /** @type {string | null} */ this.orderBy = value.order_by || null;
    /** @type {string[] | null} */ this.accountTypes = restriction(value.account_type_regexes);
    /** @type {string[] | null} */ this.startNames = restriction(value.start_name_regexes);
    /** @type {string[]} */ this.trimNames = value.trim_name_regexes;
    /** @type {string[] | null} */ this.showNames = restriction(value.show_name_regexes);
    /** @type {string[]} */ this.hideNames = value.hide_name_regexes;
    /** @type {string[] | null} */ this.devices = restriction(value.device_regexes);
    /** @type {boolean} */ this.displayedOnly = value.account_displayed_op_only;
    /** @type {string[]} */ this.select = [...new Set(/** @type {string[]} */ (value.select))].sort();
  }

  /** Whether float operations, which rules count, are part of the answer. */
  get concernsFloatOps() {
    return this.select.includes("float_ops") || "float_ops" in this.minimum || this.orderBy === "float_ops";
  }

  /** From options as the command line spells them; those left open have defaults that fit the files.
   * Options that only other views take are left out.
   * @param {{[name: string]: string}} options @param {string} view @param {any} profile @returns {Query} */
  static of(options, view, profile) {
    const { meta } = profile;
    /** @type {Option[]} */ const rows = meta.options;
    const names = rows.map((row) => row.name);
    const { groups, options: taken } = profile.view(view);
    /** @type {{[name: string]: any}} */ const chosen = {};
    const given = rows.filter(({ name }) => name in options && taken.includes(name));
    const places = Object.keys(options);
    given.sort((one, other) => places.indexOf(one.name) - places.indexOf(other.name)); // the first error counts
    for (const option of given) chosen[option.name] = parsed(option, options[option.name], meta.fields);
    for (const { name, choices = [] } of given) {
      const words = choices.length ? [chosen[name]].flat().filter(Boolean) : [];
      const wrong = words.find((word) => !choices.includes(word));
      if (wrong) throw new UsageError(`${name} has no ${quoted(wrong)}${nearest(wrong, choices)} (there are: ${choices.join(", ")})`);
    }
    const select = chosen.select ?? meta.defaults[view].select;
    const isNumber = (/** @type {string} */ name) => meta.fields.find((/** @type {any} */ field) => field.name === name)?.unit;
    const order = select.find((/** @type {string} */ name) => isNumber(name) && (groups || name !== "occurrence"));
    const defaults = Object.fromEntries(rows.map((row) => [row.name, row.default]));
    const left = new Set(names.filter((name) => !(name in chosen)));
    return new Query({ ...defaults, select, order_by: order ?? "name", ...chosen }, left);
  }
}
