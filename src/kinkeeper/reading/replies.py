"""Short answers and requests: who claims, accepts, declines, yields, withdraws, and who is asked."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise, takewhile

from kinkeeper.language.dictionary import may_be_name
from kinkeeper.language.lexicon import Mention
from kinkeeper.language.text import Token, TokenKind, tokenise
from kinkeeper.reading.phrases import ASKED, ENDS, STOP, Match, canonical, phrase_book


class ReplyKind(StrEnum):
    """What a short answer does."""

    CLAIM = "claim"
    ACCEPT = "accept"
    DECLINE = "decline"
    YIELD = "yield"
    ASSIGN = "assign"  # names another who does it: "dad will"
    HAND = "hand"  # leaves it to the person spoken to: "you take him"
    WITHDRAW = "withdraw"
    RELEASE = "release"  # the other need not do it any more: "no need"
    ACKNOWLEDGE = "acknowledge"
    DOUBT = "doubt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A message read as an answer.

    Attributes:
        is_whole: Whether the message says nothing else (days, times and fillers aside).
        cue: The canonical words, or the emoji, that decided.
        stands_alone: Whether these words are a clause of their own ("scratch that, i'm on nights").
        settles: Whether it says that all is arranged; whoever asked closes the matter with it.
        points: Whether these words point at what was said last, whoever said it: "cancel that".
    """

    kind: ReplyKind
    is_whole: bool
    cue: str
    stands_alone: bool = False
    settles: bool = False
    points: bool = False


# A mixture is decided by the strongest: "yes but i can't" declines, "no, i'll go" claims.
_BY_STRENGTH = (
    "decline",
    "yield",
    "hand",
    "claim",
    "assign",
    "withdraw",
    "release",
    "refuse",
    "settled",
    "doubt",
    "accept",
    "acknowledge",
)
_OF_GROUP = {"refuse": ReplyKind.DECLINE, "settled": ReplyKind.ACCEPT}
_NOTHING, _LEAD = "nothing", "lead"
_SOMEBODY = frozenset({"it", "him", "her", "them", "this", "that", "both", "<name>", "<adult>"})
_POINTING = frozenset({"that", "this", "it"})
_JOINTS = frozenset({"but", "and", "so", "because", "if", "when", "as"})
_TAKE_OVER = frozenset({"instead", "don't-worry"})
_SPARING = frozenset({"hand", "release"})
_FRIENDLY = frozenset({"accept", "acknowledge", "settled"})
_STAYING = frozenset({"stay", "wait", "sit", "hang"})
_SPEAKER = frozenset({"i", "i'll", "i'm", "i've", "i'd", "we", "we'll", "we've", "let"})
_BARE_REQUESTS = (["can", "you"], ["could", "you"])
_HOLDING = frozenset({"has", "got", "on", "gets", "takes"})
_REACH = 5
"""Words within which the verb of a request follows the person asked."""

_ELLIPSIS = 6
"""Most words of a question that consists of an errand alone."""

_LONGEST_NAME = 3


def read_reply(tokens: Sequence[Token], mentions: Sequence[Mention] = ()) -> Reply | None:
    """Read a message as an answer to what was said before.

    Cues count at the start of a clause only. In a clause that ends with a question mark only doubt
    and an offer ("i can get her?") count. Emoji count where no words decide and nothing else is said.

    Args:
        mentions: Household words found in it; they serve as objects ("i got Leo").

    Returns:
        The strongest answer found, or None.
    """
    words = canonical(tokens, mentions)
    matches, is_whole = _scan(words)
    found = {match.group: match for match in reversed(matches)}
    if "claim" in found:
        found = _weighed(found, words)
    group = next((group for group in _BY_STRENGTH if group in found), None)
    if group is not None:
        match = found[group]
        return Reply(
            kind=_kind(group),
            is_whole=is_whole,
            cue=" ".join(words[match.start : match.end]),
            points=group == "withdraw" and words[match.end - 1] in _POINTING,
            stands_alone=_is_clause(match, words),
            settles=group == "settled" and not _names_a_time(tokens),
        )
    return _shown(tokens) if is_whole and not matches else None


