"""What somebody tells plainly of themselves and of those around them is kept or offered, and the answer says so."""

import re
from pathlib import Path

import pytest

from kinkeeper.actions.payload import action_record
from kinkeeper.actions.repository import open_actions
from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.core.ids import canonical_json
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.facts import list_facts
from live_household import HOUSEHOLD
from talking import Talking, on_a_loop, talking

SUBJECTS = {
    "speaker": ("I", "my", "I'm", ""),
    "spouse": ("my husband", "my husband's", "my husband is", "s"),
    "child": ("Mia", "Mia's", "Mia is", "s"),
    "adult": ("Sarah", "Sarah's", "Sarah is", "s"),
    "son": ("our son", "our son's", "our son is", "s"),
    "pet": ("our dog", "our dog's", "our dog is", "s"),
}
"""Each as subject, as owner, with its verb, and with the ending that verbs have after it."""
CHILDREN = ("Tobi", "Kit", "Freja")
"""Names that no dictionary has, or that are words as well; a household's own names are names however they are typed."""

SUBJECTS |= {
    f"{name} typed {how}": (who, f"{who}'s", f"{who} is", "s")
    for name in ("mia", *map(str.lower, CHILDREN))
    for how, who in (("small", name), ("right", name.title()))
    if how == "small" or name == "kit"
}

OF_ANYBODY = (
    "{whose} name is Quillfeather",
    "{who} go{s} by Quillfeather",
    "{whose} birthday is on June 12",
    "{whose} shoe size is 38",
    "{who} wear{s} size 38",
    "{who} take{s} a size 38",
    "{is_} vegetarian",
    "{is_} allergic to buckwheat",
    "{who} can't have buckwheat",
    "{who} love{s} buckwheat",
    "{who} hate{s} buckwheat",
    "{who} take{s} insulin",
)
OF_PEOPLE = (
    "{who} work{s} at the harbour office",
    "{who} work{s} for Quillfeather and Sons",
    "{who} work{s} as a nurse",
    "{is_} a plumber",
    "{who} live{s} in Rotterdam",
    "{who} live{s} at 14 Harbour Street",
    "{whose} address is 14 Harbour Street",
    "{is_} from Ghana",
    "{who} go{es} to Lindenhof School",
    "{whose} teacher is Ms Quillfeather",
    "{who} speak{s} Dutch",
    "{who} play{s} the cello",
    "{who} run{s} a bakery",
    "{who} read{s} in Braille",
    "{whose} email is quill@example.org",
    "{whose} phone number is 555 0142",
    "{whose} locker number is 4821",
    "{whose} coat is a 34 inch chest",
    "{who} get{s} a rash from buckwheat",
    "{whose} dentist is Dr Quillfeather",
)
HOLLOW = re.compile(
    r"I see|Good to know|Thanks for telling|did not understand|not sure what|couldn't|haven't put",
    re.IGNORECASE,
)


def told_of(subject: str) -> list[str]:
    who, whose, is_, ending = SUBJECTS[subject]
    patterns = OF_ANYBODY if subject == "pet" else OF_ANYBODY + OF_PEOPLE
    said = [
        each.format(who=who, whose=whose, is_=is_, s=ending, es="es" if ending else "")
        for each in patterns
    ]
    if "small" in subject:
        return [f"{each[0].lower()}{each[1:]}." for each in said]
    return [f"{each[0].upper()}{each[1:]}." for each in said]


async def kept(talk: Talking) -> str:
    """Return all that John may recall, and all that waits for a yes."""
    reading = reading_of(talk.system.household, talk.system.store, talk.clock)
    while await reading.run_once():
        pass
    viewer, now = Viewer.of(talk.system.household.id, "john"), talk.clock.now()
    return await talk.system.store.read(
        lambda conn: canonical_json(
            [
                *(each.narrative for each in list_facts(conn, viewer, now=now, limit=500)),
                *(action_record(each) for each in open_actions(conn, viewer, now=now)),
            ]
        )
    )


@pytest.mark.parametrize("subject", SUBJECTS)
@on_a_loop
async def test_it_is_kept_or_offered(tmp_path: Path, subject: str) -> None:
    said = told_of(subject)
    file = tmp_path / "household.toml"
    children = [
        f'\n[[members]]\nid = "{each.lower()}"\nname = "{each}"\nrole = "child"\n'
        for each in CHILDREN
    ]
    file.write_text(HOUSEHOLD.read_text(encoding="utf-8") + "".join(children), encoding="utf-8")
    async with talking(tmp_path, Planners(None), household=file) as talk:
        answers = [
            await talk.answer(text, thread_id=f"{subject}-{number}")
            for number, text in enumerate(said)
        ]
        everything = await kept(talk)
    hollow = [
        (text, answer) for text, answer in zip(said, answers, strict=True) if HOLLOW.search(answer)
    ]
    assert not hollow
    assert [text for text in said if text.split()[-1].rstrip(".") not in everything] == []


@on_a_loop
async def test_what_is_kept_is_not_called_nothing(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        told = await talk.answer("My aunt is in rehab. Please pray for her.", thread_id="aunt")
        assert "Saved just for you" in told
