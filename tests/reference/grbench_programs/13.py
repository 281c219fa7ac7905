# Whether any disease that has to do with a gene presents a symptom, which the question names by its id.
query = """
MATCH (g:Gene {name: $gene})-[r:DISEASE_ASSOCIATES_GENE|DISEASE_UPREGULATES_GENE|DISEASE_DOWNREGULATES_GENE]->(d)
MATCH (d)-[:DISEASE_PRESENTS_SYMPTOM]->(s:Symptom {id: $symptom})
RETURN type(r) AS relation, d.name AS disease
"""
rows = cypher(query, {"gene": gene, "symptom": symptom_id})
print(len(rows) > 0)
