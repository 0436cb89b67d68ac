"""Entry: a profile in the cache, read as far as a question needs it, and completed afterwards.

    KEY.profile     the columns of a Profile, as a converted profile has them
    KEY.3f2a…       later additions: drawings, numbers per node, attributes, shapes of runs

Every column has a checksum, which is compared when the column is read. Of a column that is damaged
or missing, the files are asked again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.cache import folder as folders
from tfprof.cache.checks import check_column, check_lengths
from tfprof.cache.joined_columns import JoinedColumns, open_columns
from tfprof.cache.key import BOUND
from tfprof.cache.stored_values import StoredCache, values_of
from tfprof.errors import InputError
from tfprof.foundation.later import lazy_table
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import AttributeSource, Edges, Nodes, Outputs, Profile, Regions, Stacks, Step
from tfprof.read.columnar import ATTRIBUTES, RUN_SHAPES, STEP_SHAPES, check_attributes
from tfprof.read.columnar.coding import Damage
from tfprof.read.columnar.layout import (
    CONVERTERS,
    Attributes,
    RunShapes,
    ShapesOfSteps,
    from_columns,
    parts,
    run_shapes,
    step_shapes,
)
from tfprof.tables.limits import limit, raised_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tfprof.cache.key import Identity
    from tfprof.columns.strings import I64, Strings

    ReadAgain = Callable[[Sequence[tuple[str, str]]], Profile]  # (input, path) each

_LAZY: Final = {kind.__name__: kind for kind in (Nodes, Edges, Outputs, Regions, Stacks)}
# What only an entry has beside the columns of a profile.
INPUTS, ORIGIN, SOURCES = "cache.inputs", "cache.origin", "cache.sources"
_PICKLED: Final = ("folder", "key", "identity", "most", "wanted", "_read")


class _Watched:
    """A function that notes that it was called."""

    def __init__(self, wanted: set[str], name: str, function: Callable[..., Any]) -> None:
        self._wanted, self._name, self._function = wanted, name, function

    def __call__(self, *arguments: Any) -> Any:  # noqa: ANN401 - as the function has it
        self._wanted.add(self._name)
        return self._function(*arguments)


class Entry:
    """The entry of some files, whether or not it exists yet; *read* reads the files."""

    def __init__(self, folder: str, key: str, identity: Identity, read: ReadAgain) -> None:
        self.folder, self.key, self.identity = folder, key, identity
        self.most = limit(BOUND)
        self._was_pickled = False
        self._read = read
        self.columns = JoinedColumns()
        self.wanted: set[str] = set()  # what questions read from the files

    def __getstate__(self) -> dict[str, object]:
        state = {name: value for name, value in vars(self).items() if name in _PICKLED}
        return {**state, "columns": JoinedColumns(), "_was_pickled": True}

    @property
    def exists(self) -> bool:
        """Whether the profile came from the cache."""
        return SOURCES in self.columns

    def lacks(self, profile: Profile) -> bool:
        """Whether something of this *profile* could be written."""
        return not self.exists or bool(self.wanted) or any(True for _ in self.new_values(profile))

    def new_values(self, profile: Profile) -> Iterator[tuple[str, Any]]:
        """What was worked out of *profile* and is not in the entry."""
        return (value for value in values_of(profile) if value[0] not in self.columns.values)

    @cached_property
    def from_files(self) -> Profile:
        """The profile as its files have it; raises InputError where they changed since."""
        if not self.is_current():
            names = ", ".join(file.path for file in self.identity.files)
            raise InputError(f"{names} was changed after it was read; load it again")
        with raised_limits(**dict(self.identity.limits)):
            return self._read(self.identity.paths())

    def is_current(self) -> bool:
        """Whether the files are those that the entry was made of."""
        if self._was_pickled:  # a copy on another machine will do, as for a FileSource
            return self.identity.has_same_versions()
        return self.identity.key() == self.key

    def path(self, part: str) -> str:
        """The file of a part."""
        return os.path.join(self.folder, f"{self.key}.{part}")  # noqa: PTH118

    def profile(self) -> Profile | None:
        """The profile; None where the entry does not exist or cannot be used."""
        path = self.path(folders.PROFILE)
        columns = open_columns(path, stays_open=True)
        if columns is None:
            return None
        self.columns.add(columns)
        for name in folders.parts_of(self.folder, self.key):
            if more := open_columns(os.path.join(self.folder, name)):  # noqa: PTH118
                self.columns.add(more)
        try:
            profile = self._lazy_profile()
        except (Damage, OSError, ValueError):
            self.columns = JoinedColumns()
            return None
        folders.note_use(path)
        return profile

    def watched(self, profile: Profile) -> Profile:
        """*profile*, as read from the files; what is read of them later becomes `wanted`."""
        sources, shapes = profile.attribute_sources, profile.shape_sources
        wanted = partial(_Watched, self.wanted)
        return replace(
            profile,
            attribute_sources=tuple(replace(s, read=wanted(ATTRIBUTES, s.read)) for s in sources),
            shape_sources=tuple(wanted(RUN_SHAPES, read) for read in shapes),
            step_shapes=tuple(
                (steps, wanted(f"{STEP_SHAPES}.{number}", read))
                for number, (steps, read) in enumerate(profile.step_shapes)
            ),
        )

    # --- reading --------------------------------------------------------------------------------

    def _lazy_profile(self) -> Profile:
        values = {}
        for name, declared in parts(Profile):
            if declared in _LAZY:
                values[name] = self._table(_LAZY[declared], name)
            elif name == "steps":
                count = self._read_checked("int", name)
                values[name] = tuple(self._table(Step, f"{name}.{at}") for at in range(count))
            else:
                values[name] = self._read_checked(declared, name)
        names = self._read_checked("Strings", ORIGIN)
        has_shapes, *has_steps = self._read_checked("I64", SOURCES).tolist()
        read = self._attributes
        source = lazy_table(AttributeSource, [("node", self._described), ("read", lambda: read)])
        vars(source)["name"] = next(names.texts(), "")
        profile = Profile(
            **values,
            attribute_sources=(source,) if len(names) else (),
            shape_sources=(self._run_shapes,) if has_shapes else (),
            step_shapes=tuple(self._step_shapes(has_steps)),
            structure_cache=StoredCache("structure", self.columns, values["nodes"]),
            run_cache=StoredCache("run", self.columns, values["nodes"]),
        )
        vars(profile)["_cache"] = StoredCache("own", self.columns, values["nodes"])
        return profile

    def _table(self, kind: type, name: str) -> Any:  # noqa: ANN401 - a *kind*
        check_lengths(self.columns, kind, name)
        columns = ((part, f"{name}.{part}", declared) for part, declared in parts(kind))
        return lazy_table(kind, ((p, partial(self._column, d, full)) for p, full, d in columns))

    def _read_checked(self, declared: str, name: str) -> Any:  # noqa: ANN401 - as declared
        value = CONVERTERS[declared].from_columns(self.columns, name)
        check_column(self.columns, name, value)
        return value

    def _column(self, declared: str, name: str) -> Any:  # noqa: ANN401 - likewise
        try:
            return self._read_checked(declared, name)
        except Damage:
            self.columns.remove(name)
            value: Any = self.from_files
            for step in name.split("."):
                value = value[int(step)] if step.isdigit() else getattr(value, step)
            return value

    def _described(self) -> I64:
        described = self._is_described()
        return np.where(described, np.arange(described.size), -1)

    def _is_described(self) -> Any:  # noqa: ANN401 - Bool
        try:
            return self._read_checked("Bool", f"{ATTRIBUTES}.described")
        except Damage:
            return self.from_files.in_graph

    def _attributes(self) -> tuple[I64, Strings]:
        """(node, map entry) of every attribute, as an AttributeSource reads it."""
        with suppress(Damage):
            attributes: Attributes = from_columns(Attributes, ATTRIBUTES, self.columns)
            check_attributes(attributes)
            return attributes.node, attributes.texts.take(attributes.text)
        self._rewrite_later(ATTRIBUTES, "node")
        return self.from_files.attributes

    def _rewrite_later(self, name: str, part: str) -> None:
        """Write what is called *name* after the answer; the file that has it is damaged."""
        self.columns.remove(f"{name}.{part}")
        self.wanted.add(name)

    def _run_shapes(self, profile: Profile) -> Profile:
        """*profile* with the shapes that runs record, as one of its shape_sources."""
        try:
            shapes: RunShapes = from_columns(RunShapes, RUN_SHAPES, self.columns)
        except Damage:
            self._rewrite_later(RUN_SHAPES, "outputs")
            shapes = run_shapes(self.from_files)
        notes = (*profile.notes, *shapes.notes)
        return replace(profile, outputs=shapes.outputs, notes=notes)

    def _step_shapes(self, counts: list[int]) -> Iterator[Any]:
        """(numbers of steps, the profile with their shapes), as in a Profile."""
        for number, count in enumerate(counts):
            steps = self._read_checked("I64", f"{STEP_SHAPES}.{number}.steps")
            if steps.size != count:
                raise Damage("its steps differ")
            yield tuple(steps.tolist()), partial(self._with_step_shapes, number)

    def _with_step_shapes(self, number: int, profile: Profile) -> Profile:
        name = f"{STEP_SHAPES}.{number}"
        try:
            shapes: ShapesOfSteps = from_columns(ShapesOfSteps, name, self.columns)
        except Damage:
            self._rewrite_later(name, "outputs")
            shapes = step_shapes(self.from_files, number)
        return replace(profile, outputs=shapes.outputs)
