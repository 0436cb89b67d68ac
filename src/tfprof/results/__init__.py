"""What users hold: Loaded, its results (Report, SummaryReport, …), and the Table of each."""
