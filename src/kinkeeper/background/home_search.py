"""Working on a goal without a model or the web: looking through what there is at home, on its person's behalf."""

from collections.abc import Sequence

from kinkeeper.background.model import Outcome
from kinkeeper.brain import model as brain
from kinkeeper.brain.household_brain import HouseholdBrain
from kinkeeper.core.errors import NotFoundError, UnavailableError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import Clock
from kinkeeper.goals.model import SAME_GOAL, Goal, Source, Step, jaccard
from kinkeeper.household.model import Member
from kinkeeper.household.viewers import viewer_for
from kinkeeper.language.name_match import telling_stems
from kinkeeper.mail.lookup import read_query
from kinkeeper.mail.model import MailReader, ReceivedMail, one_line
from kinkeeper.reading.times import time_text

_PLACES = ("the calendar", "notes", "memory")
_MAIL = "mail"
_MOST_MAILS = 3


class HomeSearch:
    """Looks for what a step is about in calendar, notes, memory and mail.

    Args:
        mailbox: The household's, which only adults may read; None where none is set up.
    """

    def __init__(
        self, brain: HouseholdBrain, clock: Clock, *, mailbox: MailReader | None = None
    ) -> None:
        self._brain = brain
        self._household = brain.household
        self._clock = clock
        self._mailbox = mailbox

    @property
    def limits(self) -> str:
        """That it looks nowhere else."""
        return "No web search is set up here, so I looked only at what we have at home."

    async def run(self, goal: Goal, step: Step) -> Outcome:
        """Return what there is at home that bears on a step and that its person may see.

        Raises:
            NotFoundError: Its person is no longer in the household.
        """
        member = self._household.member(goal.member)
        if member is None:
            raise NotFoundError("whoever wanted this is no longer in the household")
        now = self._clock.now()
        viewer = viewer_for(self._household, member, now=now)
        known = await self._brain.know(brain.BrainQuery(text=step.description), viewer)
        found = [
            (Source(kind=each.kind.value, id=each.id, text=each.text), each.sentence)
            for each in known.sources
            if not _is_own_wish(each, goal)
        ]
        mails = await self._mails(step, member)
        places = _PLACES if mails is None else (*_PLACES, _MAIL)
        found += mails or ()
        return Outcome(
            lines=[line for _, line in found],
            sources=[source for source, _ in found],
            digests=[stable_id(source.kind, source.id, line) for source, line in found],
            places=places,
        )

    async def _mails(self, step: Step, member: Member) -> Sequence[tuple[Source, str]] | None:
        """Return the latest mails about a step; None where the mailbox is not to be read."""
        if self._mailbox is None or not member.is_adult:
            return None
        now = self._clock.now().astimezone(self._household.zone)
        query = read_query(step.description, now, locale=self._household.locale)
        try:
            mails = await self._mailbox.search(query, limit=_MOST_MAILS)
        except UnavailableError:
            return None
        found = []
        for each in mails:
            line = self._line(each)
            name = each.message_id or stable_id(each.subject, each.at)
            found.append((Source(kind="mail", id=name, text=line), line))
        return found

    def _line(self, mail: ReceivedMail) -> str:
        zone, locale = self._household.zone, self._household.locale
        today = self._clock.now().astimezone(zone).date()
        day = time_text.day(mail.at.astimezone(zone).date(), today=today, locale=locale)
        return f"Mail from {one_line(mail.sender.shown)}, {day}: {one_line(mail.subject)}"


def _is_own_wish(source: brain.Source, goal: Goal) -> bool:
    """Whether a source is nothing but the words in which the goal was asked for."""
    return jaccard(telling_stems(source.text), telling_stems(goal.text)) > SAME_GOAL
