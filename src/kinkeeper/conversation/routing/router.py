"""Where a message goes: an open question first, the social filter, triage, then the mode of the answer."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

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
from kinkeeper.conversation.routing.intent import (
    Intent,
    IntentType,
    goes_on,
    offers_something,
    read_intent,
    read_social,
)
from kinkeeper.conversation.routing.signals import Signals, Weights, shipped_weights
from kinkeeper.conversation.routing.triage import Message, checked, domains_before, triaged
from kinkeeper.language.sorting.domains import Domain, DomainRouter
from kinkeeper.memory.statements.secrecy import is_only_wish
from kinkeeper.models.embedding.embedder import Embedder

# How a message is answered: each mode's score as a sum of weighed features, and whether the best
# two tie. Pure.

_AFTER_ACTING = (Mode.RESPOND, Mode.CLARIFY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """The modes with their scores.

    Attributes:
        features: What they were summed of, by name.
        margin: How far the best is ahead, as a share of its score.
        effective_margin: How far it must be.
    """

    scores: Mapping[Mode, float]
    features: Mapping[str, float]
    margin: float
    effective_margin: float

    @property
    def ranked(self) -> Sequence[Mode]:
        """The modes, best first."""
        return sorted(self.scores, key=lambda mode: -self.scores[mode])

    @property
    def is_tie(self) -> bool:
        """Whether the best two are too near to each other to tell."""
        return self.margin < self.effective_margin


def score_modes(
    intent: Intent, signals: Signals, triage: Triage, weights: Weights | None = None
) -> Scored:
    """Return the scores of all modes.

    Args:
        signals: What is known when it comes.
        triage: What was made of it; it informs the scores and decides nothing alone.
        weights: Those of the data file where None.
    """
    known = weights or shipped_weights()
    features = {
        **_of_signals(signals, known),
        **_of_message(intent, signals, known),
        **_of_triage(triage),
    }
    scores = _summed(features, known)
    return Scored(
        scores=scores,
        features=features,
        margin=_margin(scores),
        effective_margin=_effective_margin(intent, signals, known),
    )


def mode_after_acting(features: Mapping[str, float]) -> Mode:
    """Return how to answer once the acting of a turn is over.

    Args:
        features: Of the message, as they were scored.
    """
    now = {name: value for name, value in features.items() if not name.startswith("triage_")}
    scores = _summed({**now, "triage_respond": 1.0}, shipped_weights())
    return max(_AFTER_ACTING, key=lambda mode: scores[mode])


def _summed(features: Mapping[str, float], weights: Weights) -> dict[Mode, float]:
    return {
        mode: sum(
            weight * (1.0 if name == "base" else features.get(name, 0.0))
            for name, weight in own.items()
        )
        for mode, own in weights.modes.items()
    }


def _of_signals(signals: Signals, weights: Weights) -> dict[str, float]:
    at, warmth = weights.features, signals.warmth
    is_dense = signals.fact_density > at.dense_facts
    return {
        "warmth": warmth,
        "fact_density": signals.fact_density,
        "gist_density": signals.gist_density,
        "cold": float(signals.is_cold),
        "coldness": 1 - warmth if signals.is_cold else 0.0,
        "warm": float(signals.is_warm),
        "very_cold": float(warmth < at.very_cold),
        "well_known": float(signals.is_warm and is_dense),
        "after_clarify": float(signals.previous_mode is Mode.CLARIFY),
    }


def _of_message(intent: Intent, signals: Signals, weights: Weights) -> dict[str, float]:
    at, warmth, memory = weights.features, signals.warmth, signals.memory_confidence
    asks = intent.has_question_mark
    is_very_thin = memory < at.very_thin_memory
    return {
        "question": float(asks),
        "warm_question": float(asks and warmth > at.question_warmth),
        "cold_question": float(asks and signals.is_cold),
        "factless_question": float(asks and signals.facts == 0),
        "new_topic_question": float(asks and signals.is_new_topic),
        "middling_question": float(asks and at.middling_from <= warmth <= at.middling_to),
        "factless_interrogative": float(intent.is_interrogative and signals.facts < at.few_facts),
        "implicit_reference": float(intent.refers),
        "very_thin_question": float(asks and is_very_thin),
        "thin_question": float(asks and not is_very_thin and memory < at.thin_memory),
        "greeting": float(intent.type is IntentType.GREETING),
        "feedback": float(intent.type is IntentType.FEEDBACK),
        "empty": float(intent.type is IntentType.EMPTY),
    }


def _of_triage(triage: Triage) -> dict[str, float]:
    return {
        "triage_act": triage.confidence_tool_need if triage.branch is Branch.ACT else 0.0,
        "triage_respond": float(triage.branch is Branch.RESPOND),
        "triage_clarify": float(triage.branch is Branch.CLARIFY),
    }


def _margin(scores: Mapping[Mode, float]) -> float:
    best, second = sorted(scores.values(), reverse=True)[:2]
    return (best - second) / abs(best) if best else 0.0


def _effective_margin(intent: Intent, signals: Signals, weights: Weights) -> float:
    own = weights.margin
    margin = own.base + own.warmth * signals.warmth
    if intent.refers:
        margin += own.implicit_reference
    if signals.memory_confidence < weights.features.thin_memory:
        margin += own.thin_memory
    if intent.is_interrogative and not intent.has_question_mark:
        margin += own.bare_interrogative
    recent = signals.recent_margins[-own.uncertain_turns :]
    if len(recent) == own.uncertain_turns and max(recent) < own.uncertain_below:
        margin += own.uncertain
    return margin


_BRANCH_OF = {
    Mode.RESPOND: Branch.RESPOND,
    Mode.CLARIFY: Branch.CLARIFY,
    Mode.ACT: Branch.ACT,
    Mode.ACKNOWLEDGE: Branch.SOCIAL,
    Mode.IGNORE: Branch.SOCIAL,
    Mode.CANCEL: Branch.SOCIAL,
}
_NOTHING_KNOWN = Signals()
_FRIENDLY = frozenset({IntentType.GREETING, IntentType.FEEDBACK})


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """Where a message goes, and how that came about.

    Attributes:
        intent: What it is by its form.
        confirmation: What it decides about an open question.
        decided_by: "confirmation", "social", "router" or "triage" (the router agreed with it).
        scores: Of the modes; none where they were not weighed.
        snapshot: The features that were weighed, by name.
        margin: How far the best mode is ahead of the second.
        effective_margin: How far it had to be.
        is_tie: Whether the best two were too near to each other to tell.
    """

    triage: Triage
    intent: Intent
    confirmation: Decision | None = None
    decided_by: str
    scores: Mapping[Mode, float] = field(default_factory=dict)
    snapshot: Mapping[str, float] = field(default_factory=dict)
    margin: float = 0.0
    effective_margin: float = 0.0
    is_tie: bool = False
    version: int = 0


class Router:
    """Routes messages.

    Args:
        embedder: Compares what is said with what parts of the assistant are for; None compares words.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._domains = DomainRouter(embedder)

    async def route(
        self,
        text: str,
        *,
        history: Sequence[Exchange] = (),
        open_question: bool | str = False,
        signals: Signals = _NOTHING_KNOWN,
        requests: Sequence[RequestKind] = (),
        skills: Collection[str] = (),
        names: Collection[str] = (),
        people: Collection[str] = (),
    ) -> Routed:
        """Return where a message goes.

        Args:
            text: Verbatim; one of more than 2,000 characters is read to there and is no consent.
            history: Earlier turns of the thread, oldest first.
            open_question: Whether a pending action waits for a yes that this message may be; the question, where
                it is known.
            signals: What is known when it comes.
            requests: All that can be asked; none where only the domains matter.
            names: What the assistant is called.
            people: Words for people who are known, in small letters.
        """
        is_whole, text = len(text) <= LONGEST_READ, text[:LONGEST_READ]
        intent = read_intent(text, signals, names=names, people=people)
        asked = open_question if isinstance(open_question, str) else ""
        is_wish = is_only_wish(text, people)
        decision = (
            read_confirmation(text, asked=asked, names=names)
            if open_question is not False and is_whole and not is_wish
            else None
        )
        if decision is not None:
            return _confirmed(decision, intent)
        is_offered = offers_something(history)
        social = read_social(text, is_offered=is_offered, has_referent=bool(history), names=names)
        if social is not None and not is_wish:
            answers = bool(history) and read_confirmation(text, names=names) is not None
            return _left(social, intent, is_followup=answers)
        if is_offered and intent.type in _FRIENDLY:
            intent = replace(intent, type=IntentType.CONTINUATION)
        message = await self._message(text, history, intent, names)
        triage = triaged(message, signals, requests)
        domains = {*map(str, Domain), *(kind.domain for kind in requests)}
        triage = checked(triage, intent, domains=domains, requests=requests, skills=skills)
        return _decided(triage, intent, signals)

    def terminal(self, routed: Routed) -> Mode:
        """Return how to answer once the acting of a turn is over."""
        return mode_after_acting(routed.snapshot)

    async def _message(
        self, text: str, history: Sequence[Exchange], intent: Intent, names: Collection[str]
    ) -> Message:
        follows = goes_on(clauses_of(text, names), history)
        (route,) = await self._domains.route([text])
        chances = {str(domain): chance for domain, chance in route.chances.items()}
        earlier = domains_before(history) if follows else ()
        if follows and not earlier and max(chances.values()) < shipped_weights().triage.sure_chance:
            earlier = await self._spoken_of(history[-1])
        return Message(
            text=text, intent=intent, chances=chances, is_followup=follows, earlier=earlier
        )

    async def _spoken_of(self, exchange: Exchange) -> tuple[str, ...]:
        """Return the domains of what was said, or else of what was answered."""
        lines = [line for line in (exchange.text, exchange.answer) if line]
        for route in await self._domains.route(lines):
            if route.domains:
                return tuple(map(str, route.domains))
        return ()


