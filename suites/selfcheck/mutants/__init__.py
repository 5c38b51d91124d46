"""Mutants: functions about hooks with one small change each, made from their source text. No clause may miss them."""
