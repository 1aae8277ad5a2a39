"""Who names the hour or day that does not hold any more sets right the plan that has it, whoever told it and however long ago."""

from collections.abc import Iterator

import pytest

from family_chat import Chat, chat

TOLD = "Leo has the dentist on Friday at 9.30am"
AT_ANOTHER_HOUR = ["2026-03-06", "09:15"]
ON_ANOTHER_DAY = ["2026-03-05", "09:30"]
AS_TOLD = ["2026-03-06", "09:30"]
CLASSES = {
    "seen by another, with where it stands": ("their app says it's 9.15 not 9.30", AT_ANOTHER_HOUR),
    "instead of": (
        "the letter has 9.15 instead of 9.30, just seen it on the fridge",
        AT_ANOTHER_HOUR,
    ),
    "another day": ("oh wait the letter says Thursday not Friday", ON_ANOTHER_DAY),
    "an hour that nothing has": ("the match on telly was at 8.15 not 8.30", AS_TOLD),
    "somebody else": ("Mia's recital is at 9.15 not 9.30", AS_TOLD),
    "a question": ("is it 9.15 not 9.30?", AS_TOLD),
}


@pytest.fixture
def miller() -> Iterator[Chat]:
    with chat() as found:
        yield found


@pytest.mark.parametrize("name", CLASSES)
def test_a_plan_is_set_right_by_its_old_value(name: str, miller: Chat) -> None:
    text, wanted = CLASSES[name]
    miller.say("Wed 2026-03-04 18:00", "sarah", TOLD)
    miller.say("Wed 2026-03-04 18:20", "john", text)
    cards = [each.proposal.extraction for each in miller.pending("Wed 2026-03-04 18:30")]
    found = [each for each in cards if "leo" in each["child"]]
    assert [[each["dates"][0], each["times"][0]] for each in found] == [wanted]
    assert miller.events() == []
