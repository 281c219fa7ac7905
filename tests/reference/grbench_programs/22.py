# The pathway of the most genes that diseases with a symptom upregulate, counted here and not in Cypher.
from collections import Counter

query = """
MATCH (s:Symptom {name: $name})-[:DISEASE_PRESENTS_SYMPTOM]->(d:Disease)-[:DISEASE_UPREGULATES_GENE]->(g:Gene)
WITH DISTINCT g
MATCH (g)-[:GENE_PARTICIPATES_PATHWAY]->(p:Pathway)
RETURN p.id AS id, p.name AS name, g.id AS gene
"""
names = {}
counted = Counter()
for row in cypher(query, {"name": symptom}):
    names[row["id"]] = row["name"]
    counted[row["id"]] += 1
most = max(counted.values())
for key, number in counted.items():
    if number == most:
        print(names[key])
