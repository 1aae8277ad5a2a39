"""One message, read once: tokens, household words, times, and the skeleton that the grammar reads.

The skeleton is the folded text with contractions written out and a mark (`<child>`, `<act>`, `<date>` …) in
place of each thing that was recognised, so that one rule serves every household.
"""

import re
import tomllib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time
from functools import cache
from importlib.resources import files
from operator import attrgetter

from kinkeeper.language.lexicon import Lexicon, Mention
from kinkeeper.language.text import Token, TokenKind, mask_stops, tokenise, words_before
from kinkeeper.observer.model import Task
from kinkeeper.reading import times
from kinkeeper.reading.corrections import is_given_up
from kinkeeper.reading.phrases import words_written_out
from kinkeeper.reading.replies import Reply, asks_for_owner, is_question, read_reply
from kinkeeper.reading.times.model import SpanKind, TimeSpan

# The grammar of arrangements, loaded from `grammar.toml` and compiled once.

_WHO = r"(?:(?:my |our |the )?(?:<child>|<kids>)(?: and (?:<child>|<kids>))*|him|her|them|everyone|everybody|both(?: of them)?|the (?:(?:little|wee|small) )?ones?|the (?:wee|little|small) (?:man|fella|fellow|lad|lass|guy|boy|girl)|the baby)"
_NAMED = r"(?:(?:my |our |the )?(?:<child>|<kids>)(?: and (?:<child>|<kids>))*|both(?: of them)?|the (?:little )?ones?|the baby)"
_WHEN = r"(?:<date>|<time>|<datetime>|<range>|<recurring>)"
_NEXT = r"(?= (?:<(?!thing)|[.!?;,\n]|from|at|after|before|to|home|back|off|over|and|then|than|for|by|on|in|around|about|when|while|until|once|now|later|early|earlier|please|instead|this|that time|today|though|too|or|if|so|because|but|as|again|there|here|tho|yourself|myself|i|you|we|can|could|will|lah|leh|lor|la|okay|ok)(?= |$|\w*>)| ?$)"
_FETCH = r"{who}|<adult>|me|us|{when}|<act>|<generic>|<place>|<duration>|[.!?;,\n]|from|at|after|before|by|on|in|is|are|and|or|for|around|about|today|duty|this|please|instead|then|when|now|later|so|if|little|boys|girls|baby|twins|kids|lot|time|times|too|as|but|because|early|late|myself|yourself"
_BOUNDS = {")*": "){0,12}", ")+": "){1,12}", ".*": ".{0,200}"}
# In this order: what stands for one may name another.
_PARTS = {"fetch": _FETCH, "next": _NEXT, "named": _NAMED, "who": _WHO, "when": _WHEN}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """Compiled patterns over skeletons.

    Attributes:
        words: Contractions and chat spellings written out.
        doubtful_nouns: Words that are things only after one of `before_nouns`, or after a mention.
        before_both_jobs: Words after which "both" means two jobs.
        after_both: Words after which "both" still means people.
        idioms: Pairs of words that mean something else altogether.
        no_deeds: Verbs of talk and thought, with which nobody takes a job on.
        tasks: One pattern per task, in order of precedence.
        stances: One pattern per stance cue ("ask", "claim", ...).
    """

    words: Mapping[str, str]
    doubtful_nouns: frozenset[str]
    before_nouns: frozenset[str]
    before_both_jobs: frozenset[str]
    after_both: frozenset[str]
    idioms: frozenset[str]
    no_deeds: frozenset[str]
    tasks: Mapping[Task, re.Pattern[str]]
    stances: Mapping[str, re.Pattern[str]]


@cache
def grammar() -> Grammar:
    """Return the shipped grammar."""
    data = tomllib.loads(files(__package__).joinpath("grammar.toml").read_text(encoding="utf-8"))
    return Grammar(
        words=_by_own_word(data["words"]),
        doubtful_nouns=frozenset(data["nouns"]["doubtful"]),
        before_nouns=frozenset(data["nouns"]["before"]),
        before_both_jobs=frozenset(data["nouns"]["before_both_jobs"]),
        after_both=frozenset(data["nouns"]["after_both"]),
        idioms=frozenset(data["nouns"]["idioms"]),
        no_deeds=frozenset(data["verbs"]["no_deeds"].split()),
        tasks={Task(name): _compile(patterns) for name, patterns in data["tasks"].items()},
        stances={name: _compile(patterns) for name, patterns in data["stances"].items()},
    )


