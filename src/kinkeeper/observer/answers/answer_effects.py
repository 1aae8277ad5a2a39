"""What a short answer does to a job: hands it on, frees somebody of it, takes it back, accepts an offer. Pure."""

import re
from dataclasses import replace

from kinkeeper.observer.model import UNSPECIFIED, Extraction, Stance, Task
from kinkeeper.observer.wording.grammar import grammar
from kinkeeper.observer.wording.message_view import Reading
from kinkeeper.reading.replies import ReplyKind

_ONLY_TO_OFFERS = frozenset({ReplyKind.HAND, ReplyKind.ACKNOWLEDGE})
_READ_ANEW = frozenset({Stance.STATES, Stance.ACCEPTS})
_QUOTATION = re.compile(r"\"[^\"]+\"|\u201c[^\u201d]+\u201d")
_REFUSING = re.compile(
    r"<adult> (?:(?:just|now|also|really|actually|probably|sadly|unfortunately|said|says|he|she|that) )*"
    r"(?:(?:can|will|could|is|does|may|might|would) not|is (?:sick|ill|away|stuck|busy|working|out of)|has to work)"
)
_SPOKEN_TO = re.compile(r"(?:^|, |[.!] )(?P<adult><adult>)(?= ?,| you| no need| do not| ?[.!]?$)")
_NOT_DONE = re.compile(
    r"(?<!\w)(?:i|we|<adult>|he|she|they) (?:did|was|were|had|has|have|do|does) not(?!\w)(?! (?:think|reckon|believe|feel|see|know|want)(?!\w))"
)
_DOES = re.compile(
    r"<adult>(?= (?:is|has|will|can|shall|could|would|does|got|gets|takes|said|offered)(?= |$))"
)
_WILL = re.compile(
    r"(?:^|[.!?,;] |(?<=so )|(?<=ok )|(?<=then )|(?<=and ))(?:i|we) (?:(?:will|can|could) (?:(?:just|then|probably|easily|happily|also) )*|go |come )"
    r"(?P<verb>[a-z]+)(?P<rest>[^.!?;]*)"
)
_OBJECT = re.compile(
    r"(?:^| )(?:(?:it|him|her|them|that|this|those|one|both)(?!\w)|(?:for|with|there|over|round|down|back|by|home|in|out)(?!\w)|the (?!same))"
)
_AND_DOES = re.compile(
    r"(?<!\w)(?:and|to) (?:go|do|take|get|fetch|bring|drive|come|grab|collect|be there|cover|pick)(?!\w)"
)
_PRESENT = re.compile(
    r" (?:there|here|around|about|home|in|free|over|down|up|round|with (?:him|her|them|you)|at (?:the|<place>|<act>))(?!\w)(?! (?:late|a meeting|bed|town|touch))| ?$"
)
_ANY_WAY = re.compile(
    r"(?<!\w)(?:grab|grabbing|get|getting|have|having|swing by|bring|bringing)(?!\w)"
)
_BRIEF = 10
"""Most words and marks of a refusal that names no job."""

_DROPPING = re.compile(r"(?<!\w)drop")
_GOING_BACK = re.compile(
    r"(?<!\w)(?:after all|any ?more|no longer|(?:has|have|is)? ?c[ao]me up|turns out|let you down|that is me out|(?:hand|give|pass)(?:ing)? [^.]{1,30} (?:back|over) to|back out|pull out|drop out|bail|double booked)(?!\w)"
)


def as_answer(reading: Reading, extraction: Extraction) -> Extraction:
    """Return what a message says, once it is read as the answer that its words make it.

    Args:
        reading: The message.
        extraction: What it says on its own.

    Returns:
        The extraction; of "ignore me" or "no need" nothing but the stance, of "you take him" and
        "that'd be lovely" an acceptance, which counts only towards an offer.
    """
    reply = reading.reply
    if _only_quotes(reading):
        # What a joke or a message from elsewhere says is nobody's word here.
        return replace(_without_owner(extraction, Stance.STATES), is_coordination=False)
    if reply is None:
        return extraction
    if (reply.kind is ReplyKind.RELEASE and not _calls_off(extraction)) or (
        reply.kind is ReplyKind.WITHDRAW and not _names_something(reading)
    ):
        return _without_owner(extraction, Stance.WITHDRAWS)
    if (
        reply.kind is ReplyKind.HAND
        and not extraction.named_dates
        and not (extraction.owners and _names_something(reading))
        and not reading.asks_for_owner
    ):
        return replace(
            _without_owner(extraction, Stance.ACCEPTS), task=None, is_coordination=False,
        )  # fmt: skip
    if reply.kind is ReplyKind.ASSIGN and extraction.stance in _READ_ANEW:
        return replace(extraction, stance=Stance.ASSIGNS, assigned_to=_one_who_does(reading))
    if reply.kind is ReplyKind.ACKNOWLEDGE and reply.is_whole:
        return replace(extraction, stance=Stance.ACCEPTS)
    return extraction