def releases(text: str) -> bool:
    """Whether a message says that others need not do something: "no need to fetch her, her aunt is coming"."""
    reply = read_reply(tokenise(text))
    return reply is not None and reply.kind is ReplyKind.RELEASE


def steps_back(text: str) -> bool:
    """Whether a message says that its speaker cannot do what they were to do, or that somebody else has to; a bare no is less."""
    words, unable = canonical(tokenise(text)), phrase_book().requests["unable"]
    is_unable = any(
        match.group == "decline"
        or (match.group == "refuse" and not unable.isdisjoint(words[match.start : match.end]))
        for match in _scan(words)[0]
    )
    return is_unable or asks_for_another(text)


def only_says_no(text: str) -> bool:
    """Whether a message says no and nothing else."""
    reply = read_reply(tokenise(text))
    return reply is not None and reply.kind is ReplyKind.DECLINE and reply.is_whole


def only_takes_on(text: str) -> bool:
    """Whether a message says that its speaker does what was spoken of, and nothing else: "I'll do it", "I can"."""
    reply = read_reply(tokenise(text))
    return reply is not None and reply.kind is ReplyKind.CLAIM and reply.is_whole


def asks_for_another(text: str) -> bool:
    """Whether a message asks that somebody else does it: "could Gran go instead?", "can someone else take it?"."""
    helper = phrase_book().requests["helper"]
    return any(
        is_asked and clause[0] in helper and ("instead" in clause or clause[2:3] == ["else"])
        for clause, is_asked in _clauses(canonical(tokenise(text)))
    )


def asks_who_does(text: str) -> bool:
    """Whether a message asks who does a job: "who's fetching Ada?"."""
    clauses = (clause for clause, _ in _clauses(canonical(tokenise(text))))
    stripped = (
        [each if "'" in each else each.removesuffix("s") for each in clause] for clause in clauses
    )
    return any(map(_asks_who, stripped))


def words_for_fetching() -> frozenset[str]:
    """Return the verbs any of which asks for somebody to be fetched."""
    return phrase_book().requests["fetching"]


def tells_of_having_time(text: str) -> bool | None:
    """Return whether a clause says that its speaker has time or will be there, or not; None where it says neither."""
    tokens = tokenise(text)
    reply = read_reply(tokens)
    if reply is not None and reply.kind in {ReplyKind.DECLINE, ReplyKind.YIELD}:
        return False
    clause = next((each for each, _ in _clauses(canonical(tokens))), [])
    if any(_cannot_do(clause[at:]) for at in range(2)):
        return False
    free = phrase_book().requests["free"]
    is_able = clause[:2] == ["i", "can"] or (clause[:1] == ["i'm"] and not free.isdisjoint(clause))
    return True if is_able or (reply is not None and reply.kind is ReplyKind.ACCEPT) else None


def _cannot_do(words: Sequence[str]) -> bool:
    """Whether words begin with what somebody cannot do that takes time: "can't work", but neither "can't wait" nor "can't find"."""
    book = phrase_book()
    if len(words) < 2 or words[0] not in book.requests["unable"]:  # noqa: PLR2004 - with a verb
        return False
    return not (book.is_class(words[1], "state") or book.is_class(words[1], "unrelated"))


def words_taken_back(text: str, reply: Reply) -> str:
    """Return the words that may name what a message takes back: all before "cancel that", or also after it in the same clause.

    Args:
        text: The message, verbatim.
    """
    before, cue, after = text.casefold().rpartition(reply.cue)
    return before if reply.stands_alone and cue else f"{before} {after}"


def _names_a_time(tokens: Sequence[Token]) -> bool:
    """Tell whether figures or a clock stand in it: "sorted, now the 22nd at 3.45" is news, not an end."""
    return any(token.kind in {TokenKind.NUMBER, TokenKind.TIME} for token in tokens)


