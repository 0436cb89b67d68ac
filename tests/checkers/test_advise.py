"""The checkers against the C++ original: random models, recorded answers, and a case a branch."""

from __future__ import annotations

import base64
import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest
from google.protobuf import text_format

import draw
import ours
from case import Case, GraphDef, OpLogProto, RunMetadata, survivable
from profiles import DATA, PROFILES
from random_cases import agree, batches, make_case
from random_values import chance
from recorded import records
from same_advice import AdviceProto, differences, said, sections
from tfprof.checkers import CHECKERS, Advice, advise
from tfprof.errors import UsageError
from tfprof.writers.advice import proto, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oracle import Oracle


SECTIONS = ACCELERATOR, OPERATION, EXPENSIVE = tuple(CHECKERS)[:3]
OPTIONS: Final = [(name, o) for name, row in CHECKERS.items() for o in row.options.values()]
UNFUSED: Final = "Maybe use faster FusedBatchNorm instead of BatchNorm"
NHWC: Final = "Found operation using NHWC data_format on GPU. Maybe NCHW is faster."

BUSY_CASES: Final = range(150)


# --- ours against the original -----------------------------------------------------------------


def agreed(oracle: Oracle, case: Case) -> dict[str, tuple[str, ...]]:
    """What both say."""
    assert not differences(oracle, case)
    return dict(advise(ours.load(case)).sections)


@batches(150, 10, 10)
@pytest.mark.parametrize("kind", ["scope", "graph", "op", "code", "busy"])
def test_random_models_agree(oracle: Oracle, kind: str, numbers: Sequence[int]) -> None:
    def make(number: int) -> Case:
        return busy_case(number) if kind == "busy" else random_case(number, kind)

    for number in numbers:
        checkers = [name for at, name in enumerate(CHECKERS) if at != number % 8]
        agree([number], make, lambda case: differences(oracle, case, checkers))  # noqa: B023


def random_case(seed: int, view: str) -> Case:
    """A random model; an op log that ends the original, which draws all views, is left out."""
    case = replace(make_case(seed, view), view="code", options={})
    return case if survivable(case) else replace(case, op_log=b"")


# --- models that make every checker speak ------------------------------------------------------

MICROS: Final = (0, 1, 40, 99, 100, 101, 499, 500, 501, 999, 1_000, 1_001, 2_500, 40_000, 1_234_567)
FORMATS: Final = (b"NHWC", b"NHWC", b"NCHW", b"nhwc", b"NHWC_VECT_C", b"")
BUSY_OPS: Final = ("Conv2D", "MatMul", "Relu", "FusedBatchNormGrad", "Add", "Mul", "BatchNorm")
BUSY_NAMES: Final = ("conv", "fc", "bn", "net/conv", "net/fc", "tower/a/b", "x")
DEVICES: Final = ("/device:CPU:0", "/device:GPU:0", "/job:w/gpu:1", "/job:gpu_worker/cpu:0")


def busy_case(seed: int) -> Case:
    """A model with a few accelerators, layouts, normalizations and deep, branching call stacks."""
    rng = random.Random(f"busy {seed}")  # noqa: S311  repeatable, not secret
    graph, op_log = GraphDef(), OpLogProto()
    names = [f"{rng.choice(BUSY_NAMES)}{at}" for at in range(rng.randrange(1, 40))]
    if chance(rng, 0.5):
        names[-1] = f"net/{rng.choice(('', 'Fused'))}BatchNorm_1/mul"
    names += [f"gradients/{name}_grad/{at}" for at, name in enumerate(rng.sample(names, 1))]
    names += ["gradients/lost_grad/x"] * chance(rng, 0.2)
    ops = rng.sample(BUSY_OPS, rng.randrange(1, 7)) + ["FusedBatchNorm"] * chance(rng, 0.2)
    for name in names:
        node = graph.node.add(name=name, op=rng.choice(ops))
        if chance(rng, 0.2):
            node.attr["data_format"].s = rng.choice(FORMATS)
    if chance(rng, 0.85):
        draw_stacks(rng, op_log, names)
    if chance(rng, 0.1):
        op_log.log_entries.add(name=names[0]).types.append("FusedBatchNorm")
    homes = {name: rng.choice(DEVICES[: rng.randrange(1, 5)]) for name in names}
    runs = [draw_run(rng, homes) for _ in range(rng.choice((0, 1, 1, 2, 3)))]
    return case_of(graph, op_log, [run.SerializeToString(deterministic=True) for run in runs])


