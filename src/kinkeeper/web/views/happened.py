"""What was said to the assistant, in its own words and in the order of time. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from kinkeeper.memory.model import Episode
from kinkeeper.web.views.known import Recollection
from kinkeeper.web.views.people import Person

Span = tuple[int, int]
"""First character and the one after the last."""

_LONGEST_SHOWN = 600
_ERASED = "… \n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of words.

    Attributes:
        is_outdated: Whether what they say holds no more.
    """

    text: str
    is_outdated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing that was said.

    Attributes:
        title: One line, for summaries; else empty.
        rest: What follows where it is long, to be unfolded.
        spoken: When, in full.
        channel: Where it was said; empty where unknown.
        audience: Who may see it, in words; empty where the whole household may.
    """

    id: str
    speaker: Person
    title: str
    pieces: tuple[Piece, ...]
    rest: tuple[Piece, ...]
    clock: str
    spoken: str
    iso: str
    channel: str
    audience: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """What was said on one local day, newest first.

    Attributes:
        label: The day in few words.
        long_label: The day in full.
        iso: The day, for machines.
        turns: At least one.
    """

    label: str
    long_label: str
    iso: str
    turns: tuple[Turn, ...]


def days_of(
    episodes: Iterable[Episode],
    outdated: Mapping[str, Sequence[Span]],
    recollection: Recollection,
) -> tuple[Day, ...]:
    """Return episodes by local day.

    Args:
        episodes: Newest first.
        outdated: Spans by episode id whose words hold no more.
    """
    wording = recollection.wording
    told = (each for each in episodes if each.text.strip(_ERASED))
    by_day = groupby(told, key=lambda each: wording.local(each.said_at).date())
    return tuple(
        Day(
            label=wording.heading(day), long_label=wording.long_day(day), iso=day.isoformat(),
            turns=tuple(_turn(each, outdated.get(each.id, ()), recollection) for each in of_day),
        )
        for day, of_day in by_day
    )  # fmt: skip


def pieces_of(text: str, outdated: Iterable[Span]) -> tuple[Piece, ...]:
    """Cut a text where words begin and end to be outdated; together the pieces are the text.

    Args:
        text: Verbatim.
        outdated: Spans, in any order; they may overlap.
    """
    pieces, place = [], 0
    for start, end in sorted(outdated):
        first, last = max(start, place), min(end, len(text))
        if first >= last:
            continue
        pieces += [
            Piece(text=text[place:first], is_outdated=False),
            Piece(text=text[first:last], is_outdated=True),
        ]
        place = last
    pieces.append(Piece(text=text[place:], is_outdated=False))
    return tuple(each for each in pieces if each.text)


def _turn(episode: Episode, outdated: Sequence[Span], recollection: Recollection) -> Turn:
    wording = recollection.wording
    text = episode.text
    cut = len(text)
    if cut > _LONGEST_SHOWN:
        cut = text.rfind(" ", 0, _LONGEST_SHOWN) + 1 or _LONGEST_SHOWN
    beyond = [(start - cut, end - cut) for start, end in outdated if end > cut]
    return Turn(
        id=episode.id,
        speaker=recollection.speaker(episode.member or episode.speaker),
        title=episode.title or "",
        pieces=pieces_of(text[:cut], outdated),
        rest=pieces_of(text[cut:], [(max(start, 0), end) for start, end in beyond]),
        clock=wording.clock(episode.said_at),
        spoken=wording.long_moment(episode.said_at),
        iso=wording.local(episode.said_at).isoformat(timespec="seconds"),
        channel="" if episode.channel == "unknown" else episode.channel,
        audience=recollection.people.audience(episode.scope),
    )
