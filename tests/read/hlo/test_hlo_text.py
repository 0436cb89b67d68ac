"""HLO text says what the proto of the same program says.

Expectations are protos that XLA wrote: those of compiled programs, beside their texts, and those
that XLA's own parser made of a text (`hlo_texts.py`). `hlo_wire.py` reads both sides.
"""

from __future__ import annotations

import base64
import gzip
import json
import pickle
import time
from typing import Any, Final

import numpy as np
import pytest

import paths
import tfprof
from hlo_wire import module_of, with_stacks, without_frames
from tfprof.errors import InputError
from tfprof.read.detect import detect
from tfprof.read.hlo.text import HloTextSource, to_wire
from tfprof.read.source import Source

DATA: Final = paths.DATA / "hlo"
PROGRAMS: Final = sorted(
    path.relative_to(DATA).as_posix()[: -len(".txt.gz")] for path in DATA.rglob("*.txt.gz")
)
FORMS: Final = json.loads(gzip.decompress((DATA / "text_forms.json.gz").read_bytes()))


def unpacked(name: str) -> bytes:
    return gzip.decompress((DATA / name).read_bytes())


def without_layouts(value: Any) -> Any:
    """*value* without the layouts of shapes, which a text may leave out."""
    if isinstance(value, dict):
        return {key: without_layouts(each) for key, each in value.items()}
    if isinstance(value, list):
        return [without_layouts(each) for each in value]
    is_array = isinstance(value, tuple) and [*map(type, value)] == [int, list, list, list, int]
    return value[:3] if is_array else value


def text_of(*lines: str) -> bytes:
    """A module with these lines as its instructions, from line 4 on."""
    head = ("HloModule m", "ENTRY e {", "p = f32[2] parameter(0)")
    return "\n".join([*head, *lines, "}", ""]).encode()


def error_of(data: bytes) -> str:
    with pytest.raises(InputError) as problem:
        to_wire(data, "f")
    return str(problem.value)


# --- what texts say -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_programs(name: str) -> None:
    """`compiled.as_text()` and the module of the same executable."""
    text = unpacked(f"{name}.txt.gz")
    ours = module_of(to_wire(text, name))
    theirs = module_of(unpacked(f"{name}.module.pb.gz"))
    if b"StackFrames" not in text:
        # Texts of JAX 0.4 have the innermost line of each instruction, and nothing of the others.
        without_frames(theirs)
    assert ours == theirs


@pytest.mark.parametrize("name", FORMS)
def test_forms(name: str) -> None:
    """Texts in other forms, and what XLA reads in them."""
    ours = module_of(to_wire(FORMS[name]["text"].encode(), name))
    theirs = module_of(base64.b64decode(FORMS[name]["proto"]))
    # XLA's parser keeps these outside of the module.
    del ours["devices"], theirs["devices"]
    # It writes the tables of call stacks anew.
    assert without_layouts(with_stacks(ours)) == without_layouts(with_stacks(theirs))


def test_partitions() -> None:
    text = b"HloModule m, replica_count=3, num_partitions=2\n" + text_of().split(b"\n", 1)[1]
    assert module_of(to_wire(text, "f"))["devices"] == (3, 2)
    assert module_of(to_wire(text_of(), "f"))["devices"] == (1, 1)


def test_aliases() -> None:
    header = b"HloModule m, input_output_alias={ {}: (0, {1,2}, must-alias), {3}: (4) }\n"
    aliases = module_of(to_wire(header + text_of().split(b"\n", 1)[1], "f"))["aliases"]
    assert aliases == [([], 0, [1, 2], 2), ([3], 4, [], 1)]


def test_frames_without_offset() -> None:
    """A parent 0 shows that a text does not add 1."""
    tables = b'FileNames\n1 "a"\nStackFrames\n1 {file_location_id=1 parent_frame_id=%d}\n'
    tables += b"2 {file_location_id=1 parent_frame_id=%d}\n"
    for parents in ((0, 1), (1, 2)):
        text = b"HloModule m\n\n" + tables % parents + text_of().split(b"\n", 1)[1]
        assert module_of(to_wire(text, "f"))["frames"] == [[1, 0], [1, 1]]


