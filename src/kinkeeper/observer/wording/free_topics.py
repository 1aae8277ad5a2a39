"""What a message is about in words of its own, and whether these are a short noun phrase. Pure.

An *occasion* is a noun phrase with a day or hour and a frame of arrangement ("viewing for the box room friday at 6",
"the oil man is coming between 2 and 4"); an *errand* is what somebody is wanted for ("can someone feed the hens").
Both are found by the closed classes around them (pronouns, auxiliaries, prepositions), never by what they are.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import takewhile
from typing import Final

from kinkeeper.language.dictionary import word_ranks
from kinkeeper.language.lexicon import Mention
from kinkeeper.observer.model import OWN_WORDS, Stance
from kinkeeper.observer.wording.arrangement_times import has_dotted_hour
from kinkeeper.observer.wording.message_parts import is_a_limit, is_letter
from kinkeeper.observer.wording.message_view import Reading, Symbol
from kinkeeper.reading.times.model import Grain, SpanKind, TimeSpan

# Whether words of a message are a short noun phrase, and not a sentence that tells or bids somebody
# something. Pure.
#
# A phrase is told by its form: a determiner opens it, or follows a preposition, and so does a name
# of the household. Either of them after a plain word shows that this word was a verb ("assign Leo",
# "delete the list").

_MOST: Final = 8
_MOST_SPOKEN: Final = 3
_SIGNLESS: Final = re.compile(
    r"[^\W_]+(?:['’&-]+[^\W_]+)*['’]?(?: (?:[^\W_]+(?:['’&-]+[^\W_]+)*['’]?|&))*"
)
_NUMBERED: Final = re.compile(r"\d{1,4}|[a-z]{0,2}\d{1,2}(?:st|nd|rd|th|s|['’]s)?", re.IGNORECASE)
_HEAD: Final = r"(?:D{1,2}P?)?(?:S?N{1,5}|S)"
_NAMED: Final = rf"(?:{_HEAD}|MN{{0,4}})"
_NOUN_PHRASE: Final = re.compile(rf"{_NAMED}(?:L{_NAMED}){{0,3}}")
_ERRAND: Final = re.compile(rf"(?=.)P?{_NAMED}?(?:L{_NAMED}){{0,3}}P?")


def is_noun_phrase(text: str, symbols: Sequence[Symbol]) -> bool:
    """Return whether a stretch of a message is a noun phrase: at most 8 words, no sign, no clause."""
    return _is_plain(text, symbols) and _has_form(
        _NOUN_PHRASE, symbols, [_class_of(symbol) for symbol in symbols]
    )


def leads_with_a_thing(reading: Reading) -> bool:
    """Return whether a message names something of its own before the first time in it ("film night friday at 8")."""
    before = takewhile(lambda each: not isinstance(each.item, TimeSpan), reading.symbols)
    return is_noun_phrase(reading.text, [*before])


def is_errand(text: str, symbols: Sequence[Symbol]) -> bool:
    """Return whether a stretch of a message is one verb with a short object, and nothing that only machines do."""
    if not _is_plain(text, symbols) or symbols[0].text in _word_classes()["of_machines"]:
        return False
    classes = [
        "M" if symbol.text in _word_classes()["pronouns"] else _class_of(symbol)
        for symbol in symbols[1:]
    ]
    return symbols[0].text.isalpha() and _has_form(_ERRAND, symbols[1:], classes)


def may_be_spoken(words: str) -> bool:
    """Return whether own words are plain enough to be said in the group: at most three nouns of the dictionary.

    Args:
        words: Folded, as they name an event.
    """
    each = words.split()
    return 0 < len(each) <= _MOST_SPOKEN and all(
        word in word_ranks() and _class_of_word(word) == "N" for word in each
    )


def _is_plain(text: str, symbols: Sequence[Symbol]) -> bool:
    if not 0 < len(symbols) <= _MOST:
        return False
    stretch = text[symbols[0].start : symbols[-1].end]
    return _SIGNLESS.fullmatch(stretch) is not None and all(
        symbol.item is not None or _is_word(text[symbol.start : symbol.end]) for symbol in symbols
    )


def _is_word(word: str) -> bool:
    """Whether letters make it up, but for what numbers a class or a day ("P2", "70th")."""
    return not any(letter.isdigit() for letter in word) or _NUMBERED.fullmatch(word) is not None


def _has_form(form: re.Pattern[str], symbols: Sequence[Symbol], each: Sequence[str]) -> bool:
    """Whether the classes of some words, one letter each, have a form; "in" and the like are tried as particles, too."""
    classes = "".join(each)
    is_particle = [symbol.text in _word_classes()["particles"] for symbol in symbols]
    tried = {classes}
    if symbols and is_particle[0]:
        tried.add(f"P{classes[1:]}")
    if symbols and is_particle[-1]:
        tried.add(f"{classes[:-1]}P")
    return any(form.fullmatch(one) for one in tried)


def _class_of(symbol: Symbol) -> str:
    if isinstance(symbol.item, Mention) and symbol.item.surface.endswith(("'s", "’s", "s'", "s’")):
        return "S"
    if symbol.text in {"<child>", "<adult>", "<kids>"}:
        return "M"
    if symbol.text == "<childs>":
        return "S"
    return "N" if symbol.item is not None else _class_of_word(symbol.text)


def _class_of_word(word: str) -> str:
    words = _word_classes()
    if word in words["clausal"] or word in words["verbs"]:
        return "X"
    classes = {"determiners": "D", "links": "L", "particles": "P"}
    return next((letter for name, letter in classes.items() if word in words[name]), "N")


@cache
def _word_classes() -> Mapping[str, frozenset[str]]:
    text = files(__package__).joinpath("plain_words.toml").read_text(encoding="utf-8")
    return {name: frozenset(words.split()) for name, words in tomllib.loads(text).items()}


_LONGEST = 60
_SENTENCE = re.compile(
    r"(?:(?! ?[,-] (?:can|could|will|would|who|is|does|somebody|any ?body|any takers|one of)(?!\w))[^.!?;\n])+"
)
_WHEN = r"<(?:date|datetime|range|time)>"
_CLOSED: Final = (
    r"i|me|my|mine|you|your|yours|he|him|she|her|hers|it|its|we|us|our|they|them|their|this|that|these|those|there|here|"
    r"who|whom|whose|which|what|when|where|why|how|is|are|was|were|am|be|been|being|do|does|did|done|will|would|can|could|"
    r"shall|should|may|might|must|ought|have|has|had|having|got|get|gets|getting|not|no|nor|yes|yeah|ok|okay|if|unless|whether|"
    r"because|since|though|although|but|or|so|than|then|as|while|until|till|please|let|lets|maybe|perhaps|just|only|also|"
    r"even|still|already|yet|too|very|really|again|now|later|soon|never|always|ever|go|goes|going|come|comes|coming|came|went|"
    r"see|saw|say|says|said|tell|told|know|knew|think|thought|want|wants|need|needs|like|love|hope|wish|wait|take|took|make|made|"
    r"everyone|everybody|somebody|anybody|nobody|everything|something|anything|nothing|one|ones|"
    r"at|in|on|outside|inside|from|to|for|with|by|near|after|before|about|into|of|and|off|out|up|down|back"
)
_WORD = rf"(?!(?:{_CLOSED})(?!\w))(?:<childs?>|<kids>|<adult>|<place>|<thing>|<generic>|<act>|[^\W\d_][\w'’&/-]*)"
_DETERMINED = (
    r"(?:(?:the|a|an|our|my|your|his|her|their|this|that|some|another|next|first|last|extra) )?"
)
_LINKED = r"(?:(?:for|of|with|at|in|to|from|and|on) (?:(?:the|a|an|our|my|his|her|their|your) )?)?"
_THING = rf"(?P<thing>next (?:one|time)|{_DETERMINED}{_WORD}(?: {_LINKED}{_WORD}){{0,7}}?)"
_FRAME = (
    r"(?:(?:is|are|will be|be|been|has been|have been|now|just|only|also|all|at|on|this|for|from|between|"
    r"booked|in|confirmed|scheduled|arranged|sorted|fixed|set|due|held|happening|coming|arriving|landing|visiting|delivering|"
    r"calling|round|over|back|here|starting|starts?|begins?|beginning|opens?|opening|comes?|arrives?|lands?|leaves?|meets?|"
    r"finish(?:es)?|closes?|ends?|takes? place|taking place|about|around|out|first thing|to|want|wants) )*"
)
_PREAMBLE = (
    r"^ ?(?>(?:ok|okay|so|right|well|oh|ah|eh|hey|hi|hello|morning|evening|guys|folks|friends|all|everyone|everybody|team|lads|"
    r"fyi|btw|also|and|but|then|ps|reminder|remember|heads up|do not forget|dont forget|note|update|news|quick one|just|"
    r"it is|its|there is|there are|we have(?: got)?|forwarded|fwd|fw|dear \w+(?: and \w+)?|a reminder|that|this is|please note|"
    r"please be (?:informed|advised|reminded)|we are (?:pleased|delighted|writing) to (?:inform|tell|remind|invite) you|to|"
    r"<adult>|(?:letter|e?mail|text|msg|message|note|notice) from (?:(?:<?\w+>? ){1,3}(?:came|arrived|says|said)|<?\w+>?)|got a (?:text|call|letter) from|by the way|for info|good news|bad news|lovely|yay)(?: ,)? )*+"
)
_FRAMED = re.compile(rf"{_PREAMBLE}{_THING} (?P<frame>{_FRAME})(?P<when>{_WHEN})")
_HELD = re.compile(
    rf"{_PREAMBLE}(?:<childs?>|<kids>|<adult>|he|she|they|we)(?: (?:both|all))? (?:(?:is|are) having|has|have|has got|have got|got|needs?) "
    rf"{_THING} (?P<frame>{_FRAME})(?P<when>{_WHEN})"
)
_IN_LETTER = re.compile(
    rf"{_PREAMBLE}(?P<thing>(?:[^<\s.!?;,]+ |<(?:place|childs?|kids|act|generic)> ){{1,14}}?)(?P<frame>{_FRAME})(?P<when>{_WHEN})"
)
_THEY = re.compile(
    rf"{_PREAMBLE}(?P<thing>(?:they (?:want|need)|(?:they|he|she|{_WORD}(?: {_WORD}){{0,3}}) can (?:see|do|fit|take|come)"
    rf"|(?:they|he|she) (?:(?:will|is|are) )?(?:be )?(?:com(?:e|ing)|returning|calling))(?: (?!if|when|that)[a-z]+){{0,4}}?) "
    rf"(?P<frame>{_FRAME})(?P<when><(?:datetime|range)>)"
)
_AFTER_WHEN = re.compile(
    rf"{_PREAMBLE}(?P<when>{_WHEN}) ?(?:(?:{_WHEN}|is|,) ?)*{_THING} ?(?:(?:at|in) (?:the )?<place> ?)?$"
)
_FRAMES = (_HELD, _FRAMED, _THEY, _AFTER_WHEN)
_FIRM = re.compile(
    r"(?<!\w)(?:is|are|on|this|booked|confirmed|scheduled|starts?|starting|held|coming|arriving|due)(?!\w)"
)
_TOLD = re.compile(
    r"(?<!\w)(?:was|were|had|did|went|came|won|lost|if|unless|whether|maybe|might|wish|would|could|should|not|never|no)(?!\w)"
)
_DOING = re.compile(
    r"(?:\w+ing|\w+ed)(?= (?:at|in|on|from|to|for|with|by|late|early|off|out|back|home)(?!\w)|$)"
)
_OPEN_ENDED = re.compile(r"(?:since|till?|until|by|before|after|from|now)\b", re.IGNORECASE)
_MERE = re.compile(
    r"(?:(?:the|a|an|this|my|our|all|good|happy|great|nice|lovely|well|see|back|home|thanks|cheers|night|day|week|weekend|morning|"
    r"afternoon|evening|time|today|tonight|tomorrow|minutes?|mins?|hours?|hrs?|days?|weeks?|years?|ready|free|busy|up|off|out|"
    r"here|there|done|late|early|<adult>|<childs?>|<kids>|<place>|<thing>|at|on|in|for|from|to|of|and|with)(?: |$))*"
)

_SEEKING = (
    r"(?:(?:can|could|will|would|might|does|is) (?:somebody|any ?body|one of (?:us|you)|either of you|any of you)"
    r"|(?:need|needs|want|looking for) somebody to|(?:somebody|one of (?:us|you)) (?:needs? to|has to|must|should|will (?:need|have) to)"
    r"|who (?:can|could|will|would|is able to|is free to|is up for)|whose turn (?:is it )?to|please somebody|somebody please)"
)
_BIDDING = (
    r"(?:(?:can|could|will|would) (?:you|<adult>)|(?:do not forget|remember|make sure (?:you|<adult>)) to"
    r"|^<adult> ,?(?: please)?(?= (?:pick up|grab|get|collect|fetch|bring|take|feed|walk|post|buy|book|put|empty|clean|pay|sign|drop|wash|defrost|water) )"
    r"|(?:who|any ?body|somebody)(?: is| will be)?(?= [a-z]+ing )(?! (?:com|go|play|winn|watch|call|be|hav|sing|talk|laugh|look|runn|miss|ly|kidd|jok)ing))"
)
_DUTY = re.compile(
    rf"(?<!\w)(?:whose turn (?:is it |it is )?(?:for|on|with|at)|who is on|who has(?: got)?) (?P<deed>[^.!?;,\n]+?)(?= ?(?:{_WHEN}|[.!?,]|$))"
)
_WILL_DO = r"(?:^|[.!?,;] |(?:and|so|but|then|yes|ok|okay) )(?:i|we) (?:will|am going to|are going to|shall|can)"
_ON_THE_WAY = re.compile(
    r"(?<!\w)(?:on (?:your|the) way|when you (?:are )?pass|after work|asap|before you|before bed)(?!\w)"
)
_ADVERBS = r"(?:(?:please|kindly|just|else|possibly|maybe|still|also|remember to|be able to|try to|go and|go|be the one to) )*"
_TALK: Final = (
    r"see|hear|believe|imagine|tell|ask|explain|guess|help|come|go|call|ring|text|message|remind|stop|be|wait|talk|speak|say|"
    r"know|think|lend|stay|shut|hurry|find|look|listen|show|recommend|suggest|confirm|understand|forget|like|love|have|has|"
    r"give|send|want|eat|play|let (?:him|her|them|it|<adult>|<childs?>) (?:know|be|have)|meet|join|need|feel|mean|keep|not|spare|afford|blame|relate|swap|switch|else|please|kindly|"
    r"just|also|still|possibly|maybe|pass|"
    # Of these only "do the ...", "get the ..." are errands.
    r"(?:do|get|make|got)(?! (?:the|a|some|my|his|her|our|their|<childs>))"
)
_DONE = rf"(?P<deed>(?!(?:{_TALK})(?!\w))[a-z][a-z'-]+ (?!(?:me|us|you|that|this|i|we|if|how|what|why|who|when|where)(?!\w))[^.!?;,\n]+)"
_SOUGHT = re.compile(rf"(?<!\w){_SEEKING} {_ADVERBS}{_DONE}")
_BID = re.compile(rf"(?<!\w){_BIDDING} {_ADVERBS}{_DONE}")
_CHORES: Final = frozenset(
    {
        "sign",
        "pay",
        "post",
        "book",
        "order",
        "return",
        "fix",
        "move",
        "shift",
        "empty",
        "clean",
        "wash",
        "iron",
        "mow",
        "water",
        "feed",
        "walk",
        "defrost",
        "sort",
        "hoover",
        "vacuum",
        "mend",
        "repair",
        "renew",
        "cancel",
    }
)
_PROMISED = re.compile(rf"{_WILL_DO} {_ADVERBS}{_DONE}")
_DEED_ENDS = re.compile(
    rf" (?:{_WHEN}|<duration>|before|after|while|when|because|as|since|so|i|we|please|if|today|tonight|tomorrow|for me|for us|at|on|by)(?= |$)"
)
_LEADING = re.compile(r"(?:(?:the|a|an|some|our|next one for) )+")
_ARRANGED = re.compile(r"(?!\w*eed)[a-z]{3,}(?:ed|ing) (?=(?:the|a|an|my|our|some|another) )")
_TRAILING = re.compile(
    r"(?: (?:at|on|in|for|from|to|of|and|with|the|a|an|<thing>|will|be|is|are))+$"
)
_TELLING = re.compile(
    r"(?P<who>.*?) (?:(?:will|is|are)(?: be)? (?:\w+ing|invited|closed|open)|will (?!be )\w+)(?: (?:to|on|in|at|for|part in))?(?: |$)"
)
_SIGN = re.compile(r"\s*[:,!]+\s+|\s+[-–—]+\s+")
_WISH = re.compile(
    r"(?:they (?:want|need)|.+? can (?:see|do|fit|take|come)|(?:they|he|she) (?:(?:will|is|are) )?(?:be )?(?:com(?:e|ing)|returning|calling))"
    r"(?: (?:it|him|her|them|us|me|you|back|round|over|again|out|in)(?!\w))*"
)
_AND = re.compile(r" (?:and|&) ")


def own_words_of(reading: Reading, stance: Stance, *, is_child: bool) -> Mention | None:
    """Return what a message is about in its own words, as a mention like any other.

    Args:
        reading: The message, or a part of it, that names neither task nor activity.
        stance: What the sender does with it.
        is_child: Whether a child writes, who may tell of an occasion but sends nobody on errands by name.

    Returns:
        The words, at most 60 characters, as id and surface; None where they have no such form.
    """
    if stance is Stance.ASKS:
        return errand_of(reading, is_anybody_alone=is_child) or occasion_of(reading)
    if stance is Stance.CLAIMS:
        return None if is_child else promise_of(reading)
    return occasion_of(reading) if stance is Stance.STATES and not is_a_limit(reading) else None


def occasion_of(reading: Reading) -> Mention | None:
    """Return what a message announces for a day or hour to come, in its own words.

    Args:
        reading: The message, or a part of it, that names no activity.

    Returns:
        The words; None where no clause has the form of an announcement.
    """
    frames = (*_FRAMES, *((_IN_LETTER,) if is_letter(reading) else ()))
    for sentence in _SENTENCE.finditer(reading.skeleton):
        if reading.skeleton[sentence.end() : sentence.end() + 1] == "?":
            continue
        for pattern in frames:
            match = pattern.search(sentence.group())
            if match is not None and _announces(reading, match, sentence.start()):
                start, end = (sentence.start() + at for at in _thing(match))
                symbols = _behind_sign(reading, _symbols(reading, start, end))
                is_wish = match.re is _THEY and _is_their_wish(reading, symbols)
                if is_wish or is_noun_phrase(reading.text, symbols):
                    return _words(reading, symbols)
    return None


def errand_of(reading: Reading, *, is_anybody_alone: bool = False) -> Mention | None:
    """Return what somebody is wanted to do, in the message's own words.

    Who is bidden by name or "you" is so for a day or hour; of "somebody" none is needed.

    Args:
        reading: The message, or a part of it, that names no task.
        is_anybody_alone: Whether only what anybody is wanted for counts.
    """
    is_timed = not is_anybody_alone and (
        _is_timed(reading) or _ON_THE_WAY.search(reading.skeleton) is not None
    )
    found = (_SOUGHT.search(reading.skeleton), _BID.search(reading.skeleton) if is_timed else None)
    for match in found:
        if match is not None and (words := _deed(reading, match)) is not None:
            return words
    return None if is_anybody_alone else _duty(reading)


def promise_of(reading: Reading) -> Mention | None:
    """Return what the sender will do on a day or by an hour, in the message's own words ("I'll sign the form tonight").

    Args:
        reading: The message, or a part of it, that names no task.
    """
    match = _PROMISED.search(reading.skeleton) if _is_timed(reading) else None
    return _deed(reading, match) if match is not None else None


def promises_a_chore(reading: Reading) -> bool:
    """Return whether the sender says that they will do one of the things that houses and children want done."""
    match = _PROMISED.search(reading.skeleton)
    return match is not None and match["deed"].split()[0] in _CHORES and _is_timed(reading)


def _is_timed(reading: Reading) -> bool:
    return any(
        # What is done "now" is not arranged any more.
        span.kind is not SpanKind.DURATION
        and span.grain is not Grain.SECOND
        and (span.has_date or span.has_time)
        for span in reading.spans
    )


def _duty(reading: Reading) -> Mention | None:
    """What is somebody's turn ("whose turn is it for the bins", "who's on dinner tonight")."""
    match = _DUTY.search(reading.skeleton)
    is_turn = match is not None and match.group().startswith("whose")
    if match is None or not (is_turn or _is_timed(reading)):
        return None
    symbols = _symbols(reading, *match.span("deed"))
    return _words(reading, symbols) if is_noun_phrase(reading.text, symbols) else None