def _shown(tokens: Sequence[Token]) -> Reply | None:
    """Read emoji where no words decide."""
    emoji = phrase_book().emoji
    shown = [token.text for token in tokens if token.kind is TokenKind.EMOJI]
    groups = {emoji[symbol]: symbol for symbol in reversed(shown) if symbol in emoji}
    group = next((group for group in _BY_STRENGTH if group in groups), None)
    if group is None:
        return None
    return Reply(kind=_kind(group), is_whole=True, cue=groups[group], stands_alone=True)


def _kind(group: str) -> ReplyKind:
    return _OF_GROUP.get(group) or ReplyKind(group)


def _weighed(found: Mapping[str, Match], words: Sequence[str]) -> dict[str, Match]:
    """Decide between "you do it" and "i'll do it" in one message: whose job is it?

    With "instead" or "no need" a claim takes over. "You take him, i'll cook" leaves the job to the other;
    "you go ahead, i'll get him" does not.
    """
    claim, hand = found["claim"], found.get("hand")
    is_taken = bool(_SOMEBODY & set(words[claim.start : claim.end]))
    is_over = not _TAKE_OVER.isdisjoint(words) or "release" in found
    weighed = {group: match for group, match in found.items() if group not in _SPARING}
    if hand is not None and not is_taken:
        return {**weighed, "hand": hand}
    if is_over or (hand is not None and not _SOMEBODY & set(words[hand.start : hand.end])):
        weighed.setdefault("yield", claim)
    return weighed


def _is_clause(match: Match, words: Sequence[str]) -> bool:
    """Whether nothing but fillers, days and times follows in the clause of a match."""
    book = phrase_book()
    rest = takewhile(lambda word: word not in ENDS, words[match.end :])
    return all(word in book.closing for word in rest)


def _scan(words: Sequence[str]) -> tuple[list[Match], bool]:
    """Find phrases at clause starts, and whether all words are theirs or say nothing."""
    book = phrase_book()
    found: list[Match] = []
    is_fresh, is_whole = True, True
    at = 0
    while at < len(words):
        match = book.longest(words, at) if is_fresh and words[at] not in ENDS else None
        if match is not None:
            at = match.end - _leaves_subject(match, words)
            if match.group == _NOTHING:
                is_fresh = is_whole = False
            elif match.group != _LEAD and _counts(match, words):
                found.append(match)
            continue
        if words[at] in ENDS or words[at] in _JOINTS:
            is_fresh = True
        elif words[at] not in book.closing and not _is_spoken_to(words, at, found):
            is_fresh = False
            is_whole = is_whole and words[at] in book.tolerated
        at += 1
    return found, is_whole


def _leaves_subject(match: Match, words: Sequence[str]) -> bool:
    """Whether what follows a no has the same "i" for its subject ("no i have Leo")."""
    return match.group == "refuse" and words[match.end - 1] == "i"


def _is_spoken_to(words: Sequence[str], at: int, found: Sequence[Match]) -> bool:
    """Whether a name ends a clause right after a yes or thanks, which makes it whom they are said to."""
    follows = bool(found) and found[-1].end == at and found[-1].group in _FRIENDLY
    return follows and words[at] == "<name>" and words[at + 1] in ENDS


def _counts(match: Match, words: Sequence[str]) -> bool:
    end = next((word for word in words[match.end :] if word in ENDS), STOP)
    if match.group == "doubt":
        return True
    is_offer = match.group in {"claim", "yield"} and words[match.start] in _SPEAKER
    return end != ASKED or (is_offer and match.end - match.start > 1)


def is_question(tokens: Sequence[Token], text: str, people: Collection[str]) -> bool:
    """Tell whether a message asks something, with or without a question mark.

    Args:
        text: The message, verbatim.
        people: Words for people who are known, in small letters: no list of names has them all.
    """
    if "?" in text and any(
        token.text[0] == "?" or "?" in token.text
        for token in tokens
        if token.kind is not TokenKind.LINK
    ):
        return True
    owning = {one.text for one, other in pairwise(tokens) if _is_owner(other.text, people)}
    return any(
        _is_inverted(clause, people, is_owned=clause[0] in owning)
        for clause, _ in _clauses(canonical(tokens))
    )


