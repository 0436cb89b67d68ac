"""Operation types: what tfprof knows of each, and what follows from that for a graph.

table            OPS: one row per operation type; rules by family: convolution, linalg, sparse, …
op               Op: one operation as a rule sees it
classes, dtypes  what operation types and data types are
attributes       reads and decodes node attributes
engine           infers shapes, values and loop counts from the rules, without running the graph
symbols          names of the open dimensions of the inputs
inferred_shapes  a profile with its open shapes filled in
run_counts       how often each node runs: loops by their trips, one branch per choice
counting         the float operations of every node, and what is not counted
with_float_ops   a profile with these counts, where its op log has none
"""
