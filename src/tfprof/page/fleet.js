// The times of a fleet's workers, as writers/page_fleet.py writes them: a number per kind, row of
// workers and step. Kinds are all operations, the step from start to end if that is known, and
// operation types. A row is one worker, of a large fleet several.
import { shown } from "./strings.js";
import { short } from "./units.js";

/** @typedef {{worker: number | null, step: number | null}} Chosen a row, a step, both or neither */

/** What the tabs say that need the executions of one worker. */
export const NO_EXECUTIONS = "The page of a fleet has the times of workers, not their executions: open the files of one worker with tfprof page.";
const LONGEST = 200; // letters of a name

export class Fleet {
  /** @param {import("./columns.js").Columns} columns @param {any} meta */
  constructor(columns, meta) {
    this.meta = meta;
    this.workers = columns.strings("fleet.workers");
    this.names = columns.strings("fleet.kinds");
    this.steps = Array.from(columns.column("fleet.steps"), String);
    this.rows = Math.ceil(this.workers.length / meta.fold);
    this.micros = columns.column("fleet.micros");
    this.medians = columns.column("fleet.median");
    this.bins = columns.ints("fleet.bins");
    this.members = meta.fold > 1 ? columns.ints("fleet.member") : null;
  }

  /** @param {number} kind @param {number} row @param {number} step @returns {number} microseconds, -1 where there is no record */
  time(kind, row, step) {
    return Number(this.micros[(kind * this.rows + row) * this.steps.length + step]);
  }

  /** Over the workers that have the step. @param {number} kind @param {number} step @returns {number} */
  median(kind, step) {
    return Number(this.medians[kind * this.steps.length + step]) / 2;
  }

  /** Its time in a step, or in all *steps* that it has; and that of the median in the same. @param {number} kind @param {number} row @param {number | null} [step] */
  compared(kind, row, step = null) {
    let [time, usual, steps] = [0, 0, 0];
    for (let at = step ?? 0; at < (step === null ? this.steps.length : step + 1); at++) {
      if (this.time(kind, row, at) < 0) continue;
      time += this.time(kind, row, at);
      usual += this.median(kind, at);
      steps++;
    }
    return { time, usual, steps };
  }

  /** @param {number} kind @returns {string} */
  kindName(kind) {
    return shown(this.names.text(kind).slice(0, LONGEST));
  }

  /** The kinds as choices. @returns {import("./picture_controls.js").Choice[]} */
  get kinds() {
    return Array.from({ length: this.names.length }, (_, kind) => ({ value: this.key(kind), text: this.kindName(kind) }));
  }

  /** The kinds that are operation types. @returns {number[]} */
  get types() {
    return Array.from({ length: this.names.length - this.meta.first_type }, (_, at) => at + this.meta.first_type);
  }

  /** How the address names a kind. @param {number} kind */
  key(kind) {
    return kind ? this.names.text(kind) : "";
  }

  /** What a row is called; in a step, by the worker that its numbers are of. @param {number} row @param {number | null} [step] @returns {string} */
  rowName(row, step = null) {
    const { members, workers, meta: { fold } } = this;
    const name = (/** @type {number} */ at) => shown(workers.text(at).slice(0, LONGEST));
    if (members && step !== null) return name(members[row * this.steps.length + step]);
    const last = Math.min((row + 1) * fold, workers.length) - 1;
    return last > row * fold ? `${name(row * fold)} … ${name(last)}` : name(row);
  }

  /** What the state chooses: a kind, a row, a step. @param {import("./state.js").State} state @returns {Chosen & {kind: number}} */
  chosen({ op = "", worker = "", step = "" }) {
    const [row, at] = [worker ? this.workers.indexOf(worker) : -1, this.steps.indexOf(step)];
    return { kind: Math.max(op ? this.names.indexOf(op) : 0, 0), worker: row < 0 ? null : Math.floor(row / this.meta.fold), step: at < 0 ? null : at };
  }

  /** Changes of the state that choose. @param {number | null} row @param {number | null} step */
  choice(row, step) {
    const member = row === null ? 0 : step !== null && this.members ? this.members[row * this.steps.length + step] : row * this.meta.fold;
    return { worker: row === null ? "" : this.workers.text(member), step: step === null ? "" : this.steps[step] };
  }
}

/** Microseconds for people. @param {number} micros */
export function took(micros) {
  return short(Math.round(micros), "micros");
}

/** How many times as long; "" where the median is nothing. @param {number} time @param {number} usual */
export function ratio(time, usual) {
  return usual > 0 ? `${(time / usual).toFixed(2)}×` : "";
}