def _by_own_word(own: Mapping[str, str]) -> Mapping[str, str]:
    """Return words written out; several that mean one to this grammar are one ("anyone", "anybody")."""
    common = {
        spelling: " ".join(own.get(word, word) for word in plain.split())
        for spelling, plain in words_written_out().items()
    }
    return {**common, **own}


def _compile(patterns: list[str]) -> re.Pattern[str]:
    """Return one pattern; its groups and gaps repeat a bounded number of times, so its cost grows with the text."""
    whole = "|".join(f"(?:{pattern})" for pattern in patterns)
    for name, words in _PARTS.items():
        whole = whole.replace(f"{{{name}}}", words)
    for endless, bounded in _BOUNDS.items():
        whole = whole.replace(endless, bounded)
    return re.compile(rf"(?<![\w<'-])(?:{whole})(?![\w'-])")


_MARKS = {
    "child": "<child>",
    "group": "<kids>",
    "adult": "<adult>",
    "activity": "<act>",
    "generic": "<generic>",
    "place": "<place>",
    "resource": "<thing>",
    "maintenance": "<thing>",
}
_PEOPLE = frozenset({"child", "adult"})
_AFTER_SHORT_IS = frozenset(
    {"off", "out", "not", "missing", "absent", "staying", "skipping", "poorly", "ill", "sick"}
)
_SAYING = frozenset(
    {"said", "says", "thinks", "reckons", "told", "cleared", "prescribed", "recommended"}
)
_CLAUSE_END = frozenset(".!?;,\n")
_BIRTHDAY = re.compile(
    r"(?<=['’]s )\d{1,3}(?:st|nd|rd|th)\b(?! (?:of |jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))",
    re.IGNORECASE,
)
_THINGS = frozenset({"generic", "activity"})
_TAKING_PLACE = _THINGS | {"child"}
"""An adult who is off has a day off."""
_PART_OF_DAY = re.compile(r"\w['’]? (?:morning|afternoon|evening|night)$", re.IGNORECASE)
_PRONOUN = re.compile(
    r"(?:(?<=next )|(?<=this )|(?<=that )|(?<=other )|(?<=last ))one\b(?! ?o'?clock)", re.IGNORECASE
)
_VOCATIVE = re.compile(
    r"(?:^|[,.!;] |(?:^|(?<= ))(?:ok|okay|right|so|hey|hi|and|then|well) )(?P<adult><adult>)(?= ?,| (?:you|i)(?: |$)| (?:please )?(?:can|could|will|would|are|do) you(?: |$)| please )"
    r"|(?:,|<date>|<datetime>|<time>) (?P<last><adult>) ?[.!]*$"
)
_EARLIER = re.compile(r"earlier$|^last min(?:ute)?$", re.IGNORECASE)
_LATER = re.compile(r"later$", re.IGNORECASE)
_OF_A_COURSE = re.compile(
    r"(?:(?:is|are|be|being|isn't|starts?|starting|begins?|ends?|ending|finish(?:es|ing)?|runs?|running|on)"
    r"(?: (?:at|about|just|only|now|all|going|to|be|start|finish|end|coming|out))*|\w's) +$",
    re.IGNORECASE,
)
_OF_NEW_TERMS = re.compile(r" (?:at|on|from|starts?|starting|running) ", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """One unit of the skeleton.

    Attributes:
        text: Words or a mark.
        at: Offset in the skeleton.
        start: Offset of its first character in the message.
        end: Offset past its last character in the message.
        item: The mention or time span behind a mark.
    """

    text: str
    at: int
    start: int
    end: int
    item: Mention | TimeSpan | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Everything read from one text without knowing what came before it.

    Attributes:
        text: Verbatim.
        sent_at: Aware, in the household's zone.
        tokens: In text order.
        mentions: Household words, in text order.
        spans: Time expressions, in text order.
        symbols: The skeleton's units.
        skeleton: Their texts, joined by spaces.
        reply: What it says as a short answer, if anything.
        is_question: Whether it asks something.
        asks_for_owner: Whether it asks for somebody to do something.
        called: Member id of the adult it is said to by name, if it is; of a part, that of the whole message.
    """

    text: str
    sent_at: datetime
    tokens: tuple[Token, ...]
    mentions: tuple[Mention, ...]
    spans: tuple[TimeSpan, ...]
    symbols: tuple[Symbol, ...]
    skeleton: str
    reply: Reply | None
    is_question: bool
    asks_for_owner: bool
    called: str | None = None

    @property
    def people(self) -> frozenset[str]:
        """Words for people in it, in small letters."""
        return _people_in(self.mentions)

    def of_kind(self, *kinds: str) -> list[Mention]:
        """Return the mentions of these kinds, in text order."""
        return [mention for mention in self.mentions if mention.kind in kinds]

    def within(self, start: int, end: int, *, lead: tuple[int, int] = (0, 0)) -> "Reading":
        """Return the reading of a part of the message alone.

        Args:
            start: Skeleton offset of its beginning.
            end: Skeleton offset past it.
            lead: Another stretch, [start, end), that is put before it ("I'll take" of a list).
        """
        ranges = [lead, (start, end)]
        chosen = [self.symbols[self._place(first) : self._place(last)] for first, last in ranges]
        stretches = [(part[0].start, part[-1].end) for part in chosen if part]
        moved: list[Symbol] = []
        at = 0
        for symbol in (symbol for part in chosen for symbol in part):
            moved.append(replace(symbol, at=at))
            at += len(symbol.text) + 1
        return replace(
            self,
            mentions=tuple(m for m in self.mentions if _within(m.start, m.end, stretches)),
            spans=tuple(s for s in self.spans if _within(s.start_char, s.end_char, stretches)),
            symbols=tuple(moved),
            skeleton=" ".join(symbol.text for symbol in moved),
        )

    def _place(self, offset: int) -> int:
        """Return the index of the first symbol at a skeleton offset or behind it."""
        return bisect_left(self.symbols, offset, key=attrgetter("at"))

    def symbol_at(self, offset: int) -> Symbol:
        """Return the symbol that covers a skeleton offset."""
        before = bisect_right(self.symbols, offset, key=attrgetter("at")) - 1
        return self.symbols[max(before, 0)]

    def mention_at(self, offset: int) -> Mention | None:
        """Return the mention that covers a skeleton offset, if one does."""
        item = self.symbol_at(offset).item
        return item if isinstance(item, Mention) else None


def _within(start: int, end: int, stretches: Sequence[tuple[int, int]]) -> bool:
    return any(first <= start and end <= last for first, last in stretches)


def read_message(
    text: str,
    *,
    sent_at: datetime,
    lexicon: Lexicon,
    locale: str,
    named_times: Sequence[times.NamedTimeWords] = (),
    usual_hour: time | None = None,
) -> Reading:
    """Read one message.

    Args:
        text: Verbatim, any Unicode.
        sent_at: Aware, in the household's zone; relative times count from it.
        lexicon: The household's words.
        locale: BCP 47 tag, for date order and week start.
        named_times: Times of day that the household names.
        usual_hour: Usual start of the activity talked about, to tell am from pm.

    Returns:
        The reading; never raises on any text.
    """
    tokens = tokenise(text)
    found = _without_denied(lexicon.find(tokens), text)
    read = tuple(
        replace(span, surface=text[span.start_char : span.end_char])
        for span in times.read(
            _without_names(text, found),
            sent_at,
            locale=locale,
            named_times=named_times,
            usual_hour=usual_hour,
        )
    )
    spans = _without_comparisons(_without_new_terms(read, text), text)
    mentions = tuple(
        mention
        for mention in found
        if not any(_covers(span, mention) for span in spans) and _is_thing(mention, tokens, found)
    )
    symbols = _symbols(tokens, mentions, spans)
    skeleton = " ".join(symbol.text for symbol in symbols)
    return Reading(
        text=text,
        sent_at=sent_at,
        tokens=tokens,
        mentions=mentions,
        spans=spans,
        symbols=symbols,
        skeleton=skeleton,
        reply=read_reply(tokens, mentions),
        is_question=is_question(tokens, text, _people_in(mentions)),
        asks_for_owner=asks_for_owner(tokens, text, mentions),
        called=_called(symbols, skeleton),
    )


def _people_in(mentions: Iterable[Mention]) -> frozenset[str]:
    """Return the words for people that a message has, in small letters."""
    return frozenset(each.surface.casefold() for each in mentions if each.kind in _PEOPLE)


def _without_denied(mentions: Sequence[Mention], text: str) -> Sequence[Mention]:
    """Leave out people who are named only to say that it is another ("not Ben, Claire takes him")."""
    people = [each for each in mentions if each.kind in _PEOPLE]
    denied = [each for each in people if is_given_up(text, each.start)]
    return (
        [each for each in mentions if each not in denied] if len(denied) < len(people) else mentions
    )


def _called(symbols: Sequence[Symbol], skeleton: str) -> str | None:
    """Whom a message is said to by name: "Ben, you take her", "you take her, Ben"."""
    match = _VOCATIVE.search(skeleton)
    if match is None:
        return None
    offset = match.start("adult") if match["adult"] else match.start("last")
    item = next((symbol.item for symbol in symbols if symbol.at == offset), None)
    return item.id if isinstance(item, Mention) else None


def _without_new_terms(spans: Sequence[TimeSpan], text: str) -> tuple[TimeSpan, ...]:
    """Leave out the "now" that tells of new terms: "it is now Friday", "now at five", "Friday now"."""
    starts, ends = {span.start_char for span in spans}, {span.end_char for span in spans}
    return tuple(
        span
        for span in spans
        if span.surface.casefold() != "now"
        or not (
            _OF_NEW_TERMS.match(text, span.end_char)
            or span.end_char + 1 in starts
            or span.start_char - 1 in ends
        )
    )


def _without_comparisons(spans: Sequence[TimeSpan], text: str) -> tuple[TimeSpan, ...]:
    """Leave out what is counted from a usual hour and not from now ("an hour earlier next week"), or says "at the last minute"."""
    return tuple(
        span
        for span in spans
        if not _EARLIER.search(span.surface)
        and not (
            _LATER.search(span.surface) and _OF_A_COURSE.search(words_before(text, span.start_char))
        )
    )


def _without_names(text: str, mentions: Sequence[Mention]) -> str:
    """Blank out what looks like a time and is none: a child called June, "Ann's 14th", a parents' evening, "the next one 3 May"."""
    text = _BIRTHDAY.sub(lambda match: "x" * len(match.group()), text)
    text = _PRONOUN.sub("xxx", text)
    for mention in mentions:
        is_numbered = mention.kind == "activity" and any(map(str.isdigit, mention.surface))
        is_evening = mention.kind in _THINGS and _PART_OF_DAY.search(mention.surface) is not None
        if mention.kind in _PEOPLE or is_numbered or is_evening:
            blank = "x" * (mention.end - mention.start)
            text = text[: mention.start] + blank + text[mention.end :]
    return text


def _is_thing(mention: Mention, tokens: Sequence[Token], found: Sequence[Mention]) -> bool:
    """Whether a word that is also a verb or part of an idiom is meant as the thing."""
    words = grammar()
    if mention.kind == "group" and mention.surface.endswith(("'s", "’s", "s'", "s’")):
        return not _is_a_place(mention, tokens)
    if mention.kind == "group" and mention.surface.casefold() == "both":
        return _stands_for_people(mention, tokens)
    if mention.kind == "generic" and _tells_of_words(mention, tokens):
        return False
    if mention.kind != "generic" or mention.surface.casefold() not in words.doubtful_nouns:
        return True
    before = next((token for token in reversed(tokens) if token.end <= mention.start), None)
    if before is None or f"{before.text} {mention.surface.casefold()}" in words.idioms:
        return False
    return before.text in words.before_nouns or any(other.end == before.end for other in found)


def _tells_of_words(mention: Mention, tokens: Sequence[Token]) -> bool:
    """Whether it is the person who said something ("the doctor says no running till Friday"), not a visit."""
    after = next((token for token in tokens if token.start >= mention.end), None)
    return after is not None and after.text in _SAYING


def _is_a_place(mention: Mention, tokens: Sequence[Token]) -> bool:
    """Whether a possessive is short for a place: "at Children's" is the hospital, not the children."""
    before = next((token for token in reversed(tokens) if token.end <= mention.start), None)
    after = next((token for token in tokens if token.start >= mention.end), None)
    is_alone = after is None or after.kind is not TokenKind.WORD
    return before is not None and before.text in {"at", "to", "from"} and is_alone


def _stands_for_people(mention: Mention, tokens: Sequence[Token]) -> bool:
    """Whether a bare "both" means the children: no jobs ("do both"), and nothing that it could belong to."""
    before = next((token for token in reversed(tokens) if token.end <= mention.start), None)
    if before is not None and before.text in grammar().before_both_jobs:
        return False
    after = next((token for token in tokens if token.start >= mention.end), None)
    return after is None or after.kind is not TokenKind.WORD or after.text in grammar().after_both


def _covers(span: TimeSpan, mention: Mention) -> bool:
    """Whether the words are a time rather than a thing ("wed" is Wednesday, not a wedding)."""
    return span.start_char <= mention.start and mention.end <= span.end_char


def _symbols(
    tokens: Sequence[Token], mentions: Sequence[Mention], spans: Sequence[TimeSpan]
) -> tuple[Symbol, ...]:
    items = sorted(
        [(span.start_char, -span.end_char, _time_mark(span), span) for span in spans]
        + [
            (mention.start, -mention.end, _mark(mention, _after(tokens, mention)), mention)
            for mention in mentions
            if mention.kind in _MARKS
        ],
        key=lambda item: item[:2],
    )
    symbols: list[Symbol] = []
    at = covered = position = 0
    for token in tokens:
        if token.start < covered:
            continue
        while position < len(items) and items[position][0] < token.start:
            position += 1
        item: Mention | TimeSpan | None = None
        text, end = _words(token), token.end
        if position < len(items) and items[position][0] < token.end:
            _, negative_end, text, item = items[position]
            end = max(-negative_end, token.end)
        if not text:
            continue
        symbols.append(Symbol(text=text, at=at, start=token.start, end=end, item=item))
        at += len(text) + 1
        covered = end
        if isinstance(item, Mention) and _is_short_of_is(item, _after(tokens, item)):
            symbols.append(Symbol(text="is", at=at, start=end, end=end))
            at += len("is ")
    return tuple(symbols)


def _is_short_of_is(mention: Mention, following: str) -> bool:
    """Whether "'s" behind a child or an activity stands for "is": "Leo's not at judo", "judo's off"."""
    is_short = mention.surface.endswith(("'s", "’s")) and following in _AFTER_SHORT_IS
    return is_short and mention.kind in _TAKING_PLACE


def _mark(mention: Mention, following: str) -> str:
    """The mark of a mention; a child's possessive is not the child ("take Leo's pickup"), a short "is" is."""
    is_possessive = mention.surface.endswith(("'s", "’s"))
    if mention.kind == "child" and is_possessive and not _is_short_of_is(mention, following):
        return "<childs>"
    return _MARKS[mention.kind]


def _after(tokens: Sequence[Token], mention: Mention) -> str:
    return next((token.text for token in tokens if token.start >= mention.end), "")


def _words(token: Token) -> str:
    if token.kind is TokenKind.PUNCTUATION:
        is_shown = token.text in _CLAUSE_END or token.text in {"&", "+"}
        is_inside = token.text == "." and mask_stops(token.source)[token.start] != "."
        return token.text if is_shown and not is_inside else ""
    text = grammar().words.get(token.text, token.text)
    return re.sub(r"[<>]", "", text)


def _time_mark(span: TimeSpan) -> str:
    match span.kind:
        case SpanKind.RANGE:
            return "<range>" if span.has_time else "<date>"
        case SpanKind.DURATION:
            return "<duration>"
        case SpanKind.RECURRING:
            return "<recurring>"
        case _:
            pass
    if span.has_date and span.has_time:
        return "<datetime>"
    return "<date>" if span.has_date else "<time>"
