"""Language models and embeddings: one gateway for all calls, and the limits it keeps.

A call passes `structured.ask` (schema, one correction), then `Gateway` (the model of the role), `Recorded` (one row a
call), `Budgeted` (the household's daily budget), `Limited` (timeout, retries, circuit breaker), `HttpChatModel` and
`ServerConnection` (checked addresses only). All but the first and the last are a `ChatModel`, so any can be left out.
Every failure is a `ModelError`; every caller goes on without a model and notes that it did.
"""
