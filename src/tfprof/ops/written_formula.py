"""The formula of a float-operation rule as text: the rule runs on numbers that know their origin.

    rule       2 * size(op.output()) * height * width * depth
    names      2 · size(output) · input1[0]·input1[1]·input1[2]
    numbers    2 · 8·28·28·32 · 3·3·16

So the text cannot differ from what is counted. A dimension that is not known is written as `?`.
"""

from __future__ import annotations

from itertools import groupby
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from tfprof.ops.op import Op
from tfprof.ops.shape import MOST_DIMENSIONS, OPEN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfprof.ops.shape import MaybeShape
    from tfprof.ops.table import FloatOps

_LONGEST: Final = 400  # characters of a formula
_LONGEST_NAME: Final = 80  # characters of an attribute
_TRIAL: Final = 7  # stands for a dimension that is not known
_SUM, _PRODUCT, _POWER, _LEAF = range(4)  # how tight an operator binds
_SUPERSCRIPT: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Written(NamedTuple):
    """A formula in names and in numbers; numbers are empty where a shape has no rank."""

    names: str
    numbers: str
    sentence: str  # what it counts, in words


class _Leaf(NamedTuple):
    """A dimension of a tensor, an item of an attribute, or a number of the rule itself."""

    text: str
    holder: str = ""  # such as "input0"; empty: a number
    axis: int = 0
    size: int = 0  # how many leaves the holder has


class _Node(NamedTuple):
    """An operator between terms."""

    operator: str
    parts: tuple[_Leaf | _Node, ...]


_Tree = _Leaf | _Node


def _tree(value: object) -> _Tree:
    known: _Tree | None = getattr(value, "tree", None)
    if known is not None:
        return known
    return _Leaf(f"{value:d}" if isinstance(value, int) else f"{value:.12g}")


def _joined(operator: str, first: object, second: object) -> _Tree:
    """Both terms with an operator between them; chains of one operator are one node."""
    left, right = _tree(first), _tree(second)
    if operator == "·" and _Leaf("0") in (left, right):
        return _Leaf("0")
    neutral = _NEUTRAL.get(operator)
    if right == neutral:
        return left
    if operator not in "·+":
        return _Node(operator, (left, right))
    if left == neutral:
        return right
    return _Node(operator, (*_chain(operator, left), *_chain(operator, right)))


_NEUTRAL: Final = {
    **dict.fromkeys(("·", "/", "//"), _Leaf("1")), **dict.fromkeys(("+", "-"), _Leaf("0"))
}  # fmt: skip


def _chain(operator: str, tree: _Tree) -> tuple[_Tree, ...]:
    return tree.parts if isinstance(tree, _Node) and tree.operator == operator else (tree,)


def _operation(operator: str, name: str, *, reflected: bool = False) -> Callable[..., Any]:
    """The method of a term that computes as its base class does, and notes how."""

    def method(self: Any, other: Any) -> Any:  # noqa: ANN401 - a number
        base = int if isinstance(self, int) else float
        value = getattr(base, name)(self, other)
        if value is NotImplemented and isinstance(other, float):
            value = getattr(float, name)(float(self), other)
        if value is NotImplemented:
            return value
        pair = (other, self) if reflected else (self, other)
        return _term(value, _joined(operator, *pair))

    return method


_OPERATORS: Final = {
    "mul": "·", "add": "+", "sub": "-", "truediv": "/", "floordiv": "//", "pow": "^",
}  # fmt: skip
_METHODS: Final = {
    f"__{prefix}{name}__": _operation(sign, f"__{prefix}{name}__", reflected=bool(prefix))
    for name, sign in _OPERATORS.items()
    for prefix in ("", "r")
}
_Whole: Final = type("_Whole", (int,), _METHODS)
_Real: Final = type("_Real", (float,), _METHODS)


def _term(value: float, tree: _Tree) -> Any:  # noqa: ANN401 - an int or a float with a tree
    term: Any = _Whole(value) if isinstance(value, int) else _Real(value)
    term.tree = tree
    return term


# --- the operation that the rule gets ---


def _dimensions(holder: str, shape: MaybeShape) -> MaybeShape:
    """*shape* of terms; a dimension that is not known has some size, and is written as `?`."""
    if shape is None or len(shape) > MOST_DIMENSIONS:
        return None
    sizes = [(_TRIAL, "?") if length == OPEN else (length, str(length)) for length in shape]
    return tuple(
        _term(length, _Leaf(text, holder, axis, len(shape)))
        for axis, (length, text) in enumerate(sizes)
    )


