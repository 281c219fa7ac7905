# How many diseases have all symptoms of one: what the published answers count, whatever else those diseases present.
query = """
MATCH (d:Disease {name: $name})-[:DISEASE_PRESENTS_SYMPTOM]->(s:Symptom)
MATCH (s)-[:DISEASE_PRESENTS_SYMPTOM]->(o:Disease)
WHERE o.name <> $name
RETURN o.id AS id, count(DISTINCT s) AS shared
"""
own = cypher(
    "MATCH (d:Disease {name: $name})-[:DISEASE_PRESENTS_SYMPTOM]->(s) RETURN count(DISTINCT s) AS k", {"name": disease}
)
all_of_them = own[0]["k"]
print(sum(1 for row in cypher(query, {"name": disease}) if row["shared"] == all_of_them))
