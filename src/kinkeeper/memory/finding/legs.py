"""Names of what a candidate is scored by."""

LEXICAL, PLAIN, OWN = "lexical", "lexical_plain", "lexical_own"
"""By the query's words with those around a text; without names; by the text's own words alone."""

DENSE, DENSE_CONTEXT = "dense", "dense_context"
"""By meaning of a text; of it with what was said before."""

SPEAKER, DATE, RECENCY, CONFIDENCE = "speaker", "date", "recency", "confidence"
