"""What of a message is worth keeping: durable statements, and what sets an earlier one right. Pure."""

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from kinkeeper.language.text import tokenise
from kinkeeper.memory.model import Category, Correction, Observation
from kinkeeper.memory.statements.canonical_words import canon_of, lexicon, opened
from kinkeeper.memory.statements.classification import classify_personal, told_plainly
from kinkeeper.memory.statements.names import kin
from kinkeeper.memory.statements.relation import Relation, relate
from kinkeeper.memory.statements.secrecy import is_only_wish, told_span
from kinkeeper.memory.statements.sentences import Part, begins_with_person, named, parts_of
from kinkeeper.memory.statements.statement_reader import LONGEST_STATEMENT, Reading, read_statement
from kinkeeper.memory.statements.subjects import ME
from kinkeeper.reading.coreference import names_written
from kinkeeper.reading.corrections import begins_by_setting_right, sets_itself_right
from kinkeeper.reading.replies import begins_as_question, is_question
from kinkeeper.reading.second_thoughts import put_right, sets_right
from kinkeeper.reading.times import read
from kinkeeper.reading.times.model import Grain, SpanKind

# A correction in one go: what is not so beside what is so ("not Monday, Tuesday"; "not allergic to
# nuts but to milk"). Pure.

_LONGEST_SIDE = 5
_IT = (
    r"(?:(?:it|that|this|he|she|they)(?:'s|'re| is| are| was| were| should be| was meant to be) )?"
)
_BREAK = r"(?:, ?but|,| but|;| [-–—])(?: rather)? "
_SIDES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_IT}not (?P<old>[^,;]+?){_BREAK}(?:i mean(?:t)? )?{_IT}(?P<new>[^,;]+)",
        rf"(?:i mean(?:t)? |make (?:it|that) )?{_IT}(?P<new>[^,;]+?),? (?:and )?not (?P<old>[^,;]+)",
        rf"(?:i mean(?:t)? |make (?:it|that) )?{_IT}(?P<new>[^,;]+?) (?:instead of|rather than) (?P<old>[^,;]+)",
        r"i said (?P<old>[^,;]+?)(?:,| but|, but) (?:but )?(?:i )?mean(?:t)?(?: to say)? (?P<new>[^,;]+)",
    )
)
# "I'm not allergic to nuts but to milk": a sentence of its own, denied, and what is so in its place.
_DENIED = re.compile(
    r"(?P<head>.+?)(?:(?<=is|re|as)n['’]t| not|(?<=do|es)n['’]t) (?P<old>[^,;]+?)(?P<break>, but|,| but|;) (?:but )?(?P<new>[^,;]+)",
    re.IGNORECASE,
)
_BE = re.compile(r"(?:\b(?:am|is|are|was|were)|['’](?:m|s|re))$", re.IGNORECASE)
_BEYOND_CONTRAST = re.compile(
    r"\b(?:i|we|he|she|they|you|is|are|was|were|am|has|have|does|do|did|will|would|can|if|because|when|which|who|"
    r"just|only|so|too|though|sorry|or|and|please|thanks|yet|really|sure|always|very)\b"
)
_PREPOSITIONS = frozenset("to in on at for with from of by about near under as".split())  # noqa: SIM905
_LEADS = _PREPOSITIONS | {"the", "a", "an", "my", "our"}
_DENIES = re.compile(rf"(?:{_IT}not|i said) \w[^,;]*$", re.IGNORECASE)
_RESUMES = re.compile(
    r"(?:(?:it|that|this|he|she|they)(?:'s|'re| is| are| was| were)|i mean(?:t)?) ", re.IGNORECASE
)
_DO = re.compile(r" do$", re.IGNORECASE)
_WORD = re.compile(r"[\w'@.+-]*[\w@]")


class Contrast(NamedTuple):
    """What is not so beside what is so.

    Attributes:
        wrong: The sentence that does not hold.
    """

    wrong: str
    right: str


