"""What of one episode came out right: its lines, its unprompted messages, its pending actions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.episode_file import Episode, Speak

Line = Mapping[str, Any]

NOBODY = "unspecified"
_SILENT = (None, "SILENT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One expectation and whether it was met.

    Attributes:
        field: What was compared; "pending" concerns the whole episode.
        message_id: The message concerned, or None for the episode.
        expected: As the episode says.
        got: As the run says.
        right: Whether they agree.
    """

    field: str
    message_id: str | None
    expected: object
    got: object
    right: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One episode judged.

    Attributes:
        episode: What was run.
        checks: Every expectation about lines and pending actions.
        found: Expected unprompted messages that came, by rule and message.
        missed: Those that did not.
        extra: Unprompted messages nobody expected.
        mistimed: Found ones that came at once instead of after a grace period, or the reverse.
        wrong_people: Messages and pending actions given to somebody they should not be given to,
            a line of text each.
    """

    episode: Episode
    checks: tuple[Check, ...]
    found: tuple[Speak, ...]
    missed: tuple[Speak, ...]
    extra: tuple[Speak, ...]
    mistimed: tuple[Speak, ...]
    wrong_people: tuple[str, ...]

    @property
    def spoke_right(self) -> bool:
        """Whether exactly the expected unprompted messages came."""
        return not self.missed and not self.extra

    @property
    def all_right(self) -> bool:
        """Whether nothing at all was wrong."""
        checked = all(check.right for check in self.checks)
        return checked and self.spoke_right and not self.mistimed and not self.wrong_people

    @property
    def false_speaks(self) -> tuple[Speak, ...]:
        """Unexpected unprompted messages about something that deserved none, or one too many."""
        missed = {speak.about for speak in self.missed}
        return tuple(speak for speak in self.extra if speak.about not in missed)


def score_episode(episode: Episode, lines: Sequence[Line], pending: Sequence[Line]) -> Score:
    """Return what of an episode came out right.

    Args:
        episode: The chat and its expectations.
        lines: The output for it, in the format of `kinkeeper observe`.
        pending: The actions still pending at the end: type, assigned_to, child, activity, dates.
    """
    answers = {line["message_id"]: line for line in lines if line.get("event") is None}
    withdrawing = {line["message_id"] for line in lines if line.get("withdrawn_action") is not None}
    checks: list[Check] = []
    for message_id, expected in episode.lines.items():
        answer = answers.get(message_id, {})
        checks += _line_checks(message_id, expected, answer, withdraws=message_id in withdrawing)
    wrong_people = [
        f"{check.message_id}: expected {check.expected}, got {check.got}"
        for check in checks
        if check.field == "assigned_to" and _people(check.got) - _people(check.expected)
    ]
    if episode.pending is not None:
        kept = _same_actions(episode.pending, pending)
        checks.append(_check("pending", None, episode.pending, tuple(pending), right=kept))
        wrong_people += _wrong_owners(episode.pending, pending)
    found, missed, extra = _matched(episode.speaks, _spoken(lines))
    return Score(
        episode=episode,
        checks=tuple(checks),
        found=tuple(wanted for wanted, _ in found),
        missed=missed,
        extra=extra,
        mistimed=tuple(wanted for wanted, got in found if wanted.deferred != got.deferred),
        wrong_people=tuple(wrong_people),
    )


def _line_checks(
    message_id: str, expected: Mapping[str, Any], answer: Line, *, withdraws: bool
) -> list[Check]:
    checks = []
    for field, wanted in expected.items():
        if field == "extraction":
            got_all = answer.get("extraction") or {}
            for name, value in wanted.items():
                got = got_all.get(name)
                checks.append(_check(name, message_id, value, got, right=_same(value, got)))
        elif field == "withdrawn":
            checks.append(_check(field, message_id, wanted, withdraws, right=withdraws == wanted))
        else:
            got = answer.get(field)
            # A message that was dropped earlier never reaches the rules: silent all the same.
            silent = bool(answer) and field == "redline_decision" and wanted == "SILENT"
            right = got in _SILENT if silent else got == wanted
            checks.append(_check(field, message_id, wanted, got, right=right))
    return checks


def _check(
    field: str, message_id: str | None, expected: object, got: object, *, right: bool
) -> Check:
    return Check(field=field, message_id=message_id, expected=expected, got=got, right=right)


def _same(expected: object, got: object) -> bool:
    if isinstance(expected, list):
        return _people(expected) == _people(got)
    return expected == got


def _people(value: object) -> set[str]:
    """Return a list of ids as a set, in which nobody is no one."""
    return {item for item in value if item != NOBODY} if isinstance(value, list | tuple) else set()


def _same_actions(expected: Sequence[Line], got: Sequence[Line]) -> bool:
    """Return whether each expected action has one of its own among those got, and none is left."""
    if len(expected) != len(got):
        return False
    if not expected:
        return True
    first, rest = expected[0], expected[1:]
    return any(
        _same_actions(rest, [*got[:index], *got[index + 1 :]])
        for index, action in enumerate(got)
        if all(_same(value, action.get(field)) for field, value in first.items())
    )


def _wrong_owners(expected: Sequence[Line], got: Sequence[Line]) -> list[str]:
    named = [_people(action["assigned_to"]) for action in expected if "assigned_to" in action]
    if len(named) < len(expected):
        return []
    allowed = set().union(*named) if named else set()
    return [
        f"pending: {action.get('assigned_to')} owns a {action.get('type')}"
        for action in got
        if _people(action.get("assigned_to")) - allowed
    ]


def _spoken(lines: Sequence[Line]) -> list[Speak]:
    return [
        Speak(
            rule=str(line.get("redline_trigger_rule")),
            about=line["message_id"],
            deferred=line.get("event") == "deferred",
        )
        for line in lines
        if line.get("redline_decision") == "SPEAK"
    ]


def _matched(
    expected: Sequence[Speak], spoken: Sequence[Speak]
) -> tuple[list[tuple[Speak, Speak]], tuple[Speak, ...], tuple[Speak, ...]]:
    left = list(spoken)
    pairs: list[tuple[Speak, Speak]] = []
    missed: list[Speak] = []
    for wanted in expected:
        same = [got for got in left if (got.rule, got.about) == (wanted.rule, wanted.about)]
        if same:
            left.remove(same[0])
            pairs.append((wanted, same[0]))
        else:
            missed.append(wanted)
    return pairs, tuple(missed), tuple(left)