def case_of(graph: Any, op_log: Any, runs: Sequence[bytes]) -> Case:
    written = [message.SerializeToString(deterministic=True) for message in (graph, op_log)]
    return Case("code", written[0], written[1], tuple(enumerate(runs)))


def draw_stacks(rng: random.Random, op_log: Any, names: Sequence[str]) -> None:
    op_log.id_to_string[0] = "run.py"
    for function in range(1, 5):
        op_log.id_to_string[function] = f"f{function}"
    library, width = rng.randrange(4), rng.choice((1, 2, 2, 3, 4))
    for name in names:
        entry = op_log.log_entries.add(name=name)
        below = [rng.randrange(width) + 1 for _ in range(rng.choice((1, 3, 6, 7)))]
        for function in [1] * library + below:
            entry.code_def.traces.add(file_id=0, lineno=7, function_id=function)


def draw_run(rng: random.Random, homes: Mapping[str, str]) -> Any:
    run = RunMetadata()
    run.step_stats.SetInParent()
    most = rng.randrange(1, len(MICROS) + 1)
    for name, home in homes.items():
        places = [home, f"{home}/stream:all", "/stream:7", "/device:GPU:0"]
        for place in rng.sample(places, rng.choice((0, 1, 2, 2, 2))):
            stats = run.step_stats.dev_stats.add(device=place).node_stats.add(node_name=name)
            stats.all_start_micros = 0 if chance(rng, 0.1) else rng.randrange(1, 2_000)
            stats.op_end_rel_micros = rng.choice(MICROS[:most]) * (-1 if chance(rng, 0.02) else 1)
    return run


def reached(case: Case) -> set[str]:
    """The branches that a model takes, told from what is said of it."""
    profile = ours.load(case)
    advice = advise(profile)
    found = {note.text.lstrip("0123456789 ") for note in advice.notes}
    devices, operations, expensive = (advice.sections[name] for name in SECTIONS)
    found |= {f"{min(len(devices), 2)} devices", f"{len(operations)} about operations"}
    found |= {"low device" if " low " in report else "device" for report in devices}
    found |= set(operations)
    if b"BatchNorm" in case.graph and b"\x12\x0eFusedBatchNorm" in case.graph:
        found.add("fused")
    for kind in ("operation type", "graph node"):
        (tops,) = [report for report in expensive if f"top 1 {kind}" in report] or [""]
        found.add(f"{tops.count('top ')} of {kind}")
    if profile.has_traces:
        code = [report for report in expensive if not report.startswith("top")]
        found.add("no code" if not code else "code" if code[0] else "empty code")
        indents = [indent for report in code for indent in re.findall("(?m)^ *", report)]
        found |= {f"code level {len(indent) // 2}" for indent in indents}
    for checker, option in OPTIONS:
        nudged = advise(profile, {checker: {option.name: str(option.default + 1)}})
        if nudged.sections[checker] != advice.sections[checker]:
            found.add(f"{option.name} matters")
    return found


@pytest.mark.whole
def test_busy_models_reach_every_branch() -> None:
    found = set().union(*(reached(busy_case(seed)) for seed in BUSY_CASES))
    assert found == {
        *("0 devices", "1 devices", "2 devices", "low device", "device"),
        *("0 about operations", "1 about operations", "2 about operations"),
        *(UNFUSED, NHWC, "fused"),
        *(f"{count} of {kind}" for count in range(4) for kind in ("operation type", "graph node")),
        *("no code", "empty code", "code", *(f"code level {level}" for level in range(4))),
        f"Missing RunMetadata info. Skip {EXPENSIVE}",
        *(f"Missing {what} for {EXPENSIVE}" for what in ("run_meta", "op_log (code traces)")),
        "gradient nodes not accounted",
        *(f"{option.name} matters" for _, option in OPTIONS),
    }


