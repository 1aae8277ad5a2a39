"""Where a message goes: social exits, answers to open questions, intent, triage, and the mode of the answer.

In this order: `read_confirmation` (only while a question is open), `read_social`, `read_intent`, `triaged` (a light
model where rules are unsure, `checked` afterwards), `score_modes`. Pure but for the embedder and that model. All
weights are in `data/weights.toml`; their version is stored with each decision.
"""
