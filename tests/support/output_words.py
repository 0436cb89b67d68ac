"""The outputs that write a file."""

from __future__ import annotations

from typing import Final

SELECTED: Final = "--select=params,micros,bytes,float_ops,device"

OUTPUTS: Final = {
    "file": ("scope", SELECTED, "--output=file:outfile={}"),
    "json": ("graph", SELECTED, "--output=json:outfile={}"),
    "csv": ("scope", SELECTED, "--output=csv:outfile={}"),
    "md": ("op", SELECTED, "--output=md:outfile={}"),
    "proto": ("op", SELECTED, "--output=proto:outfile={}"),
    "pprof": ("scope", "--select=micros", "--output=pprof:outfile={}"),
    "timeline": ("graph", "--select=micros", "--output=timeline:outfile={}"),
    "advise": ("advise", "--output=file:outfile={}"),
    "save": ("save", "-o", "{}"),
    "convert": ("convert", "-o", "{}"),
    "Loaded.save": "tfprof.load(profile={profile!r}).save({target!r})",
    "Loaded.convert": "tfprof.load(profile={profile!r}).convert({target!r})",
    "profile()": (
        "tfprof.profile({graph!r}, options={{**tfprof.ProfileOptionBuilder.float_operation(),"
        " 'output': 'file:outfile={target}'}})"
    ),
    "write_op_log": "tfprof.write_op_log({graph!r}, {folder!r}, {op_log!r})",
    "Profiler": "tfprof.Profiler({graph!r})._write_profile({target!r})",
}
"""What writes: the words of a command, or a program that uses the Python API."""
