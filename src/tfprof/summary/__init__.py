"""What a model is made of and what it costs, layer by layer, from its graph alone.

build_summary  all of it: rows, total, caveats
model_nodes    which nodes are the model: what its outputs need
scopes         the name scopes of these nodes, with calls of functions folded
keras_names    the same with one scope per layer of Keras, by its own name
layers         the rows: layers and blocks, down to a depth
parameters     what is trained or loaded, and which nodes read it
costs          float operations, multiply-adds and activation bytes of each row
training       the same of a training step: forward, backward, optimizer
output_shapes  what each row returns
formula        these numbers if a dimension is open
caveats        what is guessed, left out or unknown
overview       the totals of a model and its steps, and what costs most
cost_lists     its lists: layers, operation types, lines of code
"""
