# Side effects of a compound.
rows = cypher(
    "MATCH (c:Compound:biomedical {name: $name})-[:COMPOUND_CAUSES_SIDE_EFFECT]->(s:Side_Effect) RETURN s.name AS name",
    {"name": compound},
)
for row in rows:
    print(row["name"])
