"""Products and convolutions of HLO, with figures by hand and XLA's own where that is right."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import pytest

from hlo_rules import Shapes, float_ops, operation
from tfprof.ops.counting import number_of
from tfprof.ops.shape import UnknownShape
from tfprof.ops.table import rules

# --- products --------------------------------------------------------------------------------


def dot(left: tuple[int, ...], right: tuple[int, ...], output: tuple[int, ...], *axes: int) -> int:
    return float_ops("dot", [left, right], [output], lhs_contracting_dimensions=[*axes])


def test_a_perceptron() -> None:
    """8 rows, 128 to 256 to 64; XLA has 788,480 (jaxlib 0.10.2), with 8·256 for the relu."""
    hidden = dot((8, 128), (128, 256), (8, 256), 1)
    output = dot((8, 256), (256, 64), (8, 64), 1)
    assert hidden == 2 * 8 * 128 * 256
    assert hidden + output == 786_432 == 788_480 - 8 * 256


def test_attention() -> None:
    """2 texts, 32 words, 4 heads of 16; the second product has its factors swapped, as JAX does."""
    scores = dot((2, 32, 4, 16), (2, 32, 4, 16), (2, 4, 32, 32), 3)
    values = dot((2, 32, 4, 16), (2, 4, 32, 32), (2, 4, 16, 32), 1)
    assert scores == values == 2 * (2 * 4) * 32 * 32 * 16
    assert scores + values == 524_288


def test_a_product_without_sums() -> None:
    assert dot((3,), (4,), (3, 4)) == 3 * 4
    op = operation("dot", [(3,), (4,)], [(3, 4)], lhs_contracting_dimensions=[])
    multiply_adds = rules()["dot"].multiply_adds
    assert multiply_adds is not None
    assert multiply_adds(op) == 0
    op = operation("dot", [(3, 5), (5, 4)], [(3, 4)], lhs_contracting_dimensions=[1])
    assert multiply_adds(op) == 3 * 5 * 4


@pytest.mark.parametrize("axes", [[7], [-3], "1", None, [1.5]])
def test_a_damaged_dot_is_not_counted(axes: Any) -> None:
    with pytest.raises(UnknownShape):
        number_of(
            rules()["dot"],
            operation("dot", [(3, 5), (5, 4)], [(3, 4)], lhs_contracting_dimensions=axes),
        )


def test_ragged_products() -> None:
    """Every row meets the matrix of its group: 10 rows of 4, three groups, 5 columns."""
    work = 2 * 10 * 4 * 5
    plain = {"lhs_contracting_dimensions": [1], "lhs_batch_dimensions": []}
    assert float_ops("ragged-dot", [(10, 4), (3, 4, 5), (3,)], [(10, 5)], **plain) == work
    # The gradient of the matrices: groups divide the 10 rows that are summed over.
    of_rows = {"lhs_contracting_dimensions": [0], "lhs_batch_dimensions": []}
    assert float_ops("ragged-dot", [(10, 4), (10, 5), (3,)], [(3, 4, 5)], **of_rows) == work
    batched = {"lhs_contracting_dimensions": [2], "lhs_batch_dimensions": [0]}
    shapes: Shapes = [(6, 10, 4), (6, 4, 5), (3,)]
    assert float_ops("ragged-dot", shapes, [(6, 10, 5)], **batched) == 6 * work


def test_a_scaled_dot() -> None:
    shapes: Shapes = [(8, 64), (64, 16), (8, 2), (2, 16)]
    counted = float_ops("scaled-dot", shapes, [(8, 16)], lhs_contracting_dimensions=[1])
    assert counted == 2 * 8 * 64 * 16 + 8 * 64 + 64 * 16


# --- convolutions: shapes, labels and windows as JAX 0.10.2 lowers conv_general_dilated ---------


def convolution(  # noqa: PLR0913 - a convolution has that many parts
    base: tuple[int, ...], kernel: tuple[int, ...], output: tuple[int, ...], labels: str,
    size: list[int], *, stride: tuple[int, int] = (1, 1), lhs_dilate: tuple[int, int] = (1, 1),
    feature_groups: int = 1, batch_groups: int = 1, pad: int = 0, rhs_dilate: int = 1,
) -> int:  # fmt: skip
    """*labels* are HLO's, as in b01f_01io->b01f; *pad* is the padding before the image."""
    of_base, of_kernel, of_output = labels.replace("->", "_").split("_")
    pads = [
        (output[of_output.index(axis)] - 1) * stride[at] + (size[at] - 1) * rhs_dilate
        - (base[of_base.index(axis)] - 1) * lhs_dilate[at]
        for at, axis in enumerate("01")
    ]  # fmt: skip
    return float_ops(
        "convolution", [base, kernel], [output],
        kernel_input_feature_dimension=of_kernel.index("i"),
        kernel_output_feature_dimension=of_kernel.index("o"),
        output_spatial_dimensions=[of_output.index(axis) for axis in "01"],
        window_size=size, window_stride=[*stride], base_dilation=[*lhs_dilate],
        feature_group_count=feature_groups, batch_group_count=batch_groups,
        padding_low=[pad, pad], padding_high=[total - pad for total in pads],
        window_dilation=[rhs_dilate, rhs_dilate],
    )  # fmt: skip


