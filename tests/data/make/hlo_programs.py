"""Compiles the programs of hlo_models.py with JAX, and writes what a user of tfprof has of them.

    python tests/data/make/hlo_programs.py [FOLDER [NAME...]]   (needs jax, flax, optax; a minute)

    NAME.hlo.pb.gz      HloProto after optimizations, as XLA dumps it
    NAME.before.pb.gz   HloProto before optimizations, of some
    NAME.module.pb.gz   HloModuleProto, as the executable has it
    NAME.txt.gz         HLO text, as compiled.as_text() prints it
    NAME.xplane.pb.gz   a trace of some steps, of some
    facts.json          what JAX itself says of each

Without FOLDER, it records the files of data/hlo again; with names, only those of some programs.
Those of data/hlo/jax_0_4 are made with jax 0.4.30, flax 0.8.5, optax 0.2.2 and NumPy 1.26.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any, Final

import flax
import jax
import jaxlib
import optax

import hlo_models

DATA: Final = Path(__file__).parents[1] / "hlo"
BEFORE: Final = {
    *("flax_linen", "scanned_grad", "remat", "convolutions", "pooling", "branches", "grid")
}
STEPS: Final = {"flax_linen": 3, "runtime_loop": 2, "sharded": 2}
MEMORY: Final = ("argument", "output", "temp", "alias")


def start(dump: str) -> None:
    """Before JAX first compiles: XLA dumps what it does, on as many devices as programs need."""
    devices = f"--xla_force_host_platform_device_count={hlo_models.DEVICES}"
    os.environ["XLA_FLAGS"] = f"{devices} --xla_dump_to={dump} --xla_dump_hlo_as_proto"
    os.environ["JAX_PLATFORMS"] = "cpu"
    # Folders of this machine are no part of a test.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", r".*/(site-packages|tests)/")


def leaves(name: str, tree: Any) -> dict[str, list[int]]:
    """The shape of every array in an argument by JAX's name for it."""
    flat, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {name + jax.tree_util.keystr(path): list(jax.numpy.shape(leaf)) for path, leaf in flat}


def facts(program: hlo_models.Program, compiled: Any) -> dict[str, Any]:
    """What JAX says of a compiled program."""
    names = program.step.__wrapped__.__code__.co_varnames
    arguments = dict(zip(names, program.arguments, strict=False))
    groups = {"params": program.params, "optimizer": program.optimizer}
    said = {
        group: leaves(name, arguments.pop(name)) if name in arguments else {}
        for group, name in groups.items()
    }
    said["inputs"] = {
        key: of for name in arguments for key, of in leaves(name, arguments[name]).items()
    }
    cost, memory = compiled.cost_analysis(), compiled.memory_analysis()
    cost = cost[0] if isinstance(cost, list) else cost  # JAX 0.4: one of each device
    return {
        **said,
        "flops": cost["flops"],
        "transcendentals": cost.get("transcendentals", 0.0),
        "memory": {kind: getattr(memory, f"{kind}_size_in_bytes") for kind in MEMORY},
    }


def traced(compiled: Any, arguments: tuple[Any, ...], steps: int) -> bytes:
    """A trace of some steps; no event of Python's own."""
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    options.host_tracer_level = 2
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder, profiler_options=options):
            for step in range(steps):
                with jax.profiler.StepTraceAnnotation("train", step_num=step):
                    jax.block_until_ready(compiled(*arguments))
        (path,) = Path(folder).rglob("*.xplane.pb")
        return path.read_bytes()


def files(name: str, program: hlo_models.Program, compiled: Any, dump: Path) -> dict[str, bytes]:
    """The content of each file of a program."""
    (module,) = compiled.runtime_executable().hlo_modules()
    (after,) = dump.glob(f"module_*.jit_{name}.*cpu_after_optimizations.hlo.pb")
    made = {
        "hlo.pb": after.read_bytes(),
        "module.pb": module.as_serialized_hlo_module_proto(),
        "txt": compiled.as_text().encode(),
    }
    if name in BEFORE:
        (before,) = dump.glob(f"module_*.jit_{name}.before_optimizations.hlo.pb")
        made["before.pb"] = before.read_bytes()
    if name in STEPS and hasattr(jax.profiler, "ProfileOptions"):  # JAX 0.4 has none
        arguments = jax.device_put(program.arguments, compiled.input_shardings[0])
        jax.block_until_ready(compiled(*arguments))
        made["xplane.pb"] = traced(compiled, arguments, STEPS[name])
    return made


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    versions = {module.__name__: module.__version__ for module in (jax, jaxlib, flax, optax)}
    file = given.folder / "facts.json"
    said: dict[str, Any] = json.loads(file.read_text()) if given.names and file.exists() else {}
    said |= {"versions": versions, "devices": hlo_models.DEVICES}
    with tempfile.TemporaryDirectory() as dump:
        start(dump)
        for make in hlo_models.PROGRAMS:
            if given.names and make.__name__ not in given.names:
                continue
            program = make()
            compiled = program.step.lower(*program.arguments).compile()
            said[make.__name__] = facts(program, compiled)
            for kind, content in files(make.__name__, program, compiled, Path(dump)).items():
                packed = gzip.compress(content, 9, mtime=0)
                (given.folder / f"{make.__name__}.{kind}.gz").write_bytes(packed)
                print(f"{make.__name__}.{kind}: {len(content):,} bytes, {len(packed):,} packed")
    # One line per array.
    written = re.sub(
        r"\[[\d,\s]+\]", lambda shape: "".join(shape[0].split()), json.dumps(said, indent=1)
    )
    file.write_text(written + "\n")


if __name__ == "__main__":
    main()
