"""Read and check training text in the compact form that LABELS.md describes.

`python training/corpus.py FILE…` prints every mistake as FILE:LINE: what is wrong, then counts; exit status 1 on mistakes.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from typing import Final

ACTS = frozenset(
    [
        "state",
        "ask",
        "request",
        "offer",
        "accept",
        "decline",
        "assign",
        "withdraw",
        "correct",
        "promise",
        "report_done",
        "greet",
        "none",
    ]
)
PREDICATES = frozenset(
    [
        "event",
        "pickup",
        "dropoff",
        "cover",
        "task",
        "reminder",
        "list_add",
        "list_remove",
        "note",
        "mail",
        "cancel",
        "move",
        "change",
        "absence",
        "look_up",
        "fact",
        "forget",
        "preference",
        "settings",
        "other",
    ]
)
MODALITIES = frozenset(["past", "cond", "hyp", "reported", "quoted", "joke"])
SLOTS = {
    "w": "what", "f": "who_for", "d": "who_does", "t": "when", "u": "until", "p": "where",
    "o": "from", "n": "to", "r": "recipient", "x": "text", "q": "amount", "a": "attribute", "v": "value",
}  # fmt: skip
SURFACES = frozenset({"group", "assistant", "told"})
KINDS = frozenset({"event", "task", "list", "card", "memory", "reminder", "mail"})
STATUSES = frozenset({"proposed", "agreed", "moved", "off", "done"})

HELD_OUT = frozenset({"w09", "w10", "w11", "w12"})
"""Writers whose text no weights are fitted on and no rule is written with: what is measured on them holds for strangers."""

CALIBRATED_ON: Final = frozenset({"w15", "w22"})
"""Writers on whom chances are calibrated and thresholds chosen; no weights are fitted on them."""

_HOUSEHOLD = re.compile(r"## household (?P<name>[\w-]+) \| (?P<people>[^|]+) \| (?P<place>[^|]+)$")
_TALK = re.compile(r"# (?P<surface>\w+) (?P<at>\d{4}-\d{2}-\d{2} \d{2}:\d{2})$")
_MESSAGE = re.compile(r"(?P<number>\d+) (?P<speaker>[^|]+?) \| (?P<label>[^|]+?) \| (?P<text>.+)$")
_MORE = re.compile(r"\s*\| (?P<label>[^|]+?) \|\s*$")
_ITEM = re.compile(r"@(?P<number>\d+) (?P<kind>\w+) \| (?P<text>.+)$")
_MARK = re.compile(r"\{(?P<name>\w+):(?P<span>[^{}]*)\}|\s*(?<!:)//\s*")


class LabelError(ValueError):
    """A line that the guide does not allow; the text says what to write instead."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A marked span: characters start to end (exclusive) of the message's text."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Clause:
    """One labelled clause: characters start to end of the message, its label and its slots."""

    start: int
    end: int
    act: str
    predicate: str | None
    modality: str | None
    is_negated: bool
    is_secret: bool
    link: int | None
    item: int | None
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """A message as typed, with its clauses; numbers count from 1 within the talk."""

    number: int
    speaker: str
    text: str
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a talk amounted to, for one plan."""

    predicate: str
    what: str
    who_for: str
    who_does: str
    when: str
    status: str
    evidence: tuple[int, ...]


@dataclass(slots=True)
class Talk:
    """A run of messages of one household on one surface."""

    household: str
    people: str
    place: str
    surface: str
    at: str
    items: dict[int, tuple[str, str]] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)


def _label(text: str, talk: Talk) -> dict[str, object]:
    """Read a label such as `state.move not ^3`; its links must lead to what the talk has so far."""
    head, *rest = text.split()
    act, _, predicate = head.partition(".")
    if act not in ACTS or (predicate and predicate not in PREDICATES):
        raise LabelError(f"unknown act or predicate {head!r}")
    found: dict[str, object] = {
        "act": act,
        "predicate": predicate or None,
        "modality": None,
        "is_negated": "not" in rest,
        "is_secret": "secret" in rest,
        "link": None,
        "item": None,
    }
    for word in {*rest} - {"not", "secret"}:
        if word in MODALITIES:
            found["modality"] = word
        elif word.startswith("^") and word[1:] in {str(each.number) for each in talk.messages}:
            found["link"] = int(word[1:])
        elif word.startswith("@") and word[1:] in {str(each) for each in talk.items}:
            found["item"] = int(word[1:])
        else:
            raise LabelError(f"{word!r} is no modifier, no earlier message and no open item")
    return found


def _marked(text: str) -> tuple[str, list[int], list[Slot]]:
    """Return the text without marks, the places of the cuts, and the slots."""
    plain, cuts, slots, place = "", [], [], 0
    for mark in _MARK.finditer(text):
        plain += text[place : mark.start()]
        place = mark.end()
        if mark["name"] is None:
            plain = plain.rstrip() + " "
            cuts.append(len(plain))
        elif mark["name"] not in SLOTS:
            raise LabelError(f"unknown slot {mark['name']!r}")
        else:
            slots.append(Slot(SLOTS[mark["name"]], len(plain), len(plain) + len(mark["span"])))
            plain += mark["span"]
    plain += text[place:]
    if "{" in plain or "}" in plain:
        raise LabelError("a brace without its partner, or nested braces")
    return plain, cuts, slots


@dataclass(slots=True)
class _Draft:
    """A message line whose further labels may follow on the next lines."""

    place: int
    number: int
    speaker: str
    labels: list[str]
    text: str

    def finish(self, talk: Talk) -> Message:
        """Return the message, checked against the talk so far."""
        if talk.messages and self.number != talk.messages[-1].number + 1:
            raise LabelError(f"message {self.number} is out of order")
        plain, cuts, slots = _marked(self.text)
        if len(self.labels) != len(cuts) + 1:
            raise LabelError(f"{len(cuts) + 1} clauses but {len(self.labels)} labels")
        bounds = pairwise([0, *cuts, len(plain)])
        clauses = []
        for label, (start, end) in zip(self.labels, bounds, strict=True):
            own = tuple(each for each in slots if start <= each.start and each.end <= end)
            values = _label(label, talk)
            if own and values["act"] in {"none", "greet"}:
                raise LabelError("a clause with the act none or greet carries no slots")
            clauses.append(Clause(start=start, end=end, slots=own, **values))  # type: ignore[arg-type]
        return Message(self.number, self.speaker, plain, tuple(clauses))


def _outcome(line: str, talk: Talk) -> Outcome:
    parts = [part.strip() for part in line.removeprefix("=").split("|")]
    if len(parts) != len(fields(Outcome)):
        raise LabelError(
            "an outcome has seven parts: predicate, what, for, by, when, status, messages"
        )
    predicate, what, who_for, who_does, when, status, evidence = parts
    if predicate not in PREDICATES or status not in STATUSES:
        raise LabelError(f"unknown predicate {predicate!r} or status {status!r}")
    numbers = tuple(int(each) for each in evidence.split())
    if not numbers or not {*numbers} <= {each.number for each in talk.messages}:
        raise LabelError("an outcome names the messages that decided it")
    return Outcome(
        predicate,
        what,
        who_for.removeprefix("for "),
        who_does.removeprefix("by "),
        when,
        status,
        numbers,
    )


class CorpusReader:
    """Reads one file; `talks` and `mistakes` (each with file and line) are filled by `read`."""

    def __init__(self, path: Path) -> None:
        """Begin on a file in UTF-8."""
        self.talks: list[Talk] = []
        self.mistakes: list[str] = []
        self._path = path
        self._household: tuple[str, str, str] | None = None
        self._draft: _Draft | None = None

    def read(self) -> None:
        """Read all of the file."""
        for place, line in enumerate(self._path.read_text(encoding="utf-8").splitlines(), 1):
            if (more := _MORE.match(line)) and self._draft:
                self._draft.labels.append(more["label"])
                continue
            self._finish()
            try:
                self._take(place, line.rstrip())
            except ValueError as error:
                self.mistakes.append(f"{self._path}:{place}: {error}")
        self._finish()

    def _finish(self) -> None:
        draft, self._draft = self._draft, None
        if draft is None:
            return
        try:
            self.talks[-1].messages.append(draft.finish(self.talks[-1]))
        except LabelError as error:
            self.mistakes.append(f"{self._path}:{draft.place}: {error}")

    def _take(self, place: int, line: str) -> None:
        if not line:
            return
        if found := _HOUSEHOLD.match(line):
            self._household = (found["name"], found["people"], found["place"])
        elif found := _TALK.match(line):
            if self._household is None or found["surface"] not in SURFACES:
                raise LabelError("a talk needs a household above it and a known surface")
            self.talks.append(Talk(*self._household, found["surface"], found["at"]))
        elif not self.talks:
            raise LabelError("a line outside a talk")
        elif found := _ITEM.match(line):
            if found["kind"] not in KINDS:
                raise LabelError(f"unknown kind {found['kind']!r}")
            self.talks[-1].items[int(found["number"])] = (found["kind"], found["text"])
        elif line.startswith("="):
            self.talks[-1].outcomes.append(_outcome(line, self.talks[-1]))
        elif found := _MESSAGE.match(line):
            self._draft = _Draft(
                place, int(found["number"]), found["speaker"], [found["label"]], found["text"]
            )
        else:
            raise LabelError("not a line of the guide")


def read_corpus(folder: Path) -> Iterator[tuple[str, Talk]]:
    """Yield the talks below a folder, each with its writer, in the order of the files; lines with mistakes are left out.

    Args:
        folder: Has a folder for each writer.
    """
    for path in sorted(folder.glob("*/*.txt")):
        reader = CorpusReader(path)
        reader.read()
        yield from ((path.parent.name, talk) for talk in reader.talks)


def main(paths: list[str]) -> int:
    """Check files; return the exit status."""
    readers = [CorpusReader(Path(path)) for path in paths]
    for reader in readers:
        reader.read()
        for mistake in reader.mistakes:
            print(mistake)
    talks = [talk for reader in readers for talk in reader.talks]
    clauses = [clause for talk in talks for each in talk.messages for clause in each.clauses]
    count = sum(len(reader.mistakes) for reader in readers)
    print(
        f"{count} mistakes; {len({talk.household for talk in talks})} households, {len(talks)} talks, "
        f"{sum(len(talk.messages) for talk in talks)} messages, {len(clauses)} clauses, "
        f"{sum(len(talk.outcomes) for talk in talks)} outcomes"
    )
    print("surfaces:", dict(Counter(talk.surface for talk in talks)))
    for name in ("act", "predicate", "modality"):
        counts = Counter(getattr(clause, name) or "-" for clause in clauses)
        print(f"{name}:", dict(counts.most_common()))
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
