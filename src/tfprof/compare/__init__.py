"""What changed between two profiles, and whether one keeps to a budget.

align_rows      which rows are the same, as one tree
bounds          what a budget says about one number
budget          the bounds of a budget.toml
check           which bounds hold
diff            the rows that changed, with the numbers of both sides
hidden_changes  the rows that changed and are not displayed
lock            the numbers that relative bounds compare with
match_nodes     which nodes are the same
measure         the numbers that budgets bound
noise           by how much the times of rows differ from run to run
renamed         one profile in the names or with the stacks of the other
resample        intervals of differences, and which are more than noise
steps           a profile with some of its steps
"""
