"""What talks of known form amount to: a row a class, labelled as in training/LABELS.md, with the arrangements that must come of it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from evals.arrangements import heard_in, labelled_frames, state_of
from evals.talk_households import household_in
from kinkeeper.arrangements import Arrangement, ChangeKind, Heard, State, fold
from kinkeeper.household.file import load_household
from kinkeeper.reading import Act, Frame, Modality, Predicate, Slot, SlotName
from kinkeeper.reading.model import Clause
from training.corpus import CorpusReader

MILLERS = Path(__file__).parents[2] / "examples" / "miller" / "household.toml"
SAID_AT = datetime(2026, 3, 2, 18, 10, tzinfo=UTC)
HEAD = """## household hart | Dee (mother), Sam (father), Noor 11, Kit 6, Bev (neighbour) | Leeds, UK
# group 2026-03-02 18:10
"""

TALKS = {
    "an ask that somebody offers to do": (
        "1 Dee | ask.pickup | who gets {f:Noor} {t:on Thursday at 4}\n2 Sam | offer.pickup ^1 | {d:i} can",
        ["pickup for noor by sam 5 16:00 owned"],
    ),
    "an offer that is accepted": (
        "1 Bev | offer.cover | {d:i}'ll sit {f:with Kit} {t:tomorrow}\n2 Dee | accept ^1 | lifesaver",
        ["cover for kit by bev 3 owned"],
    ),
    "a conditional offer": (
        "1 Dee | ask.cover | who sits {f:with Kit} {t:tomorrow}\n2 Bev | offer.cover cond ^1 | {d:i} could if the van starts",
        ["cover for kit by bev 3 proposed"],
    ),
    "a conditional offer that is accepted": (
        "1 Dee | ask.cover | who sits {f:with Kit} {t:tomorrow}\n2 Bev | offer.cover cond ^1 | {d:i} could if the van starts\n3 Dee | accept ^2 | deal",
        ["cover for kit by bev 3 owned"],
    ),
    "a request that is accepted": (
        "1 Dee | request.task | Sam could {d:you} {w:post the form} {t:tomorrow}\n2 Sam | accept ^1 | ok",
        ["task post the form by sam 3 owned"],
    ),
    "a request that is declined": (
        "1 Dee | request.task | Sam could {d:you} {w:post the form} {t:tomorrow}\n2 Sam | decline ^1 | can't",
        ["task post the form 3 proposed"],
    ),
    "thanks do not give the job to who gives them": (
        "1 Sam | offer.task | {d:i}'ll {w:ring the plumber} {t:tomorrow}\n2 Dee | accept ^1 | thanks!!",
        ["task ring the plumber by sam 3 owned"],
    ),
    "a job that is given back": (
        "1 Dee | ask.pickup | who gets {f:Noor} {t:on Thursday}\n2 Sam | offer.pickup ^1 | {d:i} can\n3 Dee | accept ^2 | ta\n4 Sam | withdraw.pickup ^2 | {d:i} can't after all",
        ["pickup for noor 5 proposed"],
    ),
    "a job that is given back and taken by somebody else": (
        "1 Dee | ask.pickup | who gets {f:Noor} {t:on Thursday}\n2 Sam | offer.pickup ^1 | {d:i} can\n3 Sam | withdraw.pickup ^2 | sorry {d:i} can't\n4 Bev | offer.pickup ^3 | {d:i}'ll do it",
        ["pickup for noor by bev 5 owned"],
    ),
    "who asked needs it no longer": (
        "1 Dee | ask.task | who can {w:post the form} {t:tomorrow}\n2 Dee | withdraw.task ^1 | never mind",
        ["task post the form 3 off"],
    ),
    "an offer that is refused": (
        "1 Bev | offer.task | {d:i}'ll {w:bring soup} {t:tomorrow}\n2 Dee | decline ^1 | no need",
        ["task bring soup 3 off"],
    ),
    "an assignment": (
        "1 Dee | assign.task | Sam {d:you}'re doing {w:the bins} {t:tonight}\n2 Sam | accept ^1 | yes boss",
        ["task the bins by sam 2 owned"],
    ),
    "two who both take a job": (
        "1 Dee | ask.pickup | who gets {f:Noor} {t:on Thursday}\n2 Sam | offer.pickup ^1 | {d:i} can\n3 Bev | offer.pickup ^1 | {d:me}",
        ["pickup for noor by sam bev 5 owned"],
    ),
    "of two offers the accepted one counts": (
        "1 Dee | ask.pickup | who gets {f:Noor} {t:on Thursday}\n2 Sam | offer.pickup ^1 | {d:i} can\n3 Bev | offer.pickup ^1 | {d:me}\n4 Dee | accept ^3 | thanks",
        ["pickup for noor by bev 5 owned"],
    ),
    "one child of two": (
        "1 Dee | ask.pickup | who gets {f:Noor and Kit} {t:on Thursday}\n2 Sam | offer.pickup ^1 | {d:i}'ll get {f:Kit}\n3 Bev | offer.pickup ^1 | {d:i}'ll get {f:Noor}",
        ["pickup for noor by bev 5 owned", "pickup for kit by sam 5 owned"],
    ),
    "one day of two": (
        "1 Dee | ask.cover | who sits {f:with Kit} {t:Tuesday and Wednesday}\n2 Bev | offer.cover ^1 | {d:i} can do {t:Wednesday}",
        ["cover for kit 3 proposed", "cover for kit by bev 4 owned"],
    ),
    "a job for an event takes over its day and people": (
        "1 Noor | state.event | {w:judo grading} is {t:on the 14th at ten}\n2 Noor | ask.dropoff ^1 | who takes {f:me}\n3 Sam | offer.dropoff ^2 | {d:i} will",
        ["event judo grading for noor 14 10:00 agreed", "dropoff for noor by sam 14 10:00 owned"],
    ),
    "a child's own event concerns the child, a parent's leaves it open": (
        "1 Kit | state.event | {w:trip to the zoo} {t:on the 14th}\n2 Dee | state.event | {w:boiler man} {t:on the 15th}",
        ["event trip to the zoo for kit 14 agreed", "event boiler man 15 agreed"],
    ),
    "a corrected hour": (
        "1 Dee | state.event | {w:dentist} for {f:Kit} {t:on Thursday at 4}\n2 Dee | correct.event ^1 | {n:half 4} not {o:4}",
        ["event dentist for kit 5 16:30 agreed"],
    ),
    "a corrected end": (
        "1 Dee | state.event | {f:Kit} has {w:football} {t:on Thursday} {u:till half four}\n2 Dee | correct.event ^1 | {n:quarter to five} not {o:half four}",
        ["event football for kit 5 -16:45 agreed"],
    ),
    "an hour whose half of the day was not said stays in the half it had": (
        "1 Dee | state.event | {w:bus} {t:on Thursday at 7 am}\n2 Dee | correct.event ^1 | {n:7.45} not {o:7}",
        ["event bus 5 07:45 agreed"],
    ),
    "a moved event takes its jobs along": (
        "1 Dee | state.event | {f:Kit} has {w:dentist} {t:on Thursday}\n2 Sam | offer.dropoff ^1 | {d:i} take {f:him} {t:Thursday}\n3 Dee | state.move ^1 | {w:dentist} is {n:Friday} now not {o:Thursday}",
        ["event dentist for kit 6 moved", "dropoff for kit by sam 6 owned"],
    ),
    "another time that is only asked for": (
        "1 Dee | state.event | {w:dentist} {t:on Thursday}\n2 Sam | request.move ^1 | could it be {n:Friday}",
        ["event dentist 5 agreed"],
    ),
    "another time that was asked for and is accepted": (
        "1 Dee | state.event | {w:dentist} {t:on Thursday}\n2 Sam | request.move ^1 | could it be {n:Friday}\n3 Dee | accept ^2 | done",
        ["event dentist 6 moved"],
    ),
    "a cancelled event takes its jobs along": (
        "1 Dee | state.event | {w:judo} {t:on Thursday}\n2 Sam | offer.dropoff ^1 | {d:i} take {f:Kit}\n3 Dee | state.cancel ^1 | {w:judo} is off",
        ["event judo 5 off", "dropoff for kit by sam 5 off"],
    ),
    "back on": (
        "1 Dee | state.event | {w:judo} {t:on Thursday}\n2 Dee | state.cancel ^1 | {w:judo} is off\n3 Sam | state.cancel not ^2 | {w:judo} is on after all",
        ["event judo 5 agreed"],
    ),
    "news of something unknown": (
        "1 Dee | state.cancel | {w:school} is off {t:tomorrow}\n2 Dee | state.move | {w:swimming} is {n:Friday} now",
        ["event school 3 off", "event swimming 6 moved"],
    ),
    "done": (
        "1 Dee | request.task | Sam could {d:you} {w:post the form}\n2 Sam | report_done.task ^1 | posted",
        ["task post the form by sam 2 done"],
    ),
    "done before the day of what it was for": (
        "1 Dee | state.event | {w:zoo trip} {t:on Friday} // Sam {d:you} {w:sign the slip}\n  | request.task |\n2 Sam | report_done.task ^1 | signed",
        ["event zoo trip 6 agreed", "task sign the slip by sam 2 done"],
    ),
    "thanks without a link": (
        "1 Dee | ask.pickup | who gets {f:Noor} {t:on Thursday}\n2 Sam | offer.pickup ^1 | {d:i} can\n3 Bev | none | nice weather\n4 Dee | accept | lifesaver",
        ["pickup for noor by sam 5 owned"],
    ),
    "now and days that are over beside a day to come": (
        "1 Dee | state.change | {w:judo} is {t:now} {t:on Friday}\n2 Sam | offer.task | {d:i} did {w:the bins} {t:last week} and do them {t:tomorrow}",
        ["event judo 6 agreed", "task the bins by sam 3 proposed"],
    ),
    "people are taken somewhere in the morning unless more is known": (
        "1 Dee | promise.dropoff | {d:i} take {f:Kit} {t:on Thursday at 7}\n2 Noor | state.event | {w:disco} {t:on Friday at 7 pm}\n3 Sam | offer.dropoff ^2 | {d:i} take {f:you} {t:at 7}",
        [
            "dropoff for kit by dee 5 07:00 owned",
            "dropoff for noor by sam 6 19:00 owned",
            "event disco for noor 6 19:00 agreed",
        ],
    ),
    "a time without a day is on the day of what it answers": (
        "1 Dee | ask.cover | who sits {f:with Kit} {t:on Thursday}\n2 Sam | offer.cover ^1 | {d:i} can\n3 Sam | state.event ^2 | {w:gig} {t:at 9 pm}",
        ["cover for kit by sam 5 owned", "event gig 5 21:00 agreed"],
    ),
    "told twice in other words": (
        "1 Dee | state.event | {w:the memory clinic} is {t:on the 19th}\n2 Sam | state.event | remember {w:memory clinic} {t:on the 19th at 10}",
        ["event the memory clinic 19 10:00 agreed"],
    ),
    "the same errand on another day is another one": (
        "1 Sam | promise.pickup | {d:i} get {f:Kit} {t:on Thursday}\n2 Sam | promise.pickup | {d:i} get {f:Kit} {t:on Friday}",
        ["pickup for kit by sam 5 owned", "pickup for kit by sam 6 owned"],
    ),
    "an absence is no job": (
        "1 Dee | state.absence | {f:i}'m away {t:on Thursday}\n2 Sam | none | ok",
        [],
    ),
    "jokes, stories, wishes and talk": (
        "1 Dee | offer.task joke | {d:i}'ll {w:buy a helicopter} {t:tomorrow}\n2 Sam | state.event past | {w:the zoo} {t:last week}\n3 Sam | state.event hyp | {w:the zoo} would be nice {t:on Friday}\n4 Bev | none | next door move on Friday",
        [],
    ),
    "a wish that is agreed to": (
        "1 Sam | state.event hyp | {w:the zoo} would be nice {t:on Friday}\n2 Dee | accept ^1 | let's",
        ["event the zoo 6 proposed"],
    ),
    "hearsay waits until the household takes it up": (
        "1 Sam | state.event reported | coach says {w:the cup match} is {t:on Friday}",
        ["event the cup match 6 proposed"],
    ),
    "hearsay that is taken up": (
        "1 Sam | state.event reported | coach says {w:the cup match} is {t:on Friday}\n2 Dee | offer.cover ^1 | {d:i}'ll come",
        ["event the cup match 6 agreed", "cover by dee 6 owned"],
    ),
    "a refusal names no job": (
        "1 Dee | offer.pickup not | {d:i}'m not taking {f:Kit} {t:on Friday}",
        [],
    ),
    "several jobs handed out in one sentence": (
        "1 Dee | assign.dropoff | {d:Sam} {t:on Tuesday}, {d:Bev} {t:on Thursday}",
        ["dropoff by sam 3 owned", "dropoff by bev 5 owned"],
    ),
    "a weekday in an answer is that of what it answers": (
        "1 Dee | state.event | {w:eye clinic} {t:on Wednesday the 18th}\n2 Bev | offer.cover ^1 | {d:i}'m off {t:wednesdays} so {d:i} can come",
        ["event eye clinic 18 agreed", "cover by bev 18 owned"],
    ),
    "who refuses another child's lift keeps their own": (
        "1 Dee | ask.pickup | who gets {f:Noor and Kit} {t:tomorrow}\n2 Sam | offer.pickup ^1 | {d:i} get {f:Noor} // can't wait for {f:Kit}\n  | decline.pickup ^1 |",
        ["pickup for kit 3 proposed", "pickup for noor by sam 3 owned"],
    ),
    "who asked takes it back and does it": (
        "1 Dee | request.task | Sam could {d:you} {w:post the form}\n2 Sam | accept ^1 | ok\n3 Dee | withdraw.task ^1 | {d:i}'ll go myself",
        ["task post the form by dee owned"],
    ),
    "one day of several given back": (
        "1 Dee | ask.dropoff | who takes {f:Kit} {t:Tuesday and Friday}\n2 Bev | offer.dropoff ^1 | {d:i} will\n3 Dee | accept ^2 | ta\n4 Bev | withdraw.dropoff ^2 | not {t:on Friday}",
        ["dropoff for kit by bev 3 owned", "dropoff for kit 6 proposed"],
    ),
    "a stated need that somebody meets in other words": (
        "1 Noor | state.task | {f:i} need {w:my charger} from mum's\n2 Sam | offer.task ^1 | {d:i}'ll {w:swing by}\n3 Noor | accept ^2 | ty",
        ["task my charger for noor by sam owned"],
    ),
    "a job for something that is off": (
        "1 Dee | state.cancel | {w:the school van} is off {t:tomorrow}\n2 Dee | ask.dropoff ^1 | who drops {f:Kit}\n3 Sam | offer.dropoff ^2 | {d:i} can",
        ["event the school van 3 off", "dropoff for kit by sam 3 owned"],
    ),
    "a lift that one asks for oneself": (
        "1 Noor | ask.dropoff | i need a lift {t:on Friday}",
        ["dropoff for noor 6 proposed"],
    ),
    "asked and given in one message": (
        "1 Dee | ask.task | somebody {w:write the notice} // Sam {d:you} do it\n  | assign.task |",
        ["task write the notice by sam owned"],
    ),
    "a promise by somebody else is a job of their own": (
        "1 Bev | offer.task | {d:i}'ll {w:lend you five litres} {t:tonight}\n2 Sam | accept ^1 | bless you\n3 Sam | promise.task ^1 | {d:i}'ll {w:return the five litres} {t:on Saturday}",
        ["task lend you five litres by bev 2 owned", "task return the five litres by sam 7 owned"],
    ),
}


@pytest.mark.parametrize("name", TALKS)
def test_a_talk_amounts_to(name: str, tmp_path: Path) -> None:
    script, wanted = TALKS[name]
    state = folded(script, tmp_path)
    assert sorted(_told(state, each) for each in state.arrangements) == sorted(wanted)


def test_an_activity_concerns_whom_it_usually_does() -> None:
    household = load_household(MILLERS)
    text = "coach moved soccer"
    frame = Frame(
        clause=Clause(0, len(text)),
        act=Act.STATE,
        predicate=Predicate.MOVE,
        modality=Modality.PLAIN,
        is_negated=False,
        is_secret=False,
        slots=(Slot(name=SlotName.WHAT, start=12, end=18, p=1.0),),
        target=None,
        plan=1.0,
        p=1.0,
    )
    heard = Heard(message_id="1", speaker="John", text=text, sent_at=SAID_AT, frames=(frame,))
    after = fold(State(), heard, household, SAID_AT).state
    assert [each.who_for for each in after.arrangements] == [("leo",)]


def folded(script: str, folder: Path) -> State:
    """Return what a talk amounts to."""
    talk = read(script, folder).talks[0]
    return state_of(talk, household_in(talk), labelled_frames)


def read(script: str, folder: Path) -> CorpusReader:
    """Read a talk of the household."""
    path = folder / "talk.txt"
    path.write_text(HEAD + script, encoding="utf-8")
    reader = CorpusReader(path)
    reader.read()
    assert reader.mistakes == []
    return reader


def _told(state: State, arrangement: Arrangement) -> str:
    whole = state.whole(arrangement)
    words = [whole.predicate.value, arrangement.what]
    words += ["for", *whole.who_for] if whole.who_for else []
    words += ["by", *whole.who_does] if whole.who_does else []
    words += [str(day.day) for day in whole.when.days]
    words += [f"{whole.when.start:%H:%M}"] if whole.when.start else []
    words += [f"-{whole.when.end:%H:%M}"] if whole.when.end else []
    return " ".join([*filter(None, words), whole.status.value])


def test_an_absence_is_a_state_of_a_person(tmp_path: Path) -> None:
    state = folded(
        "1 Dee | state.absence | {f:i}'m in Cork {t:Tuesday and Wednesday}\n"
        "2 Dee | correct.absence ^1 | {n:Thursday} sorry not {o:Tuesday}",
        tmp_path,
    )
    assert [(each.person, [day.day for day in each.when.days]) for each in state.absences] == [
        ("dee", [5])
    ]
    assert state.arrangements == ()


def test_changes_tell_what_was_opened_amended_and_closed(tmp_path: Path) -> None:
    reader = read(
        "1 Dee | state.event | {w:judo} {t:on Thursday}\n"
        "2 Dee | state.move ^1 | {w:judo} is {n:Friday}\n"
        "3 Dee | state.cancel ^1 | {w:judo} is off",
        tmp_path,
    )
    talk, state, kinds = reader.talks[0], State(), []
    household = household_in(talk)
    for message in talk.messages:
        folded = fold(
            state, heard_in(talk, message, household, labelled_frames), household, SAID_AT
        )
        state = folded.state
        kinds += [each.kind for each in folded.changes]
    assert kinds == [ChangeKind.OPENED, ChangeKind.AMENDED, ChangeKind.CLOSED]


def test_what_is_secret_and_unsure_stays_so(tmp_path: Path) -> None:
    state = folded(
        "1 Dee | state.event secret | {w:party} for Noor {t:on Friday}, not a word\n"
        "2 Sam | offer.task ^1 | {d:i} bake {w:the cake}",
        tmp_path,
    )
    assert [each.is_secret for each in state.arrangements] == [True, False]
