"""What changed between two profiles.

match_nodes     which nodes are the same
renamed         one profile in the names of the other
"""