# --- recorded answers --------------------------------------------------------------------------


RECORDED: Final = [record for record in records() if record["cmd"] == "advise"]


@pytest.mark.parametrize("record", RECORDED, ids=lambda record: record["id"])
def test_recorded_answer(record: dict[str, Any]) -> None:
    steps = tuple((step, base64.b64decode(run)) for step, run in record["steps"])
    graph, op_log = base64.b64decode(record["graph"]), base64.b64decode(record["oplog"])
    profile = ours.load(Case("code", graph, op_log, steps))
    mine = advise(profile, {name: {} for name in record["options"]})
    assert sections(b"".join(text(mine))) == sections(record["stdout"].encode())
    assert said(mine) == record["stderr"]
    assert AdviceProto.FromString(b"".join(proto(mine))) == text_format.Parse(
        record["result"], AdviceProto()
    )


def test_handmade_model() -> None:
    mine = advise(ours.files_loaded(PROFILES["handmade"]))
    expected = (DATA / "handmade" / "advise.stdout.txt").read_bytes()
    assert sections(b"".join(text(mine))) == sections(expected)


# --- a branch at a time ------------------------------------------------------------------------


def drawn(
    drawing: str, stacks: Mapping[str, str] | None = None, formats: Mapping[str, str] | None = None
) -> Case:
    """A drawing, with call stacks such as "main>build", and data formats, of some nodes."""
    files = draw.inputs(drawing)
    graph, op_log = GraphDef.FromString(files.graph), OpLogProto.FromString(files.op_log)
    for node in graph.node:
        if node.name in (formats or {}):
            node.attr["data_format"].s = (formats or {})[node.name].encode()
    ids: dict[str, int] = {}
    for name, stack in (stacks or {}).items():
        frames = op_log.log_entries.add(name=name).code_def.traces
        for function in stack.split(">"):
            at = ids.setdefault(function, len(ids))
            op_log.id_to_string[at] = function
            frames.add(file_id=at, function_id=at, lineno=1)
    return case_of(graph, op_log, files.runs)


@pytest.mark.parametrize(
    ("nodes", "reports"),
    [
        ("a on=/gpu:0 us=10 gpu=10", ["device: /gpu:0 utilization: 0.50"]),
        ("a on=/gpu:0 us=11 gpu=10", ["device: /gpu:0 low utilization: 0.48"]),
        ("a on=/gpu:0 us=5", ["device: /gpu:0 low utilization: 0.00"]),
        # The last step alone.
        ("a on=/gpu:0 us=10+10 gpu=90+10", ["device: /gpu:0 utilization: 0.50"]),
        # The last step that a node has: 90 of step 0 and 10 of step 1, from 1 to 101.
        ("a on=/gpu:0 us=10 gpu=90\nb on=/gpu:0 us=-+5 gpu=-+10",
         ["device: /gpu:0 utilization: 1.00"]),
        # Sorted, and a cpu is none unless its job says gpu (Q33).
        ("a on=/gpu:1 us=1\nb on=/gpu:0 us=1\nc on=/cpu:0 us=1\nd on=/job:gpu_w/cpu:0 us=1",
         ["device: /gpu:0 low utilization: 0.00", "device: /gpu:1 low utilization: 0.00",
          "device: /job:gpu_w/cpu:0 low utilization: 0.00"]),
    ],
)  # fmt: skip
def test_utilization(oracle: Oracle, nodes: str, reports: list[str]) -> None:
    assert agreed(oracle, drawn(nodes))[ACCELERATOR] == tuple(reports)


