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
from typing import TYPE_CHECKING, Any, Protocol

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


def test_by_itself_a_query_hides_nothing(shows: Shows) -> None:
    shows("""
        _TFProfRoot (--/120us)
          loss (8us/8us)
          net (0us/112us)
            net/conv (20us/22us)
              net/conv/w (2us/2us)
            net/fc (90us/90us)
        """)


# --- max_depth ---------------------------------------------------------------------------------


def test_max_depth_counts_the_root_as_one(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/120us)
          loss (8us/8us)
          net (0us/112us)
            net/conv (20us/22us)
            net/fc (90us/90us)
        """,
        max_depth=3,
    )


def test_max_depth_counts_rows_that_are_not_displayed(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/120us)
          loss (8us/8us)
          net/conv (20us/22us)
          net/fc (90us/90us)
        """,
        max_depth=3,
        hide_name_regexes=["net"],
    )


@pytest.mark.parametrize("depth", [1, 0, -1])
def test_the_root_is_displayed_at_any_max_depth(shows: Shows, depth: int) -> None:
    shows("_TFProfRoot (--/120us)", max_depth=depth)


# --- min_ --------------------------------------------------------------------------------------


def test_min_bytes_bounds_the_total(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/3.60KB)
          net (0B/3.55KB)
            net/conv (3.00KB/3.05KB)
            net/fc (500B/500B)
        """,
        min_bytes=500,
        select=["bytes"],
    )


def test_min_peak_bytes_bounds_the_total(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/7.00KB)
          net (0B/6.90KB)
            net/conv (6.00KB/6.00KB)
        """,
        min_peak_bytes=901,
        select=["peak_bytes"],
    )


def test_min_residual_bytes_bounds_the_total(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/108B)
          loss (60B/60B)
        """,
        min_residual_bytes=49,
        select=["residual_bytes"],
    )


def test_min_output_bytes_bounds_the_total(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/1.80KB)
          net (0B/1.80KB)
            net/fc (1.00KB/1.00KB)
        """,
        min_output_bytes=801,
        select=["output_bytes"],
    )


def test_min_micros_bounds_the_total_of_cpu_and_accelerator(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/520us, --/400us, --/120us)
          net (0us/512us, 0us/400us, 0us/112us)
            net/conv (420us/422us, 400us/400us, 20us/22us)
        """,
        min_micros=422,
        select=["micros"],
    )


def test_min_accelerator_micros_bounds_the_total(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/400us)
          net (0us/400us)
            net/conv (400us/400us)
        """,
        min_accelerator_micros=1,
        select=["accelerator_micros"],
    )


def test_min_cpu_micros_bounds_the_total(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/120us)
          net (0us/112us)
            net/conv (20us/22us)
            net/fc (90us/90us)
        """,
        min_cpu_micros=22,
    )


def test_min_params_bounds_a_rows_own(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/19 params)
          net/conv/w (3x4, 12/12 params)
          net/fc (7, 7/7 params)
        """,
        min_params=7,
        select=["params"],
    )


def test_min_float_ops_bounds_a_rows_own(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/658 flops)
          net/conv (600/600 flops)
          net/fc (50/50 flops)
        """,
        min_float_ops=50,
        select=["float_ops"],
    )


def test_min_occurrence_bounds_a_rows_own_runs(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/5|--/5)
          loss (2/2|1/1)
        """,
        min_occurrence=2,
        select=["occurrence"],
    )


# --- step --------------------------------------------------------------------------------------


def test_step_takes_the_numbers_of_one_run(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/18us)
          loss (6us/6us)
          net (0us/12us)
            net/conv (10us/12us)
              net/conv/w (2us/2us)
            net/fc (0us/0us)
        """,
        step=0,
    )
    shows(
        """
        _TFProfRoot (--/130us)
          loss (10us/10us)
          net (0us/120us)
            net/conv (30us/30us)
              net/conv/w (0us/0us)
            net/fc (90us/90us)
        """,
        step=1,
    )


def test_a_node_that_did_not_run_in_a_step_has_no_float_ops_in_it(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/608 flops)
          loss (8/8 flops)
          net (0/600 flops)
            net/conv (600/600 flops)
              net/conv/w (0/0 flops)
            net/fc (0/0 flops)
        """,
        step=0,
        select=["float_ops"],
    )


def test_a_step_that_was_not_run_is_refused() -> None:
    with pytest.raises(UsageError, match=r"there is no step 2 \(steps: 0, 1\)"):
        draw.report(draw.profile(SIX_ROWS), step=2)


# --- order_by ----------------------------------------------------------------------------------

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


def test_rows_with_equal_totals_stay_in_the_order_of_their_names(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/400us)
          net (0us/400us)
            net/conv/w (0us/0us)
            net/fc (0us/0us)
          loss (0us/0us)
        """,
        order_by="accelerator_micros",
        hide_name_regexes=["net/conv"],
        select=["accelerator_micros"],
    )


def test_order_by_occurrence_is_refused_where_no_row_is_a_group() -> None:
    with pytest.raises(UsageError, match="cannot order by occurrence"):
        draw.report(draw.profile(SIX_ROWS), order_by="occurrence")


# --- account_type_regexes ----------------------------------------------------------------------


def test_what_is_above_an_accounted_row_stays_and_counts_without_being_accounted(
    shows: Shows,
) -> None:
    shows(
        """
        _TFProfRoot (--/22us)
          net (--/22us)
            net/conv (--/22us)
              net/conv/w (2us/2us)
        """,
        account_type_regexes=["VariableV2"],
    )


def test_any_of_the_account_types_will_do_be_it_an_op_or_a_type_of_the_log(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/98us)
          loss (8us/8us)
          net (--/90us)
            net/fc (90us/90us)
        """,
        account_type_regexes=["Mat.*", "end"],
    )


