"""input.returns.keyword_only_call: In a keyword-only call a plain pre-hook is given (); what it returns goes before the keywords.

Says which reading this torch has.
Checked by suites/input/test_returns.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, keywords, looks, returned):
    class Three(torch.nn.Module):
        def forward(self, a=0, b=0, c=0):
            return [a, b, c]

    seen, module = [], Three()
    for _ in range(looks):
        module.register_forward_pre_hook(lambda module, args: seen.append(args))
    module.register_forward_pre_hook(lambda module, args: returned)
    try:
        seen.append(module(**keywords))
    except TypeError as error:
        seen.append(type(error).__name__)
    first = () if returned is None else returned if isinstance(returned, tuple) else (returned,)
    places = dict(zip("abc", first))
    if set(places) & set(keywords):
        due = "TypeError"
    else:
        due = [{**places, **keywords}.get(name, 0) for name in "abc"]
    assert seen == [subject.value(keywords)] * looks + [due]


READINGS = {
    'empty (every torch): A plain pre-hook sees no keywords; replacing an argument that the keywords give raises TypeError.': lambda keywords: (),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), keywords={'a': 1}, looks=1, returned=None)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
