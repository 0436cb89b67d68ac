// The command line that prints the rows on the page, quoted for a POSIX shell.

/** @typedef {{name: string, kind: string, default: any, help: string, choices: string[]}} Option a row of meta.options */

/** A word as a shell reads it back, quoted exactly as Python's shlex.quote does. @param {string} word @returns {string} */
export function quote(word) {
  if (word === "") return "''";
  return /[^\w@%+=:,./-]/.test(word) ? `'${word.replaceAll("'", `'"'"'`)}'` : word;
}

/** The value of an option that nobody sets, as it is written on a command line. @param {any} meta @param {string} view
 * @param {Option} option @returns {string} */
export function defaultText(meta, view, option) {
  const value = meta.defaults[view]?.[option.name] ?? option.default;
  return Array.isArray(value) ? value.join(",") : String(value);
}

/** The command line that prints the rows of *view*; it has the options that differ from the defaults, and those for
 * which the command has others than the page. @param {any} meta
 * @param {string} view @param {import("./state.js").State} state
 * @returns {string} as in "tfprof scope graph.pbtxt --select=params '--show_name_regexes=.*conv.*'" */
export function commandLine(meta, view, state) {
  /** @type {Option[]} */ const options = meta.options;
  const isSet = (/** @type {Option} */ option) => option.name in state && state[option.name] !== defaultText(meta, view, option);
  // The order that nobody sets follows what is selected.
  const selects = options.some((option) => option.name === "select" && isSet(option));
  const isNeeded = (/** @type {Option} */ option) => isSet(option) || (selects && option.name === "order_by" && "order_by" in state);
  const spelled = options.filter((option) => isNeeded(option) || meta.spelled[view]?.includes(option.name));
  const flags = spelled.map((option) => `--${option.name}=${state[option.name] ?? defaultText(meta, view, option)}`);
  if (meta.dims.length > 0) flags.unshift(`--dim=${meta.dims.join(",")}`);
  return [...meta.command, view, ...meta.files, ...flags].map(quote).join(" ");
}
