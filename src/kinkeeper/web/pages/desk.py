"""What every page of a household needs: who looks, the words, the people, the frame around it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from http import HTTPStatus
from typing import Any

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import HTMLResponse

from kinkeeper.actions.model import PendingAction
from kinkeeper.actions.readers import waiting_for
from kinkeeper.actions.repository import SHOWN_EXPIRED, restorable_actions
from kinkeeper.household.viewers import Viewer
from kinkeeper.observer.redline.phrase_templates import Limits, Phrasing
from kinkeeper.web import live
from kinkeeper.web.access.door import action_shown_to, house_of, may_read, reader_of, viewer_of
from kinkeeper.web.access.model import FAMILY, Person
from kinkeeper.web.context import House, context_of
from kinkeeper.web.pages.responses import page
from kinkeeper.web.views.calendar_diff import DiffWords
from kinkeeper.web.views.cards import Cards
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.items import Lines
from kinkeeper.web.views.known import Recollection
from kinkeeper.web.views.people import Frame, People, people_of
from kinkeeper.web.views.quotes import Quotes


@dataclass(frozen=True, kw_only=True)
class Desk:
    """One person's look at their household at one moment."""

    house: House
    person: Person
    now: datetime

    @property
    def household(self) -> str:
        """Tenant key."""
        return self.house.household.id

    @cached_property
    def viewer(self) -> Viewer:
        """On whose behalf what is kept is read."""
        return viewer_of(self.person, now=self.now)

    @cached_property
    def wording(self) -> Wording:
        """Days and times in words."""
        phrasing = Phrasing(participants=self.house.participants, limits=Limits())
        return Wording(phrasing=phrasing, now=self.now)

    @cached_property
    def people(self) -> People:
        """The members as drawn."""
        return people_of(self.house.household)

    @cached_property
    def places(self) -> Mapping[str, str]:
        """Names of places by id."""
        return {place.id: place.name for place in self.house.household.places}

    @property
    def lines(self) -> Lines:
        """Makes lines of the calendar."""
        return Lines(self.people, self.places, self.wording)

    @property
    def words(self) -> DiffWords:
        """Puts changes into words."""
        return DiffWords(self.people, self.places, self.wording)

    @property
    def quotes(self) -> Quotes:
        """Quotes messages."""
        return Quotes(self.people, self.wording)

    @property
    def recollection(self) -> Recollection:
        """Puts what is remembered into words."""
        return Recollection(self.people, self.wording)

    @property
    def cards(self) -> Cards:
        """Makes cards."""
        return Cards(self.house.household, self.quotes, self.words, self.person.may_decide)

    def open_actions(self, conn: Connection) -> list[PendingAction]:
        """Return what waits for a yes, as far as the person may read it."""
        return waiting_for(conn, reader_of(self.person, self.viewer), now=self.now)

    def expired_actions(self, conn: Connection) -> list[PendingAction]:
        """Return what expired and can be brought back, as far as the person may read it."""
        found = restorable_actions(conn, self.viewer, now=self.now, since=self.now - SHOWN_EXPIRED)
        return [action for action in found if may_read(self.person, action)]

    def action(self, conn: Connection, action_id: str) -> PendingAction:
        """Return an action that the person may read."""
        return action_shown_to(conn, self.person, action_id, now=self.now)

    def frame(self, conn: Connection, here: str) -> Frame:
        """Return what surrounds a page.

        Args:
            here: Key of the page in the navigation; empty where it is none of it.
        """
        sees_all = self.person.role in FAMILY
        return Frame(
            bot_name=self.house.household.bot_name,
            viewer=self.people.of(self.person.member.id),
            pending=len(self.open_actions(conn)) if sees_all else 0,
            here=here,
            csrf=self.person.csrf,
            cursor=live.cursor(conn, self.household),
            may_decide=self.person.may_decide,
            sees_all=sees_all,
            may_speak=self.house.conversation is not None and self.person.may_speak,
            at=self.now.isoformat(),
            clock=self.wording.clock(self.now),
            day=self.wording.long_day(self.wording.today),
        )


def desk_of(request: Request, person: Person) -> Desk:
    """Return the desk of whoever makes a request."""
    now = context_of(request).clock.now()
    return Desk(house=house_of(request, person), person=person, now=now)


async def show(
    template: str,
    desk: Desk,
    here: str,
    values: Callable[[Connection], Mapping[str, Any]],
    *,
    status: int = HTTPStatus.OK,
) -> HTMLResponse:
    """Return a page, read from one snapshot of the database.

    Args:
        here: Key of the page in the navigation.
    """

    def read(conn: Connection) -> Mapping[str, Any]:
        return {**values(conn), "frame": desk.frame(conn, here)}

    return page(template, desk.person, status=status, **await desk.house.store.read(read))
