"""Invented worlds and pairs of questions about them, which differ in little and mean another thing."""
