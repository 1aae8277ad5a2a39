"""Telegram: groups that are listened to, private chats, buttons and commands, over the Bot API."""
