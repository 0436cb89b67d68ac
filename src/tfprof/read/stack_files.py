"""What the files in call stacks are: the user's, those of libraries, or layers of Keras.

/usr/lib/python3/dist-packages/tensorflow/python/ops/math_ops.py    tensorflow
tensorflow/python/ops/math_ops.py                                   tensorflow, in a relative path
<frozen importlib._bootstrap>                                       python
/home/ada/tensorflow/train.py                                       the user's
<layer>                                                             no file: a layer, by its name
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

# A capture ends the stacks of nodes with one such frame for each layer that they are in. Its
# function is the name and the class of the layer.
LAYER: Final = "<layer>"

_PACKAGES: Final = "tensorflow|keras|tf_keras|tfprof|IPython|ipykernel|traitlets|tornado"
_MODULES: Final = "importlib|asyncio|runpy|threading|contextlib|functools"
_LIBRARY: Final = re.compile(
    rf"(?:^|[/\\](?:site|dist)-packages[/\\])(?P<package>{_PACKAGES})[/\\]"
    r"|[/\\](?P<tensorflow>tensorflow)[/\\]python[/\\]"
    rf"|[/\\]python3[.\d]*[/\\](?:{_MODULES})(?:\.py$|[/\\])"
    r"|^<frozen |^<embedded |^<__array_function__|__autograph_generated_file"
)


@cache
def library_of(file: str) -> str:
    """The library that *file* belongs to, such as tensorflow; "" for a file of the user's."""
    match = _LIBRARY.search(file)
    return (match["package"] or match["tensorflow"] or "python") if match else ""
