"""Census entries that no clause covers, and why: the key is an id of `census.json`, or a prefix that ends in `*`."""

from typing import Dict

REASONS: Dict[str, str] = {}
