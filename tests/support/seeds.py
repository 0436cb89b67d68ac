"""Every command that the five old documents show, and how ours answers it.

    python tests/support/seeds.py       rewrites docs/seeds.md from this table

A command over several lines is one line here, `bazel-bin/.../tfprof` is `tfprof`, and what a
converter made of two documents (`&gt;`, `<em>`) is plain again. A line that starts with `tfprof>`
is typed at the prompt; the lines of a document and profile are one session, in their order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Final, Literal

import paths
from seeds_python import DIFFERENT, PYTHON

Form = Literal["exact", "shape", "differs"]

PROMPT: Final = "tfprof>"
PAGE: Final = paths.DOCS / "seeds.md"


@dataclass(frozen=True)
class Document:
    """A document: what it is, the flags that make our defaults its own, and what it holds."""

    title: str
    flags: tuple[str, ...]
    typed: int  # lines at the prompt
    given: int  # commands of the system's shell
    python: int  # calls and statements in Python


LATE = ("--era=2018",)
DOCUMENTS: Final = {
    "readme-2016": Document("tfprof README of 2016", ("--era=2016",), 15, 8, 10),
    "readme-2017": Document("tfprof README of early 2017", ("--era=2017",), 18, 8, 13),
    "architecture": Document("Profile Model Architecture, 2017", LATE, 3, 0, 3),
    "time": Document("Profile Time, 2017", LATE, 7, 0, 1),
    "options": Document("tf.profiler.ProfileOptionBuilder, 2019", (), 0, 0, 28),
}


@dataclass(frozen=True)
class Entry:
    """A command of a document.

    The line is run as printed. exact: we print the text shown, as far as it is shown. shape: lines
    of its kinds, with sums that agree. differs: not so, for the reason given. Documents do not show
    what Python prints: there, exact is what the profiler inside TensorFlow does.
    """

    line: str
    form: Form
    shown: str = ""  # a key of SHOWN in test_seeds.py
    profile: str = "resnet"
    reason: str = ""
    document: str = ""
    python: bool = False

    @property
    def typed(self) -> bool:
        """Whether it is a line for the prompt."""
        return not self.python and not self.line.startswith("tfprof ")

    @property
    def asked(self) -> str:
        """What is run: without the prompt or the program's name."""
        return self.line.removeprefix(PROMPT).removeprefix("tfprof ").strip()


# --- the table --------------------------------------------------------------------------------

STEP = "the document contradicts itself: global_step counts 0 in this table, 1 in its others"
NO_LEGEND = "the document contradicts itself: it shows no legend here, but does in its other tables"
MACHINE = "times of another machine"
TRAINING = "values of another training"
SMALLER = "our model is smaller; task 1 holds twice as much here, too"
BOUND = "times of another machine: no row of our step takes 0.1 s"
CUT = "the document shows the first rows only"
SILENT = "the document shows no answer"
CODE_LINE = (
    "tfprof> code -max_depth 1000 -show_name_regexes .*model_analyzer.*py.* -select micros "
    "-account_type_regexes .* -order_by micros"
)
OP_LINE = "tfprof> op -select micros,bytes,occurrence -order_by micros"
OP_LINES = [f"tfprof> op -select micros,{s} -order_by micros" for s in ("occurrence", "device")]
GAMMA_LINE = "tfprof> scope -show_name_regexes unit_1_0.*gamma -select tensor_value -max_depth 5"
VARIABLES_LINE = "tfprof> scope -account_type_regexes VariableV2 -max_depth 4 -select params"
SCOPE_LINE = "tfprof scope --graph_path=graph.pbtxt --max_depth=3"
BOUND_LINE = "tfprof> scope -max_depth 30 -select micros -min_micros 100000 -order_by micros"
CODE_LINES = """
tfprof> code -show_name_regexes seq2seq_attention.* -max_depth 10 -select micros -order_by micros
tfprof> code -start_name_regexes .*_add_seq2seq.* -show_name_regexes seq2seq_attention.* \
-max_depth 10 -select micros -order_by micros
tfprof> code  -max_depth 5 -select micros -order_by micros -start_name_regexes .*_add_seq2seq.* \
-min_micros 100000
""".strip().split("\n")
TIMELINE_LINE = (
    "graph -max_depth 10000000 -step 0 -account_type_regexes .*gpu:3.*,.*worker.*cpu:0.* "
    "-output timeline:outfile=<filename.json>"
)
VARIABLES_SHOWN = Entry(VARIABLES_LINE, "exact", "VARIABLES")
CODE_SHOWN = Entry(CODE_LINE, "shape", "CODE", "model_analyzer", MACHINE)
GAMMA_SHOWN = Entry(GAMMA_LINE, "shape", "GAMMA", reason=TRAINING)

