// The stages of an answer, the twins of those in query/answer.py.
//
//   account   choose the rows that count, and take totals over them
//   start     begin at the rows that start_name_regexes match
//   show      drop rows that are trimmed, too deep, too small or hidden; their children move up
//   only      take totals over the displayed rows alone, if the query says so
//   order     sort siblings by name or by a total
import { markedRows, marksOf, range, take } from "./arrays.js";
import { Cache } from "./cache.js";
import { Counted, DEFINED, LOG_FLOAT_OPS, reaching } from "./counted.js";
import { matcher } from "./regex.js";
import { Tree } from "./tree.js";

/** @typedef {{name: string, groups: boolean, chain: boolean, recounts: boolean, bounds_occurrence: boolean,
 *   keeps_scopes: boolean, trims_itself: boolean, root_depth: number, missing: string, notes: string[]}} View a row of meta.views */

const MOST_RECENT = 8;

/** What a view keeps between answers. */
export class ViewCache extends Cache {
  /** @param {import("./profile.js").Profile} profile @param {View} view */
  constructor(profile, view) {
    super(MOST_RECENT);
    this.profile = profile;
    this.view = view;
    this.drawing = profile.drawing(view.name);
    this.tree = new Tree(this.drawing.end);
  }

  /** Whether one of the patterns matches each row's label. @param {string[]} patterns @returns {Uint8Array} */
  labelsMatch(patterns) {
    return this.cached(`match ${JSON.stringify(patterns)}`, () => matcher(patterns).rows(this.drawing.label, this.scopes));
  }

  /** The row whose label begins that of each row: the name of a scope begins the names in it. */
  get scopes() {
    return this.view.keeps_scopes && !this.view.groups ? this.tree.parent : null;
  }

  /** The place of each label in byte order. @returns {Int32Array} */
  get rank() {
    const { label } = this.drawing;
    return this.cached("rank", () => {
      const rank = new Int32Array(label.length);
      range(label.length).sort((one, other) => label.compare(one, other) || one - other).forEach((row, at) => (rank[row] = at));
      return rank;
    });
  }
}

/** A query on its way through the stages: the counted rows, and those of them that remain, as a tree. */
export class Stages {
  /** @param {ViewCache} of @param {import("./query.js").Query} query @param {number | null} step */
  constructor(of, query, step) {
    this.of = of;
    this.query = query;
    const { accountTypes, orderBy } = query;
    const key = JSON.stringify(["counted", accountTypes, step, of.view.chain && orderBy]);
    const { counted, accounted } = of.cached(key, () => this._account(step));
    this.counted = counted;
    /** @type {Uint8Array} per row of the drawing: whether the row itself is accounted */ this.accounted = accounted;
    this.tree = counted.tree;
    this.at = range(counted.tree.length);
    /** @type {{[option: string]: number}} how many rows each option hides */
    this.hides = { account_type_regexes: of.tree.length - counted.tree.length };
    /** How many rows only max_depth hides, and the depth of the deepest. */
    this.deeper = { rows: 0, depth: 0 };
  }

  /** The accounted rows and, where a view keeps scopes, the rows above them. @param {number | null} step */
  _account(step) {
    // parity Q5: a row that stays only for what is below it still adds its own numbers.
    const { query, of: { profile, view, drawing, tree } } = this;
    const picked = this._timesPicked();
    const accounted = this._accounted(picked);
    let counted = new Counted(profile, drawing, tree, range(tree.length), step, view.groups ? picked : null);
    if (query.accountTypes) {
      const remains = view.keeps_scopes ? tree.holds(accounted) : accounted.slice();
      remains[0] = 1;
      counted = counted.with(tree.keepRows(remains), markedRows(remains));
    }
    // The rows of a chain are sorted by their own numbers, so that totals run along that order.
    const rows = range(counted.tree.length);
    const compare = view.chain ? this._comparison(counted, rows, true) : null;
    if (compare) rows.subarray(1).sort(compare);
    return { counted: compare ? counted.with(counted.tree, rows) : counted, accounted };
  }

