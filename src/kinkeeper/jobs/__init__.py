"""Durable work: row leases with fencing, the job engine, the reconciler."""
