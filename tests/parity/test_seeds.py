"""Every command of the old documents, run as printed: what seeds.py says of each is so."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import pytest

import seeds
from profiles import PROFILES, SAMPLE, content
from seeds import DOCUMENTS, ENTRIES, Entry
from tfprof import cli
from tfprof.views import VIEWS
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from pathlib import Path

# --- what the documents show: tables with times by a line of each kind ------------------------

TEXTS: Final = r"""
=== VARIABLES
_TFProfRoot (--/930.58k params)
  global_step (1/1 params)
  init/init_conv/DW (3x3x3x16, 432/864 params)
  pool_logit/DW (64x10, 640/1.28k params)
    pool_logit/DW/Momentum (64x10, 640/640 params)
  pool_logit/biases (10, 10/20 params)
    pool_logit/biases/Momentum (10, 10/10 params)
  unit_last/final_bn/beta (64, 64/128 params)
  unit_last/final_bn/gamma (64, 64/128 params)
  unit_last/final_bn/moving_mean (64, 64/64 params)
  unit_last/final_bn/moving_variance (64, 64/64 params)
=== DUMP
_TFProfRoot (--/930.58k params)
  global_step (0/0 params)
  pool_logit/DW (64x10, 640/1.28k params)
  pool_logit/biases (10, 10/20 params)
=== TRAINABLE
_TFProfRoot (--/464.15k params)
  init/init_conv/DW (3x3x3x16, 432/432 params)
  pool_logit/DW (64x10, 640/640 params)
  pool_logit/biases (10, 10/10 params)
  unit_last/final_bn/beta (64, 64/64 params)
  unit_last/final_bn/gamma (64, 64/64 params)
=== BY_NAME
_TFProfRoot (0/18.43k params)
  unit_2_1/sub1/conv1/DW (3x3x32x32, 9.22k/9.22k params)
  unit_2_1/sub2/conv2/DW (3x3x32x32, 9.22k/9.22k params)
=== POOL_LOGIT
_TFProfRoot (--/650 params)
  pool_logit/DW (64x10, 640/640 params)
  pool_logit/biases (10, 10/10 params)
=== GAMMA
_TFProfRoot ()
  unit_1_0/shared_activation/init_bn/gamma ()
[1.80 2.10 2.06 1.91 2.26 1.86 1.81 1.37 1.78 1.85 1.96 1.54 2.04 2.34 2.22 1.99 ],
  unit_1_0/sub2/bn2/gamma ()
[1.57 1.83 1.30 1.25 1.59 1.14 1.26 0.82 1.19 1.10 1.48 1.01 0.82 1.23 1.21 1.14 ],
=== FLOPS
_TFProfRoot (0/17.63b flops)
  gradients/pool_logit/xw_plus_b/MatMul_grad/MatMul (163.84k/163.84k flops)
  gradients/pool_logit/xw_plus_b/MatMul_grad/MatMul_1 (163.84k/163.84k flops)
  init/init_conv/Conv2D (113.25m/113.25m flops)
  pool_logit/xw_plus_b (1.28k/165.12k flops)
    pool_logit/xw_plus_b/MatMul (163.84k/163.84k flops)
  unit_1_0/sub1/conv1/Conv2D (603.98m/603.98m flops)
  unit_1_0/sub2/conv2/Conv2D (603.98m/603.98m flops)
  unit_1_1/sub1/conv1/Conv2D (603.98m/603.98m flops)
  unit_1_1/sub2/conv2/Conv2D (603.98m/603.98m flops)
  ...
=== FLOPS_BY_TYPE
node name | # float_ops
Conv2D                   17.63b float_ops (100.00%, 100.00%)
MatMul                   491.52k float_ops (0.00%, 0.00%)
BiasAdd                  1.28k float_ops (0.00%, 0.00%)
=== TIMELINE
generating trace file.

******************************************************
Timeline file is written to <filename.json>.
Open a Chrome browser, enter URL chrome://tracing and load the timeline file.
******************************************************
=== CODE
_TFProfRoot (0us/22.44ms)
  model_analyzer_test.py:149:run_filename_as_m...:none (0us/22.44ms)
=== CODE_2018
node name | execution time
_TFProfRoot (--/3.74sec)
  seq2seq_attention.py:316:<module>:app.run() (0us/3.74sec)
