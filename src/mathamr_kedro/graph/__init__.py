"""Math graphs: fusion, virtual nodes, vocabulary and tensors."""
