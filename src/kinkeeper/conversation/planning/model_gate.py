"""What a model's plan may do at once, and for whom: what the person's own words carry. All else is an offer.

A model may misread, obey what it was shown, or lie, so its word alone is never enough. The words that it says ask for
something have to be a clause that reads as a request; what is written has to stand in the message; and whatever does more
than add something, the rules have to read out of the same words. Blocks for some milliseconds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from operator import itemgetter
from typing import Any, Final

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.requests.model import ActionResult, RequestKind
from kinkeeper.actions.requests.parameters import read_who
from kinkeeper.conversation.model import TAKE_BACK, Plan, PlannedAction
from kinkeeper.conversation.planning import people
from kinkeeper.conversation.planning.case import Case, best_match
from kinkeeper.conversation.planning.clauses import bare, in_order
from kinkeeper.conversation.planning.plan_grounding import is_part, told_by
from kinkeeper.conversation.planning.plan_times import moment_of
from kinkeeper.conversation.routing.clause_words import clauses_of
from kinkeeper.conversation.routing.intent import commands_in
from kinkeeper.conversation.told_audience import holds_fact, scope_of_told
from kinkeeper.core.errors import UnclearError
from kinkeeper.household.viewers import (
    HOUSEHOLD_SCOPE,
    kept_from,
    narrowest,
    person_scope,
    surprise_scope,
)
from kinkeeper.language.text import Token, TokenKind, texts_within, tokenise
from kinkeeper.memory.finding.terms import stems
from kinkeeper.memory.statements.secrecy import audience_of, secrecy_of
from kinkeeper.reading.corrections import (
    asks_to_undo,
    is_in_doubt,
    is_only_doubt,
    retraction_of,
    told_not_asked,
)
from kinkeeper.reading.modality import Modality, modality_of
from kinkeeper.reading.model import cut_clauses
from kinkeeper.reading.own_lists import SHOPPING
from kinkeeper.reading.replies import ReplyKind, is_question, read_reply, words_taken_back

_NOTHING: Final[Mapping[str, Any]] = {}
_STORE: Final = ("memory", "store")
_NEW: Final = frozenset(
    {
        ("calendar", "create_event"),
        ("task", "create"),
        ("notes", "create"),
        ("notes", "append"),
        _STORE,
    }
)
_ADDS: Final = _NEW | {("email", "create_draft")}
_REAL: Final = frozenset({Modality.NAMED, Modality.TOLD})
_AUDIENCE: Final = ("private", "kept_from")
_PEOPLE: Final = frozenset({"who", "responsible"})
_TARGETS: Final = frozenset({"find_by", "event_id", "line"})
_WHEN: Final = ("start_time", "deadline", "remind_at")
_SEVERAL: Final = 2
_NO_WORDS: Final = (
    _PEOPLE
    | _TARGETS
    | {
        "start_time",
        "end_time",
        "deadline",
        "remind_at",
        "on",
        "until",
        "rrule",
        "scope",
        "priority",
        "category",
        "kept_from",
        "to",
    }
)
"""Parameters of our own requests that hold no words: they are held to the message in other ways."""


def gated(
    planned: PlannedAction, kind: RequestKind, case: Case, known: Mapping[str, Any] = _NOTHING
) -> PlannedAction:
    """Return a model's request for nobody who would not see the same without a model; an offer where words lack.

    Args:
        planned: With times and things that were said or exist; an offer stays one.
        kind: Of what it asks for.
        known: Parameters of what awaits a yes already, where it changes that: it stays for whom it is.
    """
    if kind.read is not None:
        return replace(planned, is_offer=False)
    text, asked, key = case.context.text, case.context.asked, (planned.domain, planned.action)
    is_asked = _asks(planned.reasoning, case)
    if key in _NEW and not known:
        planned = _for_whom(planned, case, is_asked=is_asked)
    asking = _sentences_of(planned.reasoning, text)
    meant = " ".join(each for each in asking if _is_real(each, case))
    may_run = is_asked and key in _ADDS and _is_of_words(planned, case, meant)
    is_offer = planned.is_offer or not may_run
    told = "\n".join([text, *texts_within(known)])
    is_said = _is_of_words(planned, case, told, is_foreign=kind.is_foreign)
    # What others than adults ask for awaits an adult, who has to read it; and so does what waits already.
    is_open = is_said if known or not asked.member.is_adult else not is_offer
    return replace(planned, is_offer=is_offer, is_unsaid=not (is_open or asked.is_shared))


def in_own_clauses(actions: Sequence[PlannedAction], case: Case) -> bool:
    """Whether each of several new requests takes the time and the people that stand with it, and none another's.

    They stand behind what it is called, or before it, as far as the next: in whichever order all of them name one.
    """
    placed = _placed([each for each in actions if (each.domain, each.action) in _NEW], case)
    text, ends = case.message.text, [at for at, _ in placed]
    behind = [text[at:end] for at, end in pairwise([*ends, len(text)])]
    before = [text[at:end] for at, end in pairwise([0, *ends])]
    made = [each for _, each in placed]
    return len(placed) < _SEVERAL or all(
        _takes_own(made, [behind, before], case, finds) for finds in (_times_of_own, _people_of_own)
    )


_Own = Callable[[PlannedAction, str, Case], bool | None]


def _takes_own(
    made: Sequence[PlannedAction], orders: Sequence[Sequence[str]], case: Case, finds: _Own
) -> bool:
    own = [[finds(*each, case) for each in zip(made, parts, strict=True)] for parts in orders]
    return any(False not in each for each in [each for each in own if None not in each] or own)


def _times_of_own(planned: PlannedAction, part: str, case: Case) -> bool | None:
    """Whether a request is at a time that a part of the message names; None where it names none."""
    known = told_by(case.message.times(part), case)
    at = [value for name in _WHEN if (value := planned.params.get(name))]
    return all(is_part(each, known) for each in at) if known else None


def _people_of_own(planned: PlannedAction, part: str, case: Case) -> bool | None:
    """Whether a request is for people whom a part of the message names; None where it names none."""
    is_any = people.members_in(part, case) or people.together(part, case)
    return _are_named(planned.params, part, case) if is_any else None


def _placed(actions: Sequence[PlannedAction], case: Case) -> list[tuple[int, PlannedAction]]:
    """Return requests by where the message first has a word of what each is called that no other has; the rest is left out."""
    called = [
        {
            stem
            for name, value in _leaves(each.params)
            if name not in _NO_WORDS
            for stem in stems(value)
        }
        for each in actions
    ]
    placed = []
    for each, words in zip(actions, called, strict=True):
        own = words.difference(*(other for other in called if other is not words))
        at = [it.start for it in tokenise(case.message.text) if not own.isdisjoint(stems(it.text))]
        placed += [(at[0], each)] if at else []
    return sorted(placed, key=itemgetter(0))


def may_complete(planned: PlannedAction, kind: RequestKind, case: Case) -> bool:
    """Whether a request of which something is missing may run once the person's answer completes it: it would with it now.

    What is always confirmed only has to be in the person's words.
    """
    if kind.stakes is Stakes.LOW:
        return not gated(planned, kind, case).is_offer
    return _is_of_words(planned, case, case.context.text, is_foreign=kind.is_foreign)


def agreed(by_model: Plan, by_rules: Plan, case: Case) -> Plan:
    """Return a model's plan in which what the rules read out of the same words stands as they read it, for no more people.

    Nothing is taken back on a model's word where the rules read a request. A statement is not offered that memory hears
    without being asked.
    """
    read = by_rules.actions

    def held(planned: PlannedAction) -> PlannedAction | None:
        if (planned.domain, planned.action) == TAKE_BACK:
            return replace(planned, is_offer=planned.is_offer or bool(read))
        same = next((each for each in read if _is_same(planned, each, case)), None)
        if same is None:
            return None if _is_heard(planned, case) else planned
        if same.params.get("private") or same.params.get("kept_from"):
            return same
        narrower = {name: value for name in _AUDIENCE if (value := planned.params.get(name))}
        return replace(same, params={**same.params, **narrower})

    return replace(by_model, actions=tuple(filter(None, map(held, by_model.actions))))


def _is_heard(planned: PlannedAction, case: Case) -> bool:
    """Whether memory hears by itself what a model would have remembered."""
    if (planned.domain, planned.action) != _STORE or not planned.is_offer:
        return False
    told = " ".join(_sentences_of(planned.reasoning, case.context.text))
    is_said = _is_of_words(planned, case, case.context.text)
    return is_said and holds_fact(told, case.household, now=case.now)


def _asks(words: str, case: Case) -> bool:
    """Whether words stand in the message as a clause that asks for something, in no sentence that wonders, denies or only tells."""
    sentences = _sentences_of(words, case.context.text)
    before = [*takewhile(lambda each: each not in sentences, _sentences(case.context.text))][-1:]
    if any(map(is_only_doubt, before)) or not all(_is_real(each, case) for each in sentences):
        return False
    is_whole = _plain(words) >= _plain(bare(" ".join(sentences), case.grammar))
    asking = [_is_request(each, case) for each in sentences]
    return any(asking) and (is_whole or _is_request(words, case))


def takes_back(words: str, thing: ActionResult, case: Case) -> bool:
    """Whether words are whole sentences of the message that take a thing back: by its name, or as what came last."""
    whole = " ".join(_sentences_of(words, case.context.text))
    about = _taken_back(whole)
    if about is None or not _plain(words) >= _plain(whole) or _is_question(whole, case):
        return False
    if about:
        return not about.isdisjoint(stems(" ".join(texts_within([thing.summary, thing.params]))))
    last = next((each.results for each in reversed(case.context.history) if each.results), ())
    return thing.action_id in {each.action_id for each in last}


def _taken_back(sentence: str) -> frozenset[str] | None:
    """Return the words for what a sentence takes back, none where it points at it; None where it takes nothing back."""
    if asks_to_undo(sentence):
        return frozenset()
    if (back := retraction_of(sentence)) is not None:
        return None if back.before else frozenset(stems(back.about))
    reply = read_reply(tokenise(sentence))
    if reply is None or reply.kind not in {ReplyKind.WITHDRAW, ReplyKind.RELEASE}:
        return None
    return frozenset() if reply.is_whole else frozenset(stems(words_taken_back(sentence, reply)))


def _is_request(clause: str, case: Case) -> bool:
    said = bare(clause, case.grammar, case.household.bot_name)
    meant = modality_of(said)
    if meant not in _REAL or _is_question(said, case):
        return False
    if case.grammar.said["request"].match(in_order(said)):
        return True
    return meant is Modality.NAMED and any(map(commands_in, clauses_of(said, ())))


def _is_question(text: str, case: Case) -> bool:
    return is_question(tokenise(text), text, case.household.members_by_word)


def _is_real(sentence: str, case: Case) -> bool:
    """Whether a sentence asks for something or tells it as it is: neither denied, supposed, past, in doubt, nor others' words."""
    said = bare(sentence, case.grammar, case.household.bot_name)
    is_sure = modality_of(said) in _REAL and not told_not_asked(sentence)
    if not is_sure or is_in_doubt(sentence):
        return False
    return _is_request(sentence, case) or not _is_question(sentence, case)