=== DEPENDS
_TFProfRoot (0us/3.61sec)
  init/init_conv/Conv2D (11.75ms/3.10sec)
    random_shuffle_queue_DequeueMany (3.09sec/3.09sec)
  unit_1_0/sub2/conv2/Conv2D (74.14ms/3.19sec)
  unit_1_3/sub2/conv2/Conv2D (60.75ms/3.34sec)
  unit_2_4/sub2/conv2/Conv2D (73.58ms/3.54sec)
  unit_3_3/sub2/conv2/Conv2D (10.26ms/3.60sec)
=== BACKWARD
_TFProfRoot (0us/2.29sec)
  gradients/unit_1_0/sub1/conv1/Conv2D_grad/Conv2DBackpropFilter (54.96ms/54.96ms)
=== TYPES
SoftmaxCrossEntropyWithLogits      36.58MB (100.00%, 0.05%),      1.37sec (100.00%, 23.56%),         30
MatMul                        2720.57MB (99.95%, 3.66%),      988.90ms (76.44%, 17.05%),       3450
ConcatV2                       741.37MB (96.29%, 1.00%),       421.44ms (59.38%, 7.27%),       6098
Mul                           3957.24MB (95.29%, 5.33%),       418.90ms (52.12%, 7.22%),       9427
Add                            740.05MB (89.96%, 1.00%),       335.26ms (44.89%, 5.78%),       2180
Sub                             32.46MB (88.97%, 0.04%),       216.44ms (39.11%, 3.73%),       4372
AddN                           733.21MB (88.92%, 0.99%),       208.46ms (35.38%, 3.59%),       5481
Slice                          708.07MB (87.94%, 0.95%),       205.27ms (31.78%, 3.54%),       7277
Fill                           954.27MB (86.98%, 1.28%),       154.50ms (28.24%, 2.66%),       9686
Select                         312.33MB (85.70%, 0.42%),       123.04ms (25.58%, 2.12%),       5746
Sigmoid                        152.57MB (85.28%, 0.21%),        96.66ms (23.46%, 1.67%),       2970
=== TYPE_TIMES
node name | execution time | op occurrence
SoftmaxCrossEntropyWithLogits     1.37sec (100.00%, 36.44%),         30
MatMul                        618.97ms (63.56%, 16.51%),       3450
Add                            273.76ms (47.06%, 7.30%),       2180
Sub                            215.41ms (39.76%, 5.74%),       4372
ConcatV2                       203.88ms (34.01%, 5.44%),       6098
Mul                            134.32ms (28.58%, 3.58%),       9427
ApplyAdam                       92.66ms (25.00%, 2.47%),         27
Switch                          72.43ms (22.53%, 1.93%),      30654
LogUniformCandidateSampler       69.01ms (20.59%, 1.84%),         30
Unique                          53.50ms (18.75%, 1.43%),          2
AddN                            50.10ms (17.33%, 1.34%),       5481
=== TYPE_DEVICES
node name | execution time | assigned devices
SoftmaxCrossEntropyWithLogits     1.37sec (100.00%, 36.44%), /job:worker/replica:0/task:0/cpu:0
=== SCOPES
node name | execution time
_TFProfRoot (--/8.12sec)
  tower_3/gradients/tower_3/Conv2d_1a_3x3/convolution_grad/Conv2DBackpropFilter (126.34ms/126.34ms)
