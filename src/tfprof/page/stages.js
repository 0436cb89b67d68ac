// The stages of an answer, the twins of those in query/answer.py.
//
//   account   choose the rows that count, and take totals over them
//   start     begin at the rows that start_name_regexes match
//   show      drop rows that are trimmed, too deep, too small or hidden; their children move up
//   order     sort siblings by name or by a total
import { Counted, DEFINED, LOG_FLOAT_OPS } from "./counted.js";
import { matcher } from "./regex.js";
import { Tree, markedRows, marksOf, range, take, takeRows } from "./tree.js";

/** @typedef {import("./profile.js").Profile} Profile */
/** @typedef {import("./query.js").Query} Query */
/** @typedef {import("./tree.js").Numbers} Numbers */
/** @typedef {{name: string, groups: boolean, chain: boolean, recounts: boolean, bounds_occurrence: boolean,
 *   keeps_scopes: boolean, trims_itself: boolean, root_depth: number, missing: string, notes: string[]}} View a row of meta.views */

const MOST_RECENT = 8;
const LARGEST = 2n ** 53n;

/** What a view keeps between answers: the last used are last. */
export class Session {
  /** @param {Profile} profile @param {View} view */
  constructor(profile, view) {
    this.view = view;
    this.drawing = profile.drawing(view.name);
    this.tree = new Tree(this.drawing.end);
    /** @type {Map<string, any>} */
    this.recent = new Map();
  }

  /** @template T @param {string} key @param {() => T} make @returns {T} */
  cached(key, make) {
    const value = this.recent.has(key) ? this.recent.get(key) : make();
    this.recent.delete(key);
    this.recent.set(key, value);
    const [oldest] = this.recent.keys();
    if (this.recent.size > MOST_RECENT) this.recent.delete(oldest);
    return value;
  }

  /** Whether one of the patterns matches each row's label. @param {string[]} patterns @returns {Uint8Array} */
  labelsMatch(patterns) {
    return this.cached(`match ${JSON.stringify(patterns)}`, () => matcher(patterns).rows(this.drawing.label));
  }

  /** The place of each label in byte order. @type {Int32Array} */
  get rank() {
    if (!this._rank) {
      const { label } = this.drawing;
      const order = range(label.length).sort((one, other) => label.compare(one, other) || one - other);
      this._rank = new Int32Array(order.length);
      for (let at = 0; at < order.length; at++) this._rank[order[at]] = at;
    }
    return this._rank;
  }
}

/** @type {WeakMap<Profile, Map<string, Session>>} */
const sessions = new WeakMap();

/** @param {Profile} profile @param {string} name @returns {Session} */
export function sessionOf(profile, name) {
  const known = sessions.get(profile) ?? new Map();
  sessions.set(profile, known);
  if (!known.has(name)) known.set(name, new Session(profile, profile.meta.views.find((/** @type {View} */ row) => row.name === name)));
  return known.get(name);
}

/** The accounted rows and, where a view keeps scopes, the rows above them. @param {Profile} profile @param {Session} session @param {Query} query @param {number | null} step */
export function account(profile, session, query, step) {
  // parity Q5: a row that stays only for what is below it still adds its own numbers.
  const { view, tree } = session;
  const picked = timesPicked(profile, query);
  const accounted = accountedRows(session, query, picked);
  let counted = new Counted(profile, session.drawing, tree, range(tree.length), accounted, step, view.groups ? picked : null);
  if (query.accountTypes) {
    const remains = view.keeps_scopes ? tree.holds(accounted) : accounted.slice();
    remains[0] = 1;
    counted = counted.keepRows(remains, markedRows(remains));
  }
  if (!view.chain) return counted;
  // The rows of a chain are sorted by their own numbers, so that totals run along that order.
  const compare = comparison(session, counted, range(counted.tree.length), query, true);
  const rows = range(counted.tree.length);
  if (compare) rows.subarray(1).sort(compare);
  return compare ? counted.reordered(rows) : counted;
}

