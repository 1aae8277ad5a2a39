"""Who can get in, and how: logins, tokens, open invites, addresses of the calendar. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from kinkeeper.household.model import Household
from kinkeeper.web.access.model import AccessRole, Key, KeyKind, is_alive, role_now, usual_role
from kinkeeper.web.views.day_text import Wording
from kinkeeper.web.views.people import People, Person

_WORDS = {
    KeyKind.SESSION: "Signed-in device",
    KeyKind.INVITE: "Open invite",
    KeyKind.TOKEN: "API token",
    KeyKind.FEED: "Calendar feed",
    KeyKind.OWN_FEED: "Calendar feed, own events only",
}
_PROGRAM = "API token for a program: can read and propose"
_ENDS = {
    KeyKind.SESSION: "Sign out",
    KeyKind.INVITE: "Revoke",
    KeyKind.TOKEN: "End",
    KeyKind.FEED: "Revoke",
    KeyKind.OWN_FEED: "Revoke",
}
_ROLES = {
    AccessRole.OWNER: "owner: decides, invites",
    AccessRole.ADULT: "adult: decides",
    AccessRole.CHILD: "child: reads",
    AccessRole.GUEST: "guest: reads",
    AccessRole.SCREEN: "screen: today and the calendar",
    AccessRole.BRIDGE: "bridge: delivers messages",
}
_INVITED_AS = (
    AccessRole.OWNER,
    AccessRole.ADULT,
    AccessRole.CHILD,
    AccessRole.GUEST,
    AccessRole.SCREEN,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLine:
    """One way in.

    Attributes:
        person: Who holds it.
        kind: What it is, in words.
        label: What the holder calls it; may be empty.
        role: What it allows, in words.
        seen: When it was last used, in words.
        expires: When it ends by itself, in words; empty where it does not.
        ends: What its button says.
        is_this: Whether it is the one the viewer came in with.
    """

    id: str
    person: Person
    kind: str
    label: str
    role: str
    seen: str
    expires: str
    ends: str
    is_this: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitable:
    """Somebody who can be invited.

    Attributes:
        role: What a login of theirs usually allows, in words.
    """

    person: Person
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysPage:
    """The page.

    Attributes:
        lines: Ways in, newest first.
        invitable: Members, where the viewer may invite; empty otherwise.
        roles: Value and words of each role an invite may have.
        may_share: Whether the viewer may give the calendar to a program.
    """

    lines: tuple[KeyLine, ...]
    invitable: tuple[Invitable, ...]
    roles: tuple[tuple[str, str], ...]
    may_share: bool


def keys_page(
    keys: Iterable[Key],
    own: Key,
    *,
    role: AccessRole,
    household: Household,
    people: People,
    wording: Wording,
) -> KeysPage:
    """Return the page.

    Args:
        keys: Those the viewer may see; what has ended by itself is left out.
        own: What the viewer came in with.
    """
    may_invite = role is AccessRole.OWNER
    return KeysPage(
        lines=tuple(
            _line(key, own, household=household, people=people, wording=wording)
            for key in keys
            if is_alive(key, wording.now) and household.member(key.member)
        ),
        invitable=tuple(
            Invitable(person=people.of(member.id), role=_ROLES[usual_role(household, member)])
            for member in household.members
            if may_invite
        ),
        roles=tuple((each.value, _ROLES[each]) for each in _INVITED_AS),
        may_share=role in {AccessRole.OWNER, AccessRole.ADULT},
    )


def _line(key: Key, own: Key, *, household: Household, people: People, wording: Wording) -> KeyLine:
    member = household.member(key.member)
    role = role_now(household, member, key.role) if member else key.role
    expires = key.expires_at if key.kind is not KeyKind.SESSION else None
    return KeyLine(
        id=key.id,
        person=people.of(key.member),
        kind=_PROGRAM if key.is_program else _WORDS[key.kind],
        label=key.label,
        role=_ROLES[role],
        seen="" if key.kind is KeyKind.INVITE else f"last used {wording.moment(key.seen_at)}",
        expires=f"until {wording.moment(expires)}" if expires else "",
        ends=_ENDS[key.kind],
        is_this=key.id == own.id,
    )
