"""Has TensorFlow's C++ read chunked SavedModels, in a process of its own.

python chunked_worker.py FOLDER…   →  one line each: whether it reads FOLDER/saved_model.cpb
"""

from __future__ import annotations

import sys

from tensorflow.core.protobuf.fingerprint_pb2 import FingerprintDef
from tensorflow.python.saved_model.pywrap_saved_model import fingerprinting


def outcome(folder: str) -> str:
    try:
        # It reads all chunks and merges them, for a hash of each part of the model.
        made = FingerprintDef.FromString(fingerprinting.CreateFingerprintDef(folder))
    except fingerprinting.FingerprintException:
        return "damaged"
    return "read" if made.graph_def_program_hash and made.signature_def_hash else "empty"


print(*map(outcome, sys.argv[1:]), sep="\n")
