"""What can be measured for accuracy, by name; `measuring` does it."""

from enum import StrEnum


class Suite(StrEnum):
    """Labelled data and what is measured on it."""

    ALL = "all"
    ANSWERS = "answers"
    ARRANGEMENTS = "arrangements"
    BRAIN = "brain"
    CARDS = "cards"
    CATEGORY = "category"
    CONFIRMATIONS = "confirmations"
    CONSENT = "consent"
    DIALOGUES = "dialogues"
    DRIFT = "drift"
    EXTRACTION = "extraction"
    LEAKS = "leaks"
    LAWS = "laws"
    LIKENESS = "likeness"
    MEMORY = "memory"
    MONTHS = "months"
    OBSERVER = "observer"
    PLANNER = "planner"
    QUESTIONS = "questions"
    READING = "reading"
    ROUTER = "router"
    SELF_CORRECTION = "self-correction"
    TRIPWIRE = "tripwire"
    WHEN = "when"
    YEARS = "years"
