"""Fakes and conformance checks for who extends deferred-tools."""
