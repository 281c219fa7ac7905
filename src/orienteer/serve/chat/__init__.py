"""A conversation with a graph, at a terminal or line by line: `orienteer chat`.

`conversation` keeps what was asked and knows the commands, `question` asks one question that can be stopped, `why`
draws what speaks for a hit; `screen` writes, and `terminal` reads what a person types, by the extra `chat`.
"""