  /** For each node, how many account regexes match at least one of its types. */
  _timesPicked() {
    const { nodes, types } = this.of.profile;
    if (!this.query.accountTypes) return new Int32Array(nodes.count).fill(1);
    const { node, type } = this.of.profile.typePairs;
    const times = new Int32Array(nodes.count);
    for (const pattern of this.query.accountTypes) {
      const hit = matcher([pattern]).rows(types);
      for (let pair = 0, last = -1; pair < node.length; pair++) { // pairs are by node
        if (hit[type[pair]] && node[pair] !== last) times[(last = node[pair])]++;
      }
    }
    return times;
  }

  /** Whether each row of the drawing is itself accounted; the root never is. @param {Int32Array} picked */
  _accounted(picked) {
    const { view, drawing } = this.of;
    const types = this.query.accountTypes;
    const fillers = !types || (!view.groups && matcher(types).text(drawing.filler));
    return this._rowsOf(fillers, (node) => !types || picked[node]).fill(0, 0, 1);
  }

  /** Which rows of the drawing have a node that passes a test, or have none and are *others*. @param {boolean} others @param {(node: number) => unknown} test */
  _rowsOf(others, test) {
    const { owner, end } = this.of.drawing;
    const rows = new Uint8Array(end.length).fill(Number(others));
    for (let node = 0; others && node < owner.length; node++) if (owner[node] >= 0) rows[owner[node]] = 0;
    for (let node = 0; node < owner.length; node++) if (owner[node] >= 0 && test(node)) rows[owner[node]] = 1;
    return rows;
  }

  /** Only these rows remain. @param {Uint8Array} kept */
  _keep(kept) {
    this.tree = this.tree.keepRows(kept);
    this.at = take(this.at, markedRows(kept));
  }

  /** Whether one of the patterns matches the label of each row that remains. @param {string[]} patterns */
  _named(patterns) {
    const hit = this.of.labelsMatch(patterns);
    return marksOf(this.at.length, (row) => hit[this.counted.row[this.at[row]]]);
  }

  /** Begins at the rows that a start regex matches. */
  start() {
    const { startNames } = this.query;
    // parity Q38: an empty list is no restriction in a chain; elsewhere it matches nothing.
    if (!startNames || (this.of.view.chain && !startNames.length)) return;
    const begins = this._named(startNames);
    begins[0] = 0;
    const under = this.tree.under(begins);
    this.hides.start_name_regexes = this.tree.length;
    this._keep(marksOf(this.tree.length, (row) => !row || begins[row] || under[row]));
    this.hides.start_name_regexes -= this.tree.length;
  }

  /** Drops rows that are trimmed, too deep, too small or hidden. */
  show() {
    const { tree, query, hides } = this;
    const { root_depth } = this.of.view;
    const shown = new Uint8Array(tree.length).fill(1);
    for (const [option, passes] of this._restrictions()) {
      hides[option] = 0;
      for (let row = 1; row < passes.length; row++) if (!passes[row]) [hides[option], shown[row]] = [hides[option] + 1, 0];
    }
    let deepest = 0;
    hides.max_depth = 0;
    for (let row = 0; row < shown.length; row++) {
      if (tree.depth[row] - 1 + root_depth <= query.maxDepth) continue;
      if (shown[row]) [this.deeper.rows, deepest] = [this.deeper.rows + 1, Math.max(deepest, tree.depth[row])];
      if (row) [hides.max_depth, shown[row]] = [hides.max_depth + 1, 0];
    }
    this.deeper.depth = deepest - 1 + root_depth;
    this._keep(shown);
  }

