"""Sending: text and documents, to everyone in a chat or to one person in it."""

from dataclasses import dataclass, field
from typing import Any

from botapi.accounts import Bot
from botapi.chats import Chat, Message, Topic
from botapi.entities import Entity
from botapi.ephemeral import place_ephemeral, receiver_of
from botapi.finding import find_chat
from botapi.formatting import MOST_CAPTION, check_text, read_text
from botapi.keyboards import check_data, read_markup
from botapi.messages import shown_to
from botapi.parameters import Arguments
from botapi.posting import post
from botapi.refusals import bad_request
from botapi.world import World

_ACTIONS = {
    "typing",
    "upload_photo",
    "record_video",
    "upload_video",
    "record_voice",
    "upload_voice",
    "upload_document",
    "choose_sticker",
    "find_location",
    "record_video_note",
    "upload_video_note",
}


@dataclass(slots=True, kw_only=True)
class Draft:
    """What a call wants sent, before it is known where to."""

    text: str = ""
    entities: list[Entity] = field(default_factory=list)
    content: dict[str, Any] = field(default_factory=dict)
    link_preview: dict[str, Any] = field(default_factory=dict)


def send_message(world: World, bot: Bot, arguments: Arguments) -> dict[str, Any]:
    if not arguments.text("text"):
        raise bad_request("message text is empty")
    text, entities = read_text(arguments)
    preview = arguments.parsed("link_preview_options", "link preview options") or {}
    if not isinstance(preview, dict):
        raise bad_request("can't parse link preview options: must be an Object")
    draft = Draft(text=text, entities=entities, link_preview=preview)
    return _send(world, bot, arguments, draft)


def send_document(world: World, bot: Bot, arguments: Arguments) -> dict[str, Any]:
    given = arguments.text("document")
    upload = arguments.uploads.get(given.removeprefix("attach://") or "document")
    if upload is None:
        upload = arguments.uploads.get("document")
    if upload is not None:
        file_id = f"BQACAgQAAx{bot.id}d{len(world.files)}"
        world.files[file_id] = upload.content
        document = {
            "file_name": upload.name,
            "mime_type": upload.content_type or "application/octet-stream",
            "file_id": file_id,
            "file_unique_id": f"AgAD{len(world.files)}",
            "file_size": len(upload.content),
        }
    elif given:
        raise bad_request("wrong file identifier/HTTP URL specified")
    else:
        raise bad_request("there is no document in the request")
    caption, entities = read_text(arguments, "caption")
    if len(caption) > MOST_CAPTION:
        raise bad_request("message caption is too long")
    draft = Draft(text=caption, entities=entities, content={"document": document})
    return _send(world, bot, arguments, draft)


def _send(world: World, bot: Bot, arguments: Arguments, draft: Draft) -> dict[str, Any]:
    """Check in the API's order: what can be read, then the chat, the reply, the content, the pace."""
    keyboard, other_markup = read_markup(arguments)
    reply = _reply_parameters(arguments)
    private = arguments.parsed("ephemeral_message_parameters", "ephemeral message parameters")
    chat = find_chat(world, bot, arguments, to_write=True)
    topic = _topic(chat, arguments)
    answered = _answered(chat, bot, reply)
    quote = _quote(answered, reply)
    if not draft.content:
        check_text(draft.text)
    check_data(keyboard)
    receiver = receiver_of(world, bot, chat, private, reply=reply) if private else None
    world.flood.admit(bot.id, chat.id, now=world.seconds(), is_group=chat.kind != "private")
    message = Message(
        chat=chat,
        sender=bot,
        date=world.date(),
        text=draft.text,
        entities=draft.entities,
        content=draft.content,
        keyboard=keyboard,
        keyboard_by=bot if keyboard else None,
        other_markup=other_markup,
        reply_to=answered,
        quote=quote,
        topic=topic,
        link_preview=_kept_preview(draft),
        silent=arguments.flag("disable_notification"),
        protected=arguments.flag("protect_content"),
        receiver=receiver,
    )
    if receiver is not None:
        place_ephemeral(message)
    else:
        post(world, message)
    return shown_to(bot, message)


def _kept_preview(draft: Draft) -> dict[str, Any]:
    has_link = any(entity["type"] in {"url", "text_link"} for entity in draft.entities)
    return {
        name: value
        for name, value in draft.link_preview.items()
        if value and (name != "is_disabled" or has_link)
    }


def _reply_parameters(arguments: Arguments) -> dict[str, Any]:
    given = arguments.parsed("reply_parameters", "reply parameters")
    if given is None:
        return {
            "message_id": arguments.integer("reply_to_message_id"),
            "allow_sending_without_reply": arguments.flag("allow_sending_without_reply"),
        }
    if not isinstance(given, dict):
        raise bad_request("can't parse reply parameters: must be an Object")
    if not isinstance(given.get("allow_sending_without_reply", False), bool):
        raise bad_request('field "allow_sending_without_reply" must be of type Boolean')
    return given


def _answered(chat: Chat, bot: Bot, reply: dict[str, Any]) -> Message | None:
    wanted = int(reply.get("message_id") or 0)
    if not wanted:
        return None
    answered = chat.find(bot, wanted)
    if answered is None and not reply.get("allow_sending_without_reply"):
        raise bad_request("message to be replied not found")
    return answered


def _quote(answered: Message | None, reply: dict[str, Any]) -> dict[str, Any] | None:
    words = reply.get("quote")
    if answered is None or not words:
        return None
    if words not in answered.text:
        raise bad_request("QUOTE_TEXT_INVALID")
    return {"text": words, "position": answered.text.index(words), "is_manual": True}


def _topic(chat: Chat, arguments: Arguments) -> Topic | None:
    thread = arguments.integer("message_thread_id")
    if not thread:
        return None
    if thread not in chat.topics:
        raise bad_request("message thread not found")
    return chat.topics[thread]


def send_chat_action(world: World, bot: Bot, arguments: Arguments) -> bool:
    if arguments.text("action").lower() not in _ACTIONS:
        raise bad_request("wrong parameter action in request")
    chat = find_chat(world, bot, arguments, to_write=True)
    _topic(chat, arguments)
    return True


def get_file(world: World, bot: Bot, arguments: Arguments) -> dict[str, Any]:
    file_id = arguments.text("file_id")
    if file_id not in world.files:
        raise bad_request("wrong file_id or the file is temporarily unavailable")
    return {
        "file_id": file_id,
        "file_unique_id": f"AgAD{file_id[-8:]}",
        "file_size": len(world.files[file_id]),
        "file_path": f"documents/{file_id}",
    }


METHODS = {
    "sendMessage": send_message,
    "sendDocument": send_document,
    "sendChatAction": send_chat_action,
    "getFile": get_file,
}