/** For each node, how many account regexes match at least one of its types. @param {Profile} profile @param {Query} query */
function timesPicked(profile, query) {
  const times = new Int32Array(profile.nodes.count);
  if (!query.accountTypes) return times.fill(1);
  const { node, type } = profile.typePairs;
  for (const pattern of query.accountTypes) {
    const hit = matcher([pattern]).rows(profile.types);
    let last = -1; // pairs are by node
    for (let pair = 0; pair < node.length; pair++) {
      if (!hit[type[pair]] || node[pair] === last) continue;
      last = node[pair];
      times[last]++;
    }
  }
  return times;
}

/** Whether each row of the drawing is itself accounted; the root never is. @param {Session} session @param {Query} query @param {Int32Array} picked */
function accountedRows({ view, drawing }, query, picked) {
  const rows = new Uint8Array(drawing.end.length).fill(query.accountTypes ? 0 : 1);
  if (query.accountTypes) {
    if (!view.groups && matcher(query.accountTypes).text(drawing.filler)) {
      rows.fill(1);
      for (const row of drawing.owner) if (row >= 0) rows[row] = 0;
    }
    drawing.owner.forEach((row, node) => {
      if (row >= 0 && picked[node]) rows[row] = 1;
    });
  }
  rows[0] = 0;
  return rows;
}

/** The tree and counted rows from the rows that a start regex matches. @param {Counted} counted @param {Session} session @param {Query} query @returns {[Tree, Int32Array]} */
export function start(counted, session, query) {
  const rows = range(counted.tree.length);
  // parity Q38: an empty list is no restriction in a chain; elsewhere it matches nothing.
  if (!query.startNames || (session.view.chain && !query.startNames.length)) return [counted.tree, rows];
  const remains = named(session, counted, rows, query.startNames);
  remains[0] = 0;
  counted.tree.under(remains).forEach((is, row) => (remains[row] |= is));
  remains[0] = 1;
  return [counted.tree.keepRows(remains), markedRows(remains)];
}

/** The tree and counted rows of the displayed rows; how many rows only max_depth hides, and the depth of the deepest.
 * @param {Session} session @param {Counted} counted @param {Tree} tree @param {Int32Array} at @param {Query} query
 * @param {{[option: string]: number}} hides counts what each option hides
 * @returns {[Tree, Int32Array, [number, number]]} */
export function show(session, counted, tree, at, query, hides) {
  const { view } = session;
  const shown = new Uint8Array(tree.length).fill(1);
  const within = marksOf(tree.length, (row) => tree.depth[row] - 1 + view.root_depth <= query.maxDepth);
  for (const [option, passes] of restrictions(session, counted, tree, at, query)) {
    for (let row = 1; row < passes.length; row++) {
      if (!passes[row]) hides[option] = (hides[option] ?? 0) + 1;
      shown[row] &= passes[row];
    }
  }
  let [rows, deepest] = [0, 0];
  for (let row = 0; row < shown.length; row++) {
    if (within[row]) continue;
    if (row) hides.max_depth = (hides.max_depth ?? 0) + 1;
    if (shown[row]) [rows, deepest] = [rows + 1, Math.max(deepest, tree.depth[row])];
    if (row) shown[row] = 0;
  }
  return [tree.keepRows(shown), takeRows(at, markedRows(shown)), [rows, deepest - 1 + view.root_depth]];
}

/** Each option but max_depth that can hide rows, and whether each row passes it. @param {Session} session @param {Counted} counted @param {Tree} tree @param {Int32Array} at @param {Query} query @returns {Generator<[string, Uint8Array]>} */
function* restrictions(session, counted, tree, at, query) {
  const { view } = session;
  const not = (/** @type {Uint8Array} */ marks) => marks.map((mark) => 1 - mark);
  for (const field of counted.profile.meta.fields) {
    const passes = field.unit ? reaches(counted, at, view, query, field) : null;
    if (passes) yield [`min_${field.name}`, passes];
  }
  if (query.showNames) yield ["show_name_regexes", named(session, counted, at, query.showNames)];
  if (query.hideNames.length) yield ["hide_name_regexes", not(named(session, counted, at, query.hideNames))];
  if (query.devices) yield ["device_regexes", onDevice(session, counted, at, query.devices)];
  if (query.trimNames.length) {
    const trimmed = named(session, counted, at, query.trimNames);
    if (view.chain) trimmed[0] = 0; // the root is not an item of a chain
    const below = tree.under(trimmed);
    yield ["trim_name_regexes", below.map((is, row) => (is || (view.trims_itself && trimmed[row]) ? 0 : 1))];
  }
}

