"""Answers a question from event graph and memory."""
