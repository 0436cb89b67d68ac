"""The forms a Report can take. A reporter turns a Report into pieces of bytes; it opens nothing."""