def accepts_offers_only(reading: Reading) -> bool:
    """Whether an acceptance is one only of what somebody offered to do: "you take him", "that'd be great"."""
    return reading.reply is not None and reading.reply.kind in _ONLY_TO_OFFERS


def begins_with_yes(reading: Reading, *, to_offer: bool) -> bool:
    """Return whether a message begins with a yes and goes on to something else.

    Args:
        reading: The message, or a part of it.
        to_offer: Whether it would answer an offer, to which "would you?" and thanks are a yes as well.
    """
    reply = reading.reply
    if reply is None or reply.is_whole:
        return False
    return reply.kind is ReplyKind.ACCEPT or (to_offer and reply.kind is ReplyKind.ACKNOWLEDGE)


def hands_over(reading: Reading) -> bool:
    """Whether the sender leaves a job to the person spoken to."""
    return reading.reply is not None and reading.reply.kind is ReplyKind.HAND


def frees_somebody(reading: Reading) -> bool:
    """Whether the sender frees another of a job that is not needed any more."""
    return reading.reply is not None and reading.reply.kind is ReplyKind.RELEASE


def loosened(reading: Reading, extraction: Extraction) -> Extraction:
    """Return what a message says if it answers something open, which takes less than if it stood alone.

    The task is left open where the verb tells not which way ("i'll bring her" also answers a pickup), and whoever
    says that they will do whatever it is takes it on ("i'll shift it", "i'll come for you").
    """
    if extraction.stance in _READ_ANEW and not extraction.is_coordination and _does_it(reading):
        return replace(extraction, stance=Stance.CLAIMS)
    is_open = extraction.activity is None and extraction.location is None
    is_vague = is_open and (
        (extraction.task is Task.DROPOFF and not _DROPPING.search(reading.skeleton))
        or (extraction.task is Task.PICKUP and _ANY_WAY.search(reading.skeleton) is not None)
    )
    return replace(extraction, task=None) if is_vague else extraction


def refuser(reading: Reading, sender: str) -> str:
    """Return who steps back: the adult of whom it is said ("John can't make it"), else the sender."""
    match = _REFUSING.search(reading.skeleton)
    person = reading.mention_at(match.start()) if match else None
    return person.id if person else sender


def goes_back_on(reading: Reading) -> bool:
    """Whether the words themselves say that something promised does not hold: "can't after all"."""
    return _GOING_BACK.search(reading.skeleton) is not None


def refuses_a_job(reading: Reading) -> bool:
    """Whether a refusal can be the stepping back from a job: it is brief, or says so, or names the job or its day.

    What was not done ("i didn't drop them") and a "no" in a long story are neither.
    """
    if goes_back_on(reading):
        return True
    if _NOT_DONE.search(reading.skeleton):
        return False
    return _names_something(reading) or len(reading.symbols) <= _BRIEF


def freed(reading: Reading) -> str | None:
    """Return the adult that a message frees of a job, if it is said to one by name."""
    match = _SPOKEN_TO.search(reading.skeleton)
    person = reading.mention_at(match.start("adult")) if match else None
    return person.id if person else None


def _does_it(reading: Reading) -> bool:
    """Whether the sender says that they will do something to it, them or "the ...", whatever the verb."""
    if reading.is_question or reading.of_kind("activity", "generic"):
        return False
    match = _WILL.search(reading.skeleton)
    if match is None or match["verb"] in grammar().no_deeds:
        return False
    if match["verb"] == "be":
        return _PRESENT.match(match["rest"]) is not None
    return (_OBJECT.search(match["rest"]) or _AND_DOES.search(match["rest"])) is not None


def _one_who_does(reading: Reading) -> tuple[str, ...]:
    """The adult of whom it is said that they do it, not the one it is said to ("never mind Ann, Ben has it")."""
    match = _DOES.search(reading.skeleton)
    person = reading.mention_at(match.start()) if match else None
    named = [person] if person else reading.of_kind("adult")[:1]
    return tuple(mention.id for mention in named)


def _calls_off(extraction: Extraction) -> bool:
    """Whether it says that the thing itself does not take place: "no need, choir is off"."""
    return extraction.task is Task.CANCEL and extraction.activity is not None


def _only_quotes(reading: Reading) -> bool:
    """Whether there are words around a quotation, and all that could be arranged stands inside it."""
    quotations = [match.span() for match in _QUOTATION.finditer(reading.text)]
    outside = _QUOTATION.sub(" ", reading.text)
    if not quotations or not re.search(r"\w", outside):
        return False
    named = [(m.start, m.end) for m in reading.mentions] + [
        (span.start_char, span.end_char) for span in reading.spans
    ]
    return bool(named) and all(
        any(start <= first and last <= end for start, end in quotations) for first, last in named
    )


def _names_something(reading: Reading) -> bool:
    return bool(reading.spans or reading.of_kind("child", "group", "activity", "generic"))


def _without_owner(extraction: Extraction, stance: Stance) -> Extraction:
    return replace(
        extraction, stance=stance, assigned_to=(UNSPECIFIED,), addressee=None, yields=False
    )
