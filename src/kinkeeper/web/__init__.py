"""The HTTP server: API, pages and logins. Knows no channel; bootstrap hands it what it needs."""
