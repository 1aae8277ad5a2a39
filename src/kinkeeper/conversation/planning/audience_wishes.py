"""Who may see what is written down: said with it, or afterwards. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any, Final

from kinkeeper.actions.requests.model import ActionResult, Asked, ResultStatus
from kinkeeper.actions.requests.parameters import read_who
from kinkeeper.conversation.model import Plan, PlannedAction
from kinkeeper.conversation.planning.case import Case, Groups, Step, action, best_match, results_of
from kinkeeper.conversation.planning.grammar import load_grammar
from kinkeeper.conversation.planning.referents import latest, meant
from kinkeeper.conversation.told_audience import facts_in, secret_of
from kinkeeper.core.errors import UnclearError
from kinkeeper.language.text import Folded, fold
from kinkeeper.memory.secret_things import about, same_things
from kinkeeper.memory.statements.discretion import holds_sensitive, seems_private
from kinkeeper.memory.statements.secrecy import MOST_CARRIED_ON, is_only_wish
from kinkeeper.notes.model import entries
from kinkeeper.reading.own_lists import OWN_LIST, SHOPPING, names_own_list

NOT_FOR_A_FEW: Final = (
    "I haven't saved anything: I can keep something for you alone or for the whole family, but not for a few of you. "
    "Say it again with “just for me”, or for everyone."
)

_OPEN_TO_ALL = frozenset({"calendar", "task", "notes"})
_MADE = frozenset({"create_event", "create", "append"})
_CHANGED = frozenset({"update_event", "update"})
_OWN_MATTERS: Final = frozenset({("calendar", "create_event"), ("task", "create")})
_KEPT = frozenset({"store", "set_audience", "update"})
_WRITES: Final = frozenset(
    {*product(_OPEN_TO_ALL, _MADE | _CHANGED), *product(["memory"], _KEPT - {"set_audience"})}
)
_KINDS: Final = {"event": "calendar", "task": "task", "note": "notes"}
_CUTS: Final = ("private_label", "private_lead", "private_thing", "private_deed", "private_aside")
_NAMES: Final = ("title", "summary", "body", "text")
_MOST_JOINTS: Final = 12
_LEFT: Final = re.compile(r"\s{2,}")


@dataclass(frozen=True, slots=True)
class Said:
    """What a message says of who may see what it wants written down.

    Attributes:
        rest: The message without those words; empty where it says nothing else.
        is_for_few: Whether some others are to see it, too.
    """

    rest: str
    is_for_few: bool


def said_of_audience(text: str) -> Said | None:
    """Return what a message says of who may see what it tells; None where it says nothing of it.

    Args:
        text: Verbatim.
    """
    pointing = load_grammar().pointing
    folded = fold(text)
    if pointing["for_few"].search(folded.text) is not None:
        return Said(text, is_for_few=True)
    rest = text
    for name in _CUTS:
        while (found := pointing[name].search((folded := fold(rest)).text)) is not None:
            rest = _without(rest, folded, found)
    return None if rest == text else Said(rest.strip(" ,;-–"), is_for_few=False)


def _without(text: str, folded: Folded, found: re.Match[str]) -> str:
    """Return a text without what a pattern found, but for what its group `kept` found."""
    start, end = folded.span(found.start(), found.end())
    kept = found.groupdict().get("kept") or ""
    if kept:
        begin, past = folded.span(found.start("kept"), found.end("kept"))
        kept = text[begin:past]
    return _LEFT.sub(" ", f"{text[:start]}{kept} {text[end:]}").strip()


def writes_for_all(plan: Plan) -> bool:
    """Whether a plan writes something that the household sees unless it is said otherwise."""
    return any(
        (each.domain in _OPEN_TO_ALL and each.action in _MADE | _CHANGED) or _is_kept(each)
        for each in plan.actions
    ) or bool(plan.partial and plan.partial["domain"] in _OPEN_TO_ALL)


def titled_as_own(plan: Plan, text: str) -> Plan:
    """Return a plan in which "a private list" is the speaker's own list, and not one to shop by.

    Args:
        plan: That writes only what its person alone may see.
        text: The whole message, verbatim.
    """
    if not names_own_list(text):
        return plan
    return replace(plan, actions=tuple(map(_titled_as_own, plan.actions)))


def _titled_as_own(planned: PlannedAction) -> PlannedAction:
    params = planned.params
    is_new_list = (planned.domain, planned.action) == ("notes", "create")
    if not is_new_list or params.get("title") != SHOPPING or not params.get("private"):
        return planned
    name = "append" if params.get("body") else "create"
    return replace(planned, action=name, params={**params, "title": OWN_LIST})


def narrowed(plan: Plan, hidden: Collection[str] = (), *, only_new: bool = False) -> Plan:
    """Return a plan that writes only what its person alone may see, or everybody but some.

    Args:
        plan: Of what else the message says.
        hidden: Member ids of those it is kept from; where there are none, only its person may see it.
        only_new: Whether what stands already stays as it is, and what says itself who may see it.
    """
    audience = {"kept_from": sorted(hidden)} if hidden else {"private": True}
    wanted = [each for each in plan.actions if not _is_said(str(each.params.get("title", "")))]
    actions = tuple(
        one
        for each in wanted
        for one in ([each] if only_new and not _is_new(each) else _narrowed(each, audience))
    )
    partial = plan.partial
    if partial is not None and partial["action"] in _MADE:
        partial = {**partial, "params": {**partial["params"], **audience}}
    return replace(plan, actions=actions, partial=partial)


def written_by(planned: PlannedAction) -> str:
    """Return the words that a request writes, without the verb of a deed."""
    params = planned.params
    names = ("body", "text") if planned.action == "append" else ("title", "summary", "body", "text")
    said = " ".join(str(params[name]) for name in names if params.get(name))
    is_deed = planned.domain == "task" and load_grammar().said["errand"].match(said)
    return said.partition(" ")[2] if is_deed else said


def _is_new(planned: PlannedAction) -> bool:
    is_made = planned.domain in _OPEN_TO_ALL and planned.action in _MADE
    return (is_made or _is_kept(planned)) and planned.params.get("private") is None


def own_matters(plan: Plan, asked: Asked) -> frozenset[int]:
    """Return the places of what is new in a plan, for nobody but the person, who has not said who may see it.

    Args:
        asked: Who says it.
    """
    return frozenset(at for at, each in enumerate(plan.actions) if _is_own_matter(each, asked))


def own_affairs(plan: Plan, own: Collection[int], text: str, *, is_adult: bool = True) -> Plan:
    """Return a plan of which only its person may see their own matters, where the message tells of their own affairs.

    What is for nobody else is theirs though no word says so ("AA meeting Monday 7pm"). What was not asked for, and is
    only offered, is judged by the fitted heads too, but for children, of whose days an adult has to know. Blocks for
    some milliseconds.

    Args:
        own: Places of the person's own matters in it.
        text: The whole message, verbatim.
        is_adult: Whether its person is.
    """
    is_told = holds_sensitive(text) or holds_sensitive(f"my own {text}")
    return replace(
        plan,
        actions=tuple(
            replace(each, params={**each.params, "private": True})
            if at in own and (is_told or (is_adult and each.is_offer and seems_private(text)))
            else each
            for at, each in enumerate(plan.actions)
        ),
    )


def _is_own_matter(planned: PlannedAction, asked: Asked) -> bool:
    params = planned.params
    is_new = (planned.domain, planned.action) in _OWN_MATTERS
    if not is_new or params.get("private") is not None:
        return False
    try:
        named = [*read_who(params.get("who"), asked), *read_who(params.get("responsible"), asked)]
    except UnclearError:
        return False  # it is with somebody else, whoever that may be
    return {*named} <= {asked.member.id} and not params.get("kept_from")


def halves(text: str) -> Iterator[tuple[str, str]]:
    """Yield two parts of a message of which only one says that it is for its person alone.

    What is said at the very end is said of all, but for what stands on lists that everybody reads (see `parted`).

    Args:
        text: Verbatim.
    """
    for joint in reversed([*islice(load_grammar().joints.finditer(text), _MOST_JOINTS)]):
        left, right = text[: joint.start()], text[joint.end() :]
        if (said_of_audience(left) is None) != (said_of_audience(right) is None):
            yield left, right


def parted(
    plans: tuple[Plan, Plan], texts: tuple[str, str], hidden: Collection[str] = ()
) -> Plan | None:
    """Return the plans of two parts as one, of which only what is said to be so is kept secret; None where that is not sure.

    Args:
        plans: What each part asks for, without words on who may see it.
        texts: Both parts, verbatim.
        hidden: Member ids of those it is kept from.
    """
    if any(not each.actions or each.partial for each in plans):
        return None
    said = [said_of_audience(each) for each in texts]
    is_of_all = said[1] is not None and texts[1].strip().startswith(said[1].rest)
    if is_of_all and not all(map(_is_line, plans[0].actions)):
        return None
    left, right = (
        plan if own is None else narrowed(plan, hidden)
        for plan, own in zip(plans, said, strict=True)
    )
    return replace(left, actions=(*left.actions, *right.actions))


def _is_line(planned: PlannedAction) -> bool:
    """Whether something is put on a list, which whoever reads it shares."""
    return (planned.domain, planned.action) == ("notes", "append")


def _is_kept(planned: PlannedAction) -> bool:
    """Whether something is to be remembered."""
    return (planned.domain, planned.action) == ("memory", "store")


def _is_said(title: str) -> bool:
    """Whether what was taken for a task only says who may see the others."""
    said = said_of_audience(title) if title else None
    return said is not None and not said.rest


def _narrowed(planned: PlannedAction, audience: Mapping[str, Any]) -> Sequence[PlannedAction]:
    if planned.action == "set_audience":
        return [replace(planned, params={**planned.params, "private": True, **audience})]
    if _is_kept(planned):
        return [replace(planned, params={**planned.params, "private": None, **audience})]
    if planned.domain not in _OPEN_TO_ALL or planned.action not in _MADE | _CHANGED:
        return [planned]
    if planned.action in _MADE:
        hidden = {*planned.params.get("kept_from", ()), *audience.get("kept_from", ())}
        kept = {"kept_from": sorted(hidden)} if hidden else dict[str, Any]()
        who = planned.params.get("who")
        if planned.domain == "task" and isinstance(who, list) and not hidden.isdisjoint(who):
            kept["who"] = [
                each for each in who if each not in hidden
            ]  # reminded, they would see it
        return [replace(planned, params={**planned.params, **audience, **kept})]
    meant_by = planned.params.get("event_id") or planned.params.get("find_by")
    params = {"find_by": meant_by, "private": True, **audience}
    return [planned, replace(planned, action="set_audience", params=params)]


def share(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "share it", said of what was written or remembered last, and "everybody may see the dentist"."""
    return _changed(groups, case, is_private=False)


