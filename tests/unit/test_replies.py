import pytest

from kinkeeper.language.lexicon import Lexicon, Term
from kinkeeper.language.text import tokenise
from kinkeeper.reading.replies import ReplyKind, asks_for_owner, is_question, read_reply

ANSWERS = {
    ReplyKind.CLAIM: "me|I can|i’ll do it|on it|i got it|mine!|leave it to me|omw|🙋|🙋🏽\u200d♀\ufe0f|✋🏿|i'm free|dibs|ok i'll do it|ill do it|i'l do it"
    "|im on it|otw|I got Leo|no i'll get him|meeee|yes i can do pickup|i'm at work but i can get him at 5|gonna be there in 5|I am",
    ReplyKind.ACCEPT: "sure|ok|yessss|will do|no problem|sounds good|deal|👍🏼👍🏼|kk|np|gotcha|can can|no worries|righto|yeah 3pm|4:30 work for me|ok thanks 👍",
    ReplyKind.DECLINE: "can't|no sorry|not me|i'm stuck at work|👎|yes but i can't thursday|i can't make it after all|cannot lah|i have a meeting|nah|im working late",
    ReplyKind.YIELD: "i'll go instead|you rest|let me take it|i'll take over|don't worry i'll do it|you stay|dont worry ill get him",
    ReplyKind.WITHDRAW: "n/m|nm|nvm|Never mind!|forget it|scratch that|all sorted|ignore that|ok nvm",
    ReplyKind.ACKNOWLEDGE: "thx|ty|cheers|great|❤\ufe0f|🙏|thanks so much",
    ReplyKind.DOUBT: "u sure?|really?|are you sure",
}
MORE = {
    ReplyKind.CLAIM: "I'll collect her from nursery|I've got this one|I can if needed|leave it with me|I'd be happy to|I'll do the school run|i can do tuesdays|ok will get him"
    "|I got them both today|we'll take them|Sure, I can get her at 3:30",
    ReplyKind.ACCEPT: "ok I'm in|that suits me|3 is fine|good idea|that's fine with me|sounds lovely|thursday works|yes dear",
    ReplyKind.DECLINE: "I won't be back in time|unfortunately i can't|i'm afraid I'm busy|I'm at work until 6|👍 but can't before 5|Not tonight sorry|cant do thurs",
    ReplyKind.YIELD: "i'll go this time instead|I'll take this one|you have a rest, I'll take her|stay put, I'll get him",
    ReplyKind.WITHDRAW: "don't worry about it|oh wait never mind|found someone|scrub that, the car died|changed my mind|oops wrong week",
    ReplyKind.RELEASE: "no need anymore|you're off the hook|no need, they fetched her already|we don't need you tuesday",
    ReplyKind.HAND: "you take him|all yours|over to you|fine, you do it|you take her, i'll cook dinner|your turn",
}
DIALECT = {
    ReplyKind.CLAIM: "i lah|i fetch her lor|oh wait its me|I bring|guess it's me|raising my hand|yes of course i'll do it|i'll of course|it's on me",
    ReplyKind.ACCEPT: "aye|aye son|nae bother|och aye|course I will|just seeing this now, sure|haan ji|grand so|y|y thurs|course, no rush|ok checked, fine|sorted",
    ReplyKind.DECLINE: "cannae|i cannae take her|something came up|turns out i can't|i have to drop out|so i must let you down|sunday's my day off sorry",
    ReplyKind.YIELD: "no need, I'll get her|you go ahead, i'll take him|you sleep in|no no, you rest, i'll collect them",
    ReplyKind.ACKNOWLEDGE: "would you? that'd be lovely|that would be great",
}
NO_ANSWERS = (
    "can you?|y?|y not|me neither|me too|i got a new phone|i can see that|i'll let you know|let me check|no soccer today|great game today|can't wait!"
    "|What time is soccer?|i love you|I am fine|he can't read|me?|ok?|no need to buy milk|i can't find my keys|no one knows|i'll get a new phone|i take it you saw|oh wait|hang on|wait no"
)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (kind, message)
        for answers in (ANSWERS, MORE, DIALECT)
        for kind, messages in answers.items()
        for message in messages.split("|")
    ],
)
def test_reads_short_answers(kind: ReplyKind, message: str):
    reply = read_reply(tokenise(message))
    assert reply is not None
    assert reply.kind is kind


@pytest.mark.parametrize("message", NO_ANSWERS.split("|"))
def test_reads_no_answer_into_other_messages(message: str):
    assert read_reply(tokenise(message)) is None


def test_an_object_may_be_a_household_word():
    tokens = tokenise("i got zuzka")
    assert read_reply(tokens) is None
    reply = read_reply(tokens, Lexicon([Term("child", "z", ("Zuzka",))]).find(tokens))
    assert reply is not None
    assert reply.kind is ReplyKind.CLAIM


def test_an_answer_is_whole_only_without_other_content():
    whole, partial = (
        read_reply(tokenise("sure, thursday at 3 👍")),
        read_reply(tokenise("sure, the plumber rang")),
    )
    assert whole is not None
    assert whole.is_whole
    assert partial is not None
    assert not partial.is_whole


ASKS = (
    "who's picking up leo?|can you get mia?|anyone free thursday?|need someone to take her|could one of you fetch them|whose turn is it|can u grab leo pls"
    "|Ballet pickup Thursday?|any chance you could get him|would you mind collecting her|r u picking up mia?|Who has Leo tomorrow?|I can't make pickup, can you?"
    "|she needs picking up at 4|please drop him at chess|I was wondering if you could get them"
)
ASKS_NOTHING = (
    "who is that|what can you do|when are you getting leo|should i pick him up?|can i get a biscuit|did you pick up leo?|can you believe it|thanks for getting him"
    "|you can do it|i'll get him|do you like soccer?|anyone seen my keys|where can you get milk"
)


@pytest.mark.parametrize("message", ASKS.split("|"))
def test_hears_that_an_owner_is_asked_for(message: str):
    assert asks_for_owner(tokenise(message), message)


@pytest.mark.parametrize("message", ASKS_NOTHING.split("|"))
def test_hears_no_request_in_other_messages(message: str):
    assert not asks_for_owner(tokenise(message), message)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("who's picking up leo", True),
        ("what time is soccer", True),
        ("hi, are you home", True),
        ("ok?", True),
        ("anyone free", True),
        ("what a day", False),
        ("when i was young", False),
        ("see https://x.org/?a=1", False),
        ("do it", False),
        ("will do", False),
    ],
)
def test_tells_questions(message: str, expected: bool):
    assert is_question(tokenise(message), message, ()) is expected
