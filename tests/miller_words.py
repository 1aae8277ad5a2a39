"""What the rules read in single messages to the sample household, sent on a Monday morning."""

from datetime import datetime
from pathlib import Path

from kinkeeper.household.file import load_household
from kinkeeper.observer.extraction.rules_extractor import extract
from kinkeeper.observer.model import Extraction
from kinkeeper.observer.wording.message_view import Reading, read_message
from kinkeeper.observer.wording.participants import compile_participants

HOUSEHOLD = load_household(Path(__file__).parents[1] / "examples" / "miller" / "household.toml")
PARTICIPANTS = compile_participants(HOUSEHOLD)
MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=HOUSEHOLD.zone)


def read(text: str, sent_at: datetime = MONDAY) -> Reading:
    return read_message(
        text,
        sent_at=sent_at,
        lexicon=PARTICIPANTS.lexicon,
        locale=HOUSEHOLD.locale,
        named_times=PARTICIPANTS.named_times,
    )


def said(text: str, sender: str = "sarah") -> Extraction:
    return extract(read(text), sender=HOUSEHOLD.member(sender), participants=PARTICIPANTS)
