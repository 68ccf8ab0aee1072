"""Analyses: facts about the IR that passes act on. They change nothing."""
