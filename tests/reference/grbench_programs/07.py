# The compound that treats two diseases.
found = []
for name in (disease, other_disease):
    rows = cypher(
        "MATCH (d:Disease {name: $name})-[:COMPOUND_TREATS_DISEASE]->(c:Compound) RETURN c.id AS id, c.name AS name",
        {"name": name},
    )
    found.append({row["id"]: row["name"] for row in rows})
for key, name in found[0].items():
    if key in found[1]:
        print(name)