def _is_owner(word: str, people: Collection[str]) -> bool:
    """Whether a word names whose something is, also without the mark of a possessive."""
    return word.endswith("'s") or (word not in people and word.removesuffix("s") in people)


def goes_on_asking(clause: str, before: str) -> bool:
    """Whether a clause is part of the question before it: "have Ada and | Ben eaten"; who asks tells of themselves anew.

    Args:
        before: What stands before it, which asks.
    """
    first, *_ = clause.lower().split() or [""]
    return before.rstrip().lower().endswith(" and") and first not in _SPEAKER


def begins_as_question(text: str) -> bool:
    """Whether a message begins with a form of "be": a question, or short for what nobody can tell of whom it is."""
    return next(iter(text.lower().split()), "") in phrase_book().requests["being"]


def _is_inverted(clause: Sequence[str], people: Collection[str], *, is_owned: bool) -> bool:
    requests = phrase_book().requests
    first, following = clause[0], clause[1] if len(clause) > 1 else ""
    if first in requests["asking"]:
        return following not in {"knows", "cares"}
    if first in requests["elsewhere"]:
        return following in requests["auxiliary"] or following in requests["asking_with"]
    if first in {"anyone", "someone"}:
        return following in requests["free"] or following in requests["helper"]
    return first in requests["auxiliary"] and _has_subject(clause, people, is_owned=is_owned)


def _has_subject(clause: Sequence[str], people: Collection[str], *, is_owned: bool) -> bool:
    """Whether a subject follows the auxiliary of a clause; behind none, the speaker is left out ("did Ada's plaits").

    Args:
        is_owned: Whether what follows the auxiliary is somebody's: "did Ada's …".
    """
    requests = phrase_book().requests
    auxiliary, *rest = clause
    following, *after = rest or [""]
    is_doing = auxiliary in requests["doing"]
    is_having = auxiliary in requests["having"]
    verbs = requests["infinitive"] if is_doing else requests["participle"]
    is_owned |= following in requests["owned"]
    if is_owned and (is_doing or is_having):
        is_person = after[:1] != [] and (after[0] in requests["person"] or after[0] in people)
        return is_person or not verbs.isdisjoint(after[1:])
    subjects = "plural_subject" if auxiliary in {"do", "have"} else "subject"
    is_called = any(" ".join(rest[:length]) in people for length in range(1, _LONGEST_NAME + 1))
    return (
        is_owned
        or is_called
        or following in requests[subjects]
        or following in requests["person"]
        or (is_doing and not verbs.isdisjoint(after[:1]))
        or (is_having and not verbs.isdisjoint(after[:1]) and may_be_name(following))
    )


def asks_for_owner(
    tokens: Sequence[Token],
    text: str,  # noqa: ARG001 - the same shape as is_question: callers hold both
    mentions: Sequence[Mention] = (),
) -> bool:
    """Tell whether a message asks for somebody to do something.

    "who's picking up leo?", "can you get mia", "anyone free thursday", "need someone to …", "whose
    turn", "please fetch her", and an errand alone as a question ("pickup thursday?").

    Args:
        text: The message, verbatim.
        mentions: Household words found in it.
    """
    clauses = list(_clauses(canonical(tokens, mentions)))
    return any(
        _asks_who(clause)
        or _asks_person(clause, is_asked=is_asked)
        or _tells_need(clause)
        or _orders_politely(clause)
        or _is_errand_alone(clause, is_asked=is_asked)
        or (is_asked and len(clauses) > 1 and clause in _BARE_REQUESTS)
        for clause, is_asked in clauses
    )


def _clauses(words: Sequence[str]) -> Iterator[tuple[list[str], bool]]:
    """Split canonical words into clauses without leading fillers, each with whether it asks."""
    book = phrase_book()
    clause: list[str] = []
    for word in words:
        if word not in ENDS:
            if clause or not book.is_class(word, "filler") or word in {"please", "one", "anyone"}:
                clause.append(word)
            continue
        if clause:
            yield clause, word == ASKED
        clause = []


