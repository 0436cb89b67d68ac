"""What the files in call stacks are: the user's, those of libraries, or layers of Keras.

/usr/lib/python3/dist-packages/tensorflow/python/ops/math_ops.py    tensorflow
tensorflow/python/ops/math_ops.py                                   tensorflow, in a relative path
<frozen importlib._bootstrap>                                       python
/home/ada/tensorflow/train.py                                       the user's
<layer>                                                             no file: a layer, by its name

What is left of a path with source=off: the name of the file, or the path inside of a library.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tfprof.foundation.units import plural

if TYPE_CHECKING:
    from collections.abc import Iterable

# A capture ends the stacks of nodes with one such frame for each layer that they are in. Its
# function is the name and the class of the layer.
LAYER: Final = "<layer>"

_PACKAGES: Final = (
    "tensorflow|keras|tf_keras|tfprof|IPython|ipykernel|traitlets|tornado"
    "|jax|flax|optax|haiku|equinox|orbax"
)
_LIBRARY: Final = re.compile(
    rf"(?:^|[/\\](?:site|dist)-packages[/\\])(?P<package>{_PACKAGES})[/\\]"
    r"|[/\\](?P<tensorflow>tensorflow)[/\\]python[/\\]"
    r"|(?:^|[/\\]lib[/\\])(?P<python>python[.\d]+)[/\\](?!(?:site|dist)-packages[/\\])"
    r"|^<frozen |^<embedded |^<__array_function__|__autograph_generated_file"
)
_ABSOLUTE: Final = re.compile(r"[/\\~]|[A-Za-z]:[/\\]")
_PART: Final = rb"[^\x00-\x1f\"':/<>|]{1,255}"
_FOLDERS: Final = re.compile(rb"(?:/%b){1,64}/(?=%b\.py)" % (_PART, _PART))


@lru_cache(maxsize=4096)
def library_of(file: str) -> str:
    """The library that *file* belongs to, such as tensorflow; "" for a file of the user's."""
    match = _LIBRARY.search(file)
    return (match["package"] or match["tensorflow"] or "python") if match else ""


def short_path(file: str) -> str:
    """*file* without folders of the machine: a relative path is one already."""
    match = _LIBRARY.search(file)
    group = match and next((name for name, text in match.groupdict().items() if text), None)
    if match and group:
        return file[match.start(group) :]
    return re.split(r"[/\\]", file)[-1] if _ABSOLUTE.match(file) else file


def is_absolute(path: str) -> bool:
    """Whether *path* names folders of the machine from the root, on any system."""
    return bool(_ABSOLUTE.match(path))


def embedded(files: Iterable[str], *, has_text: bool) -> str:
    """What call stacks with these *files* say about the machine, as a phrase; "" for nothing."""
    paths = {file for file in files if is_absolute(file)}
    parts = [f"the paths of {plural(len(paths), 'source file')}"] if paths else []
    return " and ".join([*parts, *(["source text"] if has_text else [])])


def embeds(name: str, what: str, source_off: str) -> str:
    """The sentence for a file that holds *what*."""
    return f"{name} contains {what}; {source_off} leaves this out"


def without_folders(data: bytes) -> bytes:
    """*data*, a message, with `./././././train.py` for `/home/ada/train.py`: its length stays."""
    return _FOLDERS.sub(lambda m: b"./" * (len(m[0]) // 2) + b"/" * (len(m[0]) % 2), data)
