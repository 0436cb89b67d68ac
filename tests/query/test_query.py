"""One option at a time on a drawing of six rows, in scope view.

    _TFProfRoot               the drawing, and microseconds on a cpu: own/total
      loss         8/8
      net          0/112      a scope that is no node
        net/conv   20/22
          net/conv/w   2/2
        net/fc     90/90

Every expected drawing is also put to the C++ original, whole report against whole report.
"""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING, Any, Final, Protocol

import pytest

import draw
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from oracle import Oracle

# fmt: off
SIX_ROWS = """
loss       op=Sum        us=3,3+5,5           bytes=70+30     peak=100+100   residual=60+60 output=4+4     flops=4   types=end < net/fc
net/conv   op=Conv2D     us=10+30 gpu=500+300 bytes=2000+4000 peak=5000+7000                output=800+800 flops=600 on=/gpu:0 < net/conv/w, gone
net/conv/w op=VariableV2 us=2                 bytes=48                       residual=48                   params=3x4 out=3x4  types=trained
net/fc     op=MatMul     us=-+90              bytes=0+500     peak=0+900                    output=0+1000  flops=50  params=7
"""  # noqa: E501 - a table
# fmt: on


class Shows(Protocol):
    """Assert that a report is this drawing, by us and by the original."""

    def __call__(self, expected: str, **options: Any) -> None: ...


@pytest.fixture(scope="module")
def shows(oracle: Oracle) -> Shows:
    files, profile = draw.inputs(SIX_ROWS), draw.profile(SIX_ROWS)
    oracle.load(files.graph, files.op_log, list(enumerate(files.runs)))

    def check(expected: str, **options: Any) -> None:
        options = {"select": ["cpu_micros"], **options}
        report = draw.report(profile, **options)
        assert draw.rows(report) == cleandoc(expected)
        assert report == oracle.ask("scope", options).report

    return check