def joined(parts: Sequence[Part], text: str) -> list[Part]:
    """Return parts, a denial and what it goes on with as one ("it's not Tim, it's Tom").

    Args:
        parts: Of the text, in order.
    """
    found: list[Part] = []
    for part in parts:
        last = found[-1] if found else None
        if (
            last is not None
            and last.mark in {",", "."}
            and _DENIES.fullmatch(last.text)
            and _RESUMES.match(part.text)
            and len(part.text.split()) <= _LONGEST_SIDE + 2
        ):
            between = text[last.start : part.end]
            found[-1] = Part(between, last.start, part.end, part.mark)
        else:
            found.append(part)
    return found


def denied_at_once(text: str, *, is_led: bool) -> Contrast | None:
    """Return what a sentence denies and what it says in its place, told whole.

    Args:
        text: A sentence, without what leads it in.
        is_led: Whether it is said to set something right; a mere comma is a contrast only then.
    """
    found = _DENIED.fullmatch(text)
    if (
        found is None
        or _BEYOND_CONTRAST.search(opened(found["new"]))
        or not _is_short(found["new"])
    ):
        return None
    head, old, new = _DO.sub("", found["head"].strip()), found["old"].strip(), found["new"].strip()
    lead = new.split()[0].lower()
    place = _last_of(lead, old) if lead in _LEADS else None
    is_sure = "but" in found["break"].lower() or (
        is_led and (place is not None or _BE.search(head))
    )
    if not is_sure:
        return None
    if place is not None:
        return Contrast(f"{head} {old}", f"{head} {old[:place]}{new}")
    return Contrast(f"{head} {old}", f"{head} {new}") if _BE.search(head) else None


def swapped(text: str, told: Callable[[], Iterable[str]]) -> Contrast | None:
    """Return an earlier sentence and how it reads right, where one word of it is put in the place of another.

    Args:
        text: What only names the two ("Tuesday, not Monday"), without what leads it in.
        told: Returns earlier sentences, the last first; called only for a text that names two.
    """
    for old, new in _sides(text):
        for sentence in told():
            if (place := _place_of(old, sentence)) is not None:
                start, end = place
                return Contrast(sentence, f"{sentence[:start]}{new}{sentence[end:]}")
    return None


def sentence_with(words: str, told: Sequence[str]) -> str | None:
    """Return the last sentence that holds words, in whatever form.

    Args:
        told: Sentences, the last first.
    """
    return next((sentence for sentence in told if _place_of(words, sentence)), None)


def is_swap(text: str) -> bool:
    """Whether a text only names what is not so and what is, and says of nothing that it is."""
    return next(_sides(text), None) is not None


def _sides(text: str) -> Iterator[tuple[str, str]]:
    for pattern in _SIDES:
        if found := pattern.fullmatch(text):
            old, new = (_bare(found[side]) for side in ("old", "new"))
            if not _tells_of_person(new) and all(
                _is_short(each) and not _BEYOND_CONTRAST.search(opened(each)) for each in (old, new)
            ):
                yield old, new


def _tells_of_person(side: str) -> bool:
    """Whether what would only name what is so is a sentence of its own: "Claire lives in Kingston"."""
    return begins_with_person(side) and any(
        each.slot and each.value for each in read_statement(side)
    )


def _bare(side: str) -> str:
    """Return a side without the preposition that both share with what they stand for."""
    words = side.strip().split()
    while len(words) > 1 and words[0].lower() in _PREPOSITIONS:
        words = words[1:]
    return " ".join(words)


def _place_of(words: str, sentence: str) -> tuple[int, int] | None:
    """Return where words stand in a sentence, in whatever form, light ones aside."""
    light = lexicon().light
    wanted = [canon_of(each.lower()) for each in _WORD.findall(words) if each.lower() not in light]
    found = list(_WORD.finditer(sentence))
    canons = [canon_of(each[0].lower()) for each in found]
    for start in range(len(canons) - len(wanted), -1, -1):
        if wanted and canons[start : start + len(wanted)] == wanted:
            return found[start].start(), found[start + len(wanted) - 1].end()
    return None


def _last_of(word: str, text: str) -> int | None:
    found = [each.start() for each in re.finditer(rf"\b{re.escape(word)}\b", text.lower())]
    return found[-1] if found else None


def _is_short(side: str) -> bool:
    return 0 < len(side.split()) <= _LONGEST_SIDE