def _decided(triage: Triage, intent: Intent, signals: Signals) -> Routed:
    scored = score_modes(intent, signals, triage)
    mode = scored.ranked[0]
    return Routed(
        triage=_in_mode(triage, mode),
        intent=intent,
        decided_by="triage" if mode is triage.mode else "router",
        scores=scored.scores,
        snapshot=scored.features,
        margin=scored.margin,
        effective_margin=scored.effective_margin,
        is_tie=scored.is_tie,
        version=shipped_weights().version,
    )


def _in_mode(triage: Triage, mode: Mode) -> Triage:
    branch = _BRANCH_OF[mode]
    return replace(
        triage,
        mode=mode,
        branch=branch,
        social=Social(mode.value) if branch is Branch.SOCIAL else None,
    )


def _confirmed(decision: Decision, intent: Intent) -> Routed:
    mode = Mode.RESPOND if decision.kind is Confirmation.NO else Mode.ACT
    triage = Triage(
        type=TurnType.FOLLOWUP,
        branch=_BRANCH_OF[mode],
        mode=mode,
        is_followup=True,
        confidence_internal=1.0,
        confidence_tool_need=float(mode is Mode.ACT),
        confirmation=decision.kind,
    )
    return Routed(
        triage=triage,
        intent=intent,
        confirmation=decision,
        decided_by="confirmation",
        version=shipped_weights().version,
    )