def _deed(reading: Reading, match: re.Match[str]) -> Mention | None:
    """The words of a deed, at most up to where what follows tells when or why."""
    deed = match["deed"]
    ends = _DEED_ENDS.search(deed)
    end = ends.start() if ends else len(deed)
    if " " not in deed[:end].strip():
        return None
    for stop in (end, *(link.start() for link in _AND.finditer(deed, 0, end))):
        symbols = _symbols(reading, match.start("deed"), match.start("deed") + stop)
        if is_errand(reading.text, symbols):
            return _words(reading, symbols)
    return None


def seeks_anybody(reading: Reading) -> bool:
    """Return whether anybody is wanted for an errand ("will somebody feed the cat, i'm away"), whatever else is said."""
    return errand_of(reading, is_anybody_alone=True) is not None


def _announces(reading: Reading, match: re.Match[str], offset: int) -> bool:
    """Whether a match is an announcement: of something, for a time to come, firmly or with an hour."""
    thing = match["thing"]
    if _MERE.fullmatch(thing) or _DOING.match(thing) or _TOLD.search(match.group()):
        return False
    span = reading.symbol_at(offset + match.start("when")).item
    if isinstance(span, TimeSpan) and reading.text[span.end_char :].lstrip().startswith("?"):
        return False
    if not isinstance(span, TimeSpan) or _OPEN_ENDED.match(span.surface):
        return False
    if span.until <= reading.sent_at:
        return False
    has_hour = any(each.has_time for each in reading.spans) or has_dotted_hour(reading)
    has_day = any(each.has_date for each in reading.spans)
    if has_day and has_hour:
        return True
    frame = match.groupdict().get("frame") or ""
    is_held = match.re is _HELD
    return _FIRM.search(frame) is not None or (is_held and has_day)


