"""Puts a registry together."""
