"""How often a person is asked without need: requests that are low in stakes and said, and still await a yes.

Measured on what the rules plan for our own and for public requests: as it is, and as a model would plan it. The model
here is one that is always right: it answers each look with the same requests, in the person's words where it has seen
nothing else. What still asks then is asked by us.
"""

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evals.planner_gold import judge, labelled_requests
from evals.report import Floor, Report, Table
from kinkeeper.actions.consent import Consent, Stakes, consent_for
from kinkeeper.actions.requests.email import email_requests
from kinkeeper.actions.requests.model import Catalogue, RequestKind
from kinkeeper.bootstrap import open_system
from kinkeeper.bootstrap.system import catalogue_of
from kinkeeper.conversation.model import Plan, PlannedAction, PlanningContext
from kinkeeper.conversation.planning.case import case_of
from kinkeeper.conversation.planning.model_planner import ModelPlanner
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.conversation.planning.rule_planner import plan_of, vocabulary_of
from kinkeeper.core.errors import InvariantError
from kinkeeper.models.model import ChatReply, ChatRequest, Finish, Outcome, Usage
from kinkeeper.settings.model import Settings
from kinkeeper.settings.models import EmbedderChoice

REQUESTS = Path("evals/data/requests_dev.jsonl")
HOUSEHOLD = Path("examples/miller/household.toml")
_PUBLIC_SETS = ("clinc_router", "hwu_router", "slurp_router")
_SAMPLE = 500
_MOST_NEEDLESS = 0.03
_REFERENCES = ("find_by", "event_id")


@dataclass(frozen=True, slots=True)
class Request:
    """A message, and the requests that it asks for."""

    group: str
    context: PlanningContext
    plan: Plan


