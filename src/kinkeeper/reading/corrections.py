"""Messages that set right, take back or put in doubt what was said: "10am sorry", "scratch that". Pure."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from kinkeeper.language.lexicon import Mention
from kinkeeper.language.text import Token, tokenise, words_before
from kinkeeper.reading.phrases import ASKED, ENDS, canonical, everyday_spellings, phrase_book
from kinkeeper.reading.replies import begins_as_question
from kinkeeper.reading.times.tokens import names_time

_LONGEST = 12
_MOST_UNKNOWN = 3
_NAME = "<name>"
_VALUES = frozenset({"<number>", _NAME})
_STAR = "*"
_IT_IS = frozenset({"it's", "its"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of corrections, from the data file.

    Attributes:
        signs: Make a message a correction.
        mixed: Those of them that do so for a name, too.
        plain: Let it be one.
        never: With one of these it is something else.
        changes: Say that something is off or moved.
    """

    signs: frozenset[str]
    mixed: frozenset[str]
    plain: frozenset[str]
    never: frozenset[str]
    changes: frozenset[str]


@cache
def correction_words() -> Words:
    """Return the words of the data file; read once."""
    raw = tomllib.loads(
        files(__package__).joinpath("data/corrections.toml").read_text(encoding="utf-8")
    )
    return Words(
        **{
            name: frozenset(raw[name].split())
            for name in ("signs", "mixed", "plain", "never", "changes")
        }
    )


def may_correct(tokens: Sequence[Token], mentions: Sequence[Mention] = ()) -> bool:
    """Tell whether a message reads as a correction: another time, day or name, and a sign that it is one.

    Args:
        mentions: Household words found in it.
    """
    if not tokens:
        return False
    texts = [token.text for token in tokens]
    is_starred = _STAR in {texts[0], texts[-1]}
    is_signed = is_starred or not correction_words().signs.isdisjoint(texts)
    if not is_signed and texts[0] not in _IT_IS:
        return False
    if not is_signed and not _is_value(canonical(tokens, mentions)[1]):
        return False
    return _has_room(tokens, mentions)


def exchanges_owners(text: str) -> bool:
    """Return whether a message says nothing but that what two have is each other's: "no wait, other way round".

    Args:
        text: Verbatim.
    """
    rest, found = _other_way().subn("", text.lower().replace("’", "'"))
    known, words = correction_words(), tokenise(rest)
    is_little = known.signs.union(known.plain, {*".,!"}).issuperset(each.text for each in words)
    return bool(found) and is_little and not begins_as_question(text)


@cache
def _other_way() -> re.Pattern[str]:
    raw = files(__package__).joinpath("data/corrections.toml").read_text(encoding="utf-8")
    return re.compile(rf"\b(?:{tomllib.loads(raw)['exchanged'].strip()})\b")


def reads_as_correction(tokens: Sequence[Token], mentions: Sequence[Mention] = ()) -> bool:
    """Tell whether a message may set right something: by a sign of it, as a mere value, or as news of a change.

    Args:
        mentions: Household words found in it.
    """
    return may_correct(tokens, mentions) or is_bare_value(tokens, mentions) or calls_off(tokens)


def calls_off(tokens: Sequence[Token]) -> bool:
    """Tell whether a message has a word that says that something is off or moved."""
    return not correction_words().changes.isdisjoint(token.text for token in tokens)


def is_bare_value(tokens: Sequence[Token], mentions: Sequence[Mention] = ()) -> bool:
    """Tell whether a message is a time or day and nothing else ("4:30", "at 5", "on thursday").

    Args:
        mentions: Household words found in it.
    """
    if mentions:
        return False
    words = [word for word in canonical(tokens, mentions) if word not in ENDS]
    return bool(words) and all(_is_value(word) or word in {"at", "on"} for word in words)


def _has_room(tokens: Sequence[Token], mentions: Sequence[Mention]) -> bool:
    """Whether a message names a value, is short, and says next to nothing else."""
    known, book = correction_words(), phrase_book()
    words = canonical(tokens, mentions)
    said = [word for word in words if word not in ENDS]
    if ASKED in words or len(said) > _LONGEST or not _has_value(said):
        return False
    if not known.never.isdisjoint(said):
        return False
    unknown = [
        word
        for word in said
        if not (_is_value(word) or word in known.signs or word in known.plain)
        and word not in book.closing
        and word != "<adult>"
    ]
    return len(unknown) <= _MOST_UNKNOWN