@pytest.mark.parametrize(
    ("nodes", "formats", "told"),
    [
        ("x/BatchNorm/mul op=Mul", {}, [UNFUSED]),
        ("x/FusedBatchNorm op=Mul", {}, [UNFUSED]),
        ("x/BatchNorm op=FusedBatchNormGrad", {}, [UNFUSED]),
        ("x/BatchNorm op=Mul\ny op=FusedBatchNorm", {}, []),
        ("x/BatchNorm op=Mul types=FusedBatchNorm", {}, []),
        ("batch_normalization op=Mul", {}, []),
        ("c op=Conv2D on=/gpu:0 us=1", {"c": "NHWC"}, [NHWC]),
        ("c op=Conv2D on=/gpu:0 us=1", {"c": "NCHW"}, []),
        ("c op=Conv2D on=/cpu:0 us=1", {"c": "NHWC"}, []),
        ("c op=Conv2D", {"c": "NHWC"}, []),
        ("BatchNorm on=/gpu:0 us=1", {"BatchNorm": "NHWC"}, [UNFUSED, NHWC]),
    ],
)
def test_operations(oracle: Oracle, nodes: str, formats: dict[str, str], told: list[str]) -> None:
    assert agreed(oracle, drawn(nodes, formats=formats))[OPERATION] == tuple(told)


LAST, FIRST, NUMBER, PLACEHOLDER = b"\x12\4NHWC", b"\x12\4NCHW", b"\x18\3", b"\x4a\4NHWC"


@pytest.mark.parametrize(
    "values", [[LAST + NUMBER], [NUMBER + LAST], [PLACEHOLDER], [b""], [FIRST, LAST], [LAST, FIRST]]
)
def test_a_data_format_is_read_as_protobuf_reads_it(oracle: Oracle, values: list[bytes]) -> None:
    node = b"\x0a\x01c"
    for value in values:
        entry = b"\x0a\x0bdata_format\x12" + bytes([len(value)]) + value
        node += b"\x2a" + bytes([len(entry)]) + entry
    graph = b"\x0a" + bytes([len(node)]) + node
    last = GraphDef.FromString(graph).node[0].attr["data_format"].s == b"NHWC"
    case = Case("code", graph, steps=drawn("c on=/gpu:0 us=1").steps)
    assert agreed(oracle, case)[OPERATION] == (NHWC,) * last


@pytest.mark.parametrize("op", ["FusedBatchNormV2", "FusedBatchNormV3"])
def test_later_fused_forms_are_fused_unlike_in_the_original(oracle: Oracle, op: str) -> None:
    case = drawn(f"x/BatchNorm op={op}")
    oracle.load(case.graph, case.op_log, case.steps)
    assert oracle.advise([OPERATION]).stdout.decode() == f"\n{OPERATION}:\n{UNFUSED}\n"
    assert advise(ours.load(case)).sections[OPERATION] == ()


TIMED: Final = """
    net/a  op=A us=4000
    net/b  op=B us=3000
    c      op=C us=2000
    d      op=D us=90
"""
STACKS: Final = {"net/a": "lib>main>f>g", "net/b": "lib>main>f>h", "c": "lib>main>k", "d": "lib>q"}


def test_expensive_operations(oracle: Oracle) -> None:
    """Scopes by totals, told by their own (Q17); lines from below lib, where calls branch."""
    assert "\n".join(agreed(oracle, drawn(TIMED, STACKS))[EXPENSIVE]).splitlines() == [
        "top 1 operation type: A, cpu: 4.00ms, accelerator: 0us, total: 4.00ms (44.00%)",
        "top 2 operation type: B, cpu: 3.00ms, accelerator: 0us, total: 3.00ms (33.00%)",
        "top 3 operation type: C, cpu: 2.00ms, accelerator: 0us, total: 2.00ms (22.00%)",
        "top 1 graph node: net, cpu: 0us, accelerator: 0us, total: 0us",
        "top 2 graph node: c, cpu: 2.00ms, accelerator: 0us, total: 2.00ms",
        "main:1:main, cpu: 9.00ms, accelerator: 0us, total: 9.00ms",
        "  f:1:f, cpu: 7.00ms, accelerator: 0us, total: 7.00ms",
        "    g:1:g, cpu: 4.00ms, accelerator: 0us, total: 4.00ms",
        "    h:1:h, cpu: 3.00ms, accelerator: 0us, total: 3.00ms",
        "  k:1:k, cpu: 2.00ms, accelerator: 0us, total: 2.00ms",
    ]