def test_calls_of_an_asynchronous_instruction_count_once() -> None:
    """Texts before 2023 repeat what is called."""
    text = b"""HloModule m
    w { p = f32[2] parameter(0) ROOT n = f32[2] negate(p) }
    ENTRY e {
      p = f32[2] parameter(0)
      s = ((f32[2]), f32[2], s32[]) async-start(p), calls=w
      ROOT d = f32[2] async-done(s), calls=w
    }"""
    instructions = module_of(to_wire(text, "f"))["computations"][b"e"]["instructions"]
    assert {name: each["called"] for name, each in instructions.items() if each["called"]} == {
        b"s": [b"w"]
    }


def test_values_of_constants_are_left_out() -> None:
    large = text_of("c = s32[100000] constant({" + "7, " * 100_000 + "7})")
    assert len(to_wire(large, "f")) < 200


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "beginning", ["", "\n\n", "// one\n// two\n", "/* a\n * b */\n", "/**/ /***/"]
)
def test_detection(beginning: str) -> None:
    row = detect(memoryview(beginning.encode() + text_of()))
    assert row is not None
    assert row.name == "hlo_text"


def test_detection_of_hostile_comments() -> None:
    """Time does not double with each comment."""
    begin = time.process_time()
    assert detect(memoryview(b"/**/" * 16_000)) is None
    assert detect(memoryview(b"/*" + b"*" * 64_000)) is None
    assert time.process_time() - begin < 2


def test_a_pickle_holds_the_text() -> None:
    source = HloTextSource(Source("f", np.frombuffer(text_of(), np.uint8)), "")
    before = source.data.tobytes()
    again = pickle.loads(pickle.dumps(source))  # noqa: S301 - our own
    assert again.data.tobytes() == before
    assert again.format is source.format


# --- damaged texts --------------------------------------------------------------------------------