def _sentences(text: str) -> Sequence[str]:
    return [text[each.start : each.end] for each in cut_clauses(text)]


def _sentences_of(words: str, text: str) -> Sequence[str]:
    """Return the sentences of a text in which words stand one after the other; none where they do not."""
    wanted, said = [each.text for each in _words(words)], _words(text)
    for at in range(len(said) - len(wanted) + 1 if wanted else 0):
        found = said[at : at + len(wanted)]
        if [each.text for each in found] == wanted:
            start, end = found[0].start, found[-1].end
            places = cut_clauses(text)
            return [
                text[each.start : each.end]
                for each in places
                if each.start < end and start < each.end
            ]
    return []


def _words(text: str) -> list[Token]:
    return [each for each in tokenise(text) if each.kind is not TokenKind.PUNCTUATION]


def _plain(text: str) -> frozenset[str]:
    return frozenset(each.text for each in _words(text))


def _is_of_words(
    planned: PlannedAction, case: Case, text: str, *, is_foreign: bool = False
) -> bool:
    """Whether all that a request would write stands in a text: its words, none of them denied, people and rule of repetition.

    Names of the household need not, but in a statement: there they and their order are what it says.
    """
    household, me = case.household, case.context.asked.member
    is_statement = (planned.domain, planned.action) == _STORE
    names = [me.name, *me.aliases] if is_statement else [*household.words_for_people]
    known, said = {*stems(" ".join(names))}, stems(text)
    for name, value in _leaves(planned.params):
        if name in _NO_WORDS and not is_foreign:
            continue
        if planned.domain == "notes" and name == "title" and _is_list(planned, value, case):
            continue
        if value.strip() and not stems(value):
            return False  # signs, or words that say nothing by themselves
        written = [each for each in stems(value) if each not in known or each in said]
        is_turned = modality_of(value) is Modality.NEGATED or (
            is_statement and not _is_in_order(written, said)
        )
        if is_turned or not {*written} <= {*said}:
            return False
    return _are_named(planned.params, text, case) and _is_repeated_so(planned.params, text, case)


