"""Questions made from a graph, with proved answers: by rules, or by a model that explores. GraphScout (003), 3.3.

`questions` and `quiz` call one `generator`. A `plan` is a question as data; a `sampler` or a `drawer` draws it over the
graph's `steps`. `gold` finds its answers and `proof` asks Cypher for them, `checks` holds the reasons to drop a draft,
and `question_writer` puts it into words.
"""