_FEWEST_WORDS = 3
_SHORTEST_IDENTIFIER = 5
_MOST_LOOKED_BACK = 8
_MOST_SENTENCES_BACK = 16
_UNSURE = 0.7
_SINCE = re.compile(r"\b(?:since|from|as of|starting|effective)\b", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:until|till|through|up to)\b", re.IGNORECASE)
_VALUE_ONLY = re.compile(
    r"^(?:it is|it was|that is|the name is|make it|call me|is|be) (?P<v>.+)$|^(?P<w>[\w' -]{1,40})$"
)
_LONGEST_VALUE = 6
_IT_GOES_ON = frozenset({"", "it", "its", "that", "thats", "not", "to"})
_THEY_GO_ON = frozenset({"he", "she", "they", "so", "hes", "shes", "and", "but"})
_HAS_VERB = re.compile(r"^(?:i|we|he|she|they|my|our|his|her|their)\b")
_INSTEAD = re.compile(r", (?:and )?not ([\w' -]{1,40})$", re.IGNORECASE)
_TELLING_WORD = re.compile(
    r"\b(?:is|are|was|were|has|have|not|i|we|you|do|does|did|will|would|can|could|should)\b"
)
_CALL_ME = re.compile(
    r"^(?:please )?(?:you can )?(?:just )?call (?:me|us|him|her) \w+", re.IGNORECASE
)


@cache
def _talk() -> Mapping[str, re.Pattern[str]]:
    """Return the patterns of the data file by name, read once."""
    raw = tomllib.loads(files(__package__).joinpath("data/talk.toml").read_text(encoding="utf-8"))
    found = {}
    for name in ("request", "talk"):
        found[name] = re.compile("(?:" + "|".join(raw["begins"][name]) + ")")
    for name, patterns in raw["holds"].items():
        found[name] = re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
    found["lead"] = re.compile("^(?:(?:" + "|".join(raw["corrects"]["lead"]) + "))+")
    found["bare"] = re.compile("^(?:" + "|".join(raw["corrects"]["bare"]) + ")$")
    return found


def observe(
    text: str,
    *,
    said_at: datetime,
    previous: Sequence[str] = (),
    locale: str = "en-US",
    people: Collection[str] = (),
) -> tuple[Observation, ...]:
    """Return what of a message is worth keeping; small talk, questions and requests are not.

    Args:
        text: What somebody says to the assistant.
        said_at: When, aware, in the household's zone.
        previous: Earlier turns of the same conversation, oldest first.
        locale: Decides how dates are read.
        people: Words for people who are known, in small letters: they are names however they were typed.

    Returns:
        Statements in text order. Sentences of more than 500 characters are not read; a correction is related to the
        16 sentences before it and to the earlier turns.
    """
    if names := {*people} - kin():
        text = names_written(text, names)
        previous = [names_written(each, names) for each in previous]
    said = [told for each in parts_of(text) if (told := _without_wish(each, people)) is not None]
    parts = named(
        joined([*_set_right_at_once(said, text, {*people} - kin())], text),
        previous[-_MOST_LOOKED_BACK:],
        people,
    )
    found: list[Observation] = []
    is_led = False
    known = {*people, *kin()}
    for place, part in enumerate(parts):
        if len(part.text) > LONGEST_STATEMENT:
            continue
        is_asked = is_question(tokenise(part.text), part.text, known)
        if is_asked or (not place and begins_as_question(part.text)):
            continue
        just_before = parts[max(0, place - _MOST_SENTENCES_BACK) : place]
        before = [*previous[-_MOST_LOOKED_BACK:], *(each.text for each in just_before)]
        plain = opened(part.text)
        lead = _talk()["lead"].match(plain)
        if lead is not None and lead.end() == len(plain) and not _talk()["bare"].match(plain):
            is_led = place + 1 < len(parts)
            continue
        is_led = is_led or lead is not None
        observed = _correction(part, before, is_led=is_led) or _statement(
            part, before, is_led=is_led
        )
        is_led = False
        if observed is None:
            continue
        if _is_taken_back_at_once(observed, found, just_before):
            found[-1:] = [replace(observed, start=found[-1].start)]
        else:
            found.append(_dated(observed, said_at, locale))
    asked = {part.end for part in parts if part.mark == "?"}
    return tuple(each for each in found if each.end not in asked)