def test_a_device_is_an_account_type(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/20us)
          net (--/20us)
            net/conv (20us/20us)
        """,
        account_type_regexes=[".*gpu.*"],
    )


def test_scopes_have_an_account_type_of_their_own(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/0us)
          net (0us/0us)
        """,
        account_type_regexes=["_kTFScopeParent"],
    )


@pytest.mark.parametrize("regexes", [[], ["MatMu"]])
def test_where_nothing_is_accounted_only_the_root_is_left(shows: Shows, regexes: list[str]) -> None:
    shows("_TFProfRoot (--/0us)", account_type_regexes=regexes)


# --- start_name_regexes ------------------------------------------------------------------------


def test_start_begins_at_the_topmost_rows_that_match_and_keeps_the_roots_total(
    shows: Shows,
) -> None:
    shows(
        """
        _TFProfRoot (--/120us)
          net/conv (20us/22us)
            net/conv/w (2us/2us)
          net/fc (90us/90us)
        """,
        start_name_regexes=["net/.*"],
    )


def test_start_rows_are_at_depth_two(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/120us)
          loss (8us/8us)
          net/conv (20us/22us)
        """,
        start_name_regexes=["loss", "net/conv"],
        max_depth=2,
    )


@pytest.mark.parametrize("regexes", [[], ["_TFProfRoot"], ["conv"]])
def test_where_nothing_starts_only_the_root_is_left(shows: Shows, regexes: list[str]) -> None:
    shows("_TFProfRoot (--/120us)", start_name_regexes=regexes)


# --- trim_name_regexes -------------------------------------------------------------------------


def test_trim_hides_what_is_below_but_not_the_row(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/120us)
          loss (8us/8us)
          net (0us/112us)
            net/conv (20us/22us)
            net/fc (90us/90us)
        """,
        trim_name_regexes=["net/conv", "not there"],
    )


def test_trim_works_on_a_row_that_is_hidden_too(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/120us)
          loss (8us/8us)
        """,
        trim_name_regexes=["net"],
        hide_name_regexes=["net"],
    )


@pytest.mark.parametrize("regex", [".*", "_TFProfRoot"])
def test_trimming_the_root_leaves_only_the_root(shows: Shows, regex: str) -> None:
    shows("_TFProfRoot (--/120us)", trim_name_regexes=[regex])


# --- show_name_regexes and hide_name_regexes ---------------------------------------------------


def test_show_shows_only_what_matches_and_the_root(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/120us)
          net/conv (20us/22us)
          net/fc (90us/90us)
        """,
        show_name_regexes=["net/conv", ".*fc"],
    )


@pytest.mark.parametrize("regexes", [[], ["conv"]])
def test_where_nothing_is_to_be_shown_only_the_root_is(shows: Shows, regexes: list[str]) -> None:
    shows("_TFProfRoot (--/120us)", show_name_regexes=regexes)


def test_children_of_a_hidden_row_move_up(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/120us)
          loss (8us/8us)
          net (0us/112us)
            net/conv/w (2us/2us)
            net/fc (90us/90us)
        """,
        hide_name_regexes=["net/conv"],
    )


def test_hide_wins_over_show_but_not_over_the_root(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/120us)
          net (0us/112us)
        """,
        show_name_regexes=["net", "loss"],
        hide_name_regexes=["loss", "_TFProfRoot"],
    )


# --- account_displayed_op_only -----------------------------------------------------------------


def test_displayed_only_totals_what_is_displayed(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/100us)
          loss (8us/8us)
          net (0us/92us)
            net/conv/w (2us/2us)
            net/fc (90us/90us)
        """,
        account_displayed_op_only=True,
        hide_name_regexes=["net/conv"],
    )


def test_displayed_only_counts_the_root_as_defined_too(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/3|--/3)
          loss (2/2|1/1)
          net/fc (1/1|1/1)
        """,
        account_displayed_op_only=True,
        show_name_regexes=["loss", "net/fc"],
        select=["occurrence"],
    )


def test_displayed_only_orders_by_the_totals_it_shows(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/98B)
          loss (50B/50B)
          net (0B/48B)
            net/conv/w (48B/48B)
        """,
        account_displayed_op_only=True,
        hide_name_regexes=["net/conv", "net/fc"],
        order_by="bytes",
        select=["bytes"],
    )


def test_displayed_only_bounds_the_totals_of_all(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/0us)
          net (0us/0us)
        """,
        account_displayed_op_only=True,
        min_cpu_micros=112,
    )


# --- select ------------------------------------------------------------------------------------


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


def test_params_are_shown_with_their_shape(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (--/19 params)
          loss (0/0 params)
          net (0/19 params)
            net/conv (0/12 params)
              net/conv/w (3x4, 12/12 params)
            net/fc (7, 7/7 params)
        """,
        select=["params"],
    )


def test_op_types_are_the_op_the_device_and_those_of_the_log(shows: Shows) -> None:
    shows(
        """
        _TFProfRoot (_kTFScopeParent)
          loss (/cpu:0|Sum|end)
          net (_kTFScopeParent)
            net/conv (/gpu:0|Conv2D)
              net/conv/w (/cpu:0|VariableV2|trained)
            net/fc (/cpu:0|MatMul)
        """,
        select=["op_types"],
    )
