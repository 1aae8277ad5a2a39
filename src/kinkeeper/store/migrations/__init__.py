"""The history of the schema, applied by `kinkeeper.store.migrate`."""
