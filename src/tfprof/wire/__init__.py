"""Protobuf's wire format: decoded and encoded by columns; the schema of the messages we use."""
