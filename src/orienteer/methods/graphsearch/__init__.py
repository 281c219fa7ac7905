"""`graphsearch`: agentic deep search over the two channels of a graph knowledge base. GraphSearch (paper 002).

    decomposition  the question in sub-queries: in words (semantic channel) and in triples (relational channel)
    refinement     of what the retriever gives for each, what bears on it
    grounding      answers of earlier sub-queries put in where later ones take them
    drafting       the chain of reasoning from sub-queries, contexts and answers
    verification   Accept or Reject
    expansion      on Reject: sub-queries for what is missing, answered, drafted and verified again
    the answer     short and long, citing nodes

Two forms. `faithful` is the paper's: each channel by itself, nine templates, each module reading what equations 2 to 5
give it. `lean`, the default, is ours. Where both differ from the paper, which is silent on most of it:
1. A sub-query that names no answer of an earlier one does not wait; one that does reads all before it, as equation 2
   has it. Channels run side by side, as section 4.4 says.
2. Sub-answers may be null, and so may the answer: "not in the evidence". Over no evidence no call is made.
3. What grounding, drafting, verification, expansion and the answer read of a context is the refined one: the equations
   write C, section 3.1.1 says that refinement serves what comes after.
4. New sub-queries are answered as others are (those of `faithful` are in words in either channel), and the draft is
   written and verified again, up to `rounds` times; the paper states neither. A verdict that cannot be read is Reject.
5. Contexts are held to a number of tokens.
6. The prompts are in our own words and without worked examples; objects are JSON, repaired once.
7. Without decomposition there is no sub-answer: with all modules off a question is one retrieval and one answer, as in
   table 3's first row.

What `lean` changes, and `faithful` undoes:
8. One plan for both channels: a DAG of sub-queries, each in words and in triples, with what it waits for. It waits for
   these alone, in both channels, and takes the surer answer of the two.
9. Refinement and answer are one call.
10. Answers of a few words are put in by program, and what triples have bound; a model grounds only where the answer is
    longer or missing, or the sub-query refers to it nowhere, and reads what the sub-query waits for.
11. Triples are matched in the graph; the retriever is asked where nothing fits them.
12. One draft and one verdict for both channels; the verdict says what is missing and what contradicts, and expansion
    reads that too.
"""
