"""Whether a reading is a time at all, and the words that tell times from look-alikes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from kinkeeper.reading.times.calendar_days import month_of
from kinkeeper.reading.times.expressions import OPENING_RANGE, Expression
from kinkeeper.reading.times.grammar import Scope
from kinkeeper.reading.times.groups import neighbourhood
from kinkeeper.reading.times.guards import load_guards
from kinkeeper.reading.times.partial import Clock, Partial
from kinkeeper.reading.times.resolve import BOUNDS
from kinkeeper.reading.times.tokens import Token

# The words that tell times from look-alikes, and what the words around a time speak of.

_FIRST_HOUR: Final = 5
_FIRST_HOUR_OF_ROUNDS: Final = 6


def is_daytime_talk(tokens: Sequence[Token]) -> bool:
    """Whether the words speak of somebody whom one sees while offices are open."""
    words, guards = {token.text for token in tokens}, load_guards()
    if not guards.daytime.isdisjoint(words | {word.removesuffix("s") for word in words}):
        return True
    return _holds(" ".join(token.text for token in tokens), guards.daytime_phrases)


def is_early_talk(tokens: Sequence[Token]) -> bool:
    """Whether the words speak of what begins to the minute, and may do so before offices open: a train, a blood test."""
    return not load_guards().early.isdisjoint(token.text for token in tokens)


def is_late_talk(tokens: Sequence[Token]) -> bool:
    """Whether the words speak of what people do when work and school are over: choir, training, a party."""
    return not load_guards().late.isdisjoint(token.text for token in tokens)


def is_evening_talk(tokens: Sequence[Token]) -> bool:
    """Whether the words speak of what people do at the end of the day: dinner, drinks, the cinema."""
    return not load_guards().evening.isdisjoint(token.text for token in tokens)


def morning_begins(tokens: Sequence[Token]) -> int | None:
    """Return the first hour that is of the morning by the words around: breakfast, waking up, the school run; or None."""
    guards = load_guards()
    texts = ["", *(token.text for token in tokens), ""]
    words = [
        word
        for before, word, after in zip(texts, texts[1:], texts[2:], strict=False)
        if not is_another_word(word, before, after)
    ]
    line = " ".join(words)
    if not guards.morning.isdisjoint(words) or _holds(line, guards.morning_phrases):
        return _FIRST_HOUR
    is_round = not guards.rounds.isdisjoint(words) or _holds(line, guards.round_phrases)
    return _FIRST_HOUR_OF_ROUNDS if is_round else None


def _holds(line: str, phrases: Sequence[str]) -> bool:
    return any(phrase in line for phrase in phrases)


def is_another_word(word: str, before: str, after: str) -> bool:
    """Whether a word of time is none beside its neighbours: "sat down", "I am".

    Args:
        word: The word, in lower case.
        before: The word before it, or "".
        after: The word after it, or "".
    """
    sides = load_guards().homographs.get(word)
    return sides is not None and (before in sides[0] or after in sides[1])


NOON: Final = 12
_EARLIEST_BARE_START: Final = 7
_MILITARY_DIGITS: Final = 4
_LAST_COUNTING_ORDINAL: Final = 3
_ENDING: Final = frozenset(".,?!;:)&/…\"'-+~*<(^=")
_GLUE: Final = frozenset("$£€#/-._+=")
_GLUED_WORDS: Final = frozenset({"to", "frm", "from", "on", "-"})
_TIME_FOLLOWS: Final = frozenset(
    {"DAYWORD", "WEEKDAY", "TONIGHT", "REL", "PART", "HOLIDAY", "FREQ"}
)
_RANGE_CUES: Final = frozenset({"at", "@", "from", "till", "about", "around"})
TIME_JOINTS: Final = frozenset({"until", "till", "til", "untill"})
"""What stands between two times and hardly ever between two other numbers."""

_FIRM_CUES: Final = frozenset({"at", "@", "around", "ard", "about", "by", "till", "until"})
_DAY_CUES: Final = frozenset(
    {
        "on",
        "by",
        "for",
        "from",
        "before",
        "after",
        "until",
        "till",
        "til",
        "since",
        "due",
        "date",
        "and",
        "or",
    }
    | {"to", "the", "between", "starting", "this", "next", "around"}
)
_FIRM_MONTH_CUES: Final = frozenset(
    {
        "in",
        "by",
        "until",
        "till",
        "til",
        "since",
        "during",
        "of",
        "from",
        "before",
        "after",
        "this",
        "next",
        "last",
    }
)
_MONTH_CUES: Final = _FIRM_MONTH_CUES | frozenset(
    {
        "for",
        "late",
        "early",
        "mid",
        "to",
        "through",
        "every",
        "on",
        "and",
        "between",
        "whole",
        "all",
        "except",
        "excluding",
        "excepting",
        "barring",
    }
)
_VERB_MONTHS: Final = frozenset({"may", "march", "mar", "jan"})
_VERB_FOLLOWS: Final = frozenset({"i", "be", "on", "not", "for", "we", "you", "have"})
_CERTAIN_MONTHS: Final = frozenset(
    {
        "january",
        "february",
        "feb",
        "july",
        "aug",
        "september",
        "sept",
        "october",
        "oct",
        "november",
        "nov",
    }
    | {"december"}
)
_PART_CUES: Final = frozenset(
    {
        "this",
        "in",
        "the",
        "every",
        "each",
        "one",
        "by",
        "until",
        "till",
        "for",
        "all",
        "at",
        "during",
        "next",
    }
    | {"before", "since"}
)
_GREETINGS: Final = frozenset({"good", "gd", "gud", "happy", "morning", "night", "evening"})
_ADDRESSES: Final = frozenset({",", ".", "!", "hi", "hey", "hello"})
_LISTING: Final = frozenset({"and", "&", "n"})
_EVERYBODY: Final = frozenset({"all", "everyone", "guys", "folks"})
_MEASURES: Final = frozenset(
    {"of", "cup", "cups", "star", "stars", "tsp", "tbsp", "full", "price", "off"}
)


@dataclass(frozen=True, slots=True)
class _Place:
    """A reading among its neighbours.

    Attributes:
        index: First token of the reading.
        previous: Word before it, or "".
        following: Word after it, or "".
        after: Token after it, or None.
    """

    tokens: Sequence[Token]
    index: int
    found: Expression
    previous: str
    following: str
    after: Token | None

    @property
    def token(self) -> Token:
        """The first token of the reading."""
        return self.tokens[self.index]


def is_time(tokens: Sequence[Token], index: int, found: Expression) -> bool:
    """Whether the words around let a reading be a time.

    Args:
        index: First token of the reading.
    """
    after = tokens[found.end] if found.end < len(tokens) else None
    previous = tokens[index - 1].text if index else ""
    place = _Place(tokens, index, found, previous, "" if after is None else after.text, after)
    if _is_part_of_a_name(place) or tokens[index].text == "24/7" or _has_unit_sign(after):
        return False
    if found.finish is not None:
        return _is_range(place)
    return _is_single(place, found.start)


def _has_unit_sign(after: Token | None) -> bool:
    return after is not None and not after.spaced and after.text in {"%", "°", "$", "€", "£"}


def _is_single(place: _Place, partial: Partial) -> bool:
    """Judge a reading without a second end."""
    if partial.is_number_only:
        return _is_hour(place, partial)
    if len(place.tokens) == place.found.end - place.index:
        return not partial.is_weak or partial.part is not None
    if (
        partial.length is not None
        and place.token.text in {"a", "an"}
        and place.found.end == place.index + 2
    ):
        return partial.length.grain not in {"second", "minute"} or place.previous in {
            "for",
            "within",
        }
    if place.found.end - place.index == 1:
        return _is_single_word(place, partial)
    if partial == Partial(day=partial.day):
        return _is_followed(place.after)
    return not partial.is_weak


def _is_part_of_a_name(place: _Place) -> bool:
    """Whether a number belongs to the word or sign before it: "room 4", "$5", "v2", "555-1234"."""
    tokens, index = place.tokens, place.index
    first = tokens[index]
    guards = load_guards()
    if place.previous == ":" and index > 1 and tokens[index - 2].text in guards.naming:
        return True
    if not place.previous or not first.text[:1].isdigit():
        return False
    before = tokens[index - 1]
    if not first.spaced and (before.text[-1:].isalnum() or before.text in _GLUE):
        is_word = bool(before.meanings) or before.text in guards.cue or before.text in _GLUED_WORDS
        has_digits = index > 1 and not before.spaced and tokens[index - 2].text[-1:].isdigit()
        return not is_word or has_digits
    return before.text in guards.naming and "FRACTION" not in first.meanings


def _is_range(place: _Place) -> bool:
    start, finish = place.found.start, place.found.finish
    if finish is None or start.is_number_only or finish.is_number_only:
        return False
    if place.token.text in OPENING_RANGE or start.has_date or start.every is not None:
        return not (start.clock and finish.clock and _is_score(start.clock, finish.clock))
    if "HHMM" in place.token.meanings and not finish.has_date:
        return False
    if start.clock is None or finish.clock is None:
        return True
    is_bare = not any(
        clock.half or clock.has_minute or clock.hour > NOON for clock in (start.clock, finish.clock)
    )
    joint = place.tokens[place.index + 1].text
    return not is_bare or place.previous in _RANGE_CUES | {","} or joint in TIME_JOINTS


def _is_score(first: Clock, last: Clock) -> bool:
    """Whether two bare numbers count down, as "3-2" does and hours of the afternoon do not."""
    is_bare = not any(
        clock.half or clock.has_minute or clock.hour > NOON for clock in (first, last)
    )
    return is_bare and last.hour <= first.hour < _EARLIEST_BARE_START


def _is_followed(after: Token | None) -> bool:
    """Whether what follows a number leaves it a time."""
    guards = load_guards()
    if after is None or after.text in _ENDING or after.text in guards.follow:
        return True
    return after.text.endswith(("ing", "ly")) or not _TIME_FOLLOWS.isdisjoint(after.meanings)


def _is_hour(place: _Place, partial: Partial) -> bool:
    """Judge a bare number: it needs a word such as "at" before and nothing that it counts behind."""
    guards = load_guards()
    street = {token.text for token in place.tokens[place.found.end : place.found.end + 3]}
    if place.previous not in guards.cue or not guards.street.isdisjoint(street):
        return False
    if partial.number is not None and not 1 <= partial.number <= NOON:
        return False
    if (
        partial.four is not None
        and partial.four[2] < _MILITARY_DIGITS
        and place.previous not in _FIRM_CUES
    ):
        return False
    if place.after is not None and not place.after.spaced and place.following not in _ENDING:
        return False
    return _is_followed(place.after)


def _is_single_word(place: _Place, partial: Partial) -> bool:
    for category, judge in _JUDGES.items():
        if category in place.token.meanings:
            return judge(place)
    return not partial.is_weak


def _is_weekday(place: _Place) -> bool:
    is_met = (
        place.previous == "you"
        and place.index > 1
        and place.tokens[place.index - 2].text in load_guards().meeting
    )
    if place.previous in _LISTING and place.index > 1:
        is_met |= "WEEKDAY" in place.tokens[place.index - 2].meanings  # "fri and sat"
    before = "" if is_met else place.previous
    return not is_another_word(place.token.text, before, place.following)


def _is_month(place: _Place) -> bool:
    word = place.token.text
    if word in _VERB_MONTHS:
        return place.previous in _FIRM_MONTH_CUES and place.following not in _VERB_FOLLOWS
    return place.previous in _MONTH_CUES or word in _CERTAIN_MONTHS


def _is_day_number(place: _Place) -> bool:
    day = place.found.start.day
    if day is None or (day <= _LAST_COUNTING_ORDINAL and place.previous not in _DAY_CUES):
        return False
    if "ORDWORD" in place.token.meanings and place.previous != "on":
        return False
    return _is_followed(place.after)


def _is_part(place: _Place) -> bool:
    part = place.token.meanings.get("PART")
    if _is_beside_part(place):
        return True
    if place.previous in _GREETINGS or part == "lunch":
        return False
    if part == "night" or place.token.text in {"eve", "aft", "morn", "evn"}:
        return place.previous in {"at", "every", "each"}
    if place.previous in _PART_CUES:
        return True
    return (
        bool(place.previous)
        and place.previous not in _ADDRESSES
        and place.following not in _EVERYBODY
    )


def _is_beside_part(place: _Place) -> bool:
    """Whether a part of the day is listed with another: "morning and night"."""
    tokens, before, behind = place.tokens, place.index - 2, place.found.end + 1
    sides = []
    if before >= 0 and place.previous in _LISTING:
        sides.append((tokens[before], tokens[before - 1].text if before else ""))
    if behind < len(tokens) and place.following in _LISTING:
        sides.append((tokens[behind], place.previous))
    return any(
        each.meanings.get("PART", "lunch") != "lunch" and opener not in _GREETINGS | {"the"}
        for each, opener in sides
    )


def _is_slashed_date(place: _Place) -> bool:
    over, under = (int(part) for part in place.token.text.split("/"))
    if place.previous in _DAY_CUES:
        return True
    return not (over < under <= 4 or under in {5, 10, 100} or place.following in _MEASURES)


def _never(_: _Place) -> bool:
    return False


# What a single word may be, most telling first, and who judges it.
_JUDGES: Final[Mapping[str, Callable[[_Place], bool]]] = {
    "WEEKDAY": _is_weekday,
    "MONTH": _is_month,
    "ORDINAL": _is_day_number,
    "PART": _is_part,
    "MERIDIEM": _never,
    "FRACTION": _is_slashed_date,
}


def bound_before(tokens: Sequence[Token], index: int) -> tuple[str, int] | None:
    """Return the bound ("by", "until") said before a reading and its first token, or None."""
    at = index - 1
    while (
        at >= 0 and tokens[at].text in {"the", "about", "around", "like", "at"} and index - at <= 2
    ):
        at -= 1
    if at < 0:
        return None
    bound = BOUNDS.get(tokens[at].text)
    return None if bound is None else (bound, at)


# A weekday, holiday or hour that only belongs to the name of a thing: "Friday Night Dinner on Wednesday".

_OF_NAMES: Final = frozenset({"WEEKDAY", "HOLIDAY", "HOUR", "HM"})
_LONGEST_NAME: Final = 6


def without_names(
    tokens: Sequence[Token], found: Sequence[tuple[int, Expression]]
) -> list[tuple[int, Expression]]:
    """Return readings without those in the name of a thing of which another says when it is.

    The other one of its kind follows the name after a preposition ("Sunday lunch club is on Saturday"), or ends the clause.

    Args:
        found: Accepted readings with their first tokens, from left to right.
    """
    return [
        (first, each)
        for place, (first, each) in enumerate(found)
        if not (_opens_name(tokens, first, each) and _is_told_when(tokens, found[place:]))
    ]


def _opens_name(tokens: Sequence[Token], first: int, found: Expression) -> bool:
    guards = load_guards()
    if found.finish is not None or found.start.every or found.start.lean is not None:
        return False
    if _OF_NAMES.isdisjoint(tokens[first].meanings) or found.end == len(tokens):
        return False
    before, noun = tokens[first - 1].text if first else "", tokens[found.end].text
    is_opened = not before.isalpha() or before in guards.follow | guards.requests
    is_timed = before in guards.complement | guards.reaching
    return is_opened and not is_timed and noun.isalpha() and noun not in guards.follow


def _is_told_when(tokens: Sequence[Token], found: Sequence[tuple[int, Expression]]) -> bool:
    """Whether, of readings that begin with one in a name, another of its kind says when that thing is."""
    guards = load_guards()
    end, named = found[0][1].end, found[0][1].start
    for first, each in found[1:]:
        between = [token.text for token in tokens[end:first]]
        if not 0 < len(between) <= _LONGEST_NAME + 1 or not all(map(str.isalpha, between)):
            return False
        if not guards.apart.isdisjoint(between):
            return False
        is_like = (named.has_date and each.start.has_date) or (
            named.clock is not None and not named.has_date and each.start.clock is not None
        )
        if is_like:
            is_last = each.end == len(tokens) or not tokens[each.end].text.isalnum()
            leads = {between[-1], tokens[first].text}
            is_complement = is_last or not guards.complement.isdisjoint(leads)
            return is_complement and guards.reaching.isdisjoint(leads)
    return False


# A holiday beside a day: why something is on that day, or what it lies near ("on the 17th for Christmas").

_ONE_DAY: Final = timedelta(days=1)
_FAR: Final = timedelta(days=183)
"""What is told to be after a holiday that lies so far ahead is after the one that is over."""


def without_neighbourhoods(
    tokens: Sequence[Token], found: Sequence[tuple[int, Expression]], scope: Scope
) -> list[tuple[int, Expression]]:
    """Return readings without holidays that only say why, or near what, the day is that their clause names.

    A day of the month lies on that side of the holiday: "the 6th after Christmas" is in January.

    Args:
        found: Accepted readings with their first tokens, from left to right.
    """
    kept = dict(found)
    for first, each in found:
        word = neighbourhood(tokens, first)
        if word is None or each.finish is not None:
            continue
        beside = next(
            (at for at in kept if _is_beside(tokens, (first, each), (at, kept[at]))), None
        )
        holiday = each.start.on
        if beside is None or holiday is None:
            continue
        if kept[beside].finish is None:
            start = _on_side(kept[beside].start, holiday, word, scope.reference.date())
            kept[beside] = kept[beside]._replace(start=start)
        del kept[first]
        rest = replace(each.start, on=None)
        if rest.has_time or rest.length is not None:
            kept[first + 1] = each._replace(start=rest)
    return sorted(kept.items())


def _is_beside(
    tokens: Sequence[Token], near: tuple[int, Expression], other: tuple[int, Expression]
) -> bool:
    """Whether a reading names the day of what is told with a holiday in the same clause."""
    day = other[1].start
    if not day.has_day or day.every is not None or neighbourhood(tokens, other[0]):
        return False
    (_, left), (last, _) = sorted((near, other), key=lambda each: each[0])
    word = neighbourhood(tokens, near[0]) or ""
    between = [token.text for token in tokens[left.end : last]]
    if word in BOUNDS:
        return {*between} <= {word, ",", "on", "the"}
    if between[-2:] == [",", word]:
        del between[-2:]
    return all(map(str.isalpha, between)) and load_guards().apart.isdisjoint(between)


def _on_side(day: Partial, holiday: date, word: str, today: date) -> Partial:
    """Return a bare day of the month as that of the month which lies on the named side of a holiday."""
    is_bare = day.day is not None and day.month is None and day.period is None and day.lean is None
    is_after = BOUNDS.get(word) == "after"
    if not is_bare or (is_after and holiday - today > _FAR):
        return day
    at = holiday.year * 12 + holiday.month - 1
    near = [
        date(month // 12, month % 12 + 1, day.day or 1)
        for month in range(at - 2, at + 3)
        if (day.day or 1) <= (month_of(month // 12, month % 12 + 1).after - _ONE_DAY).day
    ]
    sided = [each for each in near if each >= today and is_after == (each > holiday)]
    if word == "over":
        sided = [each for each in near if each >= today]
    if not sided:
        return day
    found = min(sided, key=lambda each: abs(each - holiday))
    return replace(day, month=found.month, year=found.year)


# A day of something that is told to have taken place: "party was on the 3rd".

_STOPS: Final = frozenset(
    {".", "!", "?", ";", ",", ":", "(", ")", "but", "so", "now", "then", "because"}
)
_BEING: Final = frozenset({"was", "were"})
_NOT_OVER: Final = frozenset({"better", "to"})
_NEAR: Final = 40
"""Tokens on either side of a reading that can belong to its clause."""


def in_the_past(tokens: Sequence[Token], first: int, found: Expression) -> Expression:
    """Return a reading as of a day that is over, where its clause tells of what took place; else as it is.

    Args:
        first: First token of the reading.
    """
    start = found.start
    is_open = start.lean is None and start.on is None and start.year is None and start.every is None
    is_day = start.day is not None or start.weekday is not None
    if not (is_open and is_day and found.finish is None and _took_place(tokens, first, found.end)):
        return found
    return found._replace(start=replace(start, lean=-2))


def _took_place(tokens: Sequence[Token], first: int, end: int) -> bool:
    guards = load_guards()
    low = max(0, first - _NEAR)
    texts = [token.text for token in tokens[low : end + _NEAR]]
    first, end = first - low, end - low
    begin = next((at + 1 for at in range(first - 1, -1, -1) if texts[at] in _STOPS), 0)
    close = next((at for at in range(end, len(texts)) if texts[at] in _STOPS), len(texts))
    clause = [*texts[begin:first], *texts[end:close]]
    is_changed = texts[close : close + 1] == ["but"] and not guards.present.isdisjoint(
        texts[close:]
    )
    if is_changed or not guards.unsettled.isdisjoint(clause) or "?" in texts[end:]:
        return False
    verbs = guards.past | guards.present
    verb = next((at for at in range(first - 1, begin - 1, -1) if texts[at] in verbs), None)
    if verb is None or texts[verb] in guards.present or texts[first - 1] == "to":
        return False
    if verb > begin and texts[verb - 1] in guards.present:
        return False
    behind = texts[verb + 1]
    if texts[verb] in _BEING:
        return not behind.endswith("ing")
    is_object = verb + 1 == first and not _leads_in(texts[first])
    return not is_object and not (texts[verb] == "had" and behind in _NOT_OVER)


def _leads_in(word: str) -> bool:
    return word in load_guards().complement
