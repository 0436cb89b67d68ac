"""A report as the classic Python API prints it: options, then the report between rulers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tfprof.tables.eras import NOW

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_SHOWN: Final = NOW.block[: NOW.block.index("output")]
_WIDTH: Final = 28


def framed(options: Mapping[str, Any], report: Iterable[bytes]) -> Iterator[bytes]:
    """*report* in pieces with the frame around it; *options* has every option."""
    values = {**options, "select": sorted(set(options["select"]))}
    shown = [f"{f'-{name}':<{_WIDTH}}{_text(values[name])}\n" for name in _SHOWN]
    shown.append(f"{'-output':<{_WIDTH}}stdout:\n")
    yield f"\n{'=' * 25}Options{'=' * 29}\n{''.join(shown)}".encode("utf-8", "surrogateescape")
    yield f"\n{'=' * 18}Model Analysis Report{'=' * 22}\n".encode()
    yield from report
    yield f"\n{'=' * 22}End of Report{'=' * 26}\n".encode()


def _text(value: Any) -> str:  # noqa: ANN401 - options have many types
    if isinstance(value, (list, tuple)):
        return ",".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
