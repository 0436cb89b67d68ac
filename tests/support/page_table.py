"""The tree table of a page as tests read it, and what Python says for the same options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from tfprof.console.escape import visible_text
from tfprof.errors import UsageError
from tfprof.tables.options import OPTIONS, parse, without_blanks
from tfprof.writers.numbers import percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from playwright.sync_api import Page

    from tfprof.results.loaded import Loaded
    from tfprof.results.report import Report
    from tfprof.results.table import Column, Table

_UNITS: Final = {"micros": " microseconds", "memory": " bytes"}

# What is on the screen, at the top of the table or at its end.
_READ: Final = """async ([fragment, atEnd]) => {
  const one = (name, root = document) => root.querySelector(name);
  const all = (name, root = document) => [...root.querySelectorAll(name)];
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  if (fragment !== null) {
    const changed = new Promise((done) => addEventListener("hashchange", done, { once: true }));
    window.opened = (window.opened ?? 0) + 1;
    location.hash = `${fragment}&opened=${window.opened}`;
    await changed;
  }
  const grid = one(".treegrid");
  const expand = all("button").find((button) => button.textContent === "Expand");
  if (!expand.disabled) expand.click();
  grid.scrollTop = atEnd ? 1e9 : 0;
  await frame();
  return {
    columns: all("[role=columnheader]", grid).map((cell) => cell.dataset.column),
    sorted: all("[aria-sort]", grid).map((cell) => cell.dataset.column),
    count: Number(grid.getAttribute("aria-rowcount")) - 1,
    problems: Object.fromEntries(all("[data-option]")
      .map((field) => [field.dataset.option, one(".filter-problem", field).textContent])
      .filter(([, text]) => text !== "")),
    notes: all(".table-notes li").map((line) => line.textContent),
    command: one(".command").textContent,
    hidden: grid.hidden,
    rows: all("[data-at]", grid).map((row) => ({
      at: Number(row.dataset.at), level: Number(row.getAttribute("aria-level")),
      cells: [...row.children].map((cell) => [cell.textContent, cell.title]),
    })),
  };
}"""


@dataclass(frozen=True)
class Shown:
    """The table on the screen."""

    columns: list[str]
    sorted: list[str]
    count: int
    problems: dict[str, str]
    notes: list[str]
    command: str
    hidden: bool
    rows: list[dict[str, Any]]

    @property
    def names(self) -> list[str]:
        """The whole names of the rows, which are their tips."""
        return [row["cells"][0][1] for row in self.rows]


def fragment(view: str, options: Mapping[str, str]) -> str:
    """The address of the table with these options."""
    pairs = {"tab": "table", "view": view, **options}
    return "&".join(f"{name}={quote(value)}" for name, value in pairs.items())


def read_table(page: Page, address: str | None = None, *, at_end: bool = False) -> Shown:
    """The rows on the screen, all of them expanded; after a change of the address, if given."""
    return Shown(**page.evaluate(_READ, [address, at_end]))


def report_of(loaded: Loaded, view: str, options: Mapping[str, str]) -> Report:
    """What Python answers to options as they are written, with the page's sizes of dimensions."""
    parsed = {name: parse(OPTIONS[name], text) for name, text in options.items()}
    sizes = loaded.page().sizes
    given = {**({"dim": sizes} if sizes else {}), **without_blanks(parsed, "now")}
    report: Report = getattr(loaded, view)(**given)
    return report


def names_of(report: Report) -> list[str]:
    """The names of the rows as people read them."""
    labels = (name.decode("utf-8", "surrogateescape") for name in report.answer.label)
    return [*map(visible_text, labels)]


def check_table(page: Page, loaded: Loaded, view: str, options: Mapping[str, str]) -> None:
    """Both ends of the table on the page equal the table of Python."""
    address = fragment(view, options)
    top = read_table(page, address)
    refused, report = "", None
    try:
        report = report_of(loaded, view, options)
    except UsageError as problem:
        refused = visible_text(str(problem))
    assert [*top.problems.values()] == [refused] * bool(refused)
    if report is None:
        return
    table, names = report.table(), names_of(report)
    assert top.count == len(table)
    if table.hidden.rows:
        assert str(table.hidden) in top.notes
    else:
        assert not any(" not shown (" in note for note in top.notes)
    _check_rows(top, table, names)
    end = read_table(page, at_end=True)
    assert end.rows[-1]["at"] == len(table) - 1
    _check_rows(end, table, names)


def _check_rows(seen: Shown, table: Table, names: list[str]) -> None:
    assert [row["at"] for row in seen.rows] == [*range(seen.rows[0]["at"], seen.rows[-1]["at"] + 1)]
    rows = slice(seen.rows[0]["at"], seen.rows[-1]["at"] + 1)
    assert seen.names == names[rows]
    assert [row["level"] for row in seen.rows] == table.depths(rows)
    numbers = [column for column in table.shown if column.kind == "number"]
    every = slice(0, len(table))
    for column in numbers:
        if column.name in seen.columns:
            _check_column(seen, column, rows)
            continue
        alike = [other for other in numbers if other.name in seen.columns]
        alike = [o for o in alike if o.name.split("_")[0] == column.name.split("_")[0]]
        same = any(o.data(every) == column.data(every) for o in alike)
        assert same or not column.holds(every), f"{column.name} is missing"


def _check_column(seen: Shown, column: Column, rows: slice) -> None:
    at = seen.columns.index(column.name)
    assert [row["cells"][at][0] for row in seen.rows] == column.cells(rows)
    assert [row["cells"][at][1] for row in seen.rows] == _exact(column, rows)
    share = f"share_of_{column.name}"
    assert (share in seen.columns) == bool(column.whole)
    if column.whole:
        texts = [row["cells"][at + 1][0] for row in seen.rows]
        assert seen.columns[at + 1] == share
        assert texts == [percent(part) for part in column.shares(rows)]


def _exact(column: Column, rows: slice) -> list[str]:
    """Every digit of the numbers, with their marks."""
    unit = _UNITS.get(getattr(column.unit, "__name__", ""), "")
    lower = [False] * len(column.data(rows)) if column.lower is None else column.lower[rows]
    return [
        "?" if value is None else f"{'≥ ' if bound else ''}{value:,}{unit}"
        for value, bound in zip(column.data(rows), lower, strict=True)
    ]
