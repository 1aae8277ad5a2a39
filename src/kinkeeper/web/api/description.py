"""What /openapi.json says beyond what the routes say of themselves: logins, errors, the plain routes."""

from collections.abc import Mapping
from copy import deepcopy
from http import HTTPStatus
from typing import Any

from kinkeeper.web.openai_protocol import PATHS, status_there
from kinkeeper.web.problems import MEDIA_TYPE

_REF = {"$ref": "#/components/schemas/Problem"}
_PROBLEM: Mapping[str, Any] = {
    "type": "object",
    "description": "What went wrong and what to do (RFC 9457).",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "examples": ["urn:kinkeeper:problem:not-found"]},
        "title": {"type": "string", "examples": ["Not Found"]},
        "status": {"type": "integer", "examples": [404]},
        "detail": {"type": "string", "examples": ["there is no active key with the id 'x'"]},
        "current": {"type": "object", "description": "Of a 412: the record as it is now."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["where", "message"],
                "properties": {
                    "where": {"type": "array", "items": {"type": ["string", "integer"]}},
                    "message": {"type": "string"},
                },
            },
        },
    },
}
_ERROR: Mapping[str, Any] = {
    "type": "object",
    "description": "What went wrong and what to do, in the format of OpenAI's protocol.",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string", "examples": ["invalid_request_error"]},
                "param": {"type": ["string", "null"]},
                "code": {"type": ["string", "null"]},
            },
        }
    },
}
_MEANINGS = {
    HTTPStatus.BAD_REQUEST: "The body does not match its content type.",
    HTTPStatus.UNAUTHORIZED: "Not signed in, or the sign-in has ended.",
    HTTPStatus.FORBIDDEN: "This sign-in is not allowed to do this.",
    HTTPStatus.NOT_FOUND: "The household has nothing with that id.",
    HTTPStatus.CONFLICT: "It has changed in the meantime; reload it.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large.",
    HTTPStatus.MISDIRECTED_REQUEST: "This server does not use that host name.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "A value is missing, unknown or invalid.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests; Retry-After says how long to wait.",
    HTTPStatus.SERVICE_UNAVAILABLE: "Not stored; Retry-After says when to send it again.",
}
_SECURITY: Mapping[str, Any] = {
    "token": {"type": "http", "scheme": "bearer", "description": "Created with `kinkeeper token`."},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "kinkeeper",
        "description": "Browser session; writes also need X-CSRF-Token.",
    },
}


def described(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with what holds for every route.

    Args:
        document: As made from the routes; is changed.
    """
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    schemas["Problem"] = _PROBLEM
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    components["securitySchemes"] = _SECURITY
    document["security"] = [{name: []} for name in _SECURITY]
    document["paths"] |= deepcopy(_PLAIN)
    for address, path in document["paths"].items():
        for operation in path.values():
            if address.startswith(PATHS):
                _with_errors(operation["responses"])
            else:
                _with_problems(operation["responses"])
    return document


def _with_errors(responses: dict[str, Any]) -> None:
    """Add the errors of OpenAI's protocol."""
    responses.pop(str(int(HTTPStatus.UNPROCESSABLE_ENTITY)), None)
    for status, meaning in _MEANINGS.items():
        if status_there(status) == status:
            content = {"application/json": {"schema": _ERROR}}
            responses[str(int(status))] = {"description": meaning, "content": content}


def _with_problems(responses: dict[str, Any]) -> None:
    for status, meaning in _MEANINGS.items():
        answer = responses.setdefault(str(int(status)), {"description": meaning})
        content = answer.setdefault("content", {})
        if status is HTTPStatus.UNPROCESSABLE_ENTITY:
            content.clear()
        content[MEDIA_TYPE] = {"schema": _REF}


_MESSAGE: Mapping[str, Any] = {
    "type": "object",
    "required": ["chat_id", "message_id", "sender", "text", "sent_at"],
    "properties": {
        "chat_id": {"type": "string", "maxLength": 128},
        "message_id": {"type": "string", "maxLength": 128},
        "sender": {"type": "string", "maxLength": 128, "description": "Id, name or alias."},
        "text": {"type": "string"},
        "sent_at": {"type": "string", "examples": ["2026-03-05T18:00:00-06:00"]},
        "reply_to": {"type": ["string", "null"]},
        "kind": {"enum": ["text", "reaction", "edit", None]},
        "target": {
            "type": ["string", "null"],
            "description": "The message that a reaction or edit refers to.",
        },
    },
}
_RECEIVED: Mapping[str, Any] = {
    "type": "object",
    "required": ["message_id", "queued", "repeat"],
    "properties": {
        "message_id": {"type": "string"},
        "queued": {"type": "boolean"},
        "repeat": {"type": "boolean"},
    },
}


def _plain(summary: str, status: int, media_type: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    answer = {"description": summary, "content": {media_type: {"schema": schema}}}
    return {"summary": summary, "tags": ["server"], "responses": {str(status): answer}}


def _observe() -> dict[str, Any]:
    many = {"type": "object", "properties": {"messages": {"type": "array", "items": _RECEIVED}}}
    told = _plain(
        "The messages were stored before this response",
        202,
        "application/json",
        {"anyOf": [_RECEIVED, many]},
    )
    batch = {"type": "array", "items": _MESSAGE, "minItems": 1, "maxItems": 100}
    body = {
        "required": True,
        "content": {"application/json": {"schema": {"anyOf": [_MESSAGE, batch]}}},
    }
    return told | {
        "summary": "Submit messages from a chat",
        "tags": ["observer"],
        "requestBody": body,
    }


def _ready() -> dict[str, Any]:
    told = _plain("It is ready", 200, "application/json", _ANY) | {"security": []}
    not_ready = {
        "description": "What is missing",
        "content": {"application/json": {"schema": _ANY}},
    }
    told["responses"]["503"] = not_ready
    return told


def _mcp() -> dict[str, Any]:
    told = _plain("The answer to the message", 200, "application/json", _ANY)
    told["responses"]["202"] = {"description": "The message needs no answer"}
    for status in (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.NOT_ACCEPTABLE):
        content = {"application/json": {"schema": _ANY}}
        told["responses"][str(int(status))] = {
            "description": "The message does not follow the protocol",
            "content": content,
        }
    body = {"required": True, "content": {"application/json": {"schema": _ANY}}}
    return told | {
        "summary": "Exchange a Model Context Protocol message",
        "tags": ["programs"],
        "requestBody": body,
    }


_ANY = {"type": "object"}
_TEXT = {"type": "string"}
_PLAIN: Mapping[str, Any] = {
    "/observe": {"post": _observe()},
    "/mcp": {"post": _mcp()},
    "/metrics": {"get": _plain("Metrics for Prometheus", 200, "text/plain", _TEXT)},
    "/healthz": {"get": _plain("It is alive", 200, "application/json", _ANY) | {"security": []}},
    "/readyz": {"get": _ready()},
}
