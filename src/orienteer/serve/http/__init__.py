"""Graphs over HTTP, for programs, for third-party chat clients, and for a page. Needs the extra `serve`.

`app` puts it together; `guard` stands before everything; `look_ups` and `questions` are the routes of `/api`, and
`openai_form` those of `/v1`; `server` listens and ends in order, `connections` gives what comes in its time, and
`workers` keeps several processes.
"""
