"""`deferred-tools demo`. Needs the extra `demo`."""
