"""How providers count: shapes with constants, and nothing about any one model."""
