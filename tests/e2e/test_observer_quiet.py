"""Quiet on request, cards for one person alone, and what people say about the observer."""

from datetime import UTC, datetime, timedelta

import pytest

from family_chat import Chat, chat
from kinkeeper.actions.model import RejectReason
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import Interval
from kinkeeper.messaging import addresses
from kinkeeper.messaging.outbound import Route, Verb, stored
from kinkeeper.messaging.tables import outbox
from kinkeeper.observer import feedback
from kinkeeper.observer.feedback import Verdict
from kinkeeper.observer.quiet_requests import be_quiet, end_quiet, parse_duration, quiet_until

START = "Mon 2026-03-02 08:00"
BOOKED = "Leo has the dentist Thursday at 4pm"
QUIETLY = "I'll pick up Leo on Wednesday at 3pm"


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("2h", 120),
        ("30m", 30),
        ("1h30m", 90),
        ("1h 30m", 90),
        (" 2 Hours ", 120),
        ("1 day", 1440),
        ("31d", 31 * 1440),
        ("90 minutes", 90),
        ("1 hr", 60),
        ("2days3hours", 51 * 60),
    ],
)
def test_lengths_of_time_as_people_write_them(text: str, minutes: int) -> None:
    assert parse_duration(text) == timedelta(minutes=minutes)


@pytest.mark.parametrize(
    "text", ["", "2", "h", "2x", "-2h", "0m", "32d", "2h!", "later", "1.5h", "2hm", "off 2h"]
)
def test_other_words_are_no_length_of_time(text: str) -> None:
    with pytest.raises(InputError):
        parse_duration(text)


def test_off_is_no_length() -> None:
    assert parse_duration("Off") is None


class TestQuiet:
    def be_quiet(self, family: Chat, hours: int) -> None:
        now = family.at(START)
        until = now + timedelta(hours=hours)
        family.store.write_now(
            lambda conn: be_quiet(conn, family.household.id, until=until, by="sarah", now=now)
        )

    def test_nothing_is_said_until_it_ends_and_everything_is_kept(self) -> None:
        with chat() as family:
            self.be_quiet(family, 2)
            hushed = family.say("Mon 2026-03-02 09:59", "sarah", BOOKED)
            assert (hushed["redline_decision"], hushed["reply"]) == ("SILENT", None)
            assert hushed["reason"] == "quiet"
            assert hushed["action"]["status"] == "pending"
            assert family.rows(outbox) == []
            told = family.say(
                "Mon 2026-03-02 10:01",
                "sarah",
                "Mia has a dentist appointment Thursday at 4:15pm too",
            )
            assert told["reason"] != "quiet"

    def test_off_ends_it_and_another_household_is_not_meant(self) -> None:
        with chat() as family:
            now = family.at(START)
            self.be_quiet(family, 2)
            other = family.store.read_now(lambda conn: quiet_until(conn, "other", now=now))
            assert other is None
            family.store.write_now(lambda conn: end_quiet(conn, family.household.id))
            assert (
                family.say("Mon 2026-03-02 08:05", "sarah", BOOKED)["redline_decision"] == "SPEAK"
            )

    def test_what_waits_to_be_said_is_not_said_any_more(self) -> None:
        with chat() as family:
            said = family.say("Mon 2026-03-02 08:05", "sarah", BOOKED, channel="somewhere")
            assert said["redline_decision"] == "SPEAK"
            self.be_quiet(family, 2)
            (row,) = family.rows(outbox)
            assert (row["state"], row["error"]) == ("dropped", "quiet")


