"""The page's modules as one script, in which each module is a function.

    import { shown } from "./strings.js";        const $dom = (() => {
    export function h(tag) {              ──►    const { shown } = $strings;
      …                                          function h(tag) {
                                                   …
                                                 return { h };
                                                 })();

A file on disk cannot load other files, and one script has one hash for the page's policy. Only the
forms above are accepted: a line that imports or exports in any other way is an error.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NAME: Final = r"[A-Za-z_$][\w$]*"
_IMPORT: Final = re.compile(rf'import \{{ ({_NAME}(?:, {_NAME})*) \}} from "\./(\w+)\.js";$')
_EXPORT: Final = re.compile(rf"export (?=(?:async )?(?:function\*? |class |const )({_NAME})\b)")
_EITHER: Final = re.compile(r"\s*(?:import|export)\b")
# What HTML looks for inside a script or a style sheet, or changes when it reads one.
_UNSAFE: Final = re.compile(r"</?(?:script|style)|<!--|[\r\0]", re.IGNORECASE)


class _Module:
    """A module that was read: its body, what it exports, and what it imports from where."""

    def __init__(self, name: str, source: str) -> None:
        self.name = name
        self.exports: list[str] = []
        self.imports: dict[str, list[str]] = {}
        lines = check_safe(f"{name}.js", source).splitlines()
        self.body = "\n".join(self._rewritten(number, line) for number, line in enumerate(lines, 1))

    def _rewritten(self, number: int, line: str) -> str:
        if found := _IMPORT.match(line):
            names, module = found.groups()
            self.imports.setdefault(module, []).extend(names.split(", "))
            return f"const {{ {names} }} = ${module};"
        if found := _EXPORT.match(line):
            self.exports.append(found[1])
            return line[found.end() :]
        if _EITHER.match(line):
            raise ValueError(f"{self.name}.js:{number}: cannot join {line.strip()!r}")
        return line

    def wrapped(self) -> str:
        """The module as a constant that holds what it exports."""
        returned = f"return {{ {', '.join(self.exports)} }};\n" if self.exports else ""
        return f"const ${self.name} = (() => {{\n{self.body}\n{returned}}})();\n"


def joined(sources: Mapping[str, str], entry: str) -> str:
    """The script of module *entry* and of all that it imports; *sources*: modules by name."""
    return "".join(module.wrapped() for module in _in_order(sources, entry))


def check_safe(name: str, text: str) -> str:
    """*text*, which HTML may contain as it is; raises ValueError for one that ends its element."""
    if found := _UNSAFE.search(text):
        raise ValueError(f"{name} must not contain {found[0]!r}")
    return text


def _in_order(sources: Mapping[str, str], entry: str) -> Iterator[_Module]:
    """The modules, each behind those that it imports."""
    modules: dict[str, _Module] = {}
    done: set[str] = set()
    waiting = [entry]
    while waiting:
        name = waiting[-1]
        if name not in modules:
            if name not in sources:
                raise ValueError(f"there is no {name}.js, which {waiting[-2:][0]}.js imports")
            modules[name] = _Module(name, sources[name])
        module = modules[name]
        missing = [other for other in module.imports if other not in done]
        if name in done or not missing:
            waiting.pop()
            if name not in done:
                _check_imports(module, modules)
                done.add(name)
                yield module
        elif cycle := [other for other in missing if other in waiting]:
            raise ValueError(f"{name}.js and {cycle[0]}.js import each other")
        else:
            waiting.append(missing[0])


def _check_imports(module: _Module, modules: Mapping[str, _Module]) -> None:
    for other, names in module.imports.items():
        if unknown := set(names) - {*modules[other].exports}:
            raise ValueError(f"{module.name}.js: {other}.js does not export {min(unknown)}")