DAMAGED: Final = {
    "shape": (["q = negate(p)"], "4: expected a shape and an opcode after ="),
    "opcode": (["q = f32[2]"], "4: expected an opcode and its operands after the shape"),
    "operand": (["q = f32[2] negate(r)"], '4: expected operand "r" in computation "e"'),
    "nested": (["q = f32[2] negate(f32[2] constant(1))"],
               '4: expected the name of an operand, found "constant(1)"'),
    "twice": (["p = f32[2] negate(p)"], '4: expected only one instruction "p" in a computation'),
    "called": (["q = f32[2] call(p), to_apply=f"], '4: expected a computation "f"'),
    "comma": (["q = f32[2] negate(p),", "r = f32[2] negate(q)"],
              "4: expected an attribute after the comma"),
    "brace": (["q = f32[2] negate(p), x={{{{"], "4: expected this { to be closed"),
    "parenthesis": (["", "q = f32[2] negate((p"], "5: expected this ( to be closed"),
    "string": (['q = f32[2] negate(p), x="a'], "4: expected this string to end"),
    "comment": (["q = f32[2] negate(p) /* x"], "4: expected this comment to end"),
    "inner_comment": (["", "q = f32[2] negate(p /* x)"], "5: expected this comment to end"),
    "number": (["q = f32[2] get-tuple-element(p), index=x"], '4: expected an integer, found "x"'),
    "huge": (["q = f32[99999999999999999999] negate(p)"],
             '4: expected an integer, found "99999999999999999999"'),
    "labels": (["q = f32[2] convolution(p, p), dim_labels=bf"],
               '4: expected dimension labels, found "bf"'),
    "window": (["q = f32[2] reduce-window(p, p), window={size=2x2 stride=1}"],
               '4: expected as many sizes as dimensions in "{size=2x2 stride=1}"'),
    "padding": (["q = f32[2] reduce-window(p, p), window={size=2 pad=1}"],
                '4: expected a padding such as 0_1 in "{size=2 pad=1}"'),
    "fft": (["q = f32[2] fft(p), fft_type=DCT"], '4: expected an FFT type, found "DCT"'),
    "words": (["???"], "4: expected an instruction, or } at the end of a computation"),
    "space": (["q = f32[2]{0:S(" + "9" * 5_000 + ")} negate(p)"],
              '4: expected an integer, found "' + "9" * 40 + '…"'),
    "tuples": (["q = " + "(" * 99 + "f32[2]" + ")" * 99 + " tuple(p)"],
               "4: expected fewer tuples in tuples"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_instructions(name: str) -> None:
    lines, message = DAMAGED[name]
    assert error_of(text_of(*lines)) == f"f:{message}"


ENTRY: Final = text_of().split(b"\n", 1)[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (text_of()[: text_of().index(b"}")], '4: expected } at the end of computation "e"'),
        (b"HloModule m\n", "2: expected a computation"),
        (b"HloModule m\nENTRY e {\n}", '2: expected instructions in computation "e"'),
        (b"HloModule m\nwords\n", "2: expected a computation and its {"),
        (text_of() * 2, "5: expected one module in a file; another one begins here"),
        (text_of() + ENTRY, '5: expected only one computation "e"'),
        (text_of() + ENTRY.replace(b" e ", b" f "), "5: expected only one ENTRY"),
        (b'HloModule m\n\nFileNames\n1 "a"\n3 "b"\n' + ENTRY, "5: expected entry 2 of this table"),
        (b"HloModule m, num_partitions=many\n" + ENTRY, '1: expected an integer, found "many"'),
    ],
)
def test_damaged_modules(text: bytes, message: str) -> None:
    assert error_of(text) == f"f:{message}"


def is_read_or_rejected(text: bytes) -> bool:
    try:
        to_wire(text, "f")
    except InputError as problem:
        return str(problem).startswith("f:")
    return True


def test_every_cut_has_one_sentence() -> None:
    """A text that ends anywhere is read or rejected; nothing else is raised."""
    text = FORMS["metadata"]["text"].encode() + FORMS["shardings"]["text"].encode()
    assert all(is_read_or_rejected(text[:end]) for end in range(len(text)))


# --- size -----------------------------------------------------------------------------------------

LARGE: Final = 1_000_000
DEEP: Final = 100_000
HOSTILE: Final = {
    "string": 'q = f32[2] negate(p), metadata={op_name="' + "x" * LARGE + '"}',
    "escapes": 'q = f32[2] negate(p), metadata={op_name="' + '\\"' * LARGE + '"}',
    "complex": "q = c64[9] constant({" + "(1,2)," * (LARGE // 5) + "})",
    "operands": "q = f32[2] tuple(" + "f32[2] p, " * (LARGE // 10) + "p)",
    "shape": "q = (" + "f32[2], " * (LARGE // 10) + "f32[2]) tuple(p)",
    "braces": "q = f32[2] negate(p), backend_config=" + "{" * DEEP + "}" * DEEP,
    "sharding": "q = f32[2] negate(p), sharding=" + "{" * DEEP + "}" * DEEP,
    "metadata": "q = f32[2] negate(p), metadata={a=" + "{" * DEEP + "}" * DEEP + "}",
    "operand": "q = f32[2] negate(" + "(" * DEEP + ")" * DEEP + " p)",
    "tuples": "q = " + "(" * DEEP + ")" * DEEP + " tuple(p)",
    "unclosed": "q = f32[2] negate(p), sharding=" + "{" * LARGE,
    "blanks": " " * LARGE + "q = f32[2] negate(p)" + " " * LARGE + "," + " " * LARGE + "a=1",
    "comments": "/**/" * (LARGE // 4) + "q = f32[2] negate(p" + "/*a" * (LARGE // 3) + "*/)",
    "name": "q" * LARGE,
    "attributes": "q = f32[2] negate(p)" + ", a=1" * (LARGE // 5),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_lines(name: str) -> None:
    """Long lines and deep brackets take linear time, and nothing recurses."""
    begin = time.process_time()
    try:
        to_wire(text_of(HOSTILE[name]), "f")
    except InputError as problem:
        assert str(problem).startswith("f:4: expected")  # noqa: PT017 - some are damaged
    assert time.process_time() - begin < 10


def test_many_instructions() -> None:
    lines = (
        f'%a{number} = f32[2]{{0}} add(%p, %p), metadata={{op_name="jit(f)/{number}"}}'
        for number in range(20_000)
    )
    text = text_of(*lines)
    begin = time.process_time()
    to_wire(text, "f")
    assert time.process_time() - begin < 5


# Texts of JAX 0.4 have one line of each call stack, which may be one of optax.
WHOLE_STACKS: Final = [
    name for name in PROGRAMS if b'source_file="optax/' not in unpacked(f"{name}.txt.gz")
]


@pytest.mark.parametrize("name", WHOLE_STACKS)
def test_a_summary_of_the_text_is_that_of_the_proto(name: str) -> None:
    """Both are in the order in which XLA schedules instructions."""
    forms = [tfprof.load(DATA / f"{name}.{form}.gz") for form in ("module.pb", "txt")]
    proto, text = (str(program.summary()) for program in forms)
    assert text == proto
