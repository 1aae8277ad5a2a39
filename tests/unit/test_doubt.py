"""A request in doubt is never done at once: whatever the hedge, what was understood is only offered."""

from collections.abc import Sequence
from itertools import product

import pytest

from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.reading.corrections import retraction_of, without_doubt
from planning import context
from talking import on_a_loop

HEDGES = (
    "maybe {base}", "perhaps {base}?", "possibly {base}", "{base}, maybe", "{base} perhaps?", "could you maybe {base}",
    "might be worth {ing}", "it might be an idea to {base}", "thinking of {ing}", "I'm thinking about {ing}",
    "we were wondering about {ing}", "should I {base}?", "shall we {base}?", "do you think I should {base}?",
    "wouldn't hurt to {base}", "it couldn't hurt to {base}", "no harm in {ing}", "I might {base}",
    "not sure whether to {base}", "I suppose we could {base}", "what if we {base}", "how about {ing}",
    "I'm tempted to {base}", "would it be worth {ing}?", "I guess {base}", "could be good to {base}",
    "we may want to {base}", "in two minds about {ing}", "ought we to {base}?", "is it worth {ing}?", "{base}? not sure",
    "half a mind to {base}", "I wonder if we should {base}", "if you think so, {base}", "{base} if that makes sense?",
)  # fmt: skip
REQUESTS = {
    "remind me to call Gran at 6pm": "reminding me to call Gran at 6pm",
    "add oats to the shopping list": "adding oats to the shopping list",
    "put the dentist in the calendar on Friday at 3pm": "putting the dentist in the calendar on Friday at 3pm",
    "make a task to book the MOT": "making a task to book the MOT",
    "schedule a haircut on Friday at 3pm": "scheduling a haircut on Friday at 3pm",
    "note that the bins go out on Mondays": "noting that the bins go out on Mondays",
    "remember that Mia hates olives": "remembering that Mia hates olives",
    "cancel soccer on Thursday": "cancelling soccer on Thursday",
    "move ballet to Friday at 5pm": "moving ballet to Friday at 5pm",
    "take milk off the shopping list": "taking milk off the shopping list",
    "email Gran that we are late": "emailing Gran that we are late",
    "mark the bins as done": "marking the bins as done",
}


TAKEN_BACK = (
    "{base}, actually don't",
    "{base}... no wait, don't",
    "{base}? no I did that already",
    "{base} - kidding!",
    "{base}, just kidding",
    "{base}. Actually no, leave it",
    "{base}, wait, no, we have some",
    "{base}, no need, it's done",
    "{base} — no, forget it",
    "{base}, nah don't bother",
    "{base}. Never mind, I've done it",
    "{base}? nah",
    "{base}, ignore me",
    "{base} or rather no, scrap that, later",
    "{base}, oh we already did",
    "{base}, but I already did it",
    "{base}, jk",
    "{base}. Not really!",
    "{base} — no, forget it — or do I mean later",
)
SCORNED = (
    "{base}? no chance",
    "{base}? fat chance, she never rang back",
    "{base}? nope, he hasn't been",
    "{base}? as if I'd forget",
    "{base}... said nobody ever",
    "{base}, yeah right",
    "{base}? no way",
    "{base}? not likely",
    "{base}, in your dreams",
    "{base}? over my dead body",
    "{base}? never",
    "{base}? hardly",
    "{base} - who am I kidding",
    "{base}? like hell I will",
    "{base}? haha, we never do that",
    "{base}? dream on",
)
UNWANTED = (
    "please stop {ing}",
    "quit {ing}",
    "avoid {ing}",
    "refrain from {ing}",
    "hold off on {ing}",
    "no point in {ing}",
    "I'd give up {ing}",
    "enough of {ing}",
)
OTHERS = (
    "Henrik wants me to {base}",
    "my sister told me to {base}",
    "the school says we should {base}",
)


@on_a_loop
async def test_what_is_taken_back_in_the_same_breath_is_never_done() -> None:
    done = []
    for form, (base, ing) in product(TAKEN_BACK, REQUESTS.items()):
        text = form.format(base=base, ing=ing)
        plan = await Planners(None).plan(context(text))
        is_taken_back = retraction_of(text) is not None  # nothing is planned of it then
        done += [text for each in plan.actions if not (each.is_offer or is_taken_back)]
    assert done == []