def _set_right_at_once(parts: Sequence[Part], text: str, names: Collection[str]) -> Iterator[Part]:
    """Yield parts, a statement with what sets it right in the same breath as one: a value that was given up is not told alone.

    Where it is sure what the one comes to, it tells that; else it keeps all of the words.
    """
    place = 0
    while place < len(parts):
        part, end, right = parts[place], place + 1, ""
        is_open = sets_itself_right(part.text)
        while end < len(parts) and parts[end].end - part.start <= LONGEST_STATEMENT:
            stop = next((at for at in range(end, len(parts)) if parts[at].mark != ","), end)
            told = right or text[part.start : parts[end - 1].end]
            reply = text[parts[end].start : parts[stop].end]
            if sets_right(reply, told, names):
                new = put_right(told, reply, names)
                right, end = new or (right and f"{right}. {reply}"), stop + 1
            elif _goes_on(parts[end], is_open=is_open or end > place + 1):
                right, end = right and f"{right}. {parts[end].text}", end + 1
            else:
                break
        more = parts[place + 1 : end]
        *_, last = (part, *more)
        is_kept = part.mark == "?" or not more or _talk()["bare"].match(_unled(last))
        if is_kept or not _is_durable(part.text, opened(part.text)):
            yield from parts[place:end]
            place = end
            continue
        value = next((rest for each in more if (rest := _unled(each))), "") if not is_open else ""
        if not right and _unled(last) == value:
            right = _put_right(part.text, last.text, value) or ""
        yield Part(right or text[part.start : last.end], part.start, last.end, last.mark)
        place = end


def _goes_on(part: Part, *, is_open: bool) -> bool:
    """Whether a part sets right what stands before it, or goes on with what does, and tells of nothing by itself."""
    plain, rest = opened(part.text), _unled(part)
    is_led = begins_by_setting_right(part.text)
    if plain == rest and not (is_open or is_led):
        return False
    first, *_ = rest.split() or [""]
    is_of_it = is_led or first in _IT_GOES_ON or (is_open and first in _THEY_GO_ON)
    is_value = len(rest.split()) <= _LONGEST_SIDE and not _TELLING_WORD.search(rest)
    return is_of_it or is_value


def _unled(part: Part) -> str:
    """Return a part in plain words without what says that something before was wrong."""
    plain = opened(part.text)
    lead = _talk()["lead"].match(plain)
    return plain[lead.end() :].strip(" ,.") if lead else plain


def _put_right(told: str, said: str, rest: str) -> str | None:
    """Return a sentence with another value at its end; None where it is not sure that it is the value that changes."""
    found = _VALUE_ONLY.match(
        rest.replace("its ", "it is ", 1) if rest.startswith("its ") else rest
    )
    value = (found["v"] or found["w"]) if found else ""
    reading = read_statement(told)[0]
    if not value or _TELLING_WORD.search(value) or not (reading.is_known and reading.value):
        return None
    old = _surface(told, reading)
    is_number = old is not None and any(map(str.isdigit, old))
    is_of_other_kind = is_number and not any(map(str.isdigit, value))
    if is_of_other_kind or value.split()[0] in _PREPOSITIONS:
        return None
    if old is None or not told.endswith(old) or not said.lower().endswith(value):
        return None
    return f"{told.removesuffix(old)}{said[-len(value) :]}"


def _without_wish(part: Part, people: Collection[str]) -> Part | None:
    """Return a part without a wish for secrecy at its edges; None where it is nothing else."""
    if is_only_wish(part.text, people):
        return None
    begin, end = told_span(part.text, people)
    return Part(part.text[begin:end], part.start + begin, part.start + end, part.mark)


def _is_taken_back_at_once(
    observed: Observation, found: Sequence[Observation], before: Sequence[Part]
) -> bool:
    """Whether it only takes back the sentence right before it ("I love tacos? Not any more")."""
    correction = observed.correction
    return (
        correction is not None
        and correction.is_retraction
        and bool(found)
        and bool(before)
        and found[-1].end == before[-1].end
    )


