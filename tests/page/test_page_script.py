"""The page's modules become one script: what is rewritten, what is rejected, and that it runs."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from typing import Final

import pytest

from page_node import PAGE_FOLDER
from tfprof.writers.page_script import joined
from tools.node import node

STRINGS: Final = """\
/** @param {string} text */
export const shown = (text) => `<${text}>`;
export class Strings { text() { return shown("b"); } }
"""
DOM: Final = """\
import { shown, Strings } from "./strings.js";
const secret = 7;
export async function h(tag) { return shown(tag) + new Strings().text() + secret; }
export function* two() { yield 1; yield 2; }
export async function* three() { yield 3; }
"""
APP: Final = """\
// import { nothing } from "./nowhere.js";
/*
 * export default nothing
 */
import { h, two } from "./dom.js";
import { shown } from "./strings.js";
const secret = 8;
h("a").then((text) => console.log(text, [...two()].length, shown(secret), typeof $nothing));
"""
MODULES: Final = {"dom": DOM, "app": APP, "strings": STRINGS, "unused": "nonsense("}


def test_modules_keep_their_names_to_themselves_and_run_after_what_they_import() -> None:
    script = joined(MODULES, "app")
    order = [script.index(f"const ${name} = ") for name in ("strings", "dom", "app")]
    assert all(before < after for before, after in pairwise(order))
    assert "nonsense" not in script
    ran = subprocess.run(
        [node(), "--input-type=module"], input=script, capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.stderr) == ("<a><b>7 2 <8> undefined\n", "")


@pytest.mark.parametrize(
    "line",
    [
        'import h from "./dom.js";',
        'import * as dom from "./dom.js";',
        'import { h as g } from "./dom.js";',
        'import "./dom.js";',
        'import { h } from "dom";',
        'import { h } from "../dom.js";',
        'import { h } from "https://example.com/dom.js";',
        "import {",
        'import { h } from "./dom.js"; h();',
        '  import { h } from "./dom.js";',
        "export default 3;",
        "export { secret };",
        'export * from "./dom.js";',
        'export { h } from "./dom.js";',
        "export let changes = 3;",
        "export const { a, b } = {};",
        "export const [a] = [];",
        'import("./dom.js");',
        "import.meta.url;",
    ],
)
def test_other_imports_and_exports_are_errors(line: str) -> None:
    with pytest.raises(ValueError, match=r"app\.js:2: cannot join"):
        joined({**MODULES, "app": f"// first\n{line}\n"}, "app")


@pytest.mark.parametrize(
    ("app", "problem"),
    [
        ('import { x } from "./nowhere.js";', "there is no nowhere.js, which app.js imports"),
        ('import { x } from "./dom.js";', "app.js: dom.js does not export x"),
        ('import { secret } from "./dom.js";', "app.js: dom.js does not export secret"),
        ('const x = "</script>";', "app.js must not contain '</script'"),
        ("// </SCRIPT", "app.js must not contain '</SCRIPT'"),
        ('const x = "<!--";', "app.js must not contain '<!--'"),
        ('const x = "<script";', "app.js must not contain '<script'"),
        ("x\r\n", "app.js must not contain '.r'"),
    ],
)
def test_what_cannot_be_found_or_embedded_is_an_error(app: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        joined({**MODULES, "app": app}, "app")


def test_modules_that_import_each_other_are_an_error() -> None:
    strings = 'import { two } from "./dom.js";\n' + STRINGS
    with pytest.raises(ValueError, match=r"dom\.js and strings\.js|strings\.js and dom\.js"):
        joined({**MODULES, "strings": strings}, "app")
    with pytest.raises(ValueError, match=r"app\.js and app\.js"):
        joined({"app": 'import { x } from "./app.js";\nexport const x = 1;'}, "app")


def test_the_page_uses_all_of_its_modules() -> None:
    modules = PAGE_FOLDER.glob("*.js")
    sources = {path.stem: path.read_text(encoding="utf-8") for path in modules}
    script = joined(sources, "app")
    assert [name for name in sources if f"const ${name} = " not in script] == []
