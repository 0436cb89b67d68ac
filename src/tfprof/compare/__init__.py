"""What changed between two profiles.

align_rows      which rows are the same, as one tree
diff            the rows that changed, with the numbers of both sides
hidden_changes  the rows that changed and are not displayed
match_nodes     which nodes are the same
noise           by how much the times of rows differ from run to run
renamed         one profile in the names of the other
resample        intervals of differences, and which are more than noise
steps           a profile with some of its steps
"""
