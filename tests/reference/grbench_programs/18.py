# The pharmacologic class with the most compounds that treat a disease with a symptom.
query = """
MATCH (s:Symptom {name: $name})-[:DISEASE_PRESENTS_SYMPTOM]->(d:Disease)-[:COMPOUND_TREATS_DISEASE]->(c:Compound)
MATCH (c)-[:PHARMACOLOGIC_CLASS_INCLUDES_COMPOUND]->(p:Pharmacologic_Class)
RETURN p.id AS id, p.name AS name, count(DISTINCT c) AS compounds
ORDER BY compounds DESC
"""
rows = cypher(query, {"name": symptom})
for row in rows:
    if row["compounds"] == rows[0]["compounds"]:
        print(row["name"])
