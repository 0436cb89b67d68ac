"""Queries about a profile, and their answers."""
