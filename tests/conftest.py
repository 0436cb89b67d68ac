"""What tests share: the option to rewrite goldens, and the C++ original."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle import Oracle

if TYPE_CHECKING:
    from collections.abc import Iterator


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the goldens in tests/cases")


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle() as one:
        yield one
