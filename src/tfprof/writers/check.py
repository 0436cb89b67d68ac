"""A check as JUnit XML, which test reports read, and as annotations of GitHub Actions.

<testsuite name="budget.toml" tests="2" failures="1" …>
<testcase classname="model" name="params &lt;= 400K"><failure message="464,154 is …"/>

::error file=budget.toml,line=2,title=model%3A params <= 400K::464,154 is above the bound …
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.results.check_report import CheckReport

# What XML 1.0 cannot hold, not even escaped.
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: CheckReport) -> Iterator[bytes]:
    """One test case per bound."""
    failures = sum(not verdict.ok for verdict in report.verdicts)
    suite = f'name={_attribute(report.path or "budget")} tests="{len(report.verdicts)}"'
    yield b'<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f'<testsuites>\n<testsuite {suite} failures="{failures}" errors="0">\n'.encode()
    for verdict in report.verdicts:
        name = verdict.title.removeprefix(f"{verdict.table}: ")
        case = f"<testcase classname={_attribute(verdict.table)} name={_attribute(name)}"
        where = f' file={_attribute(report.path)} line="{verdict.line}"' if report.path else ""
        if verdict.ok:
            yield f"{case}{where}/>\n".encode("utf-8", "replace")
            continue
        why = f"{verdict.reason}\n{report.command(verdict)}".rstrip()
        failure = f"<failure message={_attribute(verdict.reason)}>{escape(_clean(why))}</failure>"
        yield f"{case}{where}>{failure}</testcase>\n".encode("utf-8", "replace")
    yield b"</testsuite>\n</testsuites>\n"


def github(report: CheckReport) -> Iterator[bytes]:
    """One error per broken bound, at its line of the budget, and the headline."""
    for verdict in report.verdicts:
        if verdict.ok:
            continue
        place = {"file": report.path, "line": verdict.line, "title": verdict.title}
        values = ",".join(
            f"{name}={_property(str(value))}" for name, value in place.items() if value
        )
        command = report.command(verdict)
        message = _message(f"{verdict.reason}\n{command}".rstrip())
        yield f"::error {values}::{message}\n".encode("utf-8", "replace")
    yield f"{_message(report.headline)}\n".encode("utf-8", "replace")


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def _attribute(text: str) -> str:
    return quoteattr(_clean(text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def _message(text: str) -> str:
    """Escaped as GitHub's own toolkit does."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
