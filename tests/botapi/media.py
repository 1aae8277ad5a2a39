"""What people send besides text, described as the API describes it."""

from typing import Any, Literal

Kind = Literal["photo", "voice", "document", "sticker", "location", "contact"]


def content(kind: Kind, number: int) -> dict[str, Any]:
    """Return the fields of a message that holds such a thing, the `number`th file of all."""
    file: dict[str, Any] = {
        "file_id": f"AgACAgQAAxkBAAI{number:05d}",
        "file_unique_id": f"AQADk{number:05d}",
        "file_size": 41_000 + number,
    }
    if kind == "photo":
        small = file | {
            "file_id": file["file_id"] + "s",
            "file_unique_id": file["file_unique_id"] + "s",
        }
        return {
            "photo": [small | {"width": 90, "height": 67}, file | {"width": 1280, "height": 960}]
        }
    if kind == "voice":
        return {"voice": file | {"duration": 4, "mime_type": "audio/ogg"}}
    if kind == "document":
        return {"document": file | {"file_name": "list.pdf", "mime_type": "application/pdf"}}
    if kind == "sticker":
        sticker = {
            "type": "regular",
            "width": 512,
            "height": 512,
            "is_animated": False,
            "is_video": False,
            "emoji": "👍",
        }
        return {"sticker": file | sticker}
    if kind == "location":
        return {"location": {"latitude": 41.88, "longitude": -87.63}}
    return {"contact": {"phone_number": "+13125550100", "first_name": "Coach"}}