=== HELD
_TFProfRoot (--/25.81m params)
=== OPTIONS_2016
-max_depth                  4
-min_bytes                  0
-min_micros                 0
-min_params                 0
-min_float_ops              0
-device_regexes             .*
-order_by                   name
-account_type_regexes       Variable
-start_name_regexes         .*
-trim_name_regexes
-show_name_regexes          .*
-hide_name_regexes          IsVariableInitialized_[0-9]+,save\/.*,^zeros[0-9_]*
-account_displayed_op_only  false
# supported select fileds. Availability depends on --[run_meta|checkpoint|op_log]_path.
# [bytes|micros|params|float_ops|num_hidden_ops|tensor_value|device|op_types]
-select                     params
-viz                        false
-dump_to_file
=== OPTIONS_2017
-max_depth                  4
-min_bytes                  0
-min_micros                 0
-min_params                 0
-min_float_ops              0
-min_occurrence             0
-step                       -1
-order_by                   name
-account_type_regexes       Variable,VariableV2
-start_name_regexes         .*
-trim_name_regexes
-show_name_regexes          .*
-hide_name_regexes          IsVariableInitialized_[0-9]+,save\/.*,^zeros[0-9_]*
-account_displayed_op_only  false
# supported select fields. Availability depends on --[run_meta|checkpoint|op_log]_path.
# [bytes|micros|params|float_ops|occurrence|tensor_value|device|op_types]
-select                     params
# format: output_type:key=value,key=value...
# output_types: stdout (default), timeline, file.
# key=value pairs:
#   1. timeline: outfile=<filename>
#   2. file: outfile=<filename>
#   3. stdout: None.
# E.g. timeline:outfile=/tmp/timeline.json
-output
"""  # noqa: E501 - as printed
SHOWN: Final = dict(text.split("\n", 1) for text in TEXTS.split("=== ")[1:])
NO_STEP: Final = ("global_step (1/1 params)", "global_step (0/0 params)")
SHOWN["CHECKPOINT"] = SHOWN["VARIABLES"].replace(*NO_STEP)
SHOWN["VARIABLES_2018"] = SHOWN["VARIABLES"]
SHOWN["FLOPS_2018"] = "node name | # float_ops\n" + SHOWN["FLOPS"].replace("(0/", "(--/")
# Where the document contradicts itself: what takes the place of what.
EDITS: Final = {
    "CHECKPOINT": [NO_STEP[::-1]],
    "DUMP": [NO_STEP[::-1]],
    "VARIABLES_2018": [("_TFProfRoot", "node name | # parameters\n_TFProfRoot")],
}
# The tables that max_depth cuts, as in the document.
ELEVEN: Final = ("TYPES", "TYPE_TIMES")

# --- runs -------------------------------------------------------------------------------------

SESSIONS: Final = list(dict.fromkeys((e.document, e.profile) for e in ENTRIES if e.typed))
GIVEN: Final = [e for e in ENTRIES if not e.python and not e.typed]


class Files:
    """The files of a profile under the names that the documents have for them."""

    def __init__(self, profile: str, folder: Path) -> None:
        files = PROFILES.get(profile, PROFILES["resnet"])
        log = files.op_log
        if profile == "pool_logit":
            # As the documents have it: write_op_log writes tfprof_log, the flag says op_log.
            (folder / "tfprof_log").write_bytes(content(files.op_log) + OWN_TYPES)
            log = folder / "op_log"
        runs = ",".join(map(str, files.runs))
        self._names = {
            "graph.pbtxt": str(files.graph),
            "~/tfprof/textsum/graph.pbtxt": str(files.graph),
            "run_meta": runs,
            "~/tfprof/textsum/run_meta": runs,
            "tfprof_log": str(log),
            "model.ckpt": str(SAMPLE / "model.ckpt"),
            "/tmp/dump": str(folder / "dump"),  # noqa: S108 - a name in the documents
            "file:outfile=/tmp/dump": f"file:outfile={folder / 'dump'}",
        }
        self.flags = [f"--graph_path={files.graph}", f"--run_meta_path={runs}"]
        self.flags.append(f"--op_log_path={log}")
        if profile in ("resnet", "pool_logit"):
            self.flags.append(f"--checkpoint_path={SAMPLE / 'model.ckpt'}")

    def words(self, line: str) -> list[str]:
        """The words of *line* with the names of our files."""
        words = []
        for word in shlex.split(line):
            flag, equals, name = word.partition("=")
            words.append(f"{flag}{equals}{self._names.get(name, name)}")
        return [self._names.get(word, word) for word in words]


def _own_types() -> bytes:
    """What the documents add to an op log; appended to a message, it is merged with it."""
    log: Any = message("tensorflow.tfprof.OpLogProto")()
    for name in ("pool_logit/DW", "pool_logit/biases"):
        log.log_entries.add(name=name, types=["pool_logit"])
    return bytes(log.SerializeToString())


OWN_TYPES: Final = _own_types()


class Program:
    """Runs the program, at the prompt where there are lines, and keeps what it printed."""

    def __init__(self, capfd: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self._capfd, self._patch = capfd, patch
        self.err = ""

    def __call__(self, words: list[str], *lines: str) -> str:
        text = "".join(f"{line}\n" for line in lines).encode()
        self._patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
        code = cli.run(words)
        out, self.err = self._capfd.readouterr()
        assert code == 0, self.err
        assert "E: " not in self.err
        return out


@pytest.fixture
def program(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Program:
    return Program(capfd, monkeypatch)


@pytest.mark.parametrize(("document", "profile"), SESSIONS)
def test_lines_at_the_prompt(program: Program, tmp_path: Path, document: str, profile: str) -> None:
    entries = [e for e in ENTRIES if e.typed and (e.document, e.profile) == (document, profile)]
    flags = [*Files(profile, tmp_path).flags, *DOCUMENTS[document].flags]
    trace = str(tmp_path / "trace.json")
    between = program(flags, "help")
    lines = [e.asked.replace("<filename.json>", trace) for e in entries]
    out = program(flags, *(line for asked in lines for line in (asked, "help")))
    answers = out.split(between)
    assert answers.pop() == ""
    for entry, answer in zip(entries, answers, strict=True):
        check(entry, answer.replace(trace, "<filename.json>"))
    if "TIMELINE" in {e.shown for e in entries}:
        assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]


@pytest.mark.parametrize("entry", GIVEN, ids=lambda e: f"{e.document}: {e.line}")
def test_commands(program: Program, tmp_path: Path, entry: Entry) -> None:
    words = Files(entry.profile, tmp_path).words(entry.asked)
    if words == ["help"]:
        assert all(view in program(words) for view in VIEWS)
        return
    words += DOCUMENTS[entry.document].flags
    if not entry.shown:
        assert program(words, "").startswith("-max_depth                  4\n")
        return
    out = program(words)
    if (tmp_path / "dump").exists():
        assert out == ""
        assert program.err == f"{PROGRESS}tfprof: wrote {tmp_path / 'dump'}\n"
        out = (tmp_path / "dump").read_text()
    assert ("dump" in entry.line) == (tmp_path / "dump").exists()
    check(entry, out)


PROGRESS: Final = """\
Reading Files...
Parsing GraphDef...
Preparing Views...
"""


def test_bounds_that_our_step_reaches(program: Program, tmp_path: Path) -> None:
    entries = [e for e in ENTRIES if "times of another machine: no row" in e.reason]
    flags = [*Files("seq2seq", tmp_path).flags, *DOCUMENTS["time"].flags]
    for entry in entries:
        as_printed, reached = entry.asked, entry.asked.replace("100000", "100")
        legend, root = program(flags, as_printed).splitlines()
        assert legend == "node name | execution time"
        assert re.fullmatch(r"_TFProfRoot \(--/26\.\d\dms\)", root)
        answer = program(flags, reached)
        assert kinds(answer) == kinds(SHOWN[entry.shown])
        sums_agree(replace(entry, line=reached), answer)
    assert len(entries) == 2


def test_graph_view_has_rows_side_by_side_whose_totals_contain_each_other(
    program: Program, tmp_path: Path
) -> None:
    line = next(e.asked for e in ENTRIES if e.shown == "DEPENDS")
    rows = re.compile(r"(?m)^  (\S+) \(\S+/(\S+)\)$")
    answer = program([*Files("resnet", tmp_path).flags, "--era=2017"], line)
    for text in (SHOWN["DEPENDS"], answer):
        names, totals = zip(*rows.findall(text), strict=True)
        times = [*map(seconds, totals)]
        assert names[0] == "init/init_conv/Conv2D"
        assert set(names[1:]) <= {f"unit_{n}_{m}/sub2/conv2/Conv2D" for n in "123" for m in "01234"}
        assert times == sorted(times)
        assert len(times) >= 5
        # Each contains those before it: far more than the root's total, if they were added.
        whole = re.search(r"_TFProfRoot \(0us/(\S+)\)", text)
        assert whole
        assert sum(times) > 2 * seconds(whole[1]) > 2 * times[-1]
    fed = program([*Files("resnet", tmp_path).flags, "--era=2017"], line.replace("10000", "300"))
    assert re.search(
        r"(?m)^( +)init/init_conv/Conv2D .*\n\1  random_shuffle_queue_DequeueMany ", fed
    )


def test_the_second_server_holds_twice_as_much(program: Program, tmp_path: Path) -> None:
    lines = [e.asked for e in ENTRIES if ".*ps.*" in e.line and e.document == "readme-2017"]
    flags = [*Files("seq2seq", tmp_path).flags, "--era=2017"]
    held = [float(n) for n in re.findall(r"/([\d.]+)k params", program(flags, *lines))]
    assert held == [pytest.approx(held[1] / 2, rel=0.1), held[1]]


# --- checks -----------------------------------------------------------------------------------


def check(entry: Entry, answer: str) -> None:
    """What we answer is what the table says of it."""
    shown = SHOWN[entry.shown] if entry.shown else ""
    if "no row" in entry.reason:
        return  # test_bounds_that_our_step_reaches
    if entry.form == "shape":
        assert kinds(answer) == kinds(shown), entry.line
        sums_agree(entry, answer)
        if entry.shown in ELEVEN:
            assert len(answer.splitlines()) == len(shown.splitlines())
        return
    for theirs, ours in EDITS.get(entry.shown, []) if entry.form == "differs" else []:
        assert theirs in shown
        shown = shown.replace(theirs, ours, 1)
    before, dots, _ = shown.partition("  ...\n")
    assert answer == shown or (dots and answer.startswith(before)), entry.line


_WORDS: Final = {
    r"\d[\d.]*(us|ms|sec)\b": "TIME",
    r"\d[\d.]*[KM]?B\b": "MEMORY",
    r"\d[\d.]*%": "SHARE",
    r"[|\w/:]*/job:[^ ,]*": "DEVICES",
    r"\b\d[\dx]*, (?=\S+ params)": "SHAPE, ",
    r"\b\d[\d.]*[kmb]?\b": "COUNT",
    r"\[(COUNT )+\]": "[COUNTS]",
    r" +": " ",
}


def kinds(text: str) -> set[str]:
    """The kinds of lines of *text*: without names, depths and numbers."""
    found = set()
    for line in text.splitlines():
        row = re.fullmatch(r" *(\S.*?)((?: \(gradient\))?) (\([^()%]*\))", line)
        if row:
            root = row[1] if row[1] == "_TFProfRoot" else ""
            code = "CODE" if re.fullmatch(r"[^/]+\.py\S*:\d+:[^:]+:.+", row[1]) else ""
            kind = f"{root or code or 'NAME'}{row[2]} {row[3]}"
        else:
            kind = re.sub(r"^\w+ ", "NAME ", line)
        for pattern, word in _WORDS.items():
            kind = re.sub(pattern, word, kind)
        found.add(kind)
    return found


_SECONDS: Final = {"us": 1e-6, "ms": 1e-3, "sec": 1.0}


def seconds(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|sec)", text).groups()  # type: ignore[union-attr]
    return float(number) * _SECONDS[unit]


def sums_agree(entry: Entry, answer: str) -> None:
    """Rows hold what is below them and what they are asked to hold; shares add up."""
    bound = re.search(r"-min_micros (\d+)", entry.asked)
    least = int(bound[1]) / 1e6 if bound else 0.0
    above, own_times = list[float](), list[float]()
    for indent, own, total in re.findall(r"(?m)^( *)\S.* \((\w[\w.]*s\w*)/([\w.]+)\)$", answer):
        depth = len(indent) // 2
        assert seconds(own) <= seconds(total) * 1.006
        assert seconds(total) >= least * 0.994
        above = [*above[:depth], seconds(total)]
        own_times += [seconds(own)] * bool(depth)
        assert all(a * 1.006 >= b for a, b in pairwise(above)), entry.line
    if bound and not entry.shown.startswith("CODE"):
        assert min(own_times) >= least * 0.994, entry.line
    shares = re.findall(r"(?:us|ms|sec) \(([\d.]+)%, ([\d.]+)%\)", answer)
    for (left, share), (after, _) in pairwise(shares):
        assert float(after) == pytest.approx(float(left) - float(share), abs=0.02)


# --- the table --------------------------------------------------------------------------------


def test_no_command_is_missing() -> None:
    found = Counter((e.document, e.python, e.typed) for e in ENTRIES)
    for name, document in DOCUMENTS.items():
        counts = (found[name, False, True], found[name, False, False], found[name, True, False])
        assert counts == (document.typed, document.given, document.python), name


# The only reasons to differ.
DIFFERENCES: Final = (
    "the document contradicts itself",
    "the document's line is no Python",
    "times of another machine",
    "values of another training",
)


def test_entries_say_why() -> None:
    for entry in ENTRIES:
        assert entry.form != "exact" or entry.reason in ("", seeds.CUT)
        assert entry.form != "differs" or entry.reason.startswith(DIFFERENCES), entry
    assert {e.shown for e in ENTRIES} - {""} == set(SHOWN)


def test_the_page_is_up_to_date() -> None:
    assert seeds.PAGE.read_text(encoding="utf-8") == seeds.page()