# What a row says, its options, and what they display.
# fmt: off
DISPLAYED: Final[list[tuple[str, dict[str, Any], str]]] = [
    ("by itself a query hides nothing", {}, """
        _TFProfRoot (--/120us)
          loss (8us/8us)
          net (0us/112us)
            net/conv (20us/22us)
              net/conv/w (2us/2us)
            net/fc (90us/90us)
        """),
    ("max_depth counts the root as one", {"max_depth": 3}, """
        _TFProfRoot (--/120us)
          loss (8us/8us)
          net (0us/112us)
            net/conv (20us/22us)
            net/fc (90us/90us)
        """),
    ("max_depth counts rows that are not displayed",
        {"max_depth": 3, "hide_name_regexes": ["net"]}, """
        _TFProfRoot (--/120us)
          loss (8us/8us)
          net/conv (20us/22us)
          net/fc (90us/90us)
        """),
    ("the root is displayed at any max_depth", {"max_depth": 1}, "_TFProfRoot (--/120us)"),
    ("the root is displayed at any max_depth", {"max_depth": 0}, "_TFProfRoot (--/120us)"),
    ("the root is displayed at any max_depth", {"max_depth": -1}, "_TFProfRoot (--/120us)"),
    ("min_bytes bounds the total", {"min_bytes": 500, "select": ["bytes"]}, """
        _TFProfRoot (--/3.60KB)
          net (0B/3.55KB)
            net/conv (3.00KB/3.05KB)
            net/fc (500B/500B)
        """),
    ("min_peak_bytes bounds the total", {"min_peak_bytes": 901, "select": ["peak_bytes"]}, """
        _TFProfRoot (--/7.00KB)
          net (0B/6.90KB)
            net/conv (6.00KB/6.00KB)
        """),
    ("min_residual_bytes bounds the total",
        {"min_residual_bytes": 49, "select": ["residual_bytes"]}, """
        _TFProfRoot (--/108B)
          loss (60B/60B)
        """),
    ("min_output_bytes bounds the total", {"min_output_bytes": 801, "select": ["output_bytes"]}, """
        _TFProfRoot (--/1.80KB)
          net (0B/1.80KB)
            net/fc (1.00KB/1.00KB)
        """),
    ("min_micros bounds the total of cpu and accelerator",
        {"min_micros": 422, "select": ["micros"]}, """
        _TFProfRoot (--/520us, --/400us, --/120us)
          net (0us/512us, 0us/400us, 0us/112us)
            net/conv (420us/422us, 400us/400us, 20us/22us)
        """),
    ("min_accelerator_micros bounds the total",
        {"min_accelerator_micros": 1, "select": ["accelerator_micros"]}, """
        _TFProfRoot (--/400us)
          net (0us/400us)
            net/conv (400us/400us)
        """),
    ("min_cpu_micros bounds the total", {"min_cpu_micros": 22}, """
        _TFProfRoot (--/120us)
          net (0us/112us)
            net/conv (20us/22us)
            net/fc (90us/90us)
        """),
    ("min_params bounds a row's own", {"min_params": 7, "select": ["params"]}, """
        _TFProfRoot (--/19 params)
          net/conv/w (3x4, 12/12 params)
          net/fc (7, 7/7 params)
        """),
    ("min_float_ops bounds a row's own", {"min_float_ops": 50, "select": ["float_ops"]}, """
        _TFProfRoot (--/658 flops)
          net/conv (600/600 flops)
          net/fc (50/50 flops)
        """),
    ("min_occurrence bounds a row's own runs", {"min_occurrence": 2, "select": ["occurrence"]}, """
        _TFProfRoot (--/5|--/5)
          loss (2/2|1/1)
        """),
    ("step takes the numbers of one run", {"step": 0}, """
        _TFProfRoot (--/18us)
          loss (6us/6us)
          net (0us/12us)
            net/conv (10us/12us)
              net/conv/w (2us/2us)
            net/fc (0us/0us)
        """),
    ("step takes the numbers of one run", {"step": 1}, """
        _TFProfRoot (--/130us)
          loss (10us/10us)
          net (0us/120us)
            net/conv (30us/30us)
              net/conv/w (0us/0us)
            net/fc (90us/90us)
        """),
    ("a node that did not run in a step has no float ops in it",
        {"step": 0, "select": ["float_ops"]}, """
        _TFProfRoot (--/608 flops)
          loss (8/8 flops)
          net (0/600 flops)
            net/conv (600/600 flops)
              net/conv/w (0/0 flops)
            net/fc (0/0 flops)
        """),
    ("rows with equal totals stay in the order of their names",
        {"order_by": "accelerator_micros", "hide_name_regexes": ["net/conv"],
         "select": ["accelerator_micros"]}, """
        _TFProfRoot (--/400us)
          net (0us/400us)
            net/conv/w (0us/0us)
            net/fc (0us/0us)
          loss (0us/0us)
        """),
    ("what is above an accounted row stays and counts without being accounted",
        {"account_type_regexes": ["VariableV2"]}, """
        _TFProfRoot (--/22us)
          net (--/22us)
            net/conv (--/22us)
              net/conv/w (2us/2us)
        """),
    ("any of the account types will do, be it an op or a type of the log",
        {"account_type_regexes": ["Mat.*", "end"]}, """
        _TFProfRoot (--/98us)
          loss (8us/8us)
          net (--/90us)
            net/fc (90us/90us)
        """),
    ("a device is an account type", {"account_type_regexes": [".*gpu.*"]}, """
        _TFProfRoot (--/20us)
          net (--/20us)
            net/conv (20us/20us)
        """),
    ("scopes have an account type of their own", {"account_type_regexes": ["_kTFScopeParent"]}, """
        _TFProfRoot (--/0us)
          net (0us/0us)
        """),
    ("where nothing is accounted only the root is left", {"account_type_regexes": []},
        "_TFProfRoot (--/0us)"),
    ("where nothing is accounted only the root is left", {"account_type_regexes": ["MatMu"]},
        "_TFProfRoot (--/0us)"),
    ("start begins at the topmost rows that match and keeps the root's total",
        {"start_name_regexes": ["net/.*"]}, """
        _TFProfRoot (--/120us)
          net/conv (20us/22us)
            net/conv/w (2us/2us)
          net/fc (90us/90us)
        """),
    ("start rows are at depth two",
        {"start_name_regexes": ["loss", "net/conv"], "max_depth": 2}, """
        _TFProfRoot (--/120us)
          loss (8us/8us)
          net/conv (20us/22us)
        """),
    ("where nothing starts only the root is left", {"start_name_regexes": []},
        "_TFProfRoot (--/120us)"),
    ("where nothing starts only the root is left", {"start_name_regexes": ["_TFProfRoot"]},
        "_TFProfRoot (--/120us)"),
    ("where nothing starts only the root is left", {"start_name_regexes": ["conv"]},
        "_TFProfRoot (--/120us)"),
    ("trim hides what is below but not the row",
        {"trim_name_regexes": ["net/conv", "not there"]}, """
        _TFProfRoot (--/120us)
          loss (8us/8us)
          net (0us/112us)
            net/conv (20us/22us)
            net/fc (90us/90us)
        """),
    ("trim works on a row that is hidden too",
        {"trim_name_regexes": ["net"], "hide_name_regexes": ["net"]}, """
        _TFProfRoot (--/120us)
          loss (8us/8us)
        """),
    ("trimming the root leaves only the root", {"trim_name_regexes": [".*"]},
        "_TFProfRoot (--/120us)"),
    ("trimming the root leaves only the root", {"trim_name_regexes": ["_TFProfRoot"]},
        "_TFProfRoot (--/120us)"),
    ("show shows only what matches and the root", {"show_name_regexes": ["net/conv", ".*fc"]}, """
        _TFProfRoot (--/120us)
          net/conv (20us/22us)
          net/fc (90us/90us)
        """),
    ("where nothing is to be shown only the root is", {"show_name_regexes": []},
        "_TFProfRoot (--/120us)"),
    ("where nothing is to be shown only the root is", {"show_name_regexes": ["conv"]},
        "_TFProfRoot (--/120us)"),
    ("children of a hidden row move up", {"hide_name_regexes": ["net/conv"]}, """
        _TFProfRoot (--/120us)
          loss (8us/8us)
          net (0us/112us)
            net/conv/w (2us/2us)
            net/fc (90us/90us)
        """),
    ("hide wins over show but not over the root",
        {"show_name_regexes": ["net", "loss"], "hide_name_regexes": ["loss", "_TFProfRoot"]}, """
        _TFProfRoot (--/120us)
          net (0us/112us)
        """),
    ("displayed only totals what is displayed",
        {"account_displayed_op_only": True, "hide_name_regexes": ["net/conv"]}, """
        _TFProfRoot (--/100us)
          loss (8us/8us)
          net (0us/92us)
            net/conv/w (2us/2us)
            net/fc (90us/90us)
        """),
    ("displayed only counts the root as defined too",
        {"account_displayed_op_only": True, "show_name_regexes": ["loss", "net/fc"],
         "select": ["occurrence"]}, """
        _TFProfRoot (--/3|--/3)
          loss (2/2|1/1)
          net/fc (1/1|1/1)
        """),
    ("displayed only orders by the totals it shows",
        {"account_displayed_op_only": True, "hide_name_regexes": ["net/conv", "net/fc"],
         "order_by": "bytes", "select": ["bytes"]}, """
        _TFProfRoot (--/98B)
          loss (50B/50B)
          net (0B/48B)
            net/conv/w (48B/48B)
        """),
    ("displayed only bounds the totals of all",
        {"account_displayed_op_only": True, "min_cpu_micros": 112}, """
        _TFProfRoot (--/0us)
          net (0us/0us)
        """),
    ("params are shown with their shape", {"select": ["params"]}, """
        _TFProfRoot (--/19 params)
          loss (0/0 params)
          net (0/19 params)
            net/conv (0/12 params)
              net/conv/w (3x4, 12/12 params)
            net/fc (7, 7/7 params)
        """),
    ("op types are the op the device and those of the log", {"select": ["op_types"]}, """
        _TFProfRoot (_kTFScopeParent)
          loss (/cpu:0|Sum|end)
          net (_kTFScopeParent)
            net/conv (/gpu:0|Conv2D)
              net/conv/w (/cpu:0|VariableV2|trained)
            net/fc (/cpu:0|MatMul)
        """),
]
# fmt: on