def _statement(part: Part, before: Sequence[str], *, is_led: bool) -> Observation | None:
    plain = opened(part.text)
    if len(plain.split()) < _FEWEST_WORDS or not _is_durable(part.text, plain):
        return None
    if is_swap(_without_lead(part.text)):
        return None
    return _observation(part, part.text, _set_right(part.text, before) if is_led else None)


def _is_durable(text: str, plain: str) -> bool:
    """Whether a sentence tells something that will still hold in weeks."""
    talk = _talk()
    if (
        talk["request"].match(plain)
        or talk["talk"].match(plain)
        or talk["trivial_feeling"].search(plain)
    ):
        return False
    readings = read_statement(text)
    if not readings or readings[0].is_hypothetical:
        return False
    is_lasting = talk["lasting"].search(plain) is not None
    if talk["passing"].search(plain) and not is_lasting:
        return False
    if is_lasting or any(_is_telling(reading, text, plain) for reading in readings):
        return True
    return not _PAST_EVENT.search(plain) and _is_of_somebody(text, readings[0])


def _is_of_somebody(text: str, reading: Reading) -> bool:
    """Whether a sentence tells of somebody named what they do, or who somebody is ("the plumber is Mr Obi")."""
    if reading.is_past or not reading.value:
        return False
    is_who = reading.subject == ME and not reading.names.isdisjoint(reading.value)
    return begins_with_person(text) or (is_who and _IS_WHO.search(text) is not None)


_PAST_EVENT = re.compile(
    r"\b(?:yesterday|earlier|last (?:night|week|weekend)|on (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
)
_IS_WHO = re.compile(r"^[\w' -]{3,40} (?:is|are) (?:[A-Z]|mr|mrs|ms|dr)[\w.'-]*(?: [A-Z][\w'-]*)*$")
_RULE = re.compile(
    r"\b(?:must|have to|has to|not allowed|allowed|never|always|only|rule|no \w+ (?:at|before|after|on|in|until)|due|closes?|opens?|costs?|every|stored|runs? on|uses?|written in)\b"
)


def _is_identifier(word: str) -> bool:
    """Whether a word is a name or key that somebody made up: letters with digits or capitals among them, or a long number."""
    word = word.strip(".,;:!?()\"'")
    if not word.isalnum() or len(word) < _SHORTEST_IDENTIFIER:
        return False
    is_mixed = any(map(str.isdigit, word)) and not word[0].isdigit()
    return is_mixed or word.isdecimal() or not (word[1:].islower() or word.isupper())


def _is_telling(reading: Reading, text: str, plain: str) -> bool:
    if reading.is_known:
        return (
            bool(reading.value)
            or reading.is_retraction
            or reading.is_negative
            or not reading.is_past
        )
    if reading.is_past or _PAST_EVENT.search(plain):
        return False
    if not reading.value:
        return reading.subject != ME and bool(reading.slot)
    if reading.subject != ME or plain.startswith(("i ", "we ", "my ", "our ")):
        return True
    return (
        _RULE.search(plain) is not None
        or any(map(_is_identifier, text.split()))
        or " be " in f" {reading.slot} "
        or plain.split(maxsplit=1)[0] in {"the", "our"}
    )


def _correction(part: Part, before: Sequence[str], *, is_led: bool) -> Observation | None:
    """Return what sets an earlier sentence right without being a whole sentence itself."""
    talk, plain = _talk(), opened(part.text)
    lead = talk["lead"].match(plain)
    rest = plain[lead.end() :].strip(" ,.") if lead else plain
    if talk["bare"].match(plain) or talk["bare"].match(rest):
        return _taken_back(part, before)
    if contrasted := _contrasted(part, before, is_led=is_led):
        return contrasted
    if _CALL_ME.match(part.text):
        return _observation(part, part.text, Correction(corrects=_last_of_slot("name", before)))
    value = _VALUE_ONLY.match(rest) if is_led else None
    if value is None or len(rest.split()) > _LONGEST_VALUE or _HAS_VERB.search(rest):
        return None
    if _TELLING_WORD.search(value["v"] or value["w"]):
        return None
    return _completed(part, value["v"] or value["w"], before)


