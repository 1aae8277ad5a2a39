"""Time expressions as families type them, resolved against a reference instant."""

from kinkeeper.reading.times.reader import NamedTimeWords, read, to_record

__all__ = ["NamedTimeWords", "read", "to_record"]
