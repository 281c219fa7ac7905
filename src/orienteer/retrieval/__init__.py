"""Knowledge bases: what a graph holds about a question, as evidence. One interface for all retrievers."""