def _contrasted(part: Part, before: Sequence[str], *, is_led: bool) -> Observation | None:
    """Return what says at once what is not so and what is."""
    text = _without_lead(part.text)
    found = denied_at_once(text, is_led=is_led) or swapped(text, lambda: _told(before))
    if found is None or not _is_durable(found.right, opened(found.right)):
        return None
    return _observation(part, found.right, Correction(corrects=found.wrong))


def _without_lead(text: str) -> str:
    """Return a sentence without what says that something before was wrong; as written."""
    lead = _talk()["lead"].match(text.lower())
    if lead is None or lead.end() >= len(text):
        return text
    # A lead may take the denial along ("I meant, not Tom").
    return text if " not " in f" {lead[0]} " else text[lead.end() :]


def _taken_back(part: Part, before: Sequence[str]) -> Observation | None:
    told = next(_told(before), None)
    if told is None:
        return None
    taken = _observation(part, part.text, Correction(corrects=told, is_retraction=True))
    return replace(taken, category=classify_personal(told).category)


def _completed(part: Part, value: str, before: Sequence[str]) -> Observation | None:
    """Return the last sentence with another value: after "my son is called Tim", "sorry, it's Tom"."""
    for told in _told(before):
        reading = read_statement(told)[0]
        if not (reading.is_known and reading.value and reading.is_single) and not reading.names:
            continue
        old = _surface(told, reading)
        if old is None:
            continue
        shown = part.text[-len(value) :] if part.text.lower().endswith(value) else value
        sentence = told.replace(old, shown, 1)
        return _observation(part, sentence, Correction(corrects=told))
    return None


def _surface(told: str, reading: Reading) -> str | None:
    """Return the words of a sentence that its value stands in."""
    wanted = set(reading.value) if reading.is_known and reading.value else set(reading.names)
    found = [each for each in _WORD.finditer(told) if canon_of(each[0].lower()) in wanted]
    return told[found[0].start() : found[-1].end()] if found else None


def _told(before: Sequence[str]) -> Iterator[str]:
    """Yield what was told before, the last first."""
    for turn in reversed(before):
        for part in reversed(parts_of(turn)):
            plain = opened(part.text)
            if (
                part.mark != "?"
                and len(plain.split()) >= _FEWEST_WORDS
                and _is_durable(part.text, plain)
            ):
                yield part.text


def _last_of_slot(slot: str, before: Sequence[str]) -> str | None:
    return next((told for told in _told(before) if read_statement(told)[0].slot == slot), None)


def _set_right(text: str, before: Sequence[str]) -> Correction:
    """Return which earlier sentence a whole new one sets right."""
    for told in _told(before):
        if relate(told, text).relation in {Relation.UPDATE, Relation.CONTRADICTION}:
            return Correction(corrects=told)
    # "her teacher is Anna, not Ida": the one who is not is named.
    instead = _INSTEAD.search(text)
    return Correction(corrects=sentence_with(instead[1], [*_told(before)]) if instead else None)


def _observation(part: Part, sentence: str, correction: Correction | None) -> Observation:
    found = classify_personal(sentence)
    return Observation(
        text=sentence,
        start=part.start,
        end=part.end,
        category=found.category,
        type=found.type,
        title=found.title,
        narrative=told_plainly(sentence),
        confidence=1.0 if found.category is not Category.EMOTIONAL else _UNSURE,
        correction=correction,
    )


def _dated(observed: Observation, said_at: datetime, locale: str) -> Observation:
    """Add since when and until when it holds, where the words say so."""
    changed = observed
    for span in read(observed.text, said_at, locale=locale):
        if span.kind not in {SpanKind.DATE, SpanKind.DATETIME, SpanKind.RANGE} or not span.has_date:
            continue
        lead = observed.text[: span.start_char][-12:] + span.surface
        if _SINCE.search(lead):
            changed = replace(changed, valid_from=span.begin)
        elif _UNTIL.search(lead):
            changed = replace(
                changed, valid_to=span.until if span.grain is not Grain.HOUR else span.begin
            )
    return changed
