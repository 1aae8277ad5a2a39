"""Roles, keys, the secrets that open a household, and what a key is for. Pure."""

import hashlib
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from kinkeeper.actions.consent import Author, Origin
from kinkeeper.household.model import Household, Member, Role

# Secrets that open a household: made from 256 random bits, kept as a digest.

_BYTES = 32


def new_secret() -> str:
    """Return a secret nobody can guess (URL-safe text, 256 random bits)."""
    return secrets.token_urlsafe(_BYTES)


def new_id() -> str:
    """Return a short id for a list; not secret, not guessable from others."""
    return secrets.token_hex(6)


def digest_of(secret: str) -> str:
    """Return what is stored of a secret: its SHA-256. So much randomness needs no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


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
LIMITS = {
    AccessRole.CHILD: Role.CHILD,
    AccessRole.GUEST: Role.OTHER,
    AccessRole.SCREEN: Role.OTHER,
    AccessRole.BRIDGE: Role.OTHER,
}
"""Whose rights a member has at most who comes in with a lower role than their own."""

_WITHIN = {
    AccessRole.OWNER: frozenset(AccessRole),
    AccessRole.ADULT: frozenset(AccessRole) - OWNERS,
    AccessRole.CHILD: frozenset({AccessRole.CHILD, AccessRole.GUEST, AccessRole.SCREEN}),
    AccessRole.GUEST: frozenset({AccessRole.GUEST, AccessRole.SCREEN}),
}
"""Which roles open no more than a role does."""


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
        member: Id of the member who holds it.
        label: What the holder calls it, or the browser it was made for.
        expires_at: Aware; None lasts until it is ended.
        seen_at: Aware; last use that was written down.
        is_program: Whether a program holds it that answers by itself: it reads for the member and proposes, and
            neither writes nor decides anything.
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
    is_program: bool = False


FEEDS = (KeyKind.FEED, KeyKind.OWN_FEED)
IDLE = timedelta(days=30)


def is_alive(key: Key, now: datetime) -> bool:
    """Whether a key that was not ended still opens: not expired, and a session not idle for long."""
    if key.expires_at is not None and now >= key.expires_at:
        return False
    return key.kind is not KeyKind.SESSION or now < key.seen_at + IDLE


def usual_role(household: Household, member: Member) -> AccessRole:
    """Return the role a member is invited with unless told otherwise."""
    if member.id == household.owner and member.is_adult:
        return AccessRole.OWNER
    if member.is_adult:
        return AccessRole.ADULT
    return AccessRole.CHILD if member.role is Role.CHILD else AccessRole.GUEST


def role_now(household: Household, member: Member, granted: AccessRole) -> AccessRole:
    """Return the role in force: the narrower of what was granted and what the household file allows now."""
    most = usual_role(household, member)
    if granted in FAMILY and not member.is_adult:
        return most
    return most if granted is AccessRole.OWNER else granted


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who makes a request.

    Attributes:
        member: Theirs by the household file, limited to the rights of the role in force.
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
        return self.role in DECIDERS and not self.key.is_program

    @property
    def may_speak(self) -> bool:
        """Whether they may talk with the assistant: what an adult says decides, so the login must be allowed to."""
        return self.may_propose and not self.key.is_program

    @property
    def may_propose(self) -> bool:
        """Whether something may be proposed in their name; an adult's login with a lower role only looks."""
        known = self.household.member(self.member.id)
        is_lowered_adult = known is not None and known.is_adult and self.role not in DECIDERS
        return self.role in READERS and not is_lowered_adult

    @property
    def ends(self) -> frozenset[AccessRole]:
        """Granted roles of the keys they may end beside their own: those that open no more than theirs does now."""
        known = self.household.member(self.member.id) or self.member
        within = _WITHIN.get(self.role, frozenset())
        return frozenset(
            each for each in AccessRole if role_now(self.household, known, each) in within
        )

    @property
    def author(self) -> Author:
        """Who writes, for the gate."""
        origin = Origin.TOOL if self.key.is_program else Origin.SAID
        return Author(is_adult=self.role in DECIDERS, origin=origin)
