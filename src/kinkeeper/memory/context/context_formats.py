"""A session's facts as a program reads them, and as a model does. Pure."""

from collections import Counter
from typing import Any
from zoneinfo import ZoneInfo

from kinkeeper.memory.context.attribution import Names, attributed, name_of
from kinkeeper.memory.context.injection import Injected
from kinkeeper.memory.context.tiers import Tier
from kinkeeper.memory.model import Fact

_HEADINGS = {
    Tier.CORE: "Who people are",
    Tier.ACTIVE: "What they are busy with",
    Tier.SEMANTIC: "What is relevant to the question",
    Tier.RECENT: "What is new",
}


def as_record(injected: Injected, names: Names) -> dict[str, Any]:
    """Return a session's facts as JSON-ready values.

    Args:
        injected: As read.
        names: Of the household.
    """
    counts = Counter(placed.tier for placed in injected.placed)
    return {
        "observations": [
            _observation(placed.fact, names) | {"tier": placed.tier.value}
            for placed in injected.placed
        ],
        "skipped_tiers": [tier.value for tier in injected.skipped],
        "counts": {tier.value: counts[tier] for tier in Tier},
    }


def as_markdown(injected: Injected, zone: ZoneInfo, names: Names) -> str:
    """Return a session's facts as Markdown, a heading a tier and a line a fact.

    Args:
        injected: As read.
        zone: The household's, for the days.
        names: Of the household.
    """
    lines = ["# What is remembered"]
    for tier in Tier:
        facts = [placed.fact for placed in injected.placed if placed.tier is tier]
        if facts:
            lines += [
                "",
                f"## {_HEADINGS[tier]} ({tier})",
                *(_line(fact, zone, names) for fact in facts),
            ]
    if not injected.placed:
        lines += ["", "Nothing yet."]
    for tier in injected.skipped:
        lines += ["", f"({tier}: could not be looked up now)"]
    return "\n".join(lines) + "\n"


def _observation(fact: Fact, names: Names) -> dict[str, Any]:
    return {
        "id": fact.id, "type": fact.type.value, "category": fact.category.value,
        "title": fact.title, "subtitle": fact.subtitle, "narrative": fact.narrative,
        "speaker": name_of(fact.speaker, names),
        "facts": list(fact.details), "is_doubted": _is_doubted(fact),
        # When the household said it: an import of this morning may be years old.
        "created_at": fact.said_at.isoformat(),
    }  # fmt: skip


def _line(fact: Fact, zone: ZoneInfo, names: Names) -> str:
    words = " ".join(" ".join((fact.narrative, *fact.details)).split())
    day = f"{fact.said_at.astimezone(zone):%Y-%m-%d}"
    doubt = ", in doubt" if _is_doubted(fact) else ""
    return f"- {attributed(words, fact.speaker, names)} ({fact.category}, {day}{doubt})"


def _is_doubted(fact: Fact) -> bool:
    return fact.is_contradicted or fact.doubted_by is not None