def _asks_who(clause: Sequence[str]) -> bool:
    book = phrase_book()
    for at, word in enumerate(clause):
        rest = clause[at + 1 : at + 1 + _REACH]
        if word == "whose":
            return bool(rest) and (
                rest[0] in book.requests["open_to_anybody"]
                or (rest[0].endswith("ing") and len(rest) > 1)
            )
        if word in {"who", "who's"} and (not at or clause[at - 1] in {"so", "and", "know"}):
            return any(_is_task(other) for other in rest) or any(
                verb in _HOLDING
                and any(book.is_class(thing, "object") for thing in rest[place + 1 :])
                for place, verb in enumerate(rest)
            )
    return False


def _is_task(word: str) -> bool:
    book = phrase_book()
    return word in book.tasks or word in book.doings or word in book.requests["free"]


def _asks_person(clause: Sequence[str], *, is_asked: bool) -> bool:
    requests = phrase_book().requests
    if clause[0] in requests["elsewhere"] and tuple(clause[1:3]) != ("about", "you"):
        return False
    return any(
        _asks_for_help(clause[at - 1] if at else "", word, clause[at + 1 : at + 1 + _REACH])
        or (is_asked and _asks_willingness(clause[at + 1 : at + 3]))
        for at, word in enumerate(clause)
        if word in requests["person"]
    )


def _asks_for_help(before: str, person: str, rest: Sequence[str]) -> bool:
    """Tell whether the words around a person ask them to do a task: "can | you | get her"."""
    book = phrase_book()
    names_task = any(verb in book.tasks for verb in rest)
    if before in book.requests["helper"]:
        is_presence = rest[:1] == ["be"] and not book.requests["whereabouts"].isdisjoint(rest[1:2])
        return (
            names_task or is_presence or (rest[:1] == ["mind"] and not book.doings.isdisjoint(rest))
        )
    if before in {"are", "is"} and any(verb in book.doings or verb == "able" for verb in rest):
        return True
    if before in {"do", "would"} and rest[:1] == ["mind"]:
        return not book.doings.isdisjoint(rest)
    if before in {"if", "hoping", "chance", "mind"}:
        return any(verb in book.tasks for verb in rest[1:])
    is_open = person == "anyone" and before not in book.requests["report"]
    return is_open and (names_task or any(word in book.requests["free"] for word in rest))


def _asks_willingness(rest: Sequence[str]) -> bool:
    return (
        len(rest) > 1 and rest[0] in phrase_book().requests["willing"] and rest[1] in {"to", "for"}
    )


def _tells_need(clause: Sequence[str]) -> bool:
    book = phrase_book()
    for at, word in enumerate(clause):
        rest = clause[at + 1 : at + 1 + 4]
        if word in {"need", "needs", "looking"} and any(
            other in book.requests["needed"] or other in book.doings for other in rest
        ):
            return True
        if word == "any" and rest and rest[0] in book.requests["volunteers"]:
            return True
        if (
            word in {"someone", "you"}
            and rest[:1]
            and rest[0] in {"needs", "need", "has", "should", "must"}
        ):
            return any(verb in book.tasks for verb in rest[1:])
    return False


def _orders_politely(clause: Sequence[str]) -> bool:
    book = phrase_book()
    spoken = [word for word in clause if word != "please"]
    return (
        len(spoken) < len(clause)
        and len(spoken) > 1
        and (spoken[0] in book.tasks or (spoken[0] in _STAYING and "with" in spoken[1:3]))
        and any(book.is_class(word, "object") or word == "<name>" for word in spoken[1:_REACH])
    )


def _is_errand_alone(clause: Sequence[str], *, is_asked: bool) -> bool:
    errands = phrase_book().requests["errand"]
    is_short = is_asked and len(clause) <= _ELLIPSIS
    return is_short and any(word in errands for word in clause) and _SPEAKER.isdisjoint(clause)