def _attribute(name: str, value: Any) -> Any:  # noqa: ANN401 - as declared
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _term(value, _Leaf(str(value), name, 0, 1))
    size = len(value) if isinstance(value, list) else 0
    if 0 < size <= MOST_DIMENSIONS and all(type(item) is int for item in value):
        return [_term(n, _Leaf(str(n), name, axis, size)) for axis, n in enumerate(value)]
    return value


def written(
    rule: FloatOps, op: Op, inputs: Sequence[MaybeShape], outputs: Sequence[MaybeShape]
) -> Written | None:
    """The formula of *rule* for *op*, whose shapes are *inputs* and *outputs*, as far as known.

    None where the rule cannot be followed, as where it needs a rank that is unknown.
    """
    several = len(outputs) != 1
    followed = Op(
        op.type,
        [_dimensions(f"input{number}", shape) for number, shape in enumerate(inputs)],
        [_dimensions(f"output{at if several else ''}", shape) for at, shape in enumerate(outputs)],
        controls=op.controls,
        attributes={name: _attribute(name, value) for name, value in op.given.items()},
    )
    try:
        tree = _tree(rule.formula(followed))
        texts = (_spelled(tree, names=names) for names in (True, False))
        names, numbers = (
            text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…" for text in texts
        )
        return Written(names, numbers, sentence_of(rule, op) or _steps_per_element(tree))
    except Exception:  # noqa: BLE001 - UnknownShape, or whatever a user's rule raises
        return None


# --- the text ---


def _spelled(tree: _Tree, around: int = _SUM, *, names: bool) -> str:
    if isinstance(tree, _Leaf):
        return _group([tree], names=names) if tree.holder else tree.text
    operator, parts = tree
    if operator == "·":
        text, tight = _factors(parts, names=names), _PRODUCT
    elif operator == "^" and isinstance(parts[1], _Leaf) and parts[1].text.isdigit():
        base = _spelled(parts[0], _LEAF, names=names)
        text, tight = base + parts[1].text.translate(_SUPERSCRIPT), _POWER
    else:
        tight = _SUM if operator in "+-" else _PRODUCT
        first, *others = parts
        after = tight if operator == "+" else tight + 1
        texts = [_spelled(first, tight, names=names)]
        texts += [_spelled(part, after, names=names) for part in others]
        text = f" {operator[0]} ".join(texts)
        if operator == "//":
            text, tight = f"⌊{text}⌋", _LEAF
    return f"({text})" if tight < around else text


def _factors(parts: Sequence[_Tree], *, names: bool) -> str:
    """A product: dimensions of one tensor stand close together."""
    texts: list[str] = []
    for holder, group in groupby(parts, lambda part: getattr(part, "holder", "")):
        if holder:
            texts.append(_group(cast("list[_Leaf]", [*group]), names=names))
        else:
            texts += [_spelled(part, _POWER, names=names) for part in group]
    return " · ".join(texts)


def _group(leaves: list[_Leaf], *, names: bool) -> str:
    if not names:
        return "·".join(leaf.text for leaf in leaves)
    holder, _, size = leaves[0][1:]
    if size == 1 and not holder.startswith(("input", "output")):
        return holder  # an attribute that is a number
    if sorted(leaf.axis for leaf in leaves) == list(range(size)):
        return f"size({holder})"
    return "·".join(f"{holder}[{leaf.axis}]" for leaf in leaves)


def sentence_of(rule: FloatOps, op: Op) -> str:
    """What the rule says of itself; in it, `{name}` stands for a textual attribute of *op*."""
    documented = (rule.formula.__doc__ or "").strip().split("\n")[0]
    for name, value in op.given.items():
        if isinstance(value, str):
            documented = documented.replace(f"{{{name}}}", value[:_LONGEST_NAME])
    return documented


def _steps_per_element(tree: _Tree) -> str:
    """So many steps per element, where a formula is no more than that."""
    leaves = [part for part in _chain("·", tree) if isinstance(part, _Leaf)]
    tensor = [leaf for leaf in leaves if leaf.holder]
    numbers = [leaf.text for leaf in leaves if not leaf.holder]
    is_plain = len(leaves) == len(_chain("·", tree)) and all(map(str.isdigit, numbers))
    if not is_plain or len({leaf.holder for leaf in tensor}) != 1:
        return ""
    if sorted(leaf.axis for leaf in tensor) != list(range(tensor[0].size)):
        return ""
    steps = prod(map(int, numbers))
    many = "One float operation" if steps == 1 else f"{steps} float operations"
    return f"{many} per element of {tensor[0].holder}."