def _thing(match: re.Match[str]) -> tuple[int, int]:
    """Where what takes place stands: behind "booked", of a letter behind "Year 4 will be visiting", or before "is closed"."""
    start, end = match.span("thing")
    arranged = _ARRANGED.match(match["thing"])
    if arranged is not None:
        return start + arranged.end(), end
    told = _TELLING.match(match["thing"]) if match.re is _IN_LETTER else None
    if told is None:
        return start, end
    is_all = not match["thing"][told.end() :].strip()
    return (start, start + told.end("who")) if is_all else (start + told.end(), end)


def _behind_sign(reading: Reading, symbols: Sequence[Symbol]) -> Sequence[Symbol]:
    """The units behind a colon, comma, dash or shout: what stands before it says who speaks, or to whom."""
    for place in range(len(symbols) - 1, 0, -1):
        gap = reading.text[symbols[place - 1].end : symbols[place].start]
        if _SIGN.fullmatch(gap):
            return symbols[place:]
    return [*symbols]


def _is_their_wish(reading: Reading, symbols: Sequence[Symbol]) -> bool:
    """Whether it is what others want of one thing ("they want the van", "they can see him")."""
    wish = _WISH.match(" ".join(symbol.text for symbol in symbols))
    if wish is None:
        return False
    rest = symbols[len(wish.group().split()) :]
    return not rest or is_noun_phrase(reading.text, rest)


def _symbols(reading: Reading, start: int, end: int) -> Sequence[Symbol]:
    """The units of a stretch of the skeleton, less what opens it or hangs on to it."""
    stretch = reading.skeleton[start:end].rstrip()
    trailing = _TRAILING.search(stretch)
    end = start + (trailing.start() if trailing else len(stretch))
    leading = _LEADING.match(stretch)
    start += leading.end() if leading else 0
    return [symbol for symbol in reading.symbols if start <= symbol.at < end]


def _words(reading: Reading, symbols: Sequence[Symbol]) -> Mention:
    """The message's own words behind some units of its skeleton."""
    first, last = symbols[0].start, symbols[-1].end
    name = " ".join(reading.text[first:last].split()).lower()[:_LONGEST].strip()
    return Mention(kind=OWN_WORDS, id=name, surface=name, start=first, end=last, is_misspelt=False)
