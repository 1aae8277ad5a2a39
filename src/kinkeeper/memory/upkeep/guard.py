"""When a night would take too much out of memory to go on without asking. Pure."""

LARGEST_SHARE = 0.05
"""Share of the active facts that may leave without a question."""

ALWAYS_ALLOWED = 3
"""Of a handful of facts each one is more than the share; so few may go anyway."""


def asks(leaving: int, active: int) -> bool:
    """Whether a person has to agree first.

    Args:
        leaving: Facts that would leave retrieval, with those of earlier runs of the same night, >= 0.
        active: Facts in retrieval before, >= 0.
    """
    return leaving > max(ALWAYS_ALLOWED, LARGEST_SHARE * active)