def keep(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "just for me", said of what was written or remembered last, and "make the dentist private"."""
    return _changed(groups, case, is_private=True)


def kept_by_name(case: Case, hidden: Collection[str]) -> Plan:
    """Return a plan that keeps what was lately made in the thread as secret as a message asks that names it.

    Args:
        case: Its message tells whose the thing is, or from whom it is to be kept.
        hidden: Member ids of those it is kept from; where there are none, only its person may see it.
    """
    said = about(case.context.text, case.household)

    def is_named(words: str) -> bool:
        made = about(words, case.household)
        return bool(same_things(said, replace(made, first=made.things), hidden=hidden))

    steps = dict[str, PlannedAction]()
    for made in (one for each in case.context.history[-MOST_CARRIED_ON:] for one in each.results):
        if made.status is not ResultStatus.DONE or (made.domain, made.action) not in _WRITES:
            continue
        lines = _lines_of(made)
        named = [*filter(is_named, lines or [_words_of(made)])]
        for step in _of_made(made, case, is_private=True) if named else ():
            if isinstance(step, PlannedAction):
                of_lines = {"lines": "\n".join(named)} if lines else {}
                kept = replace(step, params={**step.params, **of_lines})
                steps[str(kept.params)] = kept
    return narrowed(Plan(actions=tuple(steps.values())), hidden)


def _lines_of(made: ActionResult) -> Sequence[str]:
    """Return what was put on a list; nothing where something else was made."""
    if made.domain != "notes":
        return ()
    is_line = made.action == "append"
    body = (made.params.get("body") or made.result.get("added")) if is_line else None
    return entries(str(body or made.params.get("lines") or "").replace(", ", "\n"))


def _words_of(made: ActionResult) -> str:
    """Return the words of what was made."""
    told = (made.params.get(name) or made.result.get(name) for name in _NAMES)
    return " ".join(str(each) for each in told if each)


def _changed(groups: Groups, case: Case, *, is_private: bool) -> Sequence[Step] | None:
    named = next(filter(None, (groups.get(name) for name in ("what", "what2", "what3"))), None)
    if named is not None:
        thing = best_match(case.message.title(named), case.things)
        if thing is None or thing.kind not in _KINDS:
            return None
        return [_audience(_KINDS[thing.kind], thing.id or thing.title, is_private=is_private)]
    if (told := _of_told(case, is_private=is_private)) is not None:
        return told
    last = _last(case)
    if last is None:
        return None
    made = _made_with(last, case) if is_private or last.action == "set_audience" else [last]
    steps = [one for each in made for one in _of_made(each, case, is_private=is_private)]
    return [*{str(each): each for each in steps}.values()] or None


def _made_with(last: ActionResult, case: Case) -> Sequence[ActionResult]:
    """Return what was written in the turn that did something last: what is said of "it" there may be about all of that."""
    turns = (each.results for each in reversed(case.context.history) if last in each.results)
    return [
        each
        for each in next(turns, ())
        if each is last
        or (
            each.status is last.status
            and (each.action == last.action or (each.domain, each.action) in _WRITES)
        )
    ]


def _of_made(made: ActionResult, case: Case, *, is_private: bool) -> Sequence[Step]:
    """Return requests about who may see one thing that was made or changed."""
    if made.domain not in _OPEN_TO_ALL:
        is_told = made.domain == "memory"
        return (is_told and _of_memory(made, is_private=is_private)) or ()
    lines = str(made.params.get("lines") or "")
    if (made.domain, made.action) == ("notes", "append") and not made.result.get("is_new"):
        lines = str(made.params.get("body") or made.result.get("added") or "")
    if made.domain == "notes" and lines:
        return [_audience("notes", _note_of(made), is_private=is_private, lines=lines)]
    if made.domain == "notes" and made.action in {"create", "append"}:
        return [_audience("notes", _note_of(made), is_private=is_private)]
    things = results_of([made]) or meant("it", case)
    return [
        _audience(_KINDS[each.kind], each.id, is_private=is_private)
        for each in things
        if each.id and each.kind in _KINDS
    ]


def _note_of(made: ActionResult) -> str:
    return str(made.result.get("id", ""))


def _of_told(case: Case, *, is_private: bool) -> Sequence[Step] | None:
    """Return requests about what was told last, where nothing was done about it; None where something was."""
    people = case.household.members_by_word
    history = [each for each in case.context.history if not is_only_wish(each.text, people)]
    if case.context.results or not history or history[-1].results:
        return None
    asked = case.context.asked
    told = facts_in(history[-1].text, case.household, now=asked.now)
    if is_private and told:
        return []  # narrowed when the turn ends, whether memory has read it yet or not
    text = history[-1].text
    # By the words it was told in: what memory makes of them follows, read already or not, and so does what it makes nothing of.
    is_told = bool(told) or secret_of(text, case.household, asked.member.id) is not None
    return [_audience("memory", text, is_private=False)] if is_told and not is_private else None


def _of_memory(last: ActionResult, *, is_private: bool) -> Sequence[Step] | None:
    if last.action not in _KEPT:
        return None
    lines = last.result.get("memories") or [last.result.get("title") or ""]
    return [_audience("memory", line, is_private=is_private) for line in lines if line]


def _audience(domain: str, find_by: str, *, is_private: bool, lines: str = "") -> Step:
    of_lines = {"lines": lines} if lines else {}
    return action(domain, "set_audience", {"find_by": find_by, "private": is_private, **of_lines})


def _last(case: Case) -> ActionResult | None:
    """Return what was done last before this message: what it does itself says for whom it is."""
    return None if case.context.results else next(latest(case), None)