# What both READMEs show, in this order.
TEXTSUM = (
    "tfprof --graph_path ~/tfprof/textsum/graph.pbtxt --run_meta_path ~/tfprof/textsum/run_meta"
)
GRAPH = "tfprof --graph_path=graph.pbtxt"
PROMPTS = tuple(
    Entry(line, "shape", reason=SILENT)
    for line in (
        "tfprof help",
        GRAPH,
        f"{GRAPH} --run_meta_path=run_meta --checkpoint_path=model.ckpt",
        f"{GRAPH} --run_meta_path=run_meta --op_log_path=tfprof_log --checkpoint_path=model.ckpt",
    )
)
# fmt: off
TUTORIAL = (
    Entry("tfprof> scope -account_type_regexes _checkpoint_variables -select params -max_depth 4",
          "differs", "CHECKPOINT", reason=STEP),
    Entry("tfprof> graph -start_name_regexes cost.* -max_depth 100 -min_micros 10000 "
          "-select micros -account_type_regexes .*",
          "shape", "DEPENDS", reason=MACHINE),
    Entry("tfprof> scope -start_name_regexes gradient.* -max_depth 100 -min_micros 20000 "
          "-select micros -account_type_regexes .*",
          "shape", "BACKWARD", reason=MACHINE),
    Entry("tfprof> scope -min_float_ops 1 -max_depth 10 -select float_ops -account_type_regexes .*",
          "exact", "FLOPS", reason=CUT),
    Entry("tfprof> set -account_type_regexes _trainable_variables", "exact"),
    Entry("tfprof> scope -max_depth 4 -select params", "exact", "TRAINABLE"),
    Entry("tfprof> set -account_type_regexes .*", "exact"),
    Entry("tfprof> scope -show_name_regexes unit_2_1.*DW -max_depth 100 -account_displayed_op_only",
          "exact", "BY_NAME"),
)
OWN_TYPE = Entry("tfprof> scope -account_type_regexes pool_logit -max_depth 4 -select params",
                 "exact", "POOL_LOGIT", "pool_logit")
SERVERS = (
    Entry(TEXTSUM, "shape", profile="seq2seq", reason=SILENT),
    *(
        Entry(f"tfprof> scope -select device,params -account_type_regexes .*ps.*task:{task}.* "
              "-max_depth 1",
              "shape", "HELD", "seq2seq", reason=SMALLER)
        for task in (0, 1)
    ),
)
# fmt: on


def _of(document: str, *entries: Entry) -> tuple[Entry, ...]:
    lines = [line for line in PYTHON[document].split("\n") if line]
    reasons = {line: DIFFERENT[line] for line in lines if line in DIFFERENT}
    python = [
        Entry(line, "differs" if line in reasons else "exact", reason=reasons.get(line, ""))
        for line in lines
    ]
    return tuple(
        replace(entry, document=document, python=entry in python) for entry in (*entries, *python)
    )


