"""The cache: converted profiles of large files, and what was worked out from them.

    files ──key──► folder ──► entry ──► Profile, whose columns and drawings are read when needed
              │
              └─ a miss: the files are read as ever, and the entry is written after the answer

An entry says exactly what its files say. What it lacks, or what is damaged in it, comes from the
files again. Whatever goes wrong with the cache itself is no error and nobody hears of it.
"""
