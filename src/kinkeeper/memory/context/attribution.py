"""Who says a remembered sentence, told with it: in a family, "I" may be anybody. Pure."""

from collections.abc import Mapping

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
