# Symptoms of a disease.
rows = cypher(
    "MATCH (d:Disease:biomedical {name: $name})-[r:DISEASE_PRESENTS_SYMPTOM]->(s:Symptom) RETURN s.name AS name",
    {"name": disease},
)
for row in rows:
    print(row["name"])
