"""Conversations by the settings: the parts of a turn put together, for one household of a process."""

from collections.abc import Callable
from dataclasses import dataclass

from kinkeeper.actions.requests.model import Catalogue
from kinkeeper.bootstrap.drift import IdleThoughts
from kinkeeper.bootstrap.memory import Recall
from kinkeeper.brain.household_brain import HouseholdBrain
from kinkeeper.channels.telegram.families import CHANNEL as TELEGRAM
from kinkeeper.channels.telegram.private_chat import ChatOutlet
from kinkeeper.conversation.answering.about import Standing
from kinkeeper.conversation.answering.answerer import Answerer, Thoughts
from kinkeeper.conversation.context.turn_context import ContextGatherer
from kinkeeper.conversation.conversation import Conversation
from kinkeeper.conversation.criticism.model import Critic
from kinkeeper.conversation.lookups import Memories
from kinkeeper.conversation.parts import Parts
from kinkeeper.conversation.planning.grammar import load_grammar
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.conversation.routing.intent import read_social
from kinkeeper.conversation.routing.router import Router
from kinkeeper.conversation.stages import Limits
from kinkeeper.conversation.tool_loop import ToolLoop
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.language.dictionary import word_ranks
from kinkeeper.memory.context.prefetch import Streaming
from kinkeeper.messaging.outbound import QuietHours
from kinkeeper.models.model import ModelGateway
from kinkeeper.settings.model import Settings, outbound_hosts
from kinkeeper.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """What one process talks with a household's members with.

    Attributes:
        conversation: Takes in what they say.
        streaming: Looks ahead for their next turns; None where that is switched off.
    """

    conversation: Conversation
    streaming: Streaming | None


def warm_up() -> None:
    """Load what the first turn of a process would otherwise wait for: about a second of work. Blocks."""
    load_grammar()
    word_ranks()
    read_social("hello")


def talk_of(
    settings: Settings,
    household: Household,
    store: Store,
    *,
    recall: Recall,
    catalogue: Callable[[], Catalogue],
    clock: Clock,
    gateway: ModelGateway | None = None,
) -> Talk:
    """Return what talks with the members of a household.

    Args:
        catalogue: What can be asked for, as of the moment it is called.
        gateway: The way to models; None where there are none.
    """
    finder, limits = recall.finder, Limits()
    streaming = Streaming(store, finder, clock) if settings.passive_streaming else None
    parts = Parts(
        store=store,
        household=household,
        clock=clock,
        catalogue=catalogue,
        gatherer=ContextGatherer(
            store,
            household,
            clock=clock,
            embedder=recall.embedder,
            quiet=QuietHours.parse(settings.quiet_hours, household.zone),
        ),
        memories=Memories(
            finder, streaming, clock, household=household, searches=gateway is not None
        ),
        router=Router(recall.embedder),
        loop=ToolLoop(
            store, _planner(gateway, catalogue), limits, critic=_critic(settings, gateway, store)
        ),
        answerer=_answerer(
            HouseholdBrain(store, household, finder, clock),
            gateway,
            _standing(settings, catalogue, gateway),
            IdleThoughts(store) if settings.idle_thought else None,
        ),
        embedder=recall.embedder,
        limits=limits,
        outlets={TELEGRAM: ChatOutlet(household, clock)},
    )
    return Talk(conversation=Conversation(parts), streaming=streaming)


def _planner(gateway: ModelGateway | None, catalogue: Callable[[], Catalogue]) -> Planners:
    if gateway is None:
        return Planners(None)
    from kinkeeper.conversation.planning.model_planner import ModelPlanner  # noqa: PLC0415 - loads the templates' library

    return Planners(ModelPlanner(gateway, catalogue))


def _critic(settings: Settings, gateway: ModelGateway | None, store: Store) -> Critic | None:
    """Return what takes a second look, where there is a light model to do so: a big one would take too long."""
    if gateway is None or settings.light_model is None:
        return None
    from kinkeeper.conversation.criticism.critic import ModelCritic  # noqa: PLC0415 - loads the templates' library

    return ModelCritic(gateway, store)


_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})


def _standing(
    settings: Settings, catalogue: Callable[[], Catalogue], gateway: ModelGateway | None
) -> Standing:
    hosts = [each for each in outbound_hosts(settings) if each not in _THIS_MACHINE]
    return Standing(
        catalogue=catalogue,
        hosts=hosts,
        has_model=gateway is not None,
        is_local=settings.database_url is None or settings.database_url.startswith("sqlite"),
        retention_days=settings.message_retention_days,
    )


def _answerer(
    brain: HouseholdBrain,
    gateway: ModelGateway | None,
    standing: Standing,
    thoughts: Thoughts | None,
) -> Answerer:
    if gateway is None:
        return Answerer(know=brain.know, standing=standing, thoughts=thoughts)
    from kinkeeper.conversation.answering.responder import Responder  # noqa: PLC0415 - loads the templates' library

    return Answerer(
        know=brain.know, responder=Responder(gateway), standing=standing, thoughts=thoughts
    )
