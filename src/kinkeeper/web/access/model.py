"""Roles, keys and what a key is for. Pure."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from kinkeeper.household.model import Household, Member, Role


class AccessRole(StrEnum):
    """What somebody may do on the pages and in the API; a bridge only brings messages."""

    OWNER = "owner"
    ADULT = "adult"
    CHILD = "child"
    GUEST = "guest"
    SCREEN = "screen"
    BRIDGE = "bridge"


OWNERS = frozenset({AccessRole.OWNER})
DECIDERS = frozenset({AccessRole.OWNER, AccessRole.ADULT})
FAMILY = DECIDERS | {AccessRole.CHILD}
READERS = DECIDERS | {AccessRole.CHILD, AccessRole.GUEST}
VIEWERS = READERS | {AccessRole.SCREEN}
BRIDGES = DECIDERS | {AccessRole.BRIDGE}


class KeyKind(StrEnum):
    """What a key opens."""

    INVITE = "invite"
    SESSION = "session"
    TOKEN = "token"  # noqa: S105 - a kind, no secret
    FEED = "feed"  # the household's calendar, for a calendar program
    OWN_FEED = "own_feed"  # of it, what concerns the holder


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """An invite, a session, an API token or a calendar's address, as the database knows it: no secret.

    Attributes:
        id: Short, shown in lists, not secret.
        household: The one it opens.
        kind: What it is.
        member: Id of the member who holds it.
        role: Granted with it.
        label: What the holder calls it, or the browser it was made for.
        created_at: Aware.
        expires_at: Aware; None lasts until it is ended.
        seen_at: Aware; last use that was written down.
    """

    id: str
    household: str
    kind: KeyKind
    member: str
    role: AccessRole
    label: str
    created_at: datetime
    expires_at: datetime | None
    seen_at: datetime


FEEDS = (KeyKind.FEED, KeyKind.OWN_FEED)
IDLE = timedelta(days=30)


def is_alive(key: Key, now: datetime) -> bool:
    """Whether a key that was not ended still opens: not expired, and a session not idle for long."""
    if key.expires_at is not None and now >= key.expires_at:
        return False
    return key.kind is not KeyKind.SESSION or now < key.seen_at + IDLE


def usual_role(household: Household, member: Member) -> AccessRole:
    """Return the role a member is invited with unless told otherwise."""
    if member.id == household.owner:
        return AccessRole.OWNER
    if member.is_adult:
        return AccessRole.ADULT
    return AccessRole.CHILD if member.role is Role.CHILD else AccessRole.GUEST


def role_now(member: Member, granted: AccessRole) -> AccessRole:
    """Return the role in force: who is no adult by the household file (any more) decides nothing."""
    if granted in DECIDERS and not member.is_adult:
        return AccessRole.CHILD if member.role is Role.CHILD else AccessRole.GUEST
    return granted


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who makes a request.

    Attributes:
        member: Theirs by the household file.
        role: In force now.
        household: Theirs.
        key: What they came in with.
        csrf: Token for their forms; empty where they came with an API token.
        secret: What they came in with; never shown or stored.
    """

    member: Member
    role: AccessRole
    household: Household
    key: Key
    csrf: str
    secret: str = field(repr=False)

    @property
    def may_decide(self) -> bool:
        """Whether they may confirm, reject and undo."""
        return self.role in DECIDERS

    @property
    def may_speak(self) -> bool:
        """Whether they may talk with the assistant: what an adult says decides, so the login must be allowed to."""
        return self.role in READERS and (self.may_decide or not self.member.is_adult)
