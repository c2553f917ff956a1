"""How near the prices come to what was billed, by family and medium, beside what other libraries say."""
