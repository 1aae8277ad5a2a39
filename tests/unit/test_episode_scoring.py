import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from evals.episode_file import Episode, Speak, load_episodes
from evals.episode_scoring import score_episode
from evals.episodes import report_scores
from evals.report import Report
from kinkeeper.core.errors import InputError
from kinkeeper.household.file import load_household

ROOT = Path(__file__).parents[2]
FILES = ("evals/data/episodes_dev.jsonl", "evals/data/episodes_heldout.jsonl")


def message(message_id: str, sender: str = "ana", **more: str) -> dict[str, str]:
    sent_at = "2026-02-02T09:00:00+00:00"
    base = {"chat_id": "c", "message_id": message_id, "sender": sender, "sent_at": sent_at}
    return {**base, "text": f"text of {message_id}", **more}


def episode(**changes: Any) -> Episode:
    values: dict[str, Any] = {
        "id": "e1",
        "household": Path("household.toml"),
        "slice": "attribution",
        "messages": (message("m1"), message("m2", "luis")),
        "until": None,
        "lines": {},
        "speaks": (),
        "pending": None,
    }
    return Episode(**values | changes)


def line(message_id: str, **fields: Any) -> dict[str, Any]:
    base = {"message_id": message_id, "redline_decision": None, "withdrawn_action": None}
    return base | fields


def spoken(message_id: str, rule: str, **fields: Any) -> dict[str, Any]:
    return line(message_id, redline_decision="SPEAK", redline_trigger_rule=rule, **fields)


def by_field(score: Any) -> dict[str, bool]:
    return {check.field: check.right for check in score.checks}


def speak(rule: str, about: str, *, deferred: bool = False) -> Speak:
    return Speak(rule=rule, about=about, deferred=deferred)


def test_lists_are_compared_without_order_and_nobody_is_no_one():
    expected = {"m1": {"extraction": {"child": ["a", "b"], "assigned_to": ["unspecified"]}}}
    got = [line("m1", extraction={"child": ["b", "a"], "assigned_to": []})]
    assert score_episode(episode(lines=expected), got, []).all_right


def test_only_asserted_fields_count():
    expected = {"m1": {"extraction": {"task": "pickup"}}}
    got = [line("m1", extraction={"task": "dropoff", "child": ["x"]})]
    assert by_field(score_episode(episode(lines=expected), got, [])) == {"task": False}


def test_a_missing_line_meets_no_expectation():
    expected = {"m1": {"tier1_decision": "DROP", "redline_decision": "SILENT"}}
    fields = by_field(score_episode(episode(lines=expected), [], []))
    assert fields == {"tier1_decision": False, "redline_decision": False}


def test_a_message_dropped_before_the_rules_is_silent():
    expected = {"m1": {"redline_decision": "SILENT"}}
    assert score_episode(episode(lines=expected), [line("m1")], []).all_right


def test_a_withdrawal_counts_from_the_line_or_from_its_event():
    expected = {"m1": {"withdrawn": True}, "m2": {"withdrawn": True}}
    got = [line("m1", withdrawn_action="a1"), line("m2")]
    assert not score_episode(episode(lines=expected), got, []).all_right
    later = [*got, {"message_id": "m2", "event": "withdrawn", "withdrawn_action": "a2"}]
    assert score_episode(episode(lines=expected), later, []).all_right


def test_speaks_are_found_missed_and_unexpected():
    wanted = (speak("time_mismatch", "m1"), speak("missing_variable", "m2", deferred=True))
    got = [spoken("m1", "temporal_conflict"), spoken("m2", "missing_variable", event="deferred")]
    score = score_episode(episode(speaks=wanted), got, [])
    assert score.found == (wanted[1],)
    assert score.missed == (wanted[0],)
    assert score.extra == (speak("temporal_conflict", "m1"),)
    assert score.false_speaks == ()
    assert score.mistimed == ()


def test_the_same_conflict_announced_twice_is_one_false_speak():
    wanted = (speak("temporal_conflict", "m1"),)
    got = [spoken("m1", "temporal_conflict"), spoken("m1", "temporal_conflict", event="deferred")]
    assert len(score_episode(episode(speaks=wanted), got, []).false_speaks) == 1


def test_speaking_at_once_instead_of_later_is_mistimed():
    wanted = (speak("missing_variable", "m1", deferred=True),)
    score = score_episode(episode(speaks=wanted), [spoken("m1", "missing_variable")], [])
    assert score.spoke_right
    assert score.mistimed == wanted
    assert not score.all_right


@pytest.mark.parametrize(
    ("kept", "right"),
    [
        ([{"type": "t", "child": ["a"]}, {"type": "t", "child": ["b"], "extra": 1}], True),
        ([{"type": "t", "child": ["b"]}, {"type": "t", "child": ["a"]}], True),
        ([{"type": "t", "child": ["c"]}, {"type": "t", "child": ["b"]}], False),
        ([{"type": "t", "child": ["a"]}], False),
        ([{"type": "t", "child": [c]} for c in "abb"], False),
    ],
)
def test_pending_actions_match_one_to_one(kept: list[dict[str, Any]], right: bool):
    expected = ({"type": "t"}, {"type": "t", "child": ["a"]})
    assert score_episode(episode(pending=expected), [], kept).all_right is right


def test_a_wrong_person_is_counted_in_lines_and_in_pending_actions():
    expected = {"m2": {"extraction": {"assigned_to": ["luis"]}}}
    got = [line("m2", extraction={"assigned_to": ["ana"]})]
    kept = [{"type": "t", "assigned_to": ["ana"]}]
    wanted = ({"type": "t", "assigned_to": ["luis"]},)
    score = score_episode(episode(lines=expected, pending=wanted), got, kept)
    assert len(score.wrong_people) == 2


