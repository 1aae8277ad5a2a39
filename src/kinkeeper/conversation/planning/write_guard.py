"""The check that every step of a rule passes before it may be carried out: was it asked for, and was all of it understood? Pure.

A command with a slot of its own for free words ("remind me to …", "add … to the list", "put … in the calendar") is
understood by its form. An event that is only described has to be understood word by word, and a statement is never
enough: the person is asked. What is denied, over or only supposed makes nothing at all.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum, auto

from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.case import Case, Groups, Step
from kinkeeper.conversation.planning.grammar import word_sets
from kinkeeper.language.dictionary import first_names
from kinkeeper.language.text import split_sentences, tokenise
from kinkeeper.memory.statements.care import deeds_of, frees_others
from kinkeeper.memory.statements.names import kin
from kinkeeper.reading.asked import LimitKind, forbids, same_things
from kinkeeper.reading.corrections import told_not_asked
from kinkeeper.reading.modality import OTHERS_WORDS, UNREAL, Modality, is_put_on_body, modality_of
from kinkeeper.reading.own_lists import OWN_LIST
from kinkeeper.reading.replies import is_question

_WORD = re.compile(r"[^\W_]+(?:['’:-][^\W_]+)*['’]?|&")
_SENTENCE_END = re.compile(r"[.!?;]\s")
_POLITE = re.compile(
    r"\b(?:can|could|would|will) (?:you|we|i)\b|\bi(?:'d| would) (?:like|love)\b"
    r"|\bif (?:you (?:can|could|would|get a chance|have time|don't mind)|possible|that's ok(?:ay)?)\b",
    re.IGNORECASE,
)
_ADDING = frozenset({"add", "adding", "put", "putting"})
_LONGEST_NAME = 3
_MOST_GUESTS = 4
"""Words after "with" that name whom one meets."""


class _Verdict(Enum):
    RUN = auto()
    OFFER = auto()
    DROP = auto()


def guarded(
    steps: Sequence[Step], clause: str, case: Case, *, rule: str, groups: Groups
) -> list[Step]:
    """Return the steps of a rule that may stay; those that a person has to confirm become offers.

    Args:
        steps: As the rule made them.
        clause: With marks.
        rule: Its name.
        groups: What it found in the clause.
    """
    if rule.startswith(("lists.", "events.")) and any(map(_is_empty, steps)):
        return []
    verdict = _verdict(steps, clause, case, rule=rule, groups=groups)
    if verdict is _Verdict.RUN and rule.startswith("lists.") and any(map(_speaks_of_adding, steps)):
        verdict = _Verdict.OFFER
    if verdict is _Verdict.DROP:
        return []
    if verdict is _Verdict.RUN:
        return [*steps]
    return [
        replace(each, is_offer=True) if isinstance(each, PlannedAction) else each for each in steps
    ]


def unexplained(title: str, case: Case) -> list[str]:
    """Return the words of an event's title that nobody knows anything of.

    Args:
        title: As it would stand in the calendar.
        case: The message, with the words of the household.
    """
    words = _WORD.findall(title)
    return [words[at] for at in _left_over(words, case)]


def _verdict(
    steps: Sequence[Step], clause: str, case: Case, *, rule: str, groups: Groups
) -> _Verdict:
    rules = word_sets("guard", "rules")
    said = _with_lead(clause, case).strip()
    found = told_not_asked(said)
    is_undone = rule == "events.cancel" and (
        frees_others(said, case.household)
        or any(each.is_denied for each in deeds_of(said, case.household))
        or _tells_diet(said, case)
    )
    # "Did" may begin what is told and what is asked.
    is_undone |= rule == "tasks.done" and _asks(said, clause, case)
    if "unwanted" in found or is_undone or is_put_on_body(said):
        return _Verdict.DROP
    days = (each.begin.date() for each in case.message.times(clause) if each.has_date)
    meant = modality_of(said, is_ahead=any(day > case.now.date() for day in days))
    is_bare = "bare" in groups
    if rule in rules["reports"] or is_bare:
        is_others = meant in OTHERS_WORDS or "of_others" in found
        return _Verdict.OFFER if is_others or meant in UNREAL else _Verdict.RUN
    is_command = rule in rules["commands"]
    if is_command and not found.isdisjoint({"nouns", "compound"}):
        return _Verdict.DROP
    if is_command:
        is_sure = modality_of(lead_of(clause, case)) not in UNREAL and "of_others" not in found
        is_run = is_sure and (_is_titled(groups) or _is_understood(steps, case))
        return _Verdict.RUN if is_run else _Verdict.OFFER
    if rule not in rules["describes"]:
        return _Verdict.RUN
    is_news = "nouns" in found and not any(_titles(steps))
    if is_news or meant in UNREAL | {Modality.NEGATED, Modality.PAST}:
        return _Verdict.DROP
    if _is_understood(steps, case):
        is_said = meant is Modality.NAMED and not (_is_asked(clause, case) or "nouns" in found)
        return _Verdict.RUN if is_said else _Verdict.OFFER
    is_news = ("nouns" in found and "compound" not in found) or _speaks_of_what_stands(steps, case)
    return _Verdict.DROP if is_news else _Verdict.OFFER


def _with_lead(clause: str, case: Case) -> str:
    """Return a clause with the words of its sentence before it, which may be what makes it less than certain."""
    return f"{lead_of(clause, case)}{clause}"


def _tells_diet(said: str, case: Case) -> bool:
    """Whether a clause tells what somebody must not have: "no nuts for Ada", but not "no piano for Ada on Friday"."""
    text = _with_tail(said, case)
    if not forbids(text, LimitKind.DIET) or _speaks_of_event(said, case):
        return False
    return bool(same_things(text)) or not case.message.times(said)


def _with_tail(said: str, case: Case) -> str:
    """Return a clause with the words of its sentence after it."""
    _, _, after = case.message.text.partition(said)
    return f"{said}{split_sentences(after, _SENTENCE_END)[0]}"


def lead_of(clause: str, case: Case) -> str:
    """Return the words of a clause's sentence before it, without those that are only polite, or that ask for a reminder."""
    before, found, _ = case.message.text.partition(clause)
    lead = split_sentences(before, _SENTENCE_END)[-1] if found else ""
    is_reminder = case.grammar.said["open_ended"].match(lead) is not None
    return "" if is_reminder and case.message.times(lead) else _POLITE.sub("", lead)