def _shares_words(planned: PlannedAction, sentence: str) -> bool:
    """Whether some of what a request writes stands in a sentence."""
    said = {*stems(sentence)}
    return any(
        not said.isdisjoint(stems(value))
        for name, value in _leaves(planned.params)
        if name not in _NO_WORDS
    )


def _leaves(params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the texts of parameters, each with the name it stands under."""
    for name, value in params.items():
        if isinstance(value, Mapping):
            yield from _leaves(value)
        else:
            for each in value if isinstance(value, list | tuple) else (value,):
                if isinstance(each, str):
                    yield name, each


def _is_list(planned: PlannedAction, title: str, case: Case) -> bool:
    """Whether a title names a note that there is, or the list that there always is."""
    notes = [thing for thing in case.things if thing.kind == "note"]
    known = {SHOPPING, *case.context.fetched.get("lists", ())}
    known |= {name for each in notes for name in (each.id, each.title)}
    named = {SHOPPING} if planned.action == "create" else known
    return title.casefold() in {each.casefold() for each in named}


def _is_in_order(words: Sequence[str], said: Sequence[str]) -> bool:
    left = iter(said)
    return all(each in left for each in words)


def _are_named(params: Mapping[str, Any], text: str, case: Case) -> bool:
    """Whether nobody is assigned whom a text does not name."""
    asked = case.context.asked
    try:
        meant = {each for name in _PEOPLE for each in read_who(params.get(name), asked)}
    except UnclearError:
        return False
    return meant <= {asked.member.id, *people.members_in(text, case), *people.together(text, case)}


def _is_repeated_so(params: Mapping[str, Any], text: str, case: Case) -> bool:
    """Whether something recurs as often as the message says, or as a text has it."""
    rule = params.get("rrule")
    spans = [*case.message.spans.values()]
    moment = moment_of(spans, case.now)
    read = {moment.rule if moment else None, *(each.recurrence for each in spans)}
    return rule is None or rule in text or _parts(rule) in [_parts(each) for each in read if each]


def _parts(rule: str) -> frozenset[str]:
    return frozenset(rule.removeprefix("RRULE:").split(";")) - {"INTERVAL=1"}


def _for_whom(planned: PlannedAction, case: Case, *, is_asked: bool) -> PlannedAction:
    """Return something new for the narrower of what a model says and what the same words get without one."""
    context, asked, params = case.context, case.context.asked, planned.params
    house, me, text = asked.household, asked.member, context.text
    own = person_scope(me.id)
    hidden, is_for_one = _hidden(planned, case), bool(params.get("private"))
    is_told = (planned.domain, planned.action) == _STORE and not is_asked
    asking = _sentences_of(planned.reasoning, text)
    scopes = {  # what other sentences say is for whom they alone would be
        audience_of(each, house, me.id, is_group=asked.is_shared, is_title=True)
        for each in _sentences(text)
        if each not in asking and _shares_words(planned, each)
    }
    if people.audience_of(" ".join(asking), case)[1] is False:
        pass  # they say that all may see it
    elif is_told:
        scopes.add(
            scope_of_told(
                text, house, me, now=asked.now, history=context.history, is_shared=asked.is_shared
            )
        )
    else:
        scopes.add(audience_of(text, house, me.id, is_group=asked.is_shared, is_title=True))
    if hidden:
        scopes.add(surprise_scope(hidden))
    elif is_for_one or params.get("kept_from"):
        scopes.add(own)
    scope = narrowest(scopes) or own
    said = {key: value for key, value in params.items() if key not in _AUDIENCE}
    if kept := kept_from(scope):
        said["kept_from"] = sorted(kept)
    elif scope != HOUSEHOLD_SCOPE:
        said["private"] = True
    elif not scopes:
        said["private"] = False
    return replace(planned, params=said)


def _hidden(planned: PlannedAction, case: Case) -> frozenset[str]:
    """Return from whom a model keeps something at the person's wish; nobody where it is none of theirs."""
    asked, said = case.context.asked, case.context.text
    if secrecy_of(said, asked.household, asked.member.id, is_group=asked.is_shared) is None:
        return frozenset()
    try:
        named = read_who([*planned.params.get("kept_from", ())], asked)
    except UnclearError:
        return frozenset()
    return frozenset(named) - {asked.member.id}


def _is_same(planned: PlannedAction, read: PlannedAction, case: Case) -> bool:
    """Whether two requests ask for the same, by words that mean the same thing."""
    if (planned.domain, planned.action) != (read.domain, read.action):
        return False
    is_new = (planned.domain, planned.action) in _NEW
    one, other = (_compared(each.params, case, is_new=is_new) for each in (planned, read))
    return one == other


def _compared(params: Mapping[str, Any], case: Case, *, is_new: bool) -> Mapping[str, object]:
    """Return parameters as two readers of the same words have them alike."""
    found: dict[str, object] = {}
    for name, value in params.items():
        if name in _TARGETS:
            known = next((each for each in case.things if value in {each.id, each.title}), None)
            thing = known or best_match(str(value), case.things)
            found["target"] = (
                (thing.kind, thing.id or thing.title) if thing else frozenset(stems(str(value)))
            )
        elif name not in {"on", "category"} and (name not in _AUDIENCE or not is_new):
            found[name] = frozenset(stems(value)) if isinstance(value, str) else value
    return found
