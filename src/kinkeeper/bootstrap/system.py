"""Settings and a household file as the parts of a running system: one household's."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from kinkeeper.actions.outside.work_claims import purge_work
from kinkeeper.actions.press_tokens import mint
from kinkeeper.actions.requests.calendar import calendar_requests
from kinkeeper.actions.requests.goals import goal_requests
from kinkeeper.actions.requests.memory import memory_requests
from kinkeeper.actions.requests.model import Catalogue, RequestKind
from kinkeeper.actions.requests.notes import note_requests
from kinkeeper.actions.requests.own_record import record_requests
from kinkeeper.actions.requests.tasks import task_requests
from kinkeeper.background.cycles import purge_cycles
from kinkeeper.background.drift.repository import purge as purge_drift
from kinkeeper.background.drift.requests import remark_requests
from kinkeeper.bootstrap.brain import brain_of
from kinkeeper.bootstrap.conversation import Talk, talk_of
from kinkeeper.bootstrap.household_work import LongTask, Work, household_tasks
from kinkeeper.bootstrap.memory import Recall
from kinkeeper.bootstrap.models import reads_talk
from kinkeeper.bootstrap.outside import Tools, mail_requests, mailbox_for
from kinkeeper.calendar.seeds import SeedReport
from kinkeeper.conversation.conversation import Conversation
from kinkeeper.conversation.turn_records import purge as purge_turns
from kinkeeper.core.time import Clock, VirtualClock
from kinkeeper.digest.repository import forget_digests
from kinkeeper.goals.repository import purge_goals
from kinkeeper.household.model import Household
from kinkeeper.household.viewers import Viewer
from kinkeeper.jobs.job import Enqueuer, Pace, RowWorker
from kinkeeper.memory.finding.search import Finder
from kinkeeper.messaging.delivery import Deliverer
from kinkeeper.messaging.outbound import Channel, QuietHours
from kinkeeper.models.model import ModelGateway
from kinkeeper.observer import repository
from kinkeeper.observer.accounts.proof import Prover
from kinkeeper.observer.config import ObserverConfig
from kinkeeper.observer.extraction.prepared import ContextSource
from kinkeeper.observer.intake import Intake
from kinkeeper.observer.overheard_facts import Hearing
from kinkeeper.observer.redline.phrase_templates import Phrasing
from kinkeeper.observer.replay import Replay
from kinkeeper.observer.settling.job import UnderstandingJob
from kinkeeper.observer.settling.message_reader import Extractor, RulesExtractor, Understanding
from kinkeeper.observer.settling.settlement import Settlement
from kinkeeper.observer.speaker import Speaker
from kinkeeper.observer.tripwire.gate import load_tripwire
from kinkeeper.observer.upkeep import Upkeep
from kinkeeper.observer.wording.participants import Participants
from kinkeeper.settings.model import Settings
from kinkeeper.store.row_changes import purge as purge_changes
from kinkeeper.store.store import Store


def catalogue_of(
    settings: Settings, store: Store, finder: Finder, *, further: Iterable[RequestKind] = ()
) -> Catalogue:
    """Return the table of requests of one household.

    Args:
        further: Rows that come from elsewhere: mail.
    """
    usual_length = timedelta(minutes=settings.default_event_minutes)
    return Catalogue(
        (
            *task_requests(store),
            *goal_requests(store),
            *calendar_requests(store, usual_length=usual_length),
            *note_requests(store),
            *memory_requests(store, finder),
            *record_requests(store),
            *remark_requests(store),
            *further,
        )
    )


_LOOK_FOR_TALK: Final = timedelta(seconds=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One household, its database, and the observer's parts, ready to run.

    Attributes:
        store: Open; closed by whoever opened the system.
        config: The observer's numbers.
        seeds: What bringing the household file into the event graph did.
        is_only: Whether this installation serves no other household.
    """

    settings: Settings
    household: Household
    participants: Participants
    store: Store
    config: ObserverConfig
    seeds: SeedReport
    recall: Recall
    is_only: bool = True

    def intake(
        self, queue: Enqueuer | None = None, *, refuses_chats: bool, with_talk: bool | None = None
    ) -> Intake:
        """Return tier 1; with a queue, tier 2's work is enqueued with each message.

        Args:
            refuses_chats: Whether a chat that the household's file does not name is refused.
            with_talk: Whether stretches are kept for a model; where None, as with a queue and a model.
        """
        tripwire = load_tripwire(self.participants.lexicon, self.settings.tripwire_patterns_path)
        return Intake(
            self.participants,
            tripwire,
            self.config,
            queue,
            refuses_chats=refuses_chats,
            reads_talk=with_talk
            if with_talk is not None
            else queue is not None and reads_talk(self.settings),
        )

    def understanding(self, clock: Clock, extractor: Extractor | None = None) -> Understanding:
        """Return the half of tier 2 that reads: by rules unless told."""
        context = ContextSource(
            brain_of(self.settings, self.household, self.store, self.recall.finder, clock=clock),
            Viewer.of(self.household.id),
            timeout=self.config.brain_timeout,
            cache_ttl=timedelta(seconds=self.settings.brain_cache_ttl_seconds),
            clock=clock,
        )
        return Understanding(self.participants, self.config, extractor or RulesExtractor(), context)

    def settlement(self) -> Settlement:
        """Return the half of tier 2 that decides and writes."""
        return Settlement(self.participants, self.config, self.speaker())

    def speaker(self) -> Speaker:
        """Return the one that speaks in the groups."""
        phrasing = Phrasing(participants=self.participants, limits=self.config.limits)
        return Speaker(self.household, phrasing, self.config)

    def talk(
        self, clock: Clock, gateway: ModelGateway | None = None, *, tools: Tools | None = None
    ) -> Talk:
        """Return what talks with the members: by rules where there is no model."""
        mail = mail_requests(self.settings, is_only_household=self.is_only)
        own = catalogue_of(self.settings, self.store, self.recall.finder, further=mail)

        def catalogue() -> Catalogue:
            # Servers come and go, and so do their tools.
            return own if tools is None else own.extended(tools.requests())

        return talk_of(
            self.settings,
            self.household,
            self.store,
            recall=self.recall,
            catalogue=catalogue,
            clock=clock,
            gateway=gateway,
        )

    def talk_reading(self, clock: Clock, gateway: ModelGateway, pace: Pace) -> RowWorker:
        """Return what has a model read the group talk that tier 1 took in."""
        from kinkeeper.observer.group_reader import GroupReader, group_prompt  # noqa: PLC0415 - loads the templates' library
        from kinkeeper.observer.settling.group_talk import TalkEffects, TalkReadingJob  # noqa: PLC0415 - see above

        phrasing = Phrasing(participants=self.participants, limits=self.config.limits)
        job = TalkReadingJob(
            self.store,
            self.household,
            reader=GroupReader(gateway, group_prompt()),
            understanding=self.understanding(clock),
            effects=TalkEffects(self.settlement(), phrasing),
            clock=clock,
        )
        return RowWorker(
            self.store,
            job.as_job(),
            topic=(repository.TOPIC, self.household.id),
            clock=clock,
            pace=replace(pace, reconcile_every=min(pace.reconcile_every, _LOOK_FOR_TALK)),
        )

    def hearing(self, clock: Clock) -> Hearing:
        """Return what proposes for memory what the chat lets drop."""
        return Hearing(self.store, self.household, clock=clock)

    def tasks(
        self, clock: Clock, pace: Pace, talk: Talk, gateway: ModelGateway | None = None
    ) -> list[LongTask]:
        """Return what is to run for the household as long as the process does, beside its work."""
        reads = gateway is not None and reads_talk(self.settings)
        talk_reading = [self.talk_reading(clock, gateway, pace).run] if gateway and reads else []
        return talk_reading + household_tasks(
            self.settings,
            self.household,
            self.store,
            recall=self.recall,
            hearing=self.hearing(clock),
            streaming=talk.streaming,
            gateway=gateway,
            mailbox=mailbox_for(self.settings, is_only_household=self.is_only),
            clock=clock,
            pace=pace,
        )

    def prover(self) -> Prover:
        """Return what decides messages again, to prove decisions."""
        return Prover(
            self.store,
            self.participants,
            self.config,
            intake=self.intake(refuses_chats=False),
            settlement=self.settlement(),
        )

    def replay(
        self,
        start: datetime | VirtualClock,
        extractor: Extractor | None = None,
        gateway: ModelGateway | None = None,
    ) -> Replay:
        """Return the observer on a virtual clock, or one that begins at `start`.

        Args:
            extractor: Reads single messages; the rules do where None.
            gateway: The way to the model that reads the talk, where one is to.
        """
        clock = start if isinstance(start, VirtualClock) else VirtualClock(start)
        has_talk = gateway is not None and reads_talk(self.settings)
        return Replay(
            self.store,
            self.household.id,
            intake=self.intake(refuses_chats=False, with_talk=has_talk),
            understanding=self.understanding(clock, extractor),
            settlement=self.settlement(),
            speaker=self.speaker(),
            clock=clock,
            talk=self.talk_reading(clock, gateway, Pace()) if gateway and has_talk else None,
        )

    def work(
        self,
        clock: Clock,
        *,
        conversation: Conversation,
        extractor: Extractor | None = None,
        channels: Sequence[Channel] = (),
    ) -> Work:
        """Return what is to be done for the household: jobs, upkeep, delivery through these channels."""
        job = UnderstandingJob(
            self.store,
            self.household.id,
            understanding=self.understanding(clock, extractor),
            settlement=self.settlement(),
        )
        upkeep = Upkeep(
            self.store,
            self.household.id,
            speaker=self.speaker(),
            clock=clock,
            keep_texts=timedelta(days=self.settings.message_retention_days),
            purges=(
                purge_turns,
                purge_work,
                purge_changes,
                forget_digests,
                purge_goals,
                purge_cycles,
                purge_drift,
            ),
        )
        deliverer = Deliverer(
            self.store,
            self.household.id,
            channels,
            mint=mint,
            clock=clock,
            quiet_hours=QuietHours.parse(self.settings.quiet_hours, self.household.zone),
        )
        return Work(
            household=self.household.id,
            jobs=(job.as_job(), conversation.as_job()),
            upkeep=upkeep,
            deliverer=deliverer,
        )
