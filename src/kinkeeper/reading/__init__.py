"""What a text says: clauses, and for each the act, what it is about, and how it is meant."""

from kinkeeper.reading.model import (
    Act,
    Clause,
    Context,
    Frame,
    Modality,
    Predicate,
    Reading,
    Said,
    Slot,
    SlotName,
    Surface,
    Target,
    Utterance,
)

__all__ = [
    "Act",
    "Clause",
    "Context",
    "Frame",
    "Modality",
    "Predicate",
    "Reading",
    "Said",
    "Slot",
    "SlotName",
    "Surface",
    "Target",
    "Utterance",
]