class TestCards:
    def alone(self, family: Chat, member: str = "john") -> None:
        family.store.write_now(
            lambda conn: addresses.remember_private_chat(
                conn,
                family.household.id,
                "replay",
                member=member,
                chat_id=f"{member}-alone",
                now=family.at(START),
            )
        )

    def test_who_can_be_reached_alone_gets_a_silent_card_with_yes_and_no(self) -> None:
        with chat() as family:
            self.alone(family)
            line = family.say("Mon 2026-03-02 08:05", "john", QUIETLY)
            assert line["redline_decision"] == "SILENT"
            (row,) = family.rows(outbox)
            card = stored(row)
            assert (card.message.chat_id, card.message.audience) == ("john-alone", "john")
            assert (card.route, card.message.is_soundless) == (Route.PRIVATE, True)
            assert card.message.body == line["action"]["summary"]
            assert [each.verb for each in card.message.buttons] == [Verb.CONFIRM, Verb.REJECT]
            assert card.message.deliver_by is not None

    def test_in_the_group_where_only_one_member_would_see_it(self) -> None:
        with chat() as family:
            family.store.write_now(
                lambda conn: addresses.set_member_only(
                    conn, family.household.id, "replay", "family", may=True, now=family.at(START)
                )
            )
            family.say("Mon 2026-03-02 08:05", "john", QUIETLY)
            (row,) = family.rows(outbox)
            assert (row["route"], row["chat_id"], row["audience"]) == ("member", "family", "john")

    def test_nobody_else_gets_one_and_without_a_way_there_is_none(self) -> None:
        with chat() as family:
            self.alone(family, "sarah")
            family.say("Mon 2026-03-02 08:05", "john", QUIETLY)
            assert family.rows(outbox) == []

    def test_what_is_said_aloud_has_no_card_and_quiet_means_no_card(self) -> None:
        with chat() as family:
            self.alone(family, "sarah")
            family.say("Mon 2026-03-02 08:05", "sarah", BOOKED)
            assert [row["audience"] for row in family.rows(outbox)] == [None]
            TestQuiet().be_quiet(family, 12)
            family.say("Mon 2026-03-02 08:30", "sarah", "Mia's recital is Saturday the 14th at 2pm")
            assert len(family.rows(outbox)) == 1

    def test_cards_do_not_count_as_messages_to_the_group(self) -> None:
        with chat() as family:
            self.alone(family, "sarah")
            family.say("Mon 2026-03-02 08:05", "sarah", "Mia's recital is Saturday the 14th at 2pm")
            assert len(family.rows(outbox)) == 1
            assert (
                family.say("Mon 2026-03-02 08:10", "sarah", BOOKED)["redline_decision"] == "SPEAK"
            )


def test_what_people_say_is_counted_once_a_person_and_the_last_word_counts() -> None:
    now = datetime(2026, 3, 2, 9, tzinfo=UTC)
    later = now + timedelta(hours=1)
    span = Interval(now, now + timedelta(days=1))
    with chat() as family:
        home = family.household.id

        def speak(conn: object) -> None:
            feedback.judge(conn, home, "1", Verdict.GOOD_CALL, by="john", now=now)  # type: ignore[arg-type]
            feedback.judge(conn, home, "1", Verdict.KEEP_QUIET, by="john", now=later)  # type: ignore[arg-type]
            feedback.judge(conn, home, "1", Verdict.GOOD_CALL, by="sarah", now=now)  # type: ignore[arg-type]
            feedback.wonder(conn, home, "1", by="john", now=now)  # type: ignore[arg-type]
            feedback.wonder(conn, home, "1", by="john", now=later)  # type: ignore[arg-type]
            feedback.say_not_right(conn, home, "a", RejectReason.WRONG_DAY, by="john", now=now)  # type: ignore[arg-type]
            feedback.wonder(conn, "other", "1", by="john", now=now)  # type: ignore[arg-type]

        family.store.write_now(speak)
        said = family.store.read_now(lambda conn: feedback.count_feedback(conn, home, span))
        mine = family.store.read_now(lambda conn: feedback.verdict_of(conn, home, "1", by="john"))
    assert said.verdicts == {Verdict.GOOD_CALL: 1, Verdict.KEEP_QUIET: 1}
    assert said.false_speak_share == 0.5
    assert said.not_right == {RejectReason.WRONG_DAY: 1}
    assert said.confusion == 1
    assert mine is Verdict.KEEP_QUIET
