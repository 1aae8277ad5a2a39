"""What triage may not say, whoever said it: unknown names, too many of them, contradictions. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from kinkeeper.actions.requests.model import RequestKind
from kinkeeper.conversation.model import Branch, Triage, TurnType
from kinkeeper.conversation.routing.intent import Intent, IntentType
from kinkeeper.conversation.routing.triage import MODE_OF, MOST_TOOLS
from kinkeeper.conversation.routing.weights import shipped_weights

MOST_SKILLS = 3


def checked(
    triage: Triage, intent: Intent, *, domains: Collection[str], requests: Sequence[RequestKind],
    skills: Collection[str],
) -> Triage:  # fmt: skip
    """Return a triage without what is unknown or contradicts itself.

    Args:
        triage: By rules or by a model.
        intent: Of the message.
        domains: That there are.
        requests: That can be made.
        skills: That there are.
    """
    keys = {kind.key for kind in requests}
    known = replace(
        triage,
        domains=tuple(dict.fromkeys(each for each in triage.domains if each in domains)),
        tools=tuple(dict.fromkeys(each for each in triage.tools if each in keys))[:MOST_TOOLS],
        skills=tuple(dict.fromkeys(each for each in triage.skills if each in skills))[:MOST_SKILLS],
    )
    branch = _branch(known, intent)
    kind = known.type
    if kind is not TurnType.FOLLOWUP:
        kind = TurnType.ACTION if branch is Branch.ACT else TurnType.CHAT
    return replace(
        known, branch=branch, mode=MODE_OF[branch], type=kind,
        domains=known.domains if branch is not Branch.RESPOND else (),
        is_followup=known.is_followup or kind is TurnType.FOLLOWUP,
    )  # fmt: skip


def _branch(triage: Triage, intent: Intent) -> Branch:
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
