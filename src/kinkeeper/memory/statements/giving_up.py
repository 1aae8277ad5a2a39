"""What a clause says that it is told instead of, or that is over: "swapped the trumpet for the drums". Pure."""

import re

from kinkeeper.memory.statements.canonical_words import lexicon, words_of

_REPLACED = re.compile(
    r"(?:instead of|rather than|in place of|replacing|and not|, not|(?:switch|chang|mov|swapp|upgrad)\w* (?:over )?from) (.+)"
)
_THING = r"((?:(?!(?:for|and|in|but|because|so|at|on|to|by|is|are|was|were|with|instead|now)\b)[^\s,;]++ ?){1,4})"
# "swapped the trumpet for the drums", "is off dry food", "has finished the antibiotics": what is over.
_GIVEN_UP = re.compile(
    rf"\b(?:(?:swapp|trad|exchang|ditch|dropp|finish|cancell?)ed|quit|outgrew|outgrown|(?<!is )(?<!are )(?<!was )(?<!were )left(?! (?:wing|hand|foot|side|back|arm|leg|ear|eye|out|over)\b)|"
    rf"(?:gave|given|give) up|(?:called|call|gone|went|is|am|are|has come|have come) off|(?:decided|voted) against|done with|"
    rf"(?:good)?bye(?: to)?|stepped down from|(?:grew|grown) out of|got rid of|sold|moved out of|not use|not going to|not doing|"
    rf"not with|no more) (?:off |in |going to )?(?:the |my |our |his |her |their |a |an )?{_THING}"
)
# "I said 450, it is 480": the number that was wrong.
_MISSAID = re.compile(
    r"\b(?:sorry,? )?(?:i|we) (?:said|wrote|told you|put) (\S*\d[^\s,]*),? (?:but )?((?:it|that|they) (?:is|are|was|should be) \S*\d\S*)"
)
_NOT_NUMBER = re.compile(r"\d\S* not (\S*\d\S*)")
# "Ms Kaur is on leave, the new one is Mr Boateng": whose place is taken.
_SUCCEEDED = re.compile(
    r"^(?:(?:the|our|my) )?((?:(?!(?:is|are|was|has|and)\b)[\w.]+ ){1,3}).*?\b(?:(?:the|our|my) (?:new|next|other|temporary) one|(?:the|our|my|his|her|their) "
    r"(?:replacement|successor|stand-in|cover)) (?:is|will be) (?:called )?\w"
)
_FELL_THROUGH = re.compile(rf"{_THING}(?:fell through|died|broke down|closed down)\b")


def set_right(text: str) -> str:
    """Return a text with a number that is set right told beside the right one: "it is 480 not 450".

    Args:
        text: In lower case, contractions opened.
    """
    return _MISSAID.sub(r"\2 not \1", text)


def succeeded(text: str) -> frozenset[str]:
    """Return the canonical words of whose place a statement says is taken by somebody else.

    Args:
        text: In lower case, contractions opened.
    """
    found = _SUCCEEDED.match(text)
    return frozenset() if found is None else _telling(found[1])


def given_up(clause: str) -> frozenset[str]:
    """Return the canonical words of what a clause is told instead of, or says that it is over.

    Args:
        clause: In lower case, contractions opened.
    """
    found = (
        _NOT_NUMBER.search(clause)
        or _REPLACED.search(clause)
        or _GIVEN_UP.search(clause)
        or _FELL_THROUGH.match(clause)
    )
    if found is None:
        return frozenset()
    return _telling(found[1])


def _telling(words: str) -> frozenset[str]:
    return frozenset(word.canon for word in words_of(words) if word.text not in lexicon().light)
