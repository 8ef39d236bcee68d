"""The parser that works everywhere: dependency parse, rules, small learned tables."""