def _asks(said: str, clause: str, case: Case) -> bool:
    people = kin().union(case.household.members_by_word)
    return _is_asked(clause, case) or is_question(tokenise(said), said, people)


def _is_asked(clause: str, case: Case) -> bool:
    """Whether a question mark stands behind a clause: "dentist Monday 9?" wonders, and tells nothing."""
    _, found, after = case.message.text.partition(clause)
    return clause.rstrip().endswith("?") or (bool(found) and after.lstrip().startswith("?"))


def _speaks_of_adding(step: Step) -> bool:
    """Whether a line would hold words about adding it, or deny something ("no need to add eggs")."""
    line = _written(step)
    is_adding = not _ADDING.isdisjoint(_WORD.findall(line.lower()))
    return is_adding or modality_of(line) is Modality.NEGATED


def _written(step: Step) -> str:
    if not isinstance(step, PlannedAction):
        return ""
    title = step.params.get("title") or step.params.get("summary")
    return str(step.params.get("body") or ("" if title == OWN_LIST else title) or "")


def _is_empty(step: Step) -> bool:
    """Whether a line, list or event would be written that has no word of its own ("and and", "that's")."""
    written = _written(step)
    empty = word_sets("guard")["function"] | {"not", "no", "is", "s", "it", "list"}
    return any(
        empty.issuperset(re.findall(r"[^\W_]+", line.lower())) for line in written.splitlines()
    )


def _is_titled(groups: Groups) -> bool:
    """Whether a command names the calendar, so that what stands beside that is a title whatever it says."""
    verb = groups.get("firm", "").lower().split()[:1]
    is_verb = not word_sets("guard", "rules")["calendar_verbs"].isdisjoint(verb)
    if is_verb and modality_of(groups["what"]) is Modality.NAMED:
        return True
    return bool(groups.get("calendar")) or ("early" in groups and "firm" not in groups)


def _speaks_of_what_stands(steps: Sequence[Step], case: Case) -> bool:
    """Whether a title says what is done to an event that is there ("giving judo a miss"): news of it, and no other event."""
    known = _known_things(case)
    titles = [[word.lower() for word in _WORD.findall(title)] for title in _titles(steps)]
    return any(
        words and words[0].endswith("ing") and words[0] not in known and not known.isdisjoint(words)
        for words in titles
    )


def _speaks_of_event(said: str, case: Case) -> bool:
    """Whether a text has a word of an event in the calendar that is nobody's name."""
    return not _known_things(case).isdisjoint(each.lower() for each in _WORD.findall(said))


def _known_things(case: Case) -> frozenset[str]:
    """Return the words of events in the calendar that are no names and say something."""
    people = {word.lower() for name in case.household.names.values() for word in name.split()}
    return _standing(case) - people - word_sets("guard")["function"]


def _is_understood(steps: Sequence[Step], case: Case) -> bool:
    return not any(unexplained(title, case) for title in _titles(steps))


def _titles(steps: Sequence[Step]) -> list[str]:
    return [
        str(each.params.get("summary", "")) for each in steps if isinstance(each, PlannedAction)
    ]


def _left_over(words: Sequence[str], case: Case) -> Iterator[int]:
    """Yield the places of words that are neither known nor part of a name."""
    plain = [each.lower().replace("’", "'") for each in words]
    known = {**word_sets("guard"), "standing": _standing(case)}
    at = 0
    while at < len(words):
        length = _of_household(plain[at:], case)
        if length:
            at += length
            continue
        guests = plain[at] == "with" and len(plain) - at - 1 <= _MOST_GUESTS
        if guests and modality_of(" ".join(plain[at + 1 :])) is Modality.NAMED:
            return
        if not _is_known(plain[at], known) and not (at and _is_name(words[at])):
            yield at
        at += 1


def _standing(case: Case) -> frozenset[str]:
    """Return the words of events that are in the calendar already."""
    titles = (each.title for each in case.things if each.kind == "event" and each.start)
    return frozenset(word.lower() for title in titles for word in _WORD.findall(title))


def _of_household(words: Sequence[str], case: Case) -> int:
    """Return how many words a name of the household has that stands first; 0 where none does."""
    for length in range(min(_LONGEST_NAME, len(words)), 0, -1):
        name = " ".join(words[:length]).strip("'")
        if case.vocabulary.meanings(name) or case.vocabulary.meanings(name.removesuffix("'s")):
            return length
    return 0


def _is_known(word: str, known: Mapping[str, frozenset[str]]) -> bool:
    forms = {
        word,
        word.removesuffix("'s"),
        word.rstrip("'"),
        word.removesuffix("s"),
        word.removesuffix("es"),
    }
    if forms & first_names():
        return True
    return any(not forms.isdisjoint(each) for each in known.values())


def _is_name(word: str) -> bool:
    return word[0].isupper() and not word.isupper()