ENTRIES: Final = (
    *_of(
        "readme-2017",
        CODE_SHOWN,
        VARIABLES_SHOWN,
        Entry(OP_LINE, "shape", "TYPES", reason=MACHINE),
        *PROMPTS,
        Entry(f"{GRAPH} --run_meta_path=run_meta", "shape", reason=SILENT),
        Entry(SCOPE_LINE, "shape", "DUMP", reason=SILENT),
        Entry("tfprof>", "exact", "OPTIONS_2017"),
        CODE_SHOWN,
        GAMMA_SHOWN,
        *TUTORIAL,
        VARIABLES_SHOWN,
        OWN_TYPE,
        Entry(f'{SCOPE_LINE} --output="file:outfile=/tmp/dump"', "differs", "DUMP", reason=STEP),
        *SERVERS,
    ),
    *_of(
        "readme-2016",
        *PROMPTS,
        Entry(f"{GRAPH} --checkpoint_path=model.ckpt", "shape", reason=SILENT),
        Entry(SCOPE_LINE, "shape", "DUMP", reason=SILENT),
        Entry("tfprof>", "exact", "OPTIONS_2016"),
        Entry("tfprof>", "exact", "OPTIONS_2016"),
        GAMMA_SHOWN,
        *TUTORIAL,
        Entry(VARIABLES_LINE.replace("V2", ""), "exact", "VARIABLES"),
        OWN_TYPE,
        Entry(f'{SCOPE_LINE} --dump_to_file="/tmp/dump"', "differs", "DUMP", reason=STEP),
        *SERVERS,
    ),
    *_of(
        "architecture",
        Entry(VARIABLES_LINE, "differs", "VARIABLES_2018", reason=NO_LEGEND),
        Entry(
            "tfprof> scope -min_float_ops 1 -select float_ops -account_displayed_op_only",
            "exact",
            "FLOPS_2018",
            reason=CUT,
        ),
        Entry(
            "tfprof> op -min_float_ops 1 -select float_ops -account_displayed_op_only "
            "-order_by float_ops",
            "exact",
            "FLOPS_BY_TYPE",
        ),
    ),
    *_of(
        "time",
        Entry(CODE_LINES[0], "shape", "CODE_2018", "seq2seq", MACHINE),
        Entry(CODE_LINES[1], "shape", "CODE_2018", "seq2seq", MACHINE),
        Entry(CODE_LINES[2], "differs", "CODE_2018", "seq2seq", f"{BOUND}; {NO_LEGEND}"),
        Entry(OP_LINES[0], "shape", "TYPE_TIMES", "seq2seq", MACHINE),
        Entry(OP_LINES[1], "shape", "TYPE_DEVICES", "seq2seq", MACHINE),
        Entry(TIMELINE_LINE, "exact", "TIMELINE", "seq2seq"),
        Entry(BOUND_LINE, "differs", "SCOPES", "seq2seq", BOUND),
    ),
    *_of("options"),
)


INTRODUCTION = """\
# The commands of the old documents

<!-- made by `python tests/support/seeds.py`; test_seeds.py and test_seeds_python.py run it all -->

Five documents taught tfprof. Here is every command they show, {total} in all, and what we answer:

* exact ({exact}): the text of the document to the letter, as far as the document shows it;
* shape ({shape}): lines of the same kinds, with sums that agree;
* differs ({differs}): for the reason given.

Every line is run as printed, with `--era` and the names of our files. The progress lines
(`Reading Files...`) are on standard error, as is `tfprof: wrote FILE`, which is ours.

{python} of them are Python, run as printed but for the import (`tfprof` where it says
`tf.contrib.tfprof` or `tf.profiler`) and for the reader's own files, paths and session, which are
those of a small ResNet. The documents do not show what these print, so exact is what the profiler
inside TensorFlow does with the same model.

`resnet` is the sample that comes with tfprof, `pool_logit` the same with a type of the user's own
in `tfprof_log`, which the documents read as `op_log`. `seq2seq` is a model on several devices, and
`model_analyzer` one that a test builds.
"""


def status(entry: Entry) -> str:
    """What docs/seeds.md says of an entry."""
    return f"{entry.form} ({entry.reason})" if entry.reason else entry.form


def page() -> str:
    """The text of docs/seeds.md."""
    counts = Counter(entry.form for entry in ENTRIES)
    forms = {str(form): count for form, count in counts.items()}
    python = sum(entry.python for entry in ENTRIES)
    lines = [INTRODUCTION.format(total=len(ENTRIES), python=python, **forms)]
    for name, document in DOCUMENTS.items():
        lines += [f"## {document.title}", ""]
        lines += [f"Run with `{' '.join(document.flags)}`.", ""] if document.flags else []
        lines += ["| command | profile | status |", "|---|---|---|"]
        for entry in ENTRIES:
            if entry.document == name:
                profile = "" if entry.python else entry.profile
                line = entry.line.replace("|", r"\|")
                lines.append(f"| `{line}` | {profile} | {status(entry)} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