def test_nobody_instead_of_somebody_is_wrong_but_no_wrong_person():
    expected = {"m2": {"extraction": {"assigned_to": ["luis"]}}}
    got = [line("m2", extraction={"assigned_to": ["unspecified"]})]
    score = score_episode(episode(lines=expected), got, [])
    assert not score.all_right
    assert score.wrong_people == ()


def replay(
    episodes: Sequence[Episode], lines: Mapping[str, list[dict[str, Any]]], kept: Any = ()
) -> Report:
    def said(one: Episode) -> list[dict[str, Any]]:
        return [answer for item in one.messages for answer in lines.get(item["message_id"], [])]

    return report_scores([score_episode(one, said(one), kept) for one in episodes])


def perfect(subject: Episode) -> dict[str, list[dict[str, Any]]]:
    lines = {name: [line(name, **_answer(wanted))] for name, wanted in subject.lines.items()}
    for wanted in subject.speaks:
        if wanted.deferred:
            lines[wanted.about].append(spoken(wanted.about, wanted.rule, event="deferred"))
    return lines


def _answer(expected: Mapping[str, Any]) -> dict[str, Any]:
    answer = {key: value for key, value in expected.items() if key != "withdrawn"}
    return answer | ({"withdrawn_action": "a"} if expected.get("withdrawn") else {})


def test_figures_of_a_run_with_every_kind_of_mistake():
    answered = {"m2": {"attribution_source": "m1", "extraction": {"assigned_to": ["luis"]}}}
    changed = {"m1": {"withdrawn": True}}
    episodes = [
        episode(lines=answered, speaks=(speak("time_mismatch", "m1"),)),
        episode(id="e2", slice="cancel_move_edit", lines=changed),
    ]
    lines = {
        "m1": [line("m1")],
        "m2": [
            spoken(
                "m2",
                "resource_conflict",
                attribution_source="m1",
                extraction={"assigned_to": ["ana"]},
            )
        ],
    }
    report = replay(episodes, lines)
    figures = {floor.name: floor.value for floor in report.floors}
    assert figures == {
        "unprompted messages found": 0,
        "unprompted messages right": 0,
        "messages without a false one": pytest.approx(1 - 2 / 3),
        "attributions right": 0,
        "cancellations and edits honoured": 0,
        "messages given to no wrong person": pytest.approx(3 / 4),
    }
    assert not any(floor.holds for floor in report.floors)
    assert report.worst[0].startswith("e1 wrong person")
    assert any("m1 'text of m1' expected time_mismatch, silent" in text for text in report.worst)


def test_no_episodes_is_no_failure():
    assert all(floor.holds for floor in replay([], {}).floors)


@pytest.mark.parametrize("name", FILES)
def test_a_perfect_run_of_the_real_episodes_scores_full(name: str):
    for subject in load_episodes(ROOT / name):
        report = replay([subject], perfect(subject), list(subject.pending or ()))
        assert report.worst == (), subject.id
        assert all(floor.holds for floor in report.floors), subject.id


@pytest.mark.parametrize("name", FILES)
def test_real_episodes_are_sent_by_members_in_the_households_time(name: str):
    households: dict[Path, Any] = {}
    for subject in load_episodes(ROOT / name):
        if subject.household not in households:
            households[subject.household] = load_household(ROOT / subject.household)
        home = households[subject.household]
        members = {member.id for member in home.members}
        times = [datetime.fromisoformat(item["sent_at"]) for item in subject.messages]
        assert {item["sender"] for item in subject.messages} <= members, subject.id
        assert times == sorted(times), subject.id
        for at in times:
            local = at.replace(tzinfo=home.zone).utcoffset()
            assert at.utcoffset() == local, subject.id
        ids = [item["message_id"] for item in subject.messages]
        assert len(ids) == len(set(ids)), subject.id
        for item in subject.messages:
            for other in (item.get("reply_to"), item.get("target")):
                assert other is None or other in ids[: ids.index(item["message_id"])], subject.id


def test_both_halves_have_the_same_situations_and_share_no_sentence():
    halves = [load_episodes(ROOT / name) for name in FILES]
    slices = [sorted(subject.slice for subject in half) for half in halves]
    assert slices[0] == slices[1]
    long = [
        {m["text"] for subject in half for m in subject.messages if len(m["text"]) > 20}
        for half in halves
    ]
    assert not long[0] & long[1]


@pytest.mark.parametrize(
    "text",
    [
        "not json",
        '{"id": "e"}',
        json.dumps(
            {
                "id": "e",
                "household": "h",
                "slice": "s",
                "messages": [],
                "until": None,
                "expect": {"lines": {"m9": {}}, "speaks": [], "pending": None},
            }
        ),
    ],
)
def test_a_bad_episode_is_refused_with_its_place(tmp_path: Path, text: str):
    path = tmp_path / "episodes.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=r"episodes\.jsonl:1"):
        load_episodes(path)


def test_an_id_used_twice_is_refused(tmp_path: Path):
    path = tmp_path / "episodes.jsonl"
    first = (ROOT / FILES[0]).read_text(encoding="utf-8").splitlines()[0]
    path.write_text(f"{first}\n{first}\n", encoding="utf-8")
    with pytest.raises(InputError, match="twice"):
        load_episodes(path)