FORWARD: Final = "b01f_01io->b01f"
TO_INPUT: Final = "b01f_01oi->b01f"
TO_KERNEL: Final = "f01b_i01o->01bf"


def test_a_convolution() -> None:
    """XLA has 1,083,392: it leaves out taps on padding."""
    counted = convolution((2, 16, 16, 8), (3, 3, 8, 16), (2, 16, 16, 16), FORWARD, [3, 3])
    assert counted == 2 * (2 * 16 * 16 * 16) * (3 * 3 * 8) == 1_179_648


def test_without_padding_xla_has_the_same() -> None:
    """cost_analysis() of the lowered program, jaxlib 0.10.2."""
    counted = convolution((2, 16, 16, 8), (3, 3, 8, 16), (2, 14, 14, 16), FORWARD, [3, 3])
    assert counted == 903_168
    grouped = convolution(
        (2, 16, 16, 8), (3, 3, 2, 16), (2, 7, 7, 16), FORWARD, [3, 3],
        stride=(2, 2), feature_groups=4,
    )  # fmt: skip
    assert grouped == 56_448


class Gradients(NamedTuple):
    """A convolution, the work of each of its products, and how their windows differ from plain."""

    image: tuple[int, ...]
    kernel: tuple[int, ...]
    output: tuple[int, ...]
    work: int
    forward: dict[str, Any]
    to_input: dict[str, Any]
    to_kernel: dict[str, Any]
    turned: tuple[int, ...] | None = None  # the kernel of the gradient of the input
    back: tuple[int, ...] | None = None  # what that gradient makes, if it is not the image


