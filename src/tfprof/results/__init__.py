"""What users hold: Loaded, Report, SummaryReport, and data frames of them."""