def _has_value(said: Sequence[str]) -> bool:
    """Whether a time or day is named; a mere name only where it is said to have been mixed up."""
    if any(_is_value(word) and word != _NAME for word in said):
        return True
    return _NAME in said and not correction_words().mixed.isdisjoint(said)


def _is_value(word: str) -> bool:
    return word in _VALUES or phrase_book().is_class(word, "time")


# A value that is named only to say that it does not hold: "on the 10th, not the 3rd", "Tuesday instead of Monday". Pure.

_GIVEN_UP = (
    r"(?:(?<!\bif )(?<!\bor )(?<!\bwhy )(?<!\bwhether )\bnot|\bisn'?t|instead of|rather than|as opposed to|used to be"
    r"|no longer|usually|normally|(?<=[,(;] )was)(?: (?:at|on|the|usual|from|for|with))*\s+"
)
_BEFORE_OLD = re.compile(rf"{_GIVEN_UP}$", re.IGNORECASE)
_OLD_BEHIND = re.compile(
    rf"[\s,;(–-]*(?:and )?{_GIVEN_UP}(?P<hour>\d{{1,2}}(?:[:.]\d\d)?(?!\w|[.:]\d| \w+s\b)\)?)?",
    re.IGNORECASE,
)
_TOLD_OF = re.compile(
    r"(?:\b(?:is|are|isn'?t|aren'?t|starts?|begins?|be)|'s|'re)(?: (?:now|actually|really|then|not|at|on|the))*\s+$",
    re.IGNORECASE,
)
_NEW_BEHIND = re.compile(r"\s*,?\s*but\s+(?:(?:at|on|from|for|the)\s+)*", re.IGNORECASE)


def is_given_up(text: str, start: int) -> bool:
    """Whether the words before a value say that it does not hold ("not", "instead of").

    Args:
        start: Offset of the value.
    """
    return _BEFORE_OLD.search(words_before(text, start)) is not None


def is_told_of(text: str, start: int) -> bool:
    """Whether a value is told of something that is known: "the quiz is on |Sunday, not Saturday"; it then changes.

    Args:
        start: Offset of the value.
    """
    return _TOLD_OF.search(words_before(text, start)) is not None


def given_up_from(text: str, start: int) -> int | None:
    """Return where the words begin that say of a value that it does not hold; None where there are none.

    Args:
        start: Offset of the value.
    """
    before = words_before(text, start)
    found = _BEFORE_OLD.search(before)
    return None if found is None else start - len(before) + found.start()


def old_value_at(text: str, end: int) -> int | None:
    """Return where an old value begins that stands behind the new one ("…, not |the 3rd"); past it where it is a bare hour.

    Args:
        end: Offset past the new value, a time.
    """
    found = _OLD_BEHIND.match(text, end)
    return None if found is None else found.end()


def new_value_at(text: str, end: int) -> int | None:
    """Return where the new value begins that stands behind an old one ("not Monday but |Tuesday"); None for anything else.

    Args:
        end: Offset past the old value.
    """
    found = _NEW_BEHIND.match(text, end)
    return None if found is None else found.end()


# Words in the middle of a sentence by which somebody sets right what they have just said: "A+, hang on, O negative". Pure.


def sets_itself_right(text: str) -> bool:
    """Whether a text goes on with another value than the one that it has just told.

    Args:
        text: A sentence or more, verbatim.
    """
    return before_setting_right(text) != text


def before_setting_right(text: str) -> str:
    """Return what a text tells before it sets that right; all of it where it does not."""
    found = _slip_of_tongue().search(text.replace("’", "'"))
    return text if found is None else text[: found.start()]


def begins_by_setting_right(text: str) -> bool:
    """Whether a sentence begins with words that say that the value right before it was wrong."""
    return _slip_of_tongue().match(f"_, {text.replace('’', chr(39))}", 1) is not None


@cache
def _slip_of_tongue() -> re.Pattern[str]:
    path = files("kinkeeper.reading.data") / "retraction.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    slip = "".join(data["slip"].strip("\n").split("\n"))
    return re.compile(rf"(?<=\w)[+%)'\"]?(?:{slip})", re.IGNORECASE)


# A value that the same message sets right, wherever that stands: "at 8 to call Gran … no, 9". Pure.

