"""Who says a remembered sentence and when, told with it: "I" may be anybody, "yesterday" any day. Pure."""

from collections.abc import Mapping
from datetime import date

Names = Mapping[str, str]
"""Names of members by id."""


def name_of(speaker: str | None, names: Names) -> str | None:
    """Return a speaker's name, if there is a speaker.

    Args:
        speaker: Member id, or a name from elsewhere.
        names: Of the household.
    """
    return None if speaker is None else names.get(speaker, speaker)


def attributed(text: str, speaker: str | None, names: Names) -> str:
    """Return a text with who says it before it, where that is known.

    Args:
        text: Their words.
        speaker: Member id, or a name from elsewhere.
        names: Of the household.
    """
    name = name_of(speaker, names)
    return text if name is None else f"{name}: {text}"


def remembered(text: str, speaker: str | None, names: Names, *, said_on: date) -> str:
    """Return a text of an earlier time with who says it before it, where that is known, and on which day.

    Args:
        text: Their words.
        speaker: Member id, or a name from elsewhere.
        names: Of the household.
        said_on: In the household's zone.
    """
    name, day = name_of(speaker, names), f"{said_on.day} {said_on:%B %Y}"
    return f"{day}: {text}" if name is None else f"{name}, {day}: {text}"