GRADIENTS: Final = {
    "strides": Gradients(
        (2, 16, 16, 8), (3, 3, 8, 16), (2, 8, 8, 16), 2 * (2 * 8 * 8 * 16) * (3 * 3 * 8),
        {"stride": (2, 2)}, {"lhs_dilate": (2, 2)}, {},
    ),
    "strides that do not divide the image": Gradients(
        (2, 7, 7, 4), (3, 3, 4, 6), (2, 4, 4, 6), 2 * (2 * 4 * 4 * 6) * (3 * 3 * 4),
        {"stride": (2, 2)}, {"lhs_dilate": (2, 2)}, {},
    ),
    "strides in one dimension": Gradients(
        (2, 8, 8, 4), (3, 3, 4, 6), (2, 4, 8, 6), 2 * (2 * 4 * 8 * 6) * (3 * 3 * 4),
        {"stride": (2, 1)}, {"lhs_dilate": (2, 1)}, {},
    ),
    # Two groups of 2 to 3 features; of a group, 3 features of the output, to all 4 of the image.
    "groups": Gradients(
        (2, 8, 8, 4), (3, 3, 2, 6), (2, 4, 4, 6), 2 * (2 * 4 * 4 * 6) * (3 * 3 * 2),
        {"stride": (2, 2), "feature_groups": 2}, {"lhs_dilate": (2, 2), "feature_groups": 2},
        {"batch_groups": 2}, turned=(3, 3, 4, 3),
    ),
    "depthwise": Gradients(
        (2, 8, 8, 4), (3, 3, 1, 8), (2, 8, 8, 8), 2 * (2 * 8 * 8 * 8) * (3 * 3),
        {"feature_groups": 4}, {"feature_groups": 4}, {"batch_groups": 4}, turned=(3, 3, 4, 2),
    ),
    # Half of the batch makes half of the output features: 4 images to 2.
    "batch groups": Gradients(
        (4, 8, 8, 4), (3, 3, 4, 6), (2, 8, 8, 6), 2 * (2 * 8 * 8 * 6) * (3 * 3 * 4),
        {"batch_groups": 2}, {"feature_groups": 2}, {"feature_groups": 2},
        turned=(3, 3, 8, 3), back=(2, 8, 8, 8),
    ),
    # Every element of the image meets all taps.
    "transposed": Gradients(
        (2, 6, 6, 4), (3, 3, 4, 5), (2, 12, 12, 5), 2 * (2 * 6 * 6 * 4) * (3 * 3 * 5),
        {"lhs_dilate": (2, 2)}, {"stride": (2, 2)}, {"lhs_dilate": (2, 2)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("one", GRADIENTS.values(), ids=GRADIENTS)
def test_gradients(one: Gradients) -> None:
    image, kernel, output = one.image, one.kernel, one.output
    turned, back, window = one.turned or kernel, one.back or image, [*output[1:3]]
    assert convolution(image, kernel, output, FORWARD, [3, 3], **one.forward) == one.work
    assert convolution(output, turned, back, TO_INPUT, [3, 3], **one.to_input) == one.work
    assert convolution(image, output, kernel, TO_KERNEL, window, **one.to_kernel) == one.work


def test_the_work_of_a_convolution_with_strides() -> None:
    assert 3 * GRADIENTS["strides"].work == 884_736


# --- what XLA makes of gradients on a CPU: from the text of compiled programs, jaxlib 0.10.2 ------

SWAPPED: Final = "01fb_o01i->f01b"  # the kernel is the image, and the gradient its window


def test_gradient_of_the_input_without_padding() -> None:
    """Each of 12·12 elements met 5·5 weights on the way forward; cost_analysis() has the same."""
    counted = convolution((2, 12, 12, 16), (5, 5, 8, 16), (2, 16, 16, 8), TO_INPUT, [5, 5], pad=4)
    assert counted == 2 * (2 * 12 * 12 * 16) * (5 * 5 * 8) == 1_843_200


def test_gradient_of_the_input_of_patches() -> None:
    """56·56 in patches of 14·14, 3 features to 32; cost_analysis() has the same."""
    counted = convolution(
        (14, 14, 32, 3), (2, 4, 4, 32), (2, 56, 56, 3), SWAPPED, [4, 4], pad=42, rhs_dilate=14
    )
    assert counted == 2 * (2 * 4 * 4 * 32) * (14 * 14 * 3) == 1_204_224


@pytest.mark.parametrize(("size", "stride", "out", "pad"), [(5, 3, 4, 9), (8, 8, 2, 8)])
def test_gradients_of_strides_without_padding(size: int, stride: int, out: int, pad: int) -> None:
    """Forward, gradient of the input, of the kernel: the same work. 16·16, 8 features to 16."""
    work = 2 * (2 * out * out * 16) * (size * size * 8)
    image, kernel, output = (2, 16, 16, 8), (size, size, 8, 16), (2, out, out, 16)
    steps = (stride, stride)
    assert convolution(image, kernel, output, FORWARD, [size] * 2, stride=steps) == work
    # Of the swapped kernel, the features of the output are those of the image.
    turned = (size, size, 16, 8)
    assert work == convolution(
        turned, output, image, SWAPPED, [out] * 2, pad=pad, rhs_dilate=stride
    )
    base, window = (8, 16, 16, 2), (out, out, 2, 16)
    of_kernel = (8, size, size, 16)
    assert work == convolution(base, window, of_kernel, FORWARD, [out] * 2, rhs_dilate=stride)


def test_groups_of_a_batch_side_by_side() -> None:
    """Two images, each with weights of its own: a tap between them falls on the hole."""
    counted = float_ops(
        "convolution", [(1, 16, 2, 8), (3, 2, 8, 8)], [(1, 16, 2, 8)],
        kernel_input_feature_dimension=2, kernel_output_feature_dimension=3,
        output_spatial_dimensions=[1, 2], window_size=[3, 2], window_stride=[1, 1],
        base_dilation=[1, 2], feature_group_count=1, batch_group_count=1,
        padding_low=[1, 0], padding_high=[1, 0], window_dilation=[1, 1],
    )  # fmt: skip
    assert counted == 2 * (16 * 2 * 8) * (3 * 8)


@pytest.mark.parametrize(
    ("out", "pad", "rhs_dilate", "stride", "taps"),
    [
        (16, 1, 1, 2, 16 * 1),  # the tap in the middle alone is between holes
        (15, 0, 1, 2, 15 * 2),  # the first and the last
        (14, 0, 2, 2, 14 * 3),  # the window has holes as well
        (14, -1, 1, 2, 14 * 1),
        (11, 1, 1, 3, 6 * 1 + 5 * 2),  # the middle of windows 0, 2 … 10, both ends of 1, 3 … 9
    ],
)
def test_strides_over_a_dilated_base(
    out: int, pad: int, rhs_dilate: int, stride: int, taps: int
) -> None:
    """16 elements with a hole between each two: those at 0, 2 … 30.

    *taps* are those of a dimension that meet no hole.
    """
    base, kernel = (2, 16, 16, 8), (3, 3, 8, 16)
    both = convolution(
        base, kernel, (2, out, out, 16), FORWARD, [3, 3],
        stride=(stride, stride), lhs_dilate=(2, 2), pad=pad, rhs_dilate=rhs_dilate,
    )  # fmt: skip
    assert both == 2 * (2 * 16 * 8) * taps**2
    dense = 16 + 2 * pad - 2 * rhs_dilate
    one = convolution(
        base, kernel, (2, out, dense, 16), FORWARD, [3, 3],
        stride=(stride, 1), lhs_dilate=(2, 1), pad=pad, rhs_dilate=rhs_dilate,
    )  # fmt: skip
    assert one == 2 * (2 * 16 * 8) * taps * (dense * 3)
