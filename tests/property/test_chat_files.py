"""Whatever bytes a chat file holds, each line that is not blank gives one answer, and nothing raises."""

import json

from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.cli.chat_files import BadLine, ChatLine, read_any_chat

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
fields = st.sampled_from(
    ["chat_id", "message_id", "sender", "text", "sent_at", "kind", "target", "reply_to"]
)
sound = {
    "chat_id": "c",
    "message_id": "m",
    "sender": "s",
    "text": "t",
    "sent_at": "2026-03-02T10:00:00",
}


@given(st.lists(st.binary(max_size=60)))
def test_any_bytes_give_one_answer_a_line(rows: list[bytes]) -> None:
    lines = [row.replace(b"\n", b" ") + b"\n" for row in rows]
    answers = list(read_any_chat(lines))
    shown = [line.removeprefix(b"\xef\xbb\xbf") if not n else line for n, line in enumerate(lines)]
    assert len(answers) == sum(bool(line.strip()) for line in shown)


@given(st.lists(st.dictionaries(fields, json_values)))
def test_fields_of_any_kind_give_a_message_or_an_error(changes: list[dict[str, object]]) -> None:
    lines = [json.dumps({"n": 0, **sound, **change}).encode() + b"\n" for change in changes]
    answers = list(read_any_chat(lines))
    assert [answer.number for answer in answers] == list(range(1, len(lines) + 1))
    for answer in answers:
        assert isinstance(answer, ChatLine) or answer.error


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(
                ["id", "type", "date", "date_unixtime", "from", "from_id", "text", "reactions"]
            ),
            json_values,
        )
        | json_values
    )
)
def test_an_export_of_any_messages_raises_nothing(messages: list[object]) -> None:
    export = {"id": 1, "type": "private_group", "messages": messages}
    document = json.dumps(export, indent=1).encode()
    for answer in read_any_chat(document.splitlines(keepends=True)):
        assert isinstance(answer, ChatLine | BadLine)


def test_a_lone_brace_costs_only_its_own_line() -> None:
    lines = [b"{\n", json.dumps(sound).encode() + b"\n"]
    assert [type(answer) for answer in read_any_chat(lines)] == [BadLine, ChatLine]