CLOSING = (
    "{base}... nah dont bother",
    "{base} ... nah dont bother",
    "{base} nvm",
    "{base}, nvm",
    "{base}. nvmd",
    "{base}, nevermind",
    "{base}... ah no dont",
    "{base}, actually leave it",
    "{base}. no need",
    "{base} - oh no thanks",
    "{base}, dont bother",
    "{base}, hold on no dont",
    "{base}.. nah it's fine",
    "{base}. Not needed any more",
    "{base}, oh wait dont worry about it",
)
REASONS = (
    "they're closed",
    "theyre shut",
    "we have some",
    "she's on holiday",
    "the shop is shut",
    "it's cancelled",
    "mum's got it",
    "he can't",
    "my car is broken",
)
ON_SECOND_THOUGHTS = ("oh hang on", "hang on", "hold on", "wait", "no wait", "oh wait", "nah")


@on_a_loop
async def test_a_take_back_at_the_end_makes_it_no_request() -> None:
    asked = [
        form.format(base=base)
        for form, base in product(CLOSING, REQUESTS)
        if retraction_of(form.format(base=base)) is None
    ]
    assert asked == []


@on_a_loop
async def test_what_is_given_up_for_a_reason_is_only_offered_and_without_the_reason() -> None:
    done, kept = [], []
    for base, lead, reason in product(list(REQUESTS)[:5], ON_SECOND_THOUGHTS, REASONS):
        text = f"{base}... {lead} {reason}"
        plan = await Planners(None).plan(context(text))
        done += [text for each in plan.actions if not each.is_offer]
        told = (await Planners(None).plan(context(base))).actions
        kept += [text for each in plan.actions if each.params not in [it.params for it in told]]
    assert done == []
    assert kept == []


@pytest.mark.parametrize(
    "text",
    [
        "remind me to tell Tom not to bother",
        "remind me to buy forget-me-nots",
        "never mind",
        "nvm",
        "don't bother",
        "remind me to tell dad don't bother",
        "remind me at 5 to call Mum, if she's asleep don't bother",
        "remind me to text Ann: no need to come",
        "remind me to leave it on the step",
        "no need",
        "leave it",
        "ask Tom whether he comes, if not never mind",
        "remind me to say no, if he asks don't bother",
        "remind me to hang on to the receipt",
        "Mum says no need",
        "add nah and nope to the list of words",
    ],
)
def test_what_only_sounds_like_a_take_back_takes_nothing_back(text: str) -> None:
    assert retraction_of(text) is None


@pytest.mark.parametrize(
    "forms", [UNWANTED, OTHERS, SCORNED], ids=["unwanted", "of others", "scorned"]
)
@on_a_loop
async def test_what_is_not_wanted_or_anothers_wish_writes_nothing_at_once(
    forms: Sequence[str],
) -> None:
    done = []
    for form, (base, ing) in product(forms, REQUESTS.items()):
        text = form.format(base=base, ing=ing)
        plan = await Planners(None).plan(context(text))
        done += [
            text
            for each in plan.actions
            if not each.is_offer and each.action in {"create_event", "create", "append", "store"}
        ]
    assert done == []


@on_a_loop
async def test_whatever_the_hedge_it_is_offered_and_shown() -> None:
    done, unseen = [], []
    for hedge, (base, ing) in product(HEDGES, REQUESTS.items()):
        text = hedge.format(base=base, ing=ing)
        plan = await Planners(None).plan(context(text))
        done += [text for each in plan.actions if not each.is_offer]
        unseen += [] if plan.actions or plan.clarification else [text]
    assert done == []
    assert unseen == []


@pytest.mark.parametrize(
    "text",
    [
        *REQUESTS,
        "could you possibly remind me to call Gran at 6pm",
        "can I get a reminder to call Gran at 6pm",
        "remind me to ask whether we should move the wardrobe",
        "add maybugs to the shopping list",
        "do we have soccer on Friday?",
        "when should I leave for ballet?",
        "remind me to call Bob, no I mean Rob, at 5",
        "remind me not to forget the keys",
        "remind me to ask Bob what he already did",
        "no, remind me at 6",
        "add milk, no sugar please, to the shopping list",
    ],
)
def test_a_plain_request_is_in_no_doubt(text: str) -> None:
    assert without_doubt(text) is None
