"""Edits of what awaits a yes: the whole request again, with what the person wants different. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from kinkeeper.actions.requests.model import ActionResult
from kinkeeper.conversation.planning.case import Case, Groups, Step, action
from kinkeeper.conversation.planning.changing_events import named_event, new_time
from kinkeeper.conversation.planning.clauses import bare
from kinkeeper.conversation.planning.mail_rules import composed, recipients
from kinkeeper.conversation.planning.named import results_of
from kinkeeper.conversation.planning.references import combined
from kinkeeper.conversation.planning.referents import meant, target
from kinkeeper.conversation.planning.relative import in_its_frame, proposed_with, relative_changes

ASK = "What should I change?"
_MAIL = ("subject", "added", "copied", "recipient", "replaced", "body")
_DATED = ("start_time", "deadline")


def edited(open_edit: Sequence[ActionResult], case: Case) -> list[Step] | None:
    """Return the requests that replace those which await a yes, or None where the edit is not understood.

    Args:
        open_edit: What awaits a yes; the latest that the edit fits is changed, the others stay as they are.
        case: The message.
    """
    text = re.sub(r"^(?:and|but|also)\s+", "", case.message.text.strip(), flags=re.IGNORECASE)
    forms = dict.fromkeys((bare(case.message.text, case.grammar, case.household.bot_name), text))
    for place in range(len(open_edit) - 1, -1, -1):
        for form in forms:
            changed = _changed(open_edit[place], form, case)
            if changed is not None:
                rest = [_again(each) for each in open_edit]
                rest[place] = changed
                return rest
    return None


def _again(result: ActionResult) -> Step:
    return action(result.domain, result.action, dict(result.params))


def _changed(result: ActionResult, text: str, case: Case) -> Step | None:
    params = dict(result.params)
    changes = _mail(params, text, case) if result.domain == "email" else _other(result, text, case)
    return action(result.domain, result.action, {**params, **changes}) if changes else None


def _mail(params: Mapping[str, Any], text: str, case: Case) -> dict[str, Any]:
    for name in _MAIL:
        found = case.grammar.editing[name].fullmatch(text)
        if found is None:
            continue
        groups = found.groupdict("")
        if name == "copied":
            before = params.get("to", [])
            before = [before] if isinstance(before, str) else [*before]
            return {"to": [*before, *recipients(groups["to"], case)]}
        if name in {"recipient", "replaced"}:
            return {"to": recipients(groups["to"], case)}
        if name == "subject":
            return {"subject": case.message.words(groups["subject"])}
        said = case.message.sentence(groups["body"])
        body = composed(said.rstrip("."), said)
        return {"body": f"{params.get('body', '')} {body}".strip() if name == "added" else body}
    return {}


def _other(result: ActionResult, text: str, case: Case) -> dict[str, Any]:
    title = case.grammar.editing["title"].fullmatch(text)
    if title is not None:
        return proposed_with(
            result,
            {
                "summary" if result.domain == "calendar" else "title": case.message.words(
                    title["title"]
                )
            },
        )
    things = results_of([result])
    relative = relative_changes(text, things[0], case) if things else {}
    if relative and result.action == "delete_event":
        return {"on": relative["start_time"]} if "start_time" in relative else {}
    if relative:
        return proposed_with(result, relative)
    found = case.grammar.pointing["only_time"].fullmatch(text) or case.grammar.pointing[
        "move"
    ].fullmatch(text)
    if found is not None:
        return _retimed(result, found.groupdict(""), case)
    place = case.grammar.pointing["place"].fullmatch(text)
    if place is not None and result.domain == "calendar" and result.action != "delete_event":
        return proposed_with(result, {"location": case.message.words(place["where"])})
    if case.grammar.pointing["pointer"].fullmatch(text) and result.domain == "calendar":
        others = [each for each in meant(text, case) if each.kind == "event" and each.id]
        return {"find_by": None, **target(others[0])} if len(others) == 1 else {}
    aim = case.grammar.editing["target"].fullmatch(text)
    if aim is not None and ("find_by" in result.params or "event_id" in result.params):
        what = re.sub(r"\s+instead$", "", aim["what"], flags=re.IGNORECASE)
        return {"event_id": None, "on": None, **named_event(what, case)}
    return {}


def _retimed(result: ActionResult, groups: Groups, case: Case) -> dict[str, Any]:
    new, things = new_time(groups, case), results_of([result])
    is_dated = bool(things) and "-" in (things[0].start or "")  # "17:00" alone has no frame
    if is_dated and "start_time" in new:
        new = in_its_frame(new, groups.get("to", ""), things[0], case)
    old = {**result.params, **result.params.get("changes", {})}
    field = next((name for name in _DATED if name in old), None)
    if field is None or "start_time" not in new:
        if result.action == "delete_event" and "start_time" in new:
            return {"on": new["start_time"]}
        return {}
    value = combined(str(new["start_time"]), str(old[field]))
    offset = f"{case.now:%z}"
    if "T" in value and len(value) == len("2026-01-01T00:00"):
        value = f"{value}:00{offset[:3]}:{offset[3:]}"
    return proposed_with(result, {field: value})
