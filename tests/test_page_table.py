"""The tree table of a page: what it shows is what `--format=json` says for the same options."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import Any, Final

from sampling import ROOT, rng
from tools.node import node

MODULE: Final = (ROOT / "src" / "tfprof" / "page" / "command_line.js").as_uri()
_QUOTE: Final = f"""
import {{ commandLine, quote }} from "{MODULE}";
let text = "";
for await (const piece of process.stdin) text += piece;
const {{ words, lines }} = JSON.parse(text);
const commands = lines.map(([meta, view, state]) => commandLine(meta, view, state));
console.log(JSON.stringify({{ words: words.map(quote), commands }}));
"""


def _in_node(words: list[str], lines: list[list[Any]]) -> dict[str, list[str]]:
    ran = subprocess.run(
        [node(), "--input-type=module", "--eval", _QUOTE],
        input=json.dumps({"words": words, "lines": lines}).encode(),
        capture_output=True,
        check=True,
    )
    result: dict[str, list[str]] = json.loads(ran.stdout)
    return result


META: Final = {
    "command": ["tfprof"],
    "files": ["graph.pbtxt", "my run"],
    "dims": [],
    "options": [
        {"name": "max_depth", "kind": "int", "default": 10},
        {"name": "order_by", "kind": "text", "default": "name"},
        {"name": "show_name_regexes", "kind": "regexes", "default": [".*"]},
        {"name": "account_displayed_op_only", "kind": "bool", "default": False},
        {"name": "select", "kind": "list", "default": ["micros"]},
    ],
    "defaults": {"scope": {"select": ["float_ops", "params"], "order_by": "float_ops"}},
}


def test_words_are_quoted_as_python_quotes_them() -> None:
    random = rng("quote")
    letters = "ab Z09_-./:,@%+=$`'\"\\*?[](){}|&;<>~#!^\n\t\x07\x1bé日\u202e"
    words = ["", "'", "a b", "it's", "''", "$(rm -rf ~)", "ключ", "ß", "\u0660", *letters]
    words += ["".join(random.choices(letters, k=random.randrange(1, 12))) for _ in range(500)]
    assert _in_node(words, [])["words"] == [shlex.quote(word) for word in words]


def test_a_command_line_has_the_options_that_differ_from_the_defaults() -> None:
    lines = [
        [META, "scope", {}],
        [META, "scope", {"tab": "table", "view": "scope", "max_depth": "10", "node": "a"}],
        [META, "scope", {"select": "float_ops,params", "order_by": "float_ops"}],
        [META, "scope", {"select": "params", "order_by": "float_ops"}],
        [META, "scope", {"order_by": "params", "max_depth": "3"}],
        [META, "scope", {"account_displayed_op_only": "true", "show_name_regexes": ".*it's.*"}],
        [{**META, "dims": ["batch=8", "n=2"]}, "scope", {"max_depth": "-1"}],
        [{**META, "command": ["tfprof", "demo"], "files": []}, "op", {}],
    ]
    files = "graph.pbtxt 'my run'"
    assert _in_node([], lines)["commands"] == [
        f"tfprof scope {files}",
        f"tfprof scope {files}",
        f"tfprof scope {files}",
        # Without it, rows would be in the order of what is selected.
        f"tfprof scope {files} --order_by=float_ops --select=params",
        f"tfprof scope {files} --max_depth=3 --order_by=params",
        f"tfprof scope {files} '--show_name_regexes=.*it'\"'\"'s.*' "
        "--account_displayed_op_only=true",
        f"tfprof scope {files} --dim=batch=8,n=2 --max_depth=-1",
        "tfprof demo op",
    ]