@pytest.mark.parametrize(
    ("options", "expected"), [row[1:] for row in DISPLAYED], ids=[row[0] for row in DISPLAYED]
)
def test_displayed(shows: Shows, options: dict[str, Any], expected: str) -> None:
    shows(expected, **options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"step": 2}, r"there is no step 2 \(steps: 0, 1\)"),
        ({"order_by": "occurrence"}, "cannot order by occurrence"),  # no row is a group
    ],
)
def test_what_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        draw.report(draw.profile(SIX_ROWS), **options)


LOSS = "  loss (8us/8us)\n"
NET = "  net (0us/112us)\n"
CONV = "    net/conv (20us/22us)\n      net/conv/w (2us/2us)\n"
FC = "    net/fc (90us/90us)\n"


@pytest.mark.parametrize(
    ("order_by", "rows"),
    [
        pytest.param("", LOSS + NET + CONV + FC, id="nothing"),
        pytest.param("name", LOSS + NET + CONV + FC, id="name"),
        pytest.param("bytes", NET + CONV + FC + LOSS, id="bytes"),
        pytest.param("peak_bytes", NET + CONV + FC + LOSS, id="peak_bytes"),
        pytest.param("residual_bytes", LOSS + NET + CONV + FC, id="residual_bytes"),
        pytest.param("output_bytes", NET + FC + CONV + LOSS, id="output_bytes"),
        pytest.param("micros", NET + CONV + FC + LOSS, id="micros"),
        pytest.param("accelerator_micros", NET + CONV + FC + LOSS, id="accelerator_micros"),
        pytest.param("cpu_micros", NET + FC + CONV + LOSS, id="cpu_micros"),
        pytest.param("params", NET + CONV + FC + LOSS, id="params"),
        pytest.param("float_ops", NET + CONV + FC + LOSS, id="float_ops"),
    ],
)
def test_order_by_puts_the_largest_total_first_among_siblings(
    shows: Shows, order_by: str, rows: str
) -> None:
    shows("\n_TFProfRoot (--/120us)\n" + rows, order_by=order_by)


