"""Cases that stay: whatever once went wrong, as small as it was found.

A random case that fails prints itself as `Case.from_text(…)`. Mend what is wrong and paste the case
here under a name that says what it is about. `test_fixed_cases.py` compares each with the original
in every form: report, message, pprof, timeline, saved profile, advice. A damaged file that is read
wrong goes to `fuzz/findings/TARGET`, and an example that Hypothesis finds becomes an `@example`.
"""

from __future__ import annotations

from typing import Final

from case import Case

LOCAL: Final = "/job:localhost/replica:0/task:0/device"

# fmt: off
FIXED: Final[dict[str, Case]] = {
    "a list whose root is trimmed": Case.from_text(
        view="op", graph="node { }", options={"trim_name_regexes": ["_.*"]}
    ),
    "a list that starts nowhere": Case.from_text(
        view="op", graph="node { }", options={"start_name_regexes": []}
    ),
    "a tree that starts nowhere": Case.from_text(
        view="scope", graph='node { name: "a" }', options={"start_name_regexes": []}
    ),
    "the first node is an input": Case.from_text(
        view="graph", graph='node { name: "a" } node { name: "b" input: "^a" }'
    ),
    "a function whose name has as many bytes as are shown": Case.from_text(
        view="code",
        graph='node { name: "a" }',
        op_log="""
            log_entries { name: "a" code_def { traces { file_id: -4 function_id: 24 } } }
            id_to_string { key: -4 value: "mödel.py" }
            id_to_string { key: 24 value: "twenty_bytes_long_fn" }
        """,
    ),
    "a stream that is not the collected one": Case.from_text(
        view="scope",
        steps=[(0, """step_stats { dev_stats {
                    device: "/stream:7" node_stats { all_start_micros: 1973 }
                } }""")],
        options={"select": ["micros"]},
    ),
    "memory first seen as late as points may be close": Case.from_text(
        view="graph",
        steps=[(0, f"""step_stats {{ dev_stats {{
                    device: "{LOCAL}:GPU:0" node_stats {{ all_start_micros: 100 }}
                }} }}""")],
    ),
    "an input on another device that is not accounted": Case.from_text(
        view="graph",
        graph="""
            node { name: "a" op: "Add" }
            node { name: "b" op: "Add" input: "c" }
        """,
        steps=[(0, f"""step_stats {{
                    dev_stats {{
                        device: "{LOCAL}:GPU:1"
                        node_stats {{ node_name: "b" all_start_micros: 123 }}
                    }}
                    dev_stats {{
                        device: "{LOCAL}:GPU:0"
                        node_stats {{ node_name: "c" all_start_micros: 119 }}
                        node_stats {{ node_name: "a" all_start_micros: 119 }}
                    }}
                }}""")],
        options={"account_type_regexes": ["Add"]},
    ),
    "times of one input shape that exceed 64 bits": Case.from_text(
        view="op",
        graph="""
            node { name: "a b/_k" op: "Conv2DBackpropFilter" input: "gradients_1/BatchNorm_grad" }
            node { name: "gradients/b1_grad/w" op: "Conv2DBackpropFilter" input: "b1/1:0" }
        """,
        steps=[
            (0, """
                step_stats { dev_stats { device: "/job:gpu_worker/task:1/cpu:10" node_stats {
                    node_name: "gradients/b1_grad/w" all_start_micros: 3787 op_end_rel_micros: -4148
                } } }
            """),
            (1, """
                step_stats {
                    dev_stats { device: "/job:localhost/replica:0/task:0/gpu:1" node_stats {
                        node_name: "a b/_k" all_start_micros: 1500000000000717
                        op_end_rel_micros: 2749875
                    } }
                    dev_stats { node_stats { node_name: "a b/a b/_k/_k/BatchNorm/b1" } }
                    dev_stats { node_stats { node_name: "gradients/b1_grad/w" } }
                }
            """),
            (0, """
                step_stats { dev_stats { device: "/job:localhost/replica:0/task:0/device:GPU:0"
                    node_stats { node_name: "a b/a b/_k/_k/BatchNorm/b1" all_start_micros: 4245
                        op_end_rel_micros: -1405 }
                } }
            """),
        ],
        options={"select": ["input_shapes"]},
    ),
    "a count that three regexes make too large": Case.from_text(
        view="op",
        graph="""node { op: "MatMul" attr { key: "shape" value { shape {
            dim { size: 65536 } dim { size: 224 } dim { size: 2147483648 } dim { size: 100 }
        } } } }""",
        options={"account_type_regexes": [".*Mul.*", "[[:alpha:]]+", ".*"]},
    ),
    "nodes with the names of other strings in a pprof file": Case.from_text(
        view="code",
        graph="""node { name: "count" } node { name: "graph node:" } node { name: "model.py" }
            node { name: "model:build" } node { name: "other" }""",
        op_log="""
            log_entries { name: "count" code_def { traces { file_id: 1 function_id: 2 lineno: 3 }
                traces { file_id: 1 function_id: 3 lineno: 4 } } }
            log_entries { name: "graph node:" code_def {
                traces { file_id: 1 function_id: 2 lineno: 3 }
                traces { file_id: 1 function_id: 3 lineno: 4 } } }
            log_entries { name: "model.py" code_def { traces { file_id: 1 function_id: 2 lineno: 3 }
                traces { file_id: 1 function_id: 3 lineno: 4 } } }
            log_entries { name: "model:build" code_def {
                traces { file_id: 1 function_id: 2 lineno: 3 }
                traces { file_id: 4 function_id: 2 lineno: 9 } } }
            log_entries { name: "other" code_def { traces { file_id: 1 function_id: 2 lineno: 3 }
                traces { file_id: 4 function_id: 3 lineno: 9 } } }
            id_to_string { key: 1 value: "model.py" } id_to_string { key: 2 value: "main" }
            id_to_string { key: 3 value: "build" } id_to_string { key: 4 value: "layers.py" }
        """,
        options={"select": ["params"]},
    ),
}
# fmt: on
