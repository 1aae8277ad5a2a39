"""A digest as its page shows it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import time

from kinkeeper.digest.content import DigestWords
from kinkeeper.digest.model import Digest
from kinkeeper.web.views.cards import ExpiredCard


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingLine:
    """A plan that waits.

    Attributes:
        href: Its card.
        line: What it is.
        until: Until when it waits, in words.
    """

    href: str
    line: str
    until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestPage:
    """The page.

    Attributes:
        headline: How many plans wait; empty where none does.
        waiting: Those plans.
        unassigned: What nobody has taken on for tomorrow, a sentence each.
        expired: What expired since the last digest.
        at: The chosen local time as HH:MM; empty where the digest is off.
        spoken_at: The same as the household's region writes it.
    """

    headline: str
    waiting: tuple[WaitingLine, ...]
    unassigned: tuple[str, ...]
    expired: tuple[ExpiredCard, ...]
    at: str
    spoken_at: str

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not (self.waiting or self.unassigned or self.expired)


def digest_page(
    digest: Digest, words: DigestWords, *, expired: Sequence[ExpiredCard], at: time | None
) -> DigestPage:
    """Return the page of a digest.

    Args:
        digest: As it is now.
        words: Puts it into words.
        expired: The cards of what expired.
        at: The chosen local time; None where the digest is off.
    """
    return DigestPage(
        headline=words.headline(len(digest.waiting)) if digest.waiting else "",
        waiting=tuple(
            WaitingLine(
                href=f"/pending#card-{each.id}", line=each.proposal.summary,
                until=f"Waits {words.expires(each.expires_at)}",
            )
            for each in digest.waiting
        ),
        unassigned=tuple(
            words.nobody(each) for each in digest.unassigned if each.action_id is None
        ),
        expired=tuple(expired), at="" if at is None else f"{at:%H:%M}",
        spoken_at="" if at is None else words.clock(at),
    )  # fmt: skip
