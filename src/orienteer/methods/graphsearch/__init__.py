"""`graphsearch`: agentic deep search over the two channels of a graph knowledge base. GraphSearch (paper 002).

    decomposition  the question in sub-queries: in words (semantic channel) and in triples (relational channel)
    refinement     the part of each sub-query's evidence that bears on it
    grounding      answers of earlier sub-queries take the place of references in later ones
    drafting       the chain of reasoning from sub-queries, contexts and answers
    verification   Accept or Reject
    expansion      on Reject: sub-queries for what is missing, answered, drafted and verified again
    the answer     short and long, citing nodes

Two forms. `faithful` is the paper's: each channel by itself, nine templates, each module reading what equations 2 to 5
give it. `lean`, the default, is ours. Both differ from the paper, which is silent on most of this, in the following:
1. A sub-query that names no answer of an earlier one does not wait; one that does reads all before it, as equation 2
   has it. Channels run side by side, as section 4.4 says.
2. Sub-answers may be null, and so may the answer: "not in the evidence". Over no evidence no call is made.
3. Grounding, drafting, verification, expansion and the answer read the refined context: the equations write C, section
   3.1.1 says that refinement serves the later modules.
4. New sub-queries are answered like the others (those of `faithful` are in words in either channel), and the draft is
   written and verified again, up to `rounds` times; the paper states neither. A verdict that cannot be read is Reject.
5. Contexts have a limit of tokens.
6. The prompts are in our own words and without worked examples; objects are JSON, repaired once.
7. Without decomposition there is no sub-answer: with all modules off a question is one retrieval and one answer, as in
   table 3's first row.

What `lean` changes, and `faithful` undoes:
8. One plan for both channels: a DAG of sub-queries, each in words and in triples. Each waits only for the sub-queries
   that the plan names.
9. Refinement and answer of both channels are one call. It reads the question and the sub-queries that follow, and may
   answer these too: what it is sure of is not read for again.
10. A program puts in answers of a few words and the names that triples have bound. A model grounds only where the
    answer is longer or missing, or the sub-query refers to it nowhere; it reads what the sub-query waits for.
11. Triples are matched in the graph; the retriever is asked where nothing fits them.
12. There is no relational channel for a sub-query without triples, nor over edges that state nothing of what they
    join; these edges are no evidence.
13. One draft and one verdict for both channels; the verdict says what is missing and what contradicts, and expansion
    reads that too. Where all answers are sure, draft, verdict and the answer to the question are one call; where a last
    step has none, expansion comes first. An expansion may be empty, which ends the search.
14. A sub-query reads 10 passages that differ, in an expansion only those that were not read before. What a reading has
    found nothing for is told in a line. How sure a reading was is told wherever its answer is.
"""
