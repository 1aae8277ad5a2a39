"""The answer to "Which one do you mean?": the request again, of the one option that is chosen. Pure."""

from datetime import date
from typing import Any

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation.choice_words import chosen, only_chooses
from kinkeeper.conversation.model import PlannedAction
from kinkeeper.conversation.planning.case import Case, action
from kinkeeper.conversation.planning.message import times_in
from kinkeeper.conversation.planning.plan_times import moment_of
from kinkeeper.language.name_match import meant_by
from kinkeeper.reading.times.model import without_spans

_NAMING = ("find_by", "line", "title")
"""Parameters that name a thing; one of them named several."""


def option_chosen(case: Case) -> PlannedAction | None:
    """Return the request of the last turn with the option that a message chooses; None where it chooses none.

    Args:
        case: The message, which must do nothing but choose, and what was said before it.
    """
    last = case.context.history[-1] if case.context.history else None
    asked = [each for each in last.results if each.options] if last is not None else []
    if len(asked) != 1 or asked[0].status is not ResultStatus.UNCLEAR:
        return None
    name = _named_several(asked[0])
    option = _option(asked[0], case)
    if name is None or option is None:
        return None
    changes = _of_event(option, case) if asked[0].domain == "calendar" else {name: option}
    return action(asked[0].domain, asked[0].action, {**asked[0].params, **changes})


def _named_several(asked: ActionResult) -> str | None:
    """Return the parameter whose words mean each of the options."""
    options = list(asked.options)
    for name in _NAMING:
        said = asked.params.get(name)
        if isinstance(said, str) and all(meant_by(said, [option]) for option in options):
            return name
    return None


def _option(asked: ActionResult, case: Case) -> str | None:
    """Return the option that a message names by its words, its place in the list or its day."""
    text, options = case.context.text, list(asked.options)
    if only_chooses(text, options):
        found = chosen(text, options)
        return options[found[0]] if len(found) == 1 else None
    spans = times_in(text, case.now, case.household)
    moment = moment_of(spans, case.now)
    day = moment.day if moment is not None else None
    rest = without_spans(text, spans)
    same = [each for each in options if day is not None and _day_of(each, case) == day]
    return same[0] if len(same) == 1 and only_chooses(rest, options) else None


def _of_event(option: str, case: Case) -> dict[str, Any]:
    """Return the title and the day of an event as it was shown: "choir, Fri Mar 6 4pm"."""
    title, _, _ = option.rpartition(", ")
    day = _day_of(option, case)
    return {"find_by": title or option, **({"on": day.isoformat()} if day is not None else {})}


def _day_of(option: str, case: Case) -> date | None:
    _, _, when = option.rpartition(", ")
    moment = moment_of(times_in(when, case.now, case.household), case.now)
    return moment.day if moment is not None else None