/** Whether each row reaches min_<metric>; null where every row does. @param {Counted} counted @param {Int32Array} at @param {View} view @param {Query} query @param {{name: string, bound: string}} field */
function reaches(counted, at, view, query, { name, bound }) {
  const least = query.minimum[name] ?? 0n;
  if (name === "occurrence" && view.groups) {
    return view.bounds_occurrence ? atLeast(take(counted.own(DEFINED), at), least) : null;
  }
  const rules = query.concernsFloatOps;
  if (least <= 0n && !counted.profile.mayBeNegative(name, query.accountTypes?.length ?? 1, rules)) return null;
  const metric = name === "float_ops" && !rules ? LOG_FLOAT_OPS : name;
  return atLeast(take(bound === "own" && !view.groups ? counted.own(metric) : counted.total(metric), at), least);
}

/** @param {Numbers} numbers @param {bigint} least @returns {Uint8Array} */
function atLeast(numbers, least) {
  if (numbers instanceof BigInt64Array) return marksOf(numbers.length, (row) => numbers[row] >= least);
  const most = least > LARGEST ? Infinity : Number(least); // numbers that are no BigInt are exact
  return marksOf(numbers.length, (row) => numbers[row] >= most);
}

/** Whether one of the patterns matches the label of each counted row. @param {Session} session @param {Counted} counted @param {Int32Array} at @param {string[]} patterns @returns {Uint8Array} */
function named(session, counted, at, patterns) {
  const hit = session.labelsMatch(patterns);
  return marksOf(at.length, (row) => hit[counted.row[at[row]]]);
}

/** Whether one of the patterns, in any case, matches a device of each row. @param {Session} session @param {Counted} counted @param {Int32Array} at @param {string[]} patterns */
function onDevice({ view, drawing }, counted, at, patterns) {
  const { types, nodes } = counted.profile;
  const test = matcher(patterns.map((pattern) => `(?i:${pattern})`));
  const hit = test.rows(types);
  const hitsNone = test.text("") ? 1 : 0; // what has no device
  const rows = new Uint8Array(drawing.end.length).fill(view.groups ? 0 : hitsNone);
  if (!view.groups) for (const row of drawing.owner) if (row >= 0) rows[row] = 0;
  drawing.owner.forEach((row, node) => {
    if (row >= 0 && (nodes.device[node] < 0 ? hitsNone : hit[nodes.device[node]])) rows[row] = 1;
  });
  return marksOf(at.length, (row) => rows[counted.row[at[row]]]);
}

/** The tree and counted rows with siblings in the order of the query; ties stay in drawing order. @param {Session} session @param {Counted} counted @param {Tree} tree @param {Int32Array} at @param {Query} query @returns {[Tree, Int32Array]} */
export function order(session, counted, tree, at, query) {
  const compare = comparison(session, counted, at, query, false);
  if (!compare) return [tree, at];
  const [sorted, old] = tree.sort(compare);
  return [sorted, takeRows(at, old)];
}

/** What to sort displayed rows by; null where they are in order already. @param {Session} session @param {Counted} counted @param {Int32Array} at @param {Query} query @param {boolean} own @returns {((one: number, other: number) => number) | null} */
function comparison(session, counted, at, query, own) {
  const by = query.orderBy;
  if (by === null || (by === "name" && session.drawing.inNameOrder)) return null;
  if (by === "name" || by === "depth") {
    const key = by === "depth" ? takeRows(counted.tree.depth, at) : takeRows(session.rank, takeRows(counted.row, at));
    return (one, other) => key[one] - key[other] || one - other;
  }
  const column = by === "occurrence" ? counted.own(DEFINED) : own ? counted.own(by) : counted.total(by);
  const key = take(column, at);
  if (key instanceof BigInt64Array) return (one, other) => (key[one] === key[other] ? one - other : key[one] > key[other] ? -1 : 1);
  return (one, other) => key[other] - key[one] || one - other;
}