def _left(social: Social, intent: Intent, *, is_followup: bool) -> Routed:
    triage = Triage(
        type=TurnType.FOLLOWUP if is_followup else TurnType.CHAT,
        branch=Branch.SOCIAL,
        mode=Mode(social.value),
        social=social,
        is_followup=is_followup,
        confidence_internal=1.0,
    )
    return Routed(
        triage=triage, intent=intent, decided_by="social", version=shipped_weights().version
    )


# Lines of a talk as exchanges, where only who said them is known. Pure.

_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
"""When they were said: nobody knows, and routing does not ask."""


def exchanges_of(lines: Iterable[tuple[bool, str]]) -> list[Exchange]:
    """Return what was said, each with what was answered to it.

    Args:
        lines: Whether the assistant said it, and what; oldest first.
    """
    exchanges: list[Exchange] = []
    for is_answer, text in lines:
        if not is_answer:
            exchanges.append(_exchange(text, ""))
        elif exchanges and not exchanges[-1].answer:
            exchanges[-1] = _exchange(exchanges[-1].text, text)
        else:
            exchanges.append(_exchange("", text))
    return exchanges


def _exchange(text: str, answer: str) -> Exchange:
    return Exchange(text=text, answer=answer, at=_LONG_AGO, mode=Mode.RESPOND)
