"""Idle thought: what the household's days and memory show, and whether somebody should hear of it."""
