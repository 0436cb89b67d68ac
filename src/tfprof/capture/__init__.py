"""Everything that touches a running program: live graphs, their op logs, sessions and streams.

    given          tf.Graph, message, bytes or path ──► columns
    live_graph     a tf.Graph: its nodes, operations and trainable variables
    traces         where in the program each operation was made
    statistics     float operations that the program itself registered with TensorFlow
    own_log        what a graph says of its operations ─┐
    joined_log     what the user says of them ──────────┴──► one op log
    model          graph, runs and op log, as often as the graph grows ──► Profile
    asking         options as a dictionary ──► report on the stream, message returned
    profiler       a Profile that steps are added to

TensorFlow is imported where a live object of it is at hand, and nowhere else.
"""