_FIRM = (
    r"no,? wait|wait,? no|oh,? no|or rather|i mean(?:t)?(?: to say)?|make (?:that|it)|correction|edit|scratch that"
    r"|my (?:bad|mistake)|(?:that )?should (?:be|say)"
)
_LOOSE = r"no+|nope|nah|sorry|wait(?! for\b)|oops|oh|actually|rather|hang on|hold on|that's"
_MARKERS = rf"(?P<break>[\s,;.…(–—-]{{0,8}})(?<!\w)(?P<words>(?:(?:{_FIRM}|{_LOOSE})\b[\s,:;.…–—-]{{0,8}}){{1,6}})"
_PREPOSED = r"(?:(?:it's|it is|at|on|in|for|to|the|from)\s+)*"
_SETTING_RIGHT = re.compile(rf"{_MARKERS}{_PREPOSED}$", re.IGNORECASE)
_NUMBER_RIGHT = re.compile(
    rf"(?<=\w){_MARKERS}(?:(?:it's|at|in|for|to)\s+)?(?P<number>\d{{1,2}}(?: ?(?:[ap]m|(?:m|min|minute|h|hr|hour|day|week)s?)\b)?)(?=\s*(?:$|[.,;!?)…–—]|-\s|to\b|about\b))",
    re.IGNORECASE,
)
_IS_FIRM = re.compile(rf"\b(?:{_FIRM})\b", re.IGNORECASE)
_CLOSES = re.compile(
    r"\s*(?:$|[.,;:!?)…–—]|-(?!\w)|(?:please|pls|instead|then|to|about|of)\b)", re.IGNORECASE
)
_ENDS_ASIDE = {"(": ")", "-": "-", "–": "–", "—": "—"}


def set_right_at(text: str, begin: int, end: int, *, after: int) -> tuple[int, int] | None:
    """Return where the words begin and end that set a value right: "at 8 to call Gran|… no, 9|"; None where none do.

    Args:
        begin: Offset of the new value.
        end: Offset past it.
        after: Offset past the value right before it: what follows that at once needs no other sign.
    """
    before = words_before(text, begin)
    found = _SETTING_RIGHT.search(before)
    if found is None:
        return None
    start = begin - len(before) + found.start()
    is_apart = found["break"].strip() or _IS_FIRM.search(found["words"])
    if start > after and not (
        is_apart and "." not in found["words"].strip(" .") and _CLOSES.match(text, end)
    ):
        return None
    return max(start, after), _past_aside(text, found["break"], end)