class RightModel:
    """A model that is always right, and says what it means in the person's words."""

    def __init__(self) -> None:
        self._answer: dict[str, Any] = {}

    def expect(self, request: Request) -> None:
        """Take what to answer from a plan."""
        actions = [
            {
                "request": f"{each.domain}.{each.action}",
                "asked_in": request.context.text,
                "params": [*flat_params(_worded(each, request.context))],
            }
            for each in request.plan.actions
        ]
        self._answer = {"actions": actions, "question": None, "missing": None}

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the plan."""
        del request
        return ChatReply(
            text=json.dumps(self._answer),
            model="right",
            finish=Finish.STOP,
            usage=Usage(input_tokens=1, output_tokens=1),
        )

    def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatReply]:
        """Plans are not streamed.

        Raises:
            InvariantError: Always.
        """
        raise InvariantError(f"{request.prompt.id} is not to be streamed")

    async def note_fallback(self, household: str, *, stage: str, outcome: Outcome) -> None:
        """Plans of this model fit, unless the table of requests has another shape.

        Raises:
            InvariantError: Always.
        """
        raise InvariantError(f"{stage} of {household} could not use {self._answer}: {outcome}")


def measure(data: Path | None, *, root: Path, is_full: bool) -> Report:
    """Plan every request twice, and count which of its writes await a yes.

    Args:
        data: Folder with the public sets; without it our own requests alone are measured.
        root: The repository.
        is_full: All public requests, instead of a fixed sample.
    """
    with _catalogue(root) as catalogue:
        requests = [each for each in _requests(root, data, is_full=is_full) if each.plan.actions]
        counts, worst = asyncio.run(_counted(requests, catalogue))
    rows = [
        (
            group,
            each["writes"],
            each["high"],
            each["rules"] / max(each["low"], 1),
            each["model"] / max(each["low"], 1),
        )
        for group, each in counts.items()
    ]
    both = counts["all"]
    return Report(
        suite="confirmations",
        worst=tuple(worst),
        tables=(
            Table(
                title="Asked without need, of what is said and low in stakes",
                rows=tuple(rows),
                columns=("requests", "writes", "asked by stakes", "by rules", "by a model"),
            ),
        ),
        floors=tuple(
            Floor(
                name=f"{name}: run at once",
                value=1 - both[name] / max(both["low"], 1),
                minimum=1 - _MOST_NEEDLESS,
            )
            for name in ("rules", "model")
        ),
    )


@contextmanager
def _catalogue(root: Path) -> Iterator[Catalogue]:
    settings = Settings(embedder=EmbedderChoice.NONE)
    with (
        tempfile.TemporaryDirectory() as folder,
        open_system(
            settings, household_file=root / HOUSEHOLD, database=str(Path(folder) / "family.sqlite")
        ) as system,
    ):
        mail = email_requests(None, can_send=True)
        yield catalogue_of(settings, system.store, system.recall.finder, further=mail)


def _requests(root: Path, data: Path | None, *, is_full: bool) -> Iterator[Request]:
    """Yield our own requests that the rules read rightly, and public ones as they read them."""
    own = [*labelled_requests(root / REQUESTS, root)]
    for row in own:
        plan = plan_of(row.context)
        if judge(row, plan).is_set_right:
            yield Request(row.slice, row.context, plan)
    for name in _PUBLIC_SETS if data is not None else ():
        assert data is not None  # noqa: S101 - for the reader of types
        lines = (data / f"{name}_dev.jsonl").read_text(encoding="utf-8").splitlines()
        for line in lines if is_full else lines[:: len(lines) // _SAMPLE + 1]:
            alone = {"text": json.loads(line)["text"], "history": (), "open_edit": ()}
            context = replace(own[0].context, **alone)
            yield Request(name, context, plan_of(context))


async def _counted(
    requests: Iterable[Request], catalogue: Catalogue
) -> tuple[Mapping[str, Counter[str]], list[str]]:
    model = RightModel()
    planner = Planners(ModelPlanner(model, lambda: catalogue))
    counts: dict[str, Counter[str]] = {}
    worst: list[str] = []
    for request in requests:
        model.expect(request)
        by_model = await planner.plan(request.context)
        for action in request.plan.actions:
            kind = catalogue.get(action.domain, action.action)
            if kind.prepare is None or (action.is_offer and request.group in _PUBLIC_SETS):
                continue  # what is told of a day to come is offered: nobody asked for it
            is_low = kind.stakes is Stakes.LOW
            asked = {
                "rules": is_low and _asks(request.plan, kind, [action]),
                "model": is_low and _asks(by_model, kind, by_model.actions),
            }
            if asked["model"]:
                worst.append(f"{request.group}: {request.context.text!r} {by_model.clarification}")
            for group in (request.group, "all"):
                counted = counts.setdefault(group, Counter())
                counted.update(writes=1, low=is_low, high=not is_low, **asked)
    return {
        **{name: each for name, each in counts.items() if name != "all"},
        "all": counts["all"],
    }, worst


def _asks(plan: Plan, kind: RequestKind, among: Sequence[PlannedAction]) -> bool:
    """Whether a request of a kind does not run at once: it awaits a yes, or is not planned at all."""
    planned = [each for each in among if (each.domain, each.action) == (kind.domain, kind.name)]
    consents = [consent_for(plan.origin_of(each), kind.stakes) for each in planned]
    return not planned or Consent.ASK in consents


def _pointer(context: PlanningContext) -> str | None:
    """Return the words by which a message points at something, if it does."""
    case = case_of(context, vocabulary_of(context.asked.household))
    found = case.grammar.pointing["pointer"].search(case.message.text.lower())
    return found[0] if found is not None else None


def _worded(action: PlannedAction, context: PlanningContext) -> dict[str, Any]:
    """Return a request's parameters as somebody says them who knows no ids but has the person's words."""
    params = dict(action.params)
    reference = next((str(params[name]) for name in _REFERENCES if name in params), "")
    pointer = _pointer(context)
    if reference.lower() in context.text.lower() or pointer is None:
        return params
    rest = {name: value for name, value in params.items() if name not in {*_REFERENCES, "on"}}
    return {**rest, "find_by": pointer}


def flat_params(params: Mapping[str, Any], before: str = "") -> Iterator[Mapping[str, Any]]:
    """Yield parameters as a model names them: parts of one with a dot before."""
    for name, value in params.items():
        if isinstance(value, Mapping):
            yield from flat_params(value, f"{before}{name}.")
        else:
            said = [*map(str, value)] if isinstance(value, list | tuple) else str(value)
            yield {"name": f"{before}{name}", "value": said}
