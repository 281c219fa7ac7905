# The pathway of the most genes associated with diseases with a symptom.
query = """
MATCH (s:Symptom {name: $name})-[:DISEASE_PRESENTS_SYMPTOM]->(d:Disease)-[:DISEASE_ASSOCIATES_GENE]->(g:Gene)
MATCH (g)-[:GENE_PARTICIPATES_PATHWAY]->(p:Pathway)
WITH p, count(DISTINCT g) AS genes
ORDER BY genes DESC
LIMIT 2
RETURN p.name AS name, genes
"""
rows = cypher(query, {"name": symptom}, limit=2)
print(rows[0]["name"])
if len(rows) == 2 and rows[0]["genes"] == rows[1]["genes"]:
    print(rows[1]["name"])