  /** Each option but max_depth that can hide rows, and whether each row passes it. @returns {Generator<[string, Uint8Array]>} */
  *_restrictions() {
    const { query, tree, of: { view, profile } } = this;
    const { showNames, hideNames, devices, trimNames } = query;
    const not = (/** @type {Uint8Array} */ marked) => marked.map((mark) => 1 - mark);
    for (const { name, unit, bound } of profile.meta.fields) {
      const passes = unit ? this._reaches(name, bound) : null;
      if (passes) yield [`min_${name}`, passes];
    }
    if (showNames) yield ["show_name_regexes", this._named(showNames)];
    if (hideNames.length) yield ["hide_name_regexes", not(this._named(hideNames))];
    if (devices) yield ["device_regexes", this._onDevice(devices)];
    if (trimNames.length) {
      const trimmed = this._named(trimNames);
      if (view.chain) trimmed[0] = 0; // the root is not an item of a chain
      const below = tree.under(trimmed);
      yield ["trim_name_regexes", not(view.trims_itself ? below.map((is, row) => is | trimmed[row]) : below)];
    }
  }

  /** Whether each row reaches min_<name>; null where every row does. @param {string} name @param {string} bound */
  _reaches(name, bound) {
    const { counted, at, query, of: { view, profile } } = this;
    const least = query.minimum[name] ?? 0n;
    const rules = query.concernsFloatOps;
    const counts = name === "occurrence" && view.groups;
    if (counts && !view.bounds_occurrence) return null;
    if (!counts && least <= 0n && !profile.mayBeNegative(name, query.accountTypes?.length ?? 1, rules)) return null;
    const metric = counts ? DEFINED : name === "float_ops" && !rules ? LOG_FLOAT_OPS : name;
    const isOwn = counts || (bound === "own" && !view.groups);
    const passes = counted.cached(`${isOwn} ${metric} from ${least}`, () => {
      const all = reaching(isOwn ? counted.own(metric) : counted.total(metric), least);
      return all.includes(0) ? all : null;
    });
    return passes && take(passes, at);
  }

  /** Whether one of the patterns, in any case, matches a device of each row. @param {string[]} patterns */
  _onDevice(patterns) {
    const { view, profile: { types, nodes } } = this.of;
    const test = matcher(patterns.map((pattern) => `(?i:${pattern})`));
    const hit = test.rows(types);
    const hitsNone = test.text(""); // what has no device
    const rows = this._rowsOf(!view.groups && hitsNone, (node) => nodes.device[node] < 0 ? hitsNone : hit[nodes.device[node]]);
    return marksOf(this.at.length, (row) => rows[this.counted.row[this.at[row]]]);
  }

  /** Takes totals over the displayed rows alone, if the query says so. */
  only() {
    if (!this.query.displayedOnly || !this.of.view.recounts) return;
    const kept = new Uint8Array(this.counted.tree.length);
    for (let at = 0; at < this.at.length; at++) kept[this.at[at]] = 1;
    this.counted = this.counted.with(this.counted.tree.keepRows(kept), this.at, 1);
    this.at = range(this.at.length);
  }

  /** Sorts siblings; ties stay in drawing order. */
  order() {
    const compare = this.of.view.chain ? null : this._comparison(this.counted, this.at, false);
    if (!compare) return;
    const [tree, old] = this.tree.sort(compare);
    [this.tree, this.at] = [tree, take(this.at, old)];
  }

  /** What to sort rows by; null where they are in order already. @param {Counted} counted @param {Int32Array} at @param {boolean} own @returns {((one: number, other: number) => number) | null} */
  _comparison(counted, at, own) {
    const { query: { orderBy }, of } = this;
    if (orderBy === null || (orderBy === "name" && of.drawing.inNameOrder)) return null;
    if (orderBy === "name" || orderBy === "depth") {
      const key = orderBy === "depth" ? take(counted.tree.depth, at) : take(of.rank, take(counted.row, at));
      return (one, other) => key[one] - key[other] || one - other;
    }
    const key = take(orderBy === "occurrence" ? counted.own(DEFINED) : own ? counted.own(orderBy) : counted.total(orderBy), at);
    return (one, other) => key[one] < key[other] ? 1 : key[one] > key[other] ? -1 : one - other;
  }
}