def numbers_set_right(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where a number or length stands that sets right a value before it, and that: "in 10 minutes, no |15|"."""
    for found in _NUMBER_RIGHT.finditer(text):
        if _is_sign(found):
            yield found.start("number"), found.end("number"), found["number"]


def with_name_set_right(text: str, names: Iterable[str]) -> str:
    """Return a text in which a name that is set right gives way to the right one: "Ann - sorry, Ben - is ill".

    One at the end of the text sets right the only other that stands before it.
    """
    name = rf"\b(?:{'|'.join(sorted(map(re.escape, names), key=len, reverse=True))})\b"
    right = rf"{_MARKERS}(?P<new>{name})"
    form = re.compile(rf"(?P<old>{name}){right}(?!')(?P<behind>\)|\s*[,–—-](?=\s))?", re.IGNORECASE)
    text = form.sub(lambda found: found["new"] if _is_sign(found) else found[0], text)
    last = re.search(rf"(?<=\w){right}\W*$", text, re.IGNORECASE)
    before = [] if last is None else [*re.finditer(name, text[: last.start()], re.IGNORECASE)]
    if last is None or not _is_sign(last) or len(before) != 1:
        return text
    return f"{text[: before[0].start()]}{last['new']}{text[before[0].end() : last.start()]}"


def _is_sign(found: re.Match[str]) -> bool:
    """Whether words set something right: they stand apart, or mean nothing else."""
    return bool(found["break"].strip() or _IS_FIRM.search(found["words"]))


def _past_aside(text: str, opened: str, end: int) -> int:
    """Return where an aside ends that was opened by a bracket or dash."""
    closing = _ENDS_ASIDE.get(opened.strip()[-1:], "")
    rest = text[end:].lstrip()
    is_closed = bool(closing) and rest.startswith(closing)
    return len(text) - len(rest) + len(closing) if is_closed else end


# Words before what is left out of what comes again: "except the 14th", "but not in May". Pure.

_EXCEPT = r"(?:except(?:ing)?|apart from|aside from|other than|excluding|barring|leav(?:e|ing) out|but not)"
_LEAVING_OUT = re.compile(
    rf"[\s,(–-]+(?:(?:and|but)\s+)?(?:(?:{_EXCEPT}|save|bar|skip(?:ping)?|without|not|but)"
    r"(?:\s+(?:for|on|in|over|during|the|any))*|no(?: [a-z]+){0,2}(?:\s+(?:on|in|over|during)(?: the)?))\s+$",
    re.IGNORECASE,
)
_LEFT_OUT = re.compile(rf"[\s,(–-]+(?:{_EXCEPT}\b|,\s*(?:not|skip(?:ping)?)\b)", re.IGNORECASE)
_NO_DAY = re.compile(
    r"\bof (?:the|an?|each|every) (?:month|year|term)\b|\b(?:holidays?|hols|break|vacation|term|season)\b",
    re.IGNORECASE,
)
_LONGEST_NOUN = 10
_AS_LONG = re.compile(r"\b(?:apart from|aside from|other than)\b", re.IGNORECASE)


def left_out_from(text: str, at: int, end: int) -> int | None:
    """Return where the words begin that leave a time out; None where none do, or it is no single one ("Easter break").

    Args:
        at: Offset of the time.
        end: Offset past it.
    """
    before = words_before(text, at)
    found = _LEAVING_OUT.search(before)
    if found is None or _NO_DAY.search(text, at, end + _LONGEST_NOUN) is not None:
        return None
    return at - len(before) + found.start()


def with_plain_exceptions(text: str) -> str:
    """Return a text of the same length in which "apart from" opens no span of time that begins then, nor "other than" a comparison."""
    return _AS_LONG.sub("except for", text)


def before_left_out(text: str) -> str:
    """Return what a text says before it leaves something out; all of it where it does not."""
    found = _LEFT_OUT.search(text)
    return text if found is None else text[: found.start()]


# People who are left out of all that are meant: "everyone except Sam", "all but the twins". Pure.

_ALL = r"(?:everyone|everybody|(?:all|each) of us|us all|we all|all of the family|the (?:whole|entire) (?:family|house(?:hold)?)|all)"
_BUT = rf"(?:\s*,)?\s*(?:{_EXCEPT}|except for|but not(?: for)?|save for)|\s+(?:but|bar|minus|without|not(?: for)?)"
_NOT_TO = r"(?:not|(?:don't|do not) (?:remind|tell|ask|include|invite|let))"
_BUT_LATER = (
    rf"(?:{_EXCEPT}|(?:,|\b(?:but|and|just)\b)\s*(?:(?:but|and|just|please) )*{_NOT_TO})(?: for)?"
)


def without_people_left_out(text: str, names: Iterable[str]) -> tuple[str, str]:
    """Return a text that means everybody, and the words for those whom it leaves out of all; the text and nothing where it leaves out nobody.

    "Remind everyone but Sam at 6" is "Remind everyone at 6", and "Sam".

    Args:
        names: Words for people.
    """
    if re.search(rf"\b{_ALL}\b", text, re.IGNORECASE) is None:
        return text, ""
    name = rf"(?:(?:the |our |my )?(?:{'|'.join(sorted(map(re.escape, {*names, 'me'}), key=len, reverse=True))}))"
    people = rf"(?P<who>{name}(?:\s*(?:,|&|\band\b|\bor\b)\s*(?:for )?{name})*)\b(?!')"
    beside = re.search(
        rf"\b(?P<with>with )?(?P<all>{_ALL})\b(?:{_BUT})\s+{people}", text, re.IGNORECASE
    )
    if beside is not None:
        everyone = "everyone" if beside["all"].lower() == "all" else beside["all"]
        together = f"for {everyone}" if beside["with"] else everyone
        return f"{text[: beside.start()]}{together}{text[beside.end() :]}", beside["who"]
    later = re.search(
        rf"\b{_ALL}\b(?P<between>[^.!?;]*?)\s*{_BUT_LATER}\s+{people}", text, re.IGNORECASE
    )
    if later is None:
        return text, ""
    return f"{text[: later.end('between')]}{text[later.end() :]}", later["who"]


# Words by which somebody takes back what they said or asked for a moment ago: "scratch that thought
# about …". Pure.

_LETTERS_READ, _LETTERS_CLOSING = 1_000, 300
_CLAUSE_END = re.compile(r"[,;:–—…]+\s*|\s(?:and|but|or|so)\s", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraction:
    """What a message takes back.

    Attributes:
        about: Words for it; empty where it is whatever was said last.
        before: What the message says before it takes something back; empty where it says nothing else.
        is_plain: Whether it is a bare "forget it", which may also answer a question.
    """

    about: str
    before: str
    is_plain: bool


def retraction_of(text: str) -> Retraction | None:
    """Return what a message takes back at its end; None where it takes back nothing.

    Args:
        text: The whole message, verbatim.
    """
    spellings, said = everyday_spellings(), " ".join(text[-_LETTERS_READ:].split())
    plain = _WORD.sub(
        lambda found: spellings.get(found[0].lower(), found[0]), said.replace("’", "'")
    )
    whole, closing, condition, *_ = _forms_of_retraction()
    found = whole.search(plain)
    if found is None:
        found = closing.search(plain)
        if found is None or condition.search(plain[: found.start()]) is not None:
            return None
    about = (found["about"] or "").strip(" .!?")
    is_plain = found["plain"] is not None and not about
    return Retraction(about=about, before=plain[: found.start()].strip(" ,;.–-"), is_plain=is_plain)


def asks_to_undo(text: str) -> bool:
    """Whether a text asks for what was done last to be undone, and for nothing else: "oops, undo that please".

    Args:
        text: Verbatim.
    """
    *_, undo, _ = _forms_of_retraction()
    return undo.fullmatch(text) is not None or undoes_all(text)


def undoes_all(text: str) -> bool:
    """Whether a text asks for all that was just done to be undone, and for nothing else: "undo all of that".

    Args:
        text: Verbatim.
    """
    return _whole_form("undo_all").fullmatch(text) is not None


def reinstated_in(text: str) -> str | None:
    """Return the words for what shall take place after it was called off: "uncancel judo, she's better"; None where nothing shall.

    Args:
        text: Verbatim.
    """
    found = _whole_form("reinstated").fullmatch(text.replace("’", "'"))
    return next((each for each in found.groups() if each), None) if found is not None else None


def asks_to_restore(text: str) -> bool:
    """Whether a text asks for something to stay or be again as it was before it was changed, and for nothing else.

    Args:
        text: Verbatim.
    """
    *_, restored = _forms_of_retraction()
    return restored.fullmatch(" ".join(text.replace("’", "'").split())) is not None


def is_taken_for_joke(text: str) -> bool:
    """Whether a message ends by saying that it was a joke: "… haha jk".

    Args:
        text: Verbatim.
    """
    return _said_to_be_joke().search(text[-_LETTERS_CLOSING:].replace("’", "'")) is not None


@cache
def _said_to_be_joke() -> re.Pattern[str]:
    path = files("kinkeeper.reading.data") / "retraction.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return re.compile(
        rf"(?<![\w'])(?:{data['joke']})(?:\W+(?:{data['laughing']})){{0,4}}\W*$", re.IGNORECASE
    )


@cache
def _forms_of_retraction() -> tuple[re.Pattern[str], ...]:
    """Return what takes back by itself, what behind something else, where it is a condition's, and what asks for undoing."""
    path = files("kinkeeper.reading.data") / "retraction.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    full, plain, behind, undo, restored = (
        "".join(data[name].strip("\n").split("\n"))
        for name in ("full", "plain", "behind", "undo", "restored")
    )
    full, lead = f"{full}|{data['joke']}", rf"(?:(?:{data['opening']})[\s,;.!–-]+)"
    end = rf"(?: (?:{data['about']}) (?P<about>[^.!?,;\n]{{1,200}}))?\W*$"
    return (
        re.compile(
            rf"(?:^|(?<=[\s,;.!?–-])){lead}{{0,6}}(?:(?P<full>{full})|(?P<plain>{plain})){end}",
            re.IGNORECASE,
        ),
        re.compile(
            rf"(?<=\w)(?P<plain>)?(?:(?:\s*[,;.!?–—-]+\s*{lead}{{0,6}}|\s+{lead}{{1,6}})(?:{behind})"
            rf"|\W+(?:{data['abbreviated']})){end}",
            re.IGNORECASE,
        ),
        re.compile(rf"\b(?:{data['condition']})\b[^,;.!?–—]*$", re.IGNORECASE),
        *(_of_whole(each, data) for each in (undo, restored)),
    )


