"""What a message is for, by rules: domains, requests, what is to be done; and what triage may not say. Pure."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from kinkeeper.actions.requests.model import RequestKind
from kinkeeper.conversation.model import Branch, Exchange, Mode, Triage, TurnType
from kinkeeper.conversation.routing.clause_words import word_lists
from kinkeeper.conversation.routing.intent import Intent, IntentType
from kinkeeper.conversation.routing.signals import Signals, shipped_weights
from kinkeeper.language.sorting.domains import meant_by

MODE_OF = {Branch.ACT: Mode.ACT, Branch.CLARIFY: Mode.CLARIFY, Branch.RESPOND: Mode.RESPOND}
MOST_TOOLS = 3

_WORD = re.compile(r"[^\W\d_]+")
_FEWEST_LETTERS = 4
_STEM = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message as triage sees it.

    Attributes:
        text: Verbatim.
        chances: That each domain is meant, in [0, 1].
        is_followup: Whether it continues what was said before.
        earlier: Domains that the last exchange was about.
    """

    text: str
    intent: Intent
    chances: Mapping[str, float]
    is_followup: bool
    earlier: Sequence[str] = ()


def triaged(message: Message, signals: Signals, requests: Sequence[RequestKind]) -> Triage:
    """Return where the rules send a message.

    Args:
        message: With the chances of its domains.
        signals: What is known when it comes.
        requests: All that can be asked; of tool servers the words of their descriptions count.
    """
    chances = dict(message.chances)
    shared = _shared_words(message.text, requests)
    for kind in requests:
        if kind.domain not in chances and _is_called(shared[kind.key]):
            chances[kind.domain] = max(chances.get(kind.domain, 0.0), _chance(shared[kind.key]))
    domains, need = _domains(message, chances)
    branch = _branch(message, domains)
    return Triage(
        type=_type(message, branch),
        branch=branch,
        mode=MODE_OF[branch],
        domains=domains,
        tools=_tools(domains, requests, shared),
        is_followup=message.is_followup,
        confidence_internal=signals.memory_confidence,
        confidence_tool_need=need,
        freshness_risk=freshness_of(message.text),
    )


def domains_before(history: Sequence[Exchange]) -> tuple[str, ...]:
    """Return the domains of what the last exchange did or asked about.

    Args:
        history: Earlier turns, oldest first.
    """
    if not history:
        return ()
    last = history[-1]
    done = [result.domain for result in last.results]
    asked = [str(last.partial["domain"])] if last.partial and "domain" in last.partial else []
    return tuple(dict.fromkeys([*asked, *done]))


def freshness_of(text: str) -> float:
    """Return how stale an answer from memory alone may be, in [0, 1]."""
    weights = shipped_weights().triage
    said = set(_WORD.findall(text.casefold()))
    return weights.freshness if said & word_lists()["freshness"] else weights.stale


def _domains(message: Message, chances: Mapping[str, float]) -> tuple[tuple[str, ...], float]:
    """Return the domains that are meant, likeliest first, and how likely any is."""
    weights = shipped_weights().triage
    takes_over = message.is_followup and bool(message.earlier)
    meant = meant_by(chances)
    if takes_over:
        meant = tuple(domain for domain in meant if chances[domain] >= weights.followup_chance)
    if meant:
        return meant, chances[meant[0]]
    if takes_over and message.intent.type is not IntentType.FEEDBACK:
        return tuple(message.earlier), weights.followup_chance
    return (), max(chances.values(), default=0.0)


def _branch(message: Message, domains: Collection[str]) -> Branch:
    if domains:
        return Branch.ACT
    is_command = message.intent.type is IntentType.COMMAND
    if is_command and message.intent.refers and not message.is_followup:
        return Branch.CLARIFY
    return Branch.RESPOND


def _type(message: Message, branch: Branch) -> TurnType:
    if message.is_followup:
        return TurnType.FOLLOWUP
    return TurnType.ACTION if branch is Branch.ACT else TurnType.CHAT


def _tools(
    domains: Sequence[str], requests: Sequence[RequestKind], shared: Mapping[str, int]
) -> tuple[str, ...]:
    """Return the requests of the domains whose descriptions share most words with the message."""
    of_domains = [kind.key for kind in requests if kind.domain in domains]
    named = [key for key in of_domains if shared[key]]
    return tuple(sorted(named, key=lambda key: -shared[key])[:MOST_TOOLS])


def _shared_words(text: str, requests: Sequence[RequestKind]) -> dict[str, int]:
    said = _stems(text)
    return {kind.key: len(said & _stems(f"{kind.name} {kind.description}")) for kind in requests}


def _stems(text: str) -> frozenset[str]:
    words = _WORD.findall(text.casefold().replace("_", " "))
    return frozenset(word[:_STEM] for word in words if len(word) >= _FEWEST_LETTERS)


def _is_called(shared: int) -> bool:
    return shared >= shipped_weights().triage.tool_overlap


def _chance(shared: int) -> float:
    return shared / (shared + 1)


# What triage may not say, whoever said it: unknown names, too many of them, contradictions. Pure.

MOST_SKILLS = 3


def checked(
    triage: Triage,
    intent: Intent,
    *,
    domains: Collection[str],
    requests: Sequence[RequestKind],
    skills: Collection[str],
) -> Triage:
    """Return a triage without what is unknown or contradicts itself.

    Args:
        triage: By rules or by a model.
    """
    keys = {kind.key for kind in requests}
    known = replace(
        triage,
        domains=tuple(dict.fromkeys(each for each in triage.domains if each in domains)),
        tools=tuple(dict.fromkeys(each for each in triage.tools if each in keys))[:MOST_TOOLS],
        skills=tuple(dict.fromkeys(each for each in triage.skills if each in skills))[:MOST_SKILLS],
    )
    branch = _fitting_branch(known, intent)
    kind = known.type
    if kind is not TurnType.FOLLOWUP:
        kind = TurnType.ACTION if branch is Branch.ACT else TurnType.CHAT
    return replace(
        known,
        branch=branch,
        mode=MODE_OF[branch],
        type=kind,
        domains=known.domains if branch is not Branch.RESPOND else (),
        is_followup=known.is_followup or kind is TurnType.FOLLOWUP,
    )


def _fitting_branch(triage: Triage, intent: Intent) -> Branch:
    """Return the way that fits what is known: acting needs something to act with, and a look-up is acting."""
    can_act = bool(triage.domains or triage.tools)
    if triage.branch is Branch.ACT and not can_act:
        return Branch.RESPOND
    looks_up = intent.has_link or (intent.type is IntentType.QUESTION and _may_be_stale(triage))
    if triage.branch is Branch.RESPOND and can_act and looks_up:
        return Branch.ACT
    return triage.branch if triage.branch in MODE_OF else Branch.RESPOND


def _may_be_stale(triage: Triage) -> bool:
    return triage.freshness_risk >= shipped_weights().triage.freshness
