"""The recorded answers of the C++ original: 354 random cases and what it said to each."""

from __future__ import annotations

import base64
import gzip
import json
from functools import lru_cache
from typing import Any

from case import Case
from profiles import DATA


@lru_cache
def records() -> list[dict[str, Any]]:
    """All of them; `options` is a list of checkers where the command is advise."""
    text = gzip.decompress((DATA / "golden" / "cases.jsonl.gz").read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()]


def with_output(kind: str) -> list[dict[str, Any]]:
    """Those that ask a view for this kind of output."""
    asked = (record for record in records() if record["cmd"] != "advise")
    return [record for record in asked if record["options"]["output"].startswith(kind)]


def case_of(record: dict[str, Any]) -> Case:
    """The inputs and options of a record."""
    return Case(
        record["cmd"],
        base64.b64decode(record["graph"]),
        base64.b64decode(record["oplog"]),
        tuple((step, base64.b64decode(run)) for step, run in record["steps"]),
        {k: v for k, v in record["options"].items() if k != "dump_to_file"},
    )