@cache
def _whole_form(name: str) -> re.Pattern[str]:
    """Return what a whole message is put like, by its name in the table."""
    path = files("kinkeeper.reading.data") / "retraction.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return _of_whole("".join(data[name].strip("\n").split("\n")), data)


def _of_whole(form: str, data: Mapping[str, str]) -> re.Pattern[str]:
    """Return a form with what may stand around it in a message that says nothing else."""
    return re.compile(
        rf"\W*(?:(?:{data['opening']}|{data['laughing']}|(?:can|could) (?:you|we))\W+)*(?:{form})"
        rf"(?:\W+(?:please|then|thanks|{data['laughing']}))*\W*",
        re.IGNORECASE,
    )


# A request in doubt ("maybe …", "should I …?", "…, actually don't"), and what it would be without
# the doubt. Pure.


def without_doubt(text: str) -> str | None:
    """Return what a message would ask for without the words that put it in doubt; None where nothing does.

    "Might be worth adding oats" wonders whether to "add oats". Where no deed is named that the assistant can do, and where
    a request is taken back in the middle of the message, it comes as it is.

    Args:
        text: Plain.
    """
    plain = " ".join(text.replace("’", "'").split())
    before, behind, inside, closing, _ = _doubts()
    if (taken := closing.search(plain, max(0, len(plain) - _LETTERS_CLOSING))) is not None:
        # What names a time may set one right ("hang on, it's 10").
        return text if names_time(taken[0]) else plain[: taken.start()]
    lead, tail = before.match(plain), behind.search(plain)
    if lead is None and tail is None:
        return text if inside.search(plain) else None
    rest = plain[lead.end() if lead else 0 : tail.start() if tail else len(plain)].strip(" ,?")
    verb, _, about = rest.partition(" ")
    deeds = _data()["deeds"]
    deed = deeds.get(verb.lower(), verb.lower())
    return f"{deed} {about}" if deed in deeds.values() else text


