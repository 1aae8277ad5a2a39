"""What somebody looks for in the mail, out of a few words: from whom, since when, about what. Pure."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from kinkeeper.mail.mailbox import MailQuery
from kinkeeper.mail.model import one_line
from kinkeeper.reading.times import read
from kinkeeper.reading.times.model import Grain, SpanKind, TimeSpan

_FROM = re.compile(r"\b(?:from|by)[:\s]\s*(\S+(?:\s+\S+){0,4})", re.IGNORECASE)
_ENDS_NAME = re.compile(
    r"\s+(?:about|regarding|re|concerning|on|with|that|which|since|before|in|and|saying|mentioning)\b.*",
    re.IGNORECASE,
)
_UNREAD = re.compile(r"\b(?:unread|new)\b", re.IGNORECASE)
_TERM = re.compile(r'"([^"]+)"|(\S+)')
_EMPTY_WORDS = """
a about an and any anything did do does email emails find for from get got have i in inbox is latest last look
mail mails me message messages my new of on our recent regarding say search show since that the there to today
unread was we what which with write wrote
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
_WEEK = timedelta(days=7)
_DAYS = frozenset({Grain.DAY, Grain.WEEK, Grain.MONTH, Grain.YEAR})


def read_query(text: str, now: datetime, *, locale: str) -> MailQuery:
    """Return what a few words look for.

    Args:
        text: "from Sarah about the invoice", "unread since Monday", or plain words.
        now: Aware, in the zone in which days count.
        locale: Of the household; decides how numeric dates are read.
    """
    rest = one_line(text)
    since = before = None
    for span in read(rest, now, locale=locale):
        back = _days_back(span, now)
        if back is not None:
            since = (span.begin - back).date()
            before = None if span.bound else (span.until - back).date()
            rest = f"{rest[: span.start_char]} {rest[span.end_char :]}"
            break
    sender = ""
    if found := _FROM.search(rest):
        sender = _ENDS_NAME.sub("", found[1]).strip(" ,.;:\"'?!")
        rest = rest[: found.start()] + " " + rest[found.start(1) + len(sender) :]
    return MailQuery(
        sender=sender, words=tuple(_terms(rest)), is_unread=_UNREAD.search(rest) is not None,
        since=since, before=before,
    )  # fmt: skip


def _days_back(span: TimeSpan, now: datetime) -> timedelta | None:
    """Return how far before its reading a span of days lies, for mail has come already; None if it is none."""
    is_days = span.kind in {SpanKind.DATE, SpanKind.RANGE} and span.grain in _DAYS
    if not is_days or span.has_time:
        return None
    if span.begin <= now:
        return timedelta()
    # "Monday" is read as the coming one.
    return _WEEK if span.begin - _WEEK <= now else None


def _terms(text: str) -> Iterator[str]:
    for found in _TERM.finditer(text):
        word = (found[1] or found[2]).strip(" ,.;:!?'\"()")
        if word and (found[1] or word.casefold() not in _EMPTY):
            yield word