# --- order, options, mistakes ------------------------------------------------------------------


def test_sections_stand_in_the_order_of_the_table() -> None:
    profile = draw.profile(TIMED)
    backwards: dict[str, dict[str, str]] = {name: {} for name in reversed(CHECKERS)}
    for advice in (advise(profile), advise(profile, backwards)):
        assert tuple(advice.sections) == SECTIONS
        written = b"".join([*text(advice), *proto(advice)])
        found = re.findall("|".join(CHECKERS), written.decode(errors="replace"))
        assert found == [*SECTIONS, *SECTIONS]
    assert advise(profile, {}) == Advice({})


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({}, "low 0.25 | A B C | net c | main .f ..g ..h .k"),
        ({"min_utilization": "0.25"}, "0.25 | A B C | net c | main .f ..g ..h .k"),
        ({"top": "1"}, "low 0.25 | A | net | main .f ..g"),
        ({"top": "9"}, "low 0.25 | A B C D E | net c | main .f ..g ..h .k"),
        ({"min_op_micros": "2200"}, "low 0.25 | A B | net c | main .f ..g ..h .k"),
        ({"min_node_micros": "90"}, "low 0.25 | A B C | net c d | main .f ..g ..h .k"),
        ({"min_code_micros": "3500"}, "low 0.25 | A B C | net c | main .f ..g"),
        ({"min_code_micros": "0"}, "low 0.25 | A B C | net c | main .f ..g ..h .k q"),
        ({"code_levels": "1"}, "low 0.25 | A B C | net c | main"),
        ({"code_levels": "2"}, "low 0.25 | A B C | net c | main .f .k"),
    ],
)
def test_options_do_what_they_say(options: dict[str, str], shown: str) -> None:
    profile = ours.load(drawn(f"{TIMED}e op=E on=/gpu:0 us=30 gpu=10", STACKS))
    given = {name: options for name, option in OPTIONS if option.name in options}
    own = {name: given.get(name, {}) for name in SECTIONS}
    reports = [report for of in advise(profile, own).sections.values() for report in of]
    noise = re.compile(r"device: \S+ |utilization: |top \d+ [\w ]+: |:1:\w+|, cpu: .*")
    told = " | ".join(noise.sub("", report) for report in reports)
    assert told.replace("  ", ".").replace("\n", " ") == shown


@pytest.mark.parametrize("checker", CHECKERS.values(), ids=CHECKERS)
def test_the_numbers_of_the_table_are_what_leaving_them_out_means(checker: Any) -> None:
    assert checker.help
    assert all(option.help for option in checker.options.values())
    profile = ours.load(drawn(TIMED, STACKS))
    written = {name: str(option.default) for name, option in checker.options.items()}
    assert advise(profile, {checker.name: written}) == advise(profile, {checker.name: {}})


@pytest.mark.parametrize(
    ("checkers", "sentence"),
    [
        ({"OperationsChecker": {}}, r"no checker 'OperationsChecker'; did you mean 'OperationChe"),
        ({"zzz": {}}, r"no checker 'zzz' \(there are: AcceleratorUtilizationChecker, Operation"),
        ({EXPENSIVE: {"topp": "3"}}, r"has no option 'topp'; did you mean 'top'\? \(there are: to"),
        ({OPERATION: {"top": "3"}}, r"OperationChecker has no option 'top' \(it has none\)"),
        ({EXPENSIVE: {"top": "0"}}, r"Checker: top takes a whole number >= 1, not 0"),
        ({EXPENSIVE: {"top": "2.5"}}, r"top takes a whole number >= 1, not 2.5"),
        ({ACCELERATOR: {"min_utilization": "nan"}}, r"min_utilization takes a number >= 0, not"),
        ({ACCELERATOR: {"min_utilization": "much"}}, r"takes a number >= 0, not much"),
    ],
)
def test_a_mistake_is_refused(checkers: dict[str, dict[str, str]], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        advise(draw.profile(TIMED), checkers)
