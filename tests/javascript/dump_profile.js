// Prints what the page's Profile says of the data in each file that is named, one line of JSON per
// file. tests/page/test_page_data.py compares it with Python's own columns.
import { readFileSync } from "node:fs";
import { Profile } from "../../src/tfprof/page/profile.js";
import { shown } from "../../src/tfprof/page/strings.js";

const METRICS = JSON.parse(process.argv[2]);
const FEW = 300; // nodes of which everything is asked that takes a while

const column = (numbers) => numbers === null ? null : Array.from(numbers, Number);
/** Exact: a BigInt and what is no integer are marked. */
const exact = (numbers) => numbers === null ? null : Array.from(numbers, String);
const texts = (strings) => Array.from({ length: strings.length }, (_, row) => strings.text(row));

function drawn(profile, { name, missing }) {
  if (missing) return null;
  const { end, owner, label, filler, inNameOrder } = profile.drawing(name);
  return { end: column(end), owner: column(owner), label: texts(label), filler, inNameOrder };
}

function step({ number, devices, ...columns }) {
  const others = Object.entries(columns).map(([name, numbers]) => [name, exact(numbers)]);
  return { number, devices: texts(devices), ...Object.fromEntries(others) };
}

function numbers(profile) {
  const of = {};
  for (const at of [null, ...profile.meta.steps]) {
    for (const metric of METRICS) {
      for (const rules of [true, false]) {
        const values = profile.values(metric, at, rules);
        const isValues = values instanceof Float64Array || values instanceof BigInt64Array;
        of[`${metric} ${at} ${rules}`] = isValues ? exact(values) : `${values.constructor.name}`;
        of[`${metric} may be negative ${rules}`] =
          [1, 2, 3].map((times) => profile.mayBeNegative(metric, times, rules));
      }
      of[`${metric} ${at} lower`] = column(profile.lower(metric, at));
    }
  }
  return of;
}

function dump(profile) {
  const { name, op, device, stack, count } = profile.nodes;
  const every = (make) => Array.from({ length: count }, (_, node) => make(node));
  const few = (make) => Array.from({ length: Math.min(count, FEW) }, (_, node) => make(node));
  return {
    meta: profile.meta,
    nodes: {
      name: texts(name), op: column(op), device: column(device), stack: column(stack),
      shown: every((node) => shown(name.text(node))),
      found: few((node) => name.indexOf(name.text(node))),
      sorted: column(every((node) => node).sort((a, b) => name.compare(a, b))),
    },
    types: texts(profile.types),
    pairs: [column(profile.typePairs.node), column(profile.typePairs.type)],
    edges: Object.values(profile.edges).map(column),
    unknown: texts(profile.unknown),
    consumers: every((node) => profile.consumers(node)),
    views: Object.fromEntries(profile.meta.views.map((view) => [view.name, drawn(profile, view)])),
    steps: profile.steps.map(step),
    numbers: numbers(profile),
    defined: exact(profile.values("defined", null)),
    outputs: every((node) => profile.outputShapes(node)),
    inputs: every((node) => profile.inputShapes(node)),
    dtype: every((node) => profile.dtype(node)),
    frames: few((node) => profile.frames(node)),
    formula: few((node) => profile.formula(node)),
  };
}

for (const path of process.argv.slice(3)) {
  const profile = await Profile.read(new Uint8Array(readFileSync(path)));
  const big = (_, value) => typeof value === "bigint" ? `${value}n` : value;
  process.stdout.write(`${JSON.stringify(dump(profile), big)}\n`);
}
