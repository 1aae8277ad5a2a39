"""What of a whole chat came out right: which messages left cards, what these say, what was said aloud."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evals.chat_file import SLOTS, Labelled, WantedSpeech
from evals.episode_scoring import NOBODY, Line

Card = Mapping[str, Any]


@dataclass(slots=True)
class ChatScore:
    """Counts of one or several chats, and each mistake in words.

    Attributes:
        kept: Cards that should have come and came.
        lost: Cards that should have come and did not.
        needless: Cards that nobody would have kept.
        slots: By slot and verdict: "right", "wrong" (another value, or one where none is), "missing".
        answers: By verdict: "right", "wrong".
        spoken: Unprompted messages that should have come and came.
        unspoken: Those that did not come.
        false: Unprompted messages that nobody would have said.
        messages: How many there were.
        mistakes: A line of text each.
    """

    kept: int = 0
    lost: int = 0
    needless: int = 0
    slots: Counter[tuple[str, str]] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    spoken: int = 0
    unspoken: int = 0
    false: int = 0
    messages: int = 0
    mistakes: list[str] = field(default_factory=list)

    def add(self, other: "ChatScore") -> None:
        """Add the counts of another chat."""
        self.kept += other.kept
        self.lost += other.lost
        self.needless += other.needless
        self.slots += other.slots
        self.answers += other.answers
        self.spoken += other.spoken
        self.unspoken += other.unspoken
        self.false += other.false
        self.messages += other.messages
        self.mistakes += other.mistakes

    def judge_message(
        self, wanted: Labelled, line: Line, *, cards: Sequence[Card], standing: Sequence[Card]
    ) -> None:
        """Judge what one message left behind.

        Args:
            wanted: Its labels.
            line: Its own output line.
            cards: The open actions that it made or changed.
            standing: Those that were open already and still are.
        """
        self.messages += 1
        left = list(cards)
        where = f"{wanted.message.message_id} {wanted.message.sender}: {wanted.message.text[:90]!r}"
        for label in wanted.cards:
            best = max(left, key=lambda card: _agreement(label, card), default=None)
            if best is None and any(_agreement(label, card) == len(label) for card in standing):
                self._judge_slots(where, label, label)
                self.kept += 1
                continue
            if best is None:
                self.lost += 1
                self.mistakes.append(f"LOST {where} {_brief(label)} ({line.get('reason')})")
                continue
            left.remove(best)
            self.kept += 1
            self._judge_slots(where, label, best)
        left = [
            card
            for card in left
            if not any(_agreement(label, card) == len(label) for label in wanted.allowed)
        ]
        if left and not wanted.is_open:
            self.needless += len(left)
            self.mistakes += [f"NEEDLESS {where} {_brief(card)}" for card in left]
        if wanted.source is not None:
            is_right = line.get("attribution_source") == wanted.source
            self.answers["right" if is_right else "wrong"] += 1
            if not is_right:
                self.mistakes.append(f"ANSWER {where} to {line.get('attribution_source')}")

    def _judge_slots(self, where: str, label: Card, card: Card) -> None:
        for slot, values in label.items():
            got = _values(card.get(slot))
            verdict = "right" if _agree(slot, values, got) else "wrong" if got else "missing"
            self.slots[slot, verdict] += 1
            if verdict != "right":
                self.mistakes.append(
                    f"{verdict.upper()} {slot} {where}: {sorted(got)}, not {sorted(values)}"
                )

    def judge_speech(self, wanted: Sequence[Labelled], lines: Sequence[Line]) -> None:
        """Judge all that was said aloud in a chat.

        Args:
            wanted: Its messages with their labels.
            lines: All its output lines.
        """
        by_id = {each.message.message_id: each for each in wanted}
        hoped = [(each.message.message_id, speech) for each in wanted for speech in each.speech]
        for line in lines:
            if line.get("redline_decision") != "SPEAK":
                continue
            met = next(iter(_met(hoped, line)), None)
            if met is None:
                self.false += 1
                text = by_id[line["message_id"]].message.text
                self.mistakes.append(f"FALSE {line['message_id']} {text!r}: {line.get('reply')!r}")
                continue
            hoped.remove(met)
            self.spoken += not met[1].is_optional
        for message_id, speech in hoped:
            if not speech.is_optional:
                self.unspoken += 1
                text = by_id[message_id].message.text
                self.mistakes.append(f"UNSPOKEN {message_id} {text!r}: {speech.rule}")


def _met(
    hoped: Sequence[tuple[str, WantedSpeech]], line: Line
) -> Iterator[tuple[str, WantedSpeech]]:
    for message_id, speech in hoped:
        is_deferred = line.get("event") == "deferred"
        if (message_id, speech.rule) != (line["message_id"], line.get("redline_trigger_rule")):
            continue
        if speech.is_optional or speech.is_deferred == is_deferred:
            yield message_id, speech


def _agreement(label: Card, card: Card) -> int:
    return sum(_agree(slot, values, _values(card.get(slot))) for slot, values in label.items())


def _agree(slot: str, wanted: frozenset[str], got: frozenset[str]) -> bool:
    return got == wanted or (slot == SLOTS["kind"] and bool(got & wanted))


def _values(value: object) -> frozenset[str]:
    """Return a field's values as a set; nobody is none."""
    if value is None:
        return frozenset()
    many = value if isinstance(value, list | tuple | frozenset) else [value]
    return frozenset(str(item) for item in many) - {NOBODY}


def _brief(card: Card) -> str:
    said = {slot: sorted(_values(card.get(field))) for slot, field in SLOTS.items()}
    return " ".join(f"{slot}={','.join(values)}" for slot, values in said.items() if values)
