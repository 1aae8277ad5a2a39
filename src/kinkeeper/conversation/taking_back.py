"""Taking back what was just done: "undo that" means the last thing done for this person in this thread."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from sqlalchemy import Connection

from kinkeeper.actions import session_words
from kinkeeper.actions.model import ActionStatus, ActionType
from kinkeeper.actions.receipts import Outcome, Receipt
from kinkeeper.actions.repository import load_action
from kinkeeper.actions.requests.model import ActionResult, Asked, ResultStatus
from kinkeeper.actions.requests.request_runner import result_of
from kinkeeper.actions.reversal import undo
from kinkeeper.conversation.answering.templates import is_question
from kinkeeper.conversation.ban_heard import is_ban_of_nobody
from kinkeeper.conversation.questions import Meant, Verb, decide
from kinkeeper.conversation.tool_loop import Acted
from kinkeeper.conversation.turn import Turn
from kinkeeper.language.name_match import meant_by
from kinkeeper.language.text import shorten
from kinkeeper.memory.facts import list_facts
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.sessions import find_turn_message, turn_message
from kinkeeper.memory.statements.care import is_done_after_all
from kinkeeper.memory.statements.secrecy import points_back
from kinkeeper.reading.corrections import Retraction, asks_to_undo, reinstated_in, undoes_all
from kinkeeper.reading.forgetting import wish_to_forget
from kinkeeper.reading.second_thoughts import sets_right

# Said of what was ticked off or taken off a list, these take it back; said of what was made, they mean that thing.
_TAKEN_OFF = re.compile(
    r"\W*(?:(?:oops|whoops|oh|no|nah|nope|ok|okay|hmm|wait|sorry|actually|please)\W+)*"
    r"(?:(?:scratch|scrap|cancel|forget) (?:that|it|this)|(?:the )?wrong (?:one|task|thing)|not (?:that|this) one|"
    r"(?:that|it)(?:'s| is| was)(?: a mistake| wrong| not (?:done|finished)(?: yet)?))\W*",
    re.IGNORECASE,
)
# Said of what was called off, it takes that back: "false alarm, it's on", "swimming's back on after all".
_STANDS = re.compile(
    r"\W*(?:(?:oops|whoops|oh|no|nah|nope|ok|okay|hmm|wait|sorry|actually|(?:it )?turns out(?: that)?|false alarm|good news|"
    r"(?:scrap|scratch|ignore|forget) (?:that|it)|never ?mind|my mistake|apparently|looks like|so|but|and)\W+)*"
    r"(?P<what>[\w' -]{1,40}?)(?:'s|'re| is| are)(?: (?:now|actually|still|definitely))?"
    r"(?: back on| on| happening| going ahead| not (?:off|cancelled|canceled))(?: (?:after all|again|now|as (?:usual|normal|planned)))*\W*",
    re.IGNORECASE,
)
_POINTS = frozenset({"it", "that", "this", "the", "my", "our", "again", "back"})
_COUNT = re.compile(r"\b(?P<count>two|three|four|five|both|[2-5])\b", re.IGNORECASE)
_COUNTS = {"two": 2, "both": 2, "three": 3, "four": 4, "five": 5, "2": 2, "3": 3, "4": 4, "5": 5}
_MAKING = frozenset({"create", "create_event"})
_TICKING = frozenset({("task", "complete"), ("notes", "remove_line")})

_RETRACTABLE = 2
"""Turns before a message that it may take back."""

_BESIDE_NAMES = frozenset(
    {
        "for",
        "it",
        "that",
        "is",
        "i",
        "mean",
        "meant",
        "and",
        "just",
        "both",
        "only",
        "sorry",
        "oh",
        "about",
    }
)
"""Words beside the name that answers "Who is that for?"; "it's" is written without its ending here."""

_LONGEST_SHOWN = 80
_MOST_COMPARED = 2000
_ENDS = ".!?…"
_UNDONE = frozenset({Outcome.UNDONE, Outcome.ALREADY_UNDONE})
_NOT_DONE = (
    "Your last request wasn't carried out, so I undid nothing. "
    "Say “undo that” again to undo the step before it."
)
_WRITTEN = frozenset({ActionStatus.EXECUTING, ActionStatus.DONE})


def wants_undo(text: str, earlier: Sequence[Turn] = ()) -> bool:
    """Whether a whole message asks for what was last done to be taken back. Pure.

    Args:
        earlier: Turns of the thread before this one, oldest first.
    """
    if asks_to_undo(text):  # "undo the meeting on Friday" is a request of its own kind
        return True
    last = earlier[-1].results if earlier else ()
    is_ticked = bool(last) and all(
        (each.domain, each.action) in _TICKING and each.status is ResultStatus.DONE for each in last
    )
    return (is_ticked and _TAKEN_OFF.fullmatch(text) is not None) or _stands(text, earlier)


def edited_lately(earlier: Sequence[Turn]) -> int:
    """Return how many of the last things done made one thing and changed it several times since; 0 where they did not. Pure.

    Args:
        earlier: Turns of the thread before this one, oldest first.
    """
    acted = takewhile(lambda turn: any(map(_is_done, turn.results)), reversed(earlier))
    done = [each for turn in acted for each in reversed(turn.results) if _is_done(each)]
    same = [*takewhile(lambda each: _called(each) == _called(done[0]), done)]
    changes = next((at for at, each in enumerate(same) if each.action in _MAKING), 0)
    return changes + 1 if changes > 1 else 0


def _called(result: ActionResult) -> str:
    return str(result.result.get("id") or result.result.get("title"))


def _stands(text: str, earlier: Sequence[Turn]) -> bool:
    """Whether a message tells that what was called off last takes place."""
    found = _STANDS.fullmatch(text.replace("’", "'"))
    what = found["what"] if found is not None else reinstated_in(text)
    if what is None or "?" in text:
        return False
    acted = (each.results for each in reversed(earlier) if any(it.action_id for it in each.results))
    last = next(acted, ())
    is_off = bool(last) and all(
        (each.domain, each.action, each.status) == ("calendar", "delete_event", ResultStatus.DONE)
        for each in last
    )
    named = set(what.casefold().split()) - _POINTS
    titles = {word for each in last for word in str(each.result.get("title")).casefold().split()}
    # Anything may have been spoken of since: "it" is what was called off only right after it was.
    is_meant = bool(named) or last == earlier[-1].results
    return is_off and named <= titles and is_meant


def retracted(
    conn: Connection, back: Retraction, earlier: Sequence[Turn], asked: Asked
) -> Acted | None:
    """Take back what was kept, proposed or done of the last turn or the one before; None where nothing was.

    Args:
        earlier: Turns of the thread before this one, oldest first.
    """
    about = {*stems(back.about)}
    for turn in reversed(earlier[-_RETRACTABLE:]):
        titles = [str(each.summary) for each in turn.results]
        if about and about.isdisjoint(stems(" ".join([turn.text, *titles]))):
            continue
        done = [each for each in turn.results if not (about and _is_of_more(conn, each, asked))]
        results = _actions_of(conn, done, asked)
        if (told := _told_forgotten(conn, turn, asked)) is not None:
            results.append(told)
        if results:
            return Acted(results=results)
    return None


def forgotten(conn: Connection, what: str, earlier: Sequence[Turn], asked: Asked) -> Acted | None:
    """Forget what a member told of something, and drop what waits because of it; None where memory knows it already, or nobody told it.

    What memory has made a fact of is forgotten by request, which asks first.

    Args:
        what: Words for it.
        earlier: Turns of the thread before this one, oldest first.
    """
    if is_remembered(conn, what, asked):
        return None
    results: list[ActionResult] = []
    for turn in reversed(earlier):
        is_told = turn.member == asked.member.id and not is_question(turn.text)
        if not is_told or wish_to_forget(turn.text) or not meant_by(what, [turn.text]):
            continue
        waiting = [each for each in turn.results if each.status is ResultStatus.AWAITING]
        dropped = _actions_of(conn, waiting, asked)
        results += [each for each in dropped if each.status is ResultStatus.CANCELLED]
        if (done := _told_forgotten(conn, turn, asked)) is not None:
            results.append(done)
    return Acted(results=results) if results else None


def is_remembered(conn: Connection, what: str, asked: Asked) -> bool:
    """Whether a fact that the member may know is what some words mean."""
    known = list_facts(conn, asked.viewer, now=asked.now, limit=_MOST_COMPARED)
    return bool(meant_by(what, [each.narrative for each in known]))


def _told_forgotten(conn: Connection, turn: Turn, asked: Asked) -> ActionResult | None:
    """Forget what a turn told; None where nothing of it is kept."""
    episode = find_turn_message(
        conn, asked.household.id, turn.id, member=asked.member.id, thread=asked.thread_id
    )
    if episode is None or not session_words.forget_told(
        conn,
        episode,
        household=asked.household,
        member=asked.member,
        at=asked.now,
        by_source=asked.turn_id,
    ):
        return None
    return nothing_kept(f"I've forgotten it: “{shorten(turn.text, _LONGEST_SHOWN)}”.")


def _is_of_more(conn: Connection, done: ActionResult, asked: Asked) -> bool:
    """Whether what was done holds more than what is named, or was agreed to since: then it is not undone unasked."""
    is_list = done.domain == "notes" and len(done.result.get("entries") or ()) > 1
    if done.action_id is None or not (is_list or done.domain == "calendar"):
        return False
    action = load_action(conn, asked.household.id, done.action_id)
    is_agreed = (action.decided_at or action.created_at) > action.created_at
    return action.status in _WRITTEN and (is_list or is_agreed)


def restored(conn: Connection, earlier: Sequence[Turn], asked: Asked) -> Acted | None:
    """Take back what was proposed or changed in the last turn or the one before; None where nothing was.

    Args:
        earlier: Turns of the thread before this one, oldest first.
    """
    for turn in reversed(earlier[-_RETRACTABLE:]):
        changes = [each for each in turn.results if each.domain != "memory"]
        if results := _actions_of(conn, changes, asked):
            return Acted(results=results)
    return None


def _actions_of(
    conn: Connection, results: Sequence[ActionResult], asked: Asked
) -> list[ActionResult]:
    ids = dict.fromkeys(each.action_id for each in results if each.action_id)
    found = (_retracted_action(conn, each, asked) for each in ids)
    return [each for each in found if each is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LastTold:
    """A statement of a thread that the message after it sets right.

    Attributes:
        turn: The turn that told it.
        text: What is left of it.
        scope: Of those who may recall it; None where it only waits for a yes.
        whom: Names of whom it is about, where only the message after it says so; else empty.
        asked: By whom, and in which thread.
    """

    turn: Turn
    text: str
    scope: str | None
    asked: Asked
    whom: str = ""

    def with_reply(self, text: str) -> str:
        """Return the statement and the message that sets it right as one: only together do they tell anything."""
        if self.whom:
            return f"{self.whom}: {self.text}"
        end = "" if self.text[-1:] in _ENDS else "."
        return f"{self.text}{end} {text}"

    def take_back(self, conn: Connection) -> Acted | None:
        """Take back the statement, and what waits because of it."""
        whatever = Retraction(about="", before="", is_plain=False)
        return retracted(conn, whatever, [self.turn], self.asked)


def last_told(
    conn: Connection, text: str, earlier: Sequence[Turn], asked: Asked
) -> LastTold | None:
    """Return the statement that a message sets right; None where it means something by itself, or answers a question.

    Args:
        text: The whole message, verbatim; a wish for secrecy about what was said sets nothing right.
        earlier: Turns of the thread before this one, oldest first.
    """
    names = asked.household.members_by_word
    if points_back(text, names):
        return None
    for turn in reversed(earlier[-_RETRACTABLE:]):
        is_plain = turn.member == asked.member.id and not turn.clarification
        if not is_plain or is_question(turn.text) or not all(map(is_about_told, turn.results)):
            return None
        told = turn_message(
            conn, asked.household.id, turn.id, member=asked.member.id, thread=asked.thread_id
        )
        whom = _named_alone(text, turn.text, asked)
        if told is None and whom:
            return LastTold(turn=turn, text=turn.text, scope=None, asked=asked, whom=whom)
        if told is not None:
            scope = None if turn.results else told.asked_scope or told.scope
            found = LastTold(turn=turn, text=told.text, scope=scope, asked=asked)
            if whom:
                return replace(found, whom=whom)
            is_about_it = sets_right(text, told.text, names) or is_done_after_all(
                text, told.text, asked.household
            )
            return found if is_about_it else None
    return None


def _named_alone(text: str, told: str, asked: Asked) -> str:
    """Return the people whom a message names and says no more of, right after who is not to do something was left open."""
    if not is_ban_of_nobody(told, (), asked.household, now=asked.now):
        return ""
    people = asked.household.members_by_word
    words = [each.strip(".,!:;").removesuffix("'s") for each in text.replace("’", "'").split()]
    named = [each for each in words if each.casefold() in people]
    rest = {each.casefold() for each in words if each not in named}
    return " and ".join(named) if named and rest <= _BESIDE_NAMES else ""


def is_about_told(result: ActionResult) -> bool:
    """Whether it offers to remember what was told, or says who may see it."""
    is_offer = result.action == "store" and result.status is ResultStatus.AWAITING
    return result.domain == "memory" and (is_offer or result.action == "set_audience")


def nothing_kept(told: str) -> ActionResult:
    """Return as a result that what was said is not kept.

    Args:
        told: The sentence that says so.
    """
    return ActionResult(
        domain="memory", action="take_back", status=ResultStatus.CANCELLED, params={}, error=told
    )


def _retracted_action(conn: Connection, action_id: str, asked: Asked) -> ActionResult | None:
    """Reject an action that waits, or undo one that was done; None where neither can be done."""
    action = load_action(conn, asked.household.id, action_id)
    if action.status is ActionStatus.PENDING:
        return decide(conn, Meant(verb=Verb.REJECT, actions=[action]), asked)[0]
    if action.status not in _WRITTEN or action.undone_at is not None:
        return None
    receipt = undo(conn, action_id, member=asked.member, household=asked.household, now=asked.now)
    done = replace(result_of(receipt.action), error=receipt.message)
    is_undone = receipt.outcome in _UNDONE
    return replace(done, status=ResultStatus.CANCELLED if is_undone else ResultStatus.FAILED)


def took_back(conn: Connection, action_id: str, asked: Asked) -> ActionResult:
    """Take back one thing of the thread, by its id, and return what came of it; what is gone already stays so."""
    taken = _retracted_action(conn, action_id, asked)
    if taken is not None:
        return taken
    return replace(
        result_of(load_action(conn, asked.household.id, action_id)), status=ResultStatus.CANCELLED
    )


def how_many(text: str, earlier: Sequence[Turn] = ()) -> int:
    """Return how many of the last things are to be taken back by a message that asks for it. Pure.

    "All that" is what the turns right before it did, one after the other.

    Args:
        earlier: Turns of the thread before this one, oldest first.
    """
    if undoes_all(text):
        acted = takewhile(lambda turn: any(map(_is_done, turn.results)), reversed(earlier))
        return max(1, sum(_is_done(each) for turn in acted for each in turn.results))
    found = _COUNT.search(text)
    return _COUNTS.get(found["count"].lower(), 1) if found is not None else 1


def _is_done(result: ActionResult) -> bool:
    return result.action_id is not None and result.status is ResultStatus.DONE


def failed_last(earlier: Sequence[Turn]) -> bool:
    """Whether nothing came of what was asked for last, so that "undo that" can only mean something older. Pure."""
    last = earlier[-1].results if earlier else ()
    return bool(last) and all(
        each.status in {ResultStatus.FAILED, ResultStatus.UNCLEAR} for each in last
    )


def taken_back(conn: Connection, text: str, earlier: Sequence[Turn], asked: Asked) -> Acted:
    """Take back what a message asks for, and return what came of it.

    Args:
        earlier: Turns of the thread before this one, oldest first.
    """
    if failed_last(earlier):
        return Acted(clarification=_NOT_DONE)
    return undone(conn, earlier, asked, count=how_many(text, earlier))


def undone(conn: Connection, earlier: Sequence[Turn], asked: Asked, *, count: int) -> Acted:
    """Take back the last things that were done in a thread, and return what came of it.

    Args:
        earlier: Turns of the thread before this one, oldest first.
        count: How many at most, >= 1.
    """
    receipts = take_back(conn, earlier, asked, count=count)
    if not receipts and (told := _last_forgotten(conn, earlier, asked)) is not None:
        return Acted(results=[told])
    if not receipts:
        return Acted(clarification="I haven't done anything here that can be undone.")
    _forget_words_of(conn, receipts, earlier, asked)
    # What was done and stands must not be told as if it had failed.
    stands = " ".join(each.message for each in receipts if each.outcome not in _UNDONE)
    results = [
        replace(result_of(each.action), status=ResultStatus.CANCELLED, error=each.message)
        for each in receipts
        if each.outcome in _UNDONE
    ]
    return Acted(results=results, clarification=stands or None)


def _last_forgotten(conn: Connection, earlier: Sequence[Turn], asked: Asked) -> ActionResult | None:
    """Forget what was told right before, where that was all that happened; None where nothing of it is kept."""
    last = earlier[-1] if earlier else None
    is_told = last is not None and last.member == asked.member.id and not is_question(last.text)
    return _told_forgotten(conn, last, asked) if last is not None and is_told else None


def _forget_words_of(
    conn: Connection, receipts: Sequence[Receipt], earlier: Sequence[Turn], asked: Asked
) -> None:
    """Forget the words that were offered for remembering, where that was undone: they would tell the same."""
    gone = {
        each.action.id
        for each in receipts
        if each.outcome in _UNDONE and each.action.proposal.type is ActionType.MEMORY_FACT
    }
    for turn in earlier:
        if turn.member == asked.member.id and any(
            each.action_id in gone and each.action == "store" for each in turn.results
        ):
            _told_forgotten(conn, turn, asked)


def take_back(
    conn: Connection, earlier: Sequence[Turn], asked: Asked, *, count: int = 1
) -> list[Receipt]:
    """Take back the last things that were done in a thread and still stand, the latest first.

    What this very message took back before a crash is not followed by what was done before it.

    Args:
        earlier: Turns of the thread before this one, oldest first.
        count: How many at most, >= 1.
    """
    results = [each for turn in earlier for each in turn.results if each.action_id is not None]
    told_undone = {each.action_id for each in results if each.status is ResultStatus.CANCELLED}
    spoken_of = dict.fromkeys(each.action_id for each in reversed(results) if each.action_id)
    actions = [load_action(conn, asked.household.id, each) for each in spoken_of]
    done = [
        each
        for each in actions
        if each.status in _WRITTEN
        and (each.undone_at is None or (each.id not in told_undone and each.undone_at >= asked.now))
    ]
    # A button decides, too, and what was decided last need not be what was asked last.
    done.sort(key=lambda each: each.decided_at or each.created_at, reverse=True)
    return [
        undo(conn, each.id, member=asked.member, household=asked.household, now=asked.now)
        for each in done[:count]
    ]
