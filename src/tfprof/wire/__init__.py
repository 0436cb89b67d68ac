"""Protobuf's wire format, read and written by columns; our own schema of its messages."""
