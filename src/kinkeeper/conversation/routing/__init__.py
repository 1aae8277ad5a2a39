"""Where a message goes: social exits, answers to open questions, intent, triage, and the mode of the answer."""