def is_in_doubt(text: str) -> bool:
    """Whether words of doubt stand anywhere in a sentence: "hm, perhaps …", "… on Friday, maybe with Ben".

    Args:
        text: A sentence, verbatim.
    """
    plain = " ".join(text.replace("’", "'").split())
    before, anywhere = (_doubts()[at] for at in (0, -1))
    begins = (found.end() for found in _CLAUSE_END.finditer(plain))
    return (
        without_doubt(text) is not None
        or anywhere.search(plain) is not None
        or any(before.match(plain, at) for at in begins)
    )


def is_only_doubt(text: str) -> bool:
    """Whether a sentence says nothing but that its speaker is in doubt ("Not sure yet."), perhaps about what comes next."""
    before, behind, *_ = _doubts()
    plain = f"{' '.join(text.replace('’', chr(39)).split()).strip(' .!?…')} "
    return before.fullmatch(plain) is not None or behind.fullmatch(plain) is not None


def told_not_asked(clause: str) -> frozenset[str]:
    """Return why a clause asks for nothing, whatever verb of a request it holds; empty where it may ask.

    "unwanted": something is not to be done, or not any more; "of_others": somebody else wants it; "nouns": what seems a
    verb is a noun of which something is said ("Book club is …").

    Args:
        clause: Plain, or with marks for its times.
    """
    return frozenset(name for name, form in _forms().items() if form.search(clause))


@cache
def _forms() -> Mapping[str, re.Pattern[str]]:
    return {
        name: re.compile("".join(form.strip("\n").split("\n")), re.IGNORECASE)
        for name, form in _data()["forms"].items()
    }


@cache
def _doubts() -> tuple[re.Pattern[str], ...]:
    before, behind, inside, closing, anywhere = (
        "".join(_data()["doubt"][name].strip("\n").split("\n"))
        for name in ("before", "behind", "inside", "closing", "anywhere")
    )
    opening = _data()["doubt"]["openings"]
    return (
        re.compile(
            rf"\W*(?:(?:{opening})\W+){{0,4}}(?:(?:{anywhere}|{before})\W+){{1,2}}", re.IGNORECASE
        ),
        re.compile(rf"(?:{behind})\W*$", re.IGNORECASE),
        re.compile(rf"(?<=\w)\W+(?:{inside})", re.IGNORECASE),
        re.compile(rf"(?<=\w)\s*[,;.!?–—-]+\s*(?:{closing})\W*$", re.IGNORECASE),
        re.compile(rf"\b(?:{anywhere})", re.IGNORECASE),
    )


@cache
def _data() -> Mapping[str, Any]:
    path = files("kinkeeper.reading.data") / "doubt.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))
