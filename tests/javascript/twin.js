// Answers questions about the page's modules, one JSON document per line:
// read a profile, answer a query, match regexes, write numbers. Driven by tests/support/page_node.py.
import { createInterface } from "node:readline";
import { answer } from "../../src/tfprof/page/answer.js";
import { Profile } from "../../src/tfprof/page/profile.js";
import { Query, UsageError } from "../../src/tfprof/page/query.js";
import { literal, matcher } from "../../src/tfprof/page/regex.js";
import { amount } from "../../src/tfprof/page/amounts.js";
import { UNITS, exact, percent, plural, short } from "../../src/tfprof/page/units.js";

let profile = null;

/** JSON that keeps whole numbers beyond 2^53: a BigInt is written as its digits. */
function written(value) {
  if (typeof value === "bigint") return String(value);
  if (ArrayBuffer.isView(value)) return `[${Array.from(value).join(",")}]`;
  if (Array.isArray(value)) return `[${value.map(written).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value ?? null);
  return `{${Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${written(each)}`).join(",")}}`;
}

/** How many counted rows are hidden between each row and its parent. */
function hiddenAbove({ counted, countedRow, tree }) {
  const depth = countedRow.map((row) => counted.tree.depth[row]);
  return depth.map((deep, row) => (row ? deep - depth[tree.parent[row]] - 1 : 0));
}

const DOES = {
  async read({ bytes }) {
    profile = await Profile.read(Buffer.from(bytes, "base64"));
    return profile.nodes.count;
  },
  ask({ view, options, metrics }) {
    const rows = answer(profile, view, Query.of(options, view, profile));
    const bounds = metrics.map((metric) => [metric, rows.lower(metric)]);
    return {
      row: rows.row,
      node: rows.node,
      label: Array.from(rows.row, (_, row) => rows.label(row)),
      parent: rows.tree.parent,
      depth: rows.tree.depth,
      accounted: rows.accounted,
      own: Object.fromEntries(metrics.map((metric) => [metric, rows.own(metric)])),
      total: Object.fromEntries(metrics.map((metric) => [metric, rows.total(metric)])),
      lower: Object.fromEntries(bounds.map(([metric, bound]) => [metric, bound && [bound.own, bound.total]])),
      hidden: rows.hidden,
      hiddenAbove: hiddenAbove(rows),
      notes: rows.notes,
    };
  },
  match({ pattern, texts }) {
    return texts.map(matcher([pattern]).text).map(Number);
  },
  literals({ texts }) {
    return texts.map(literal);
  },
  amounts({ texts, kind }) {
    return texts.map((/** @type {string} */ text) => amount(text, kind));
  },
  units({ numbers }) {
    const kinds = ["count", "micros", "memory"];
    return numbers.map(BigInt).map((whole) => [
      ...kinds.map((kind) => UNITS[kind](whole)), ...kinds.map((kind) => short(whole, kind)),
      exact(whole), plural(whole, "row"), percent(((whole % 123_457n) + 123_457n) % 123_457n, 123_457n),
    ]);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { does, ...given } = JSON.parse(line);
  let result;
  try {
    result = { result: await DOES[does](given) };
  } catch (problem) {
    result = problem instanceof UsageError ? { refusal: problem.message } : { error: String(problem.stack) };
  }
  process.stdout.write(`${written(result)}\n`);
}
