"""The household file that `kinkeeper init` writes: short, commented, and valid as it stands."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kinkeeper.household.name_folding import slugify

_HEAD = """\
# The household file: your family, the words you use, and what happens regularly.
#
# Only [household] and one member are required. Lines starting with # are examples: remove the #
# and edit them. `kinkeeper doctor` reports mistakes with line numbers.
#
# An id is a short name used inside this file (a-z, 0-9, hyphens). Don't change ids once the family
# is using the assistant. Aliases are other words you use for the same thing; you don't need to
# list common misspellings.
"""
_AFTER_HOUSEHOLD = """\
# owner = {owner}  # the administrator; default is the first parent
# chats = [-1001234567890]  # ids of the group chats it may listen to

# ---- People ---------------------------------------------------------------------------------
# role: parent, guardian, child, helper (nanny, au pair, sitter) or other. Parents, guardians and
# helpers can approve things; children and others can't.
# telegram_id is the numeric id of their Telegram account; email is their address.
"""
_REST = """\
# A name for several people:
# [[groups]]
# id = "boys"
# aliases = ["the boys"]
# members = [{members}]

# People outside the family you write to; several addresses under one name form a mailing list:
# [[contacts]]
# id = "school"
# name = "The school office"
# email = "office@school.example"

# ---- Words ----------------------------------------------------------------------------------
# Common words (practice, lesson, game, recital, dentist, doctor…) are built in.

# [[activities]]
# id = "soccer"
# aliases = ["football practice"]

# [[places]]
# id = "westside-park"
# name = "Westside Park"
# aliases = ["the park"]

# [[resources]]  # things that can be used by one person at a time
# id = "van"
# name = "the van"

# [[times]]  # times of day your family has a name for
# id = "after-school"
# start = "15:15"

# ---- What happens ---------------------------------------------------------------------------
# start is local time. rrule makes it repeat (RFC 5545); start must be one of the rule's days:
# 6 January 2026 is a Tuesday. exdates skips single days.

# [[events]]
# id = "soccer-practice"
# summary = "Soccer practice"
# activity = "soccer"
# who = [{example}]
# place = "westside-park"
# start = 2026-01-06T16:30:00
# duration_minutes = 60  # or end = 2026-01-06T17:30:00; default is one hour
# rrule = "FREQ=WEEKLY;BYDAY=TU,TH"
# exdates = [2026-02-17]

# [[events]]
# id = "spring-break"
# summary = "Spring break"
# all_day = true
# start = 2026-03-24  # first and last day, inclusive
# end = 2026-03-28

# ---- Maintenance and due dates --------------------------------------------------------------

# [[maintenance]]
# id = "car-service"
# summary = "Car service"
# due = 2026-04-15
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateAnswers:
    """What `kinkeeper init` asks.

    Attributes:
        household: Name of the household, in any script.
        timezone: IANA name.
        adults: Names of the parents, first the one who administers; at least one.
        children: Names of the children.
        bot_name: What the assistant is called.
        locale: Language tag.
    """

    household: str
    timezone: str
    adults: Sequence[str]
    children: Sequence[str] = ()
    bot_name: str = "Kinkeeper"
    locale: str = "en-US"


def render_template(answers: TemplateAnswers) -> str:
    """Return a commented household file that loads as it is.

    Args:
        answers: Names are of one line; locale and timezone exist.
    """
    adults = _ids(answers.adults, "adult", taken=())
    children = _ids(answers.children, "child", taken=adults)
    ids = [*adults, *children]
    household = [
        _HEAD,
        "[household]",
        f"id = {quoted(slugify(answers.household)[:64].strip('-') or 'home')}",
        f"name = {quoted(answers.household)}",
        f"timezone = {quoted(answers.timezone)}",
        f"locale = {quoted(answers.locale)}  # first day of the week, and whether 3/4 is March or April",
        f"bot_name = {quoted(answers.bot_name)}",
        _AFTER_HOUSEHOLD.format(owner=quoted(adults[0])),
    ]
    members = [
        *_members(adults, answers.adults, "parent"),
        *_members(children, answers.children, "child"),
    ]
    several = children if len(children) > 1 else ids
    rest = _REST.format(
        members=", ".join(map(quoted, several)), example=quoted((children or adults)[0])
    )
    return "\n".join([*household, *members, rest])


def quoted(text: str) -> str:
    """Return `text` as a TOML string."""
    # TOML's escapes are those of JSON; of the raw control characters JSON allows one more.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _members(ids: Sequence[str], names: Sequence[str], role: str) -> Iterator[str]:
    for member_id, name in zip(ids, names, strict=True):
        yield f"[[members]]\nid = {quoted(member_id)}\nname = {quoted(name)}\nrole = {quoted(role)}"
        yield '# aliases = []\n# telegram_id = 123456789\n# email = "name@example.org"\n'


def _ids(names: Sequence[str], fallback: str, taken: Sequence[str]) -> list[str]:
    """Return one new id a name; of names that have no Latin letters, a numbered `fallback`."""
    ids: list[str] = []
    for number, name in enumerate(names, start=1):
        base = slugify(name)[:60].strip("-") or f"{fallback}-{number}"
        count, unique = 1, base
        while unique in {*taken, *ids}:
            count += 1
            unique = f"{base}-{count}"
        ids.append(unique)
    return ids
