"""The `deferred-tools` command. Needs the extra `cli`."""
