"""Where a message goes: an open question first, then the social filter, then triage, then the mode of the answer."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kinkeeper.actions.requests.model import RequestKind
from kinkeeper.conversation.model import (
    LONGEST_READ,
    Branch,
    Confirmation,
    Exchange,
    Mode,
    Social,
    Triage,
    TurnType,
)
from kinkeeper.conversation.routing.clause_words import clauses_of
from kinkeeper.conversation.routing.confirmation import Decision, read_confirmation
from kinkeeper.conversation.routing.followup import goes_on, offers_something
from kinkeeper.conversation.routing.intent import Intent, IntentType, read_intent
from kinkeeper.conversation.routing.light import LightModel, Said
from kinkeeper.conversation.routing.mode_router import Scored, mode_after_acting, score_modes
from kinkeeper.conversation.routing.self_check import checked
from kinkeeper.conversation.routing.signals import Signals
from kinkeeper.conversation.routing.social import read_social
from kinkeeper.conversation.routing.triage import Message, domains_before, triaged
from kinkeeper.conversation.routing.weights import shipped_weights
from kinkeeper.language.sorting.domains import Domain, DomainRouter
from kinkeeper.models.embedding.embedder import Embedder
from kinkeeper.models.model import ModelGateway, Outcome

_BRANCH_OF = {
    Mode.RESPOND: Branch.RESPOND, Mode.CLARIFY: Branch.CLARIFY, Mode.ACT: Branch.ACT,
    Mode.ACKNOWLEDGE: Branch.SOCIAL, Mode.IGNORE: Branch.SOCIAL, Mode.CANCEL: Branch.SOCIAL,
}  # fmt: skip
_NOTHING_KNOWN = Signals()
_FRIENDLY = frozenset({IntentType.GREETING, IntentType.FEEDBACK})


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """Where a message goes, and how that came about.

    Attributes:
        triage: Where.
        intent: What it is by its form.
        confirmation: What it decides about an open question.
        decided_by: "confirmation", "social", "router", "tie_break" or "triage" (the router agreed with it).
        scores: Of the modes; none where they were not weighed.
        snapshot: The features that were weighed, by name.
        margin: How far the best mode is ahead of the second.
        effective_margin: How far it had to be.
        tie_break: What the light model preferred, where it was asked and said so.
        fallback: Why the rules went on without the light model, where it was asked in vain.
        version: Of the weights.
    """

    triage: Triage
    intent: Intent
    confirmation: Decision | None = None
    decided_by: str
    scores: Mapping[Mode, float] = field(default_factory=dict)
    snapshot: Mapping[str, float] = field(default_factory=dict)
    margin: float = 0.0
    effective_margin: float = 0.0
    tie_break: Mode | None = None
    fallback: Outcome | None = None
    version: int = 0


class Router:
    """Routes messages.

    Args:
        embedder: Compares what is said with what parts of the assistant are for; None compares words.
        models: Ask the light model where the rules are unsure; None where there is none.
    """

    def __init__(self, embedder: Embedder | None, *, models: ModelGateway | None = None) -> None:
        self._domains = DomainRouter(embedder)
        self._light = LightModel(models) if models is not None else None

    async def route(
        self, text: str, *, household: str, history: Sequence[Exchange] = (),
        open_question: bool | str = False, signals: Signals = _NOTHING_KNOWN,
        requests: Sequence[RequestKind] = (), skills: Collection[str] = (),
        names: Collection[str] = (),
    ) -> Routed:  # fmt: skip
        """Return where a message goes.

        Args:
            text: Verbatim; one of more than 2,000 characters is read to there and is no consent.
            household: Tenant key.
            history: Earlier turns of the thread, oldest first.
            open_question: Whether a pending action waits for a yes that this message may be; the question, where
                it is known.
            signals: What is known when it comes.
            requests: All that can be asked; none where only the domains matter.
            skills: Built-in skills there are.
            names: What the assistant is called.
        """
        is_whole, text = len(text) <= LONGEST_READ, text[:LONGEST_READ]
        intent = read_intent(text, signals, names=names)
        asked = open_question if isinstance(open_question, str) else ""
        decision = (
            read_confirmation(text, asked=asked, names=names)
            if open_question is not False and is_whole
            else None
        )
        if decision is not None:
            return _confirmed(decision, intent)
        is_offered = offers_something(history)
        social = read_social(text, is_offered=is_offered, has_referent=bool(history), names=names)
        if social is not None:
            answers = bool(history) and read_confirmation(text, names=names) is not None
            return _left(social, intent, is_followup=answers)
        if is_offered and intent.type in _FRIENDLY:
            intent = replace(intent, type=IntentType.CONTINUATION)
        said = Said(household=household, text=text, history=history)
        message = await self._message(said, intent, names)
        triage = triaged(message, signals, requests)
        fallback = None
        if self._light is not None and requests and _is_unsure(message, intent):
            triage, fallback = await self._light.triage(said, triage, signals, requests)
        domains = {*map(str, Domain), *(kind.domain for kind in requests)}
        triage = checked(triage, intent, domains=domains, requests=requests, skills=skills)
        return await self._decided(said, triage, intent, signals, fallback=fallback)

    def terminal(self, routed: Routed) -> Mode:
        """Return how to answer once the acting of a turn is over.

        Args:
            routed: As the turn was routed.
        """
        return mode_after_acting(routed.snapshot)

    async def _message(self, said: Said, intent: Intent, names: Collection[str]) -> Message:
        follows = goes_on(clauses_of(said.text, names), said.history)
        (route,) = await self._domains.route([said.text])
        chances = {str(domain): chance for domain, chance in route.chances.items()}
        earlier = domains_before(said.history) if follows else ()
        if follows and not earlier and max(chances.values()) < shipped_weights().triage.sure_chance:
            earlier = await self._spoken_of(said.history[-1])
        return Message(
            text=said.text, intent=intent, chances=chances, is_followup=follows, earlier=earlier
        )

    async def _spoken_of(self, exchange: Exchange) -> tuple[str, ...]:
        """Return the domains of what was said, or else of what was answered."""
        lines = [line for line in (exchange.text, exchange.answer) if line]
        for route in await self._domains.route(lines):
            if route.domains:
                return tuple(map(str, route.domains))
        return ()

    async def _decided(
        self,
        said: Said,
        triage: Triage,
        intent: Intent,
        signals: Signals,
        *,
        fallback: Outcome | None,
    ) -> Routed:
        scored = score_modes(intent, signals, triage)
        best, second = scored.ranked[:2]
        tie_break: Mode | None = None
        if scored.is_tie and self._light is not None:
            tie_break, late = await self._light.between(said, [best, second])
            fallback = fallback or late
        mode = tie_break or best
        decided_by = "tie_break" if tie_break else "triage" if mode is triage.mode else "router"
        return _routed(_in_mode(triage, mode), intent, scored, decided_by, tie_break, fallback)


def _routed(  # noqa: PLR0917 - all of them are what came about
    triage: Triage, intent: Intent, scored: Scored, decided_by: str, tie_break: Mode | None,
    fallback: Outcome | None,
) -> Routed:  # fmt: skip
    return Routed(
        triage=triage, intent=intent, decided_by=decided_by, scores=scored.scores,
        snapshot=scored.features, margin=scored.margin, effective_margin=scored.effective_margin,
        tie_break=tie_break, fallback=fallback, version=shipped_weights().version,
    )  # fmt: skip


def _in_mode(triage: Triage, mode: Mode) -> Triage:
    branch = _BRANCH_OF[mode]
    return replace(
        triage, mode=mode, branch=branch,
        social=Social(mode.value) if branch is Branch.SOCIAL else None,
    )  # fmt: skip


def _is_unsure(message: Message, intent: Intent) -> bool:
    """Whether the rules cannot tell: some domain is likely but not sure, or a wish is nobody's."""
    weights = shipped_weights().triage
    best = max(message.chances.values(), default=0.0)
    wants = intent.type in {IntentType.COMMAND, IntentType.QUESTION} or intent.has_link
    return best < weights.sure_chance and (best >= weights.unsure_chance or wants)


def _confirmed(decision: Decision, intent: Intent) -> Routed:
    mode = Mode.RESPOND if decision.kind is Confirmation.NO else Mode.ACT
    triage = Triage(
        type=TurnType.FOLLOWUP, branch=_BRANCH_OF[mode], mode=mode, is_followup=True,
        confidence_internal=1.0, confidence_tool_need=float(mode is Mode.ACT),
        confirmation=decision.kind,
    )  # fmt: skip
    return Routed(
        triage=triage,
        intent=intent,
        confirmation=decision,
        decided_by="confirmation",
        version=shipped_weights().version,
    )


def _left(social: Social, intent: Intent, *, is_followup: bool) -> Routed:
    triage = Triage(
        type=TurnType.FOLLOWUP if is_followup else TurnType.CHAT, branch=Branch.SOCIAL,
        mode=Mode(social.value), social=social, is_followup=is_followup, confidence_internal=1.0,
    )  # fmt: skip
    return Routed(
        triage=triage, intent=intent, decided_by="social", version=shipped_weights().version
    )
