"""Questions made from a graph, with proved answers: by rules, or by a model that explores. GraphScout (003), 3.3.

`questions` and `quiz` call one `generator`. What is asked is a `plan`; a `sampler` or a `drawer` draws it over the
graph's `steps`; `gold` says who answers, `checks` why a draft is dropped, `wording` how it is asked, `proof` what
Cypher makes of it.
"""