TIMES = ("--/520us, --/400us, --/120us", "420us/422us, 400us/400us, 20us/22us")


@pytest.mark.parametrize(
    ("select", "root", "conv"),
    [
        ([], "", ""),
        (["params"], "--/19 params", "0/12 params"),
        (["float_ops"], "--/658 flops", "600/600 flops"),
        (["bytes"], "--/3.60KB", "3.00KB/3.05KB"),
        (["peak_bytes"], "--/7.00KB", "6.00KB/6.00KB"),
        (["residual_bytes"], "--/108B", "0B/48B"),
        (["output_bytes"], "--/1.80KB", "800B/800B"),
        (["micros"], *TIMES),
        (["accelerator_micros"], "--/400us", "400us/400us"),
        (["cpu_micros"], "--/120us", "20us/22us"),
        (["device"], "", "/gpu:0"),
        (["op_types"], "_kTFScopeParent", "/gpu:0|Conv2D"),
        (["occurrence"], "--/5|--/5", "1/2|1/2"),
        (["input_shapes"], "", "0:3x4|1:unknown"),
        (["tensor_value"], "", ""),
        (["cpu_micros", "micros"], *TIMES),
        (["cpu_micros", "accelerator_micros"], "--/400us, --/120us", "400us/400us, 20us/22us"),
        (
            ["op_types", "float_ops"],
            "--/658 flops, _kTFScopeParent",
            "600/600 flops, /gpu:0|Conv2D",
        ),
        (["input_shapes", "bytes"], "--/3.60KB, ", "3.00KB/3.05KB, 0:3x4|1:unknown"),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, list) else "",
)
def test_select_says_which_columns_a_line_has(
    shows: Shows, select: list[str], root: str, conv: str
) -> None:
    shows(
        f"""
        _TFProfRoot ({root})
          net/conv ({conv})
        """,
        select=select,
        start_name_regexes=["net/conv"],
        trim_name_regexes=["net/conv"],
    )
