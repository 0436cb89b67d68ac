"""What tests share: the option to rewrite goldens, the C++ original, and a model in a session."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from oracle import Oracle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profiled_sessions import Model

# Before any test imports TensorFlow: what it logs would stand among what is compared.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the goldens in tests/cases")


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle() as one:
        yield one


@pytest.fixture(scope="module")
def kept_model() -> Iterator[Model]:
    """A small model and its session; TensorFlow is imported when a test first needs it."""
    model = import_module("profiled_sessions").Model()
    yield model
    model.session.close()


@pytest.fixture
def model(kept_model: Model) -> Iterator[Model]:
    """The model; and whatever a test does, sessions are afterwards as they were."""
    with import_module("profiled_sessions").sessions_unchanged():
        yield kept_model
