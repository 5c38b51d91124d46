"""output.layers.built_in: Linear, Bilinear, Dropout, BatchNorm1d, LayerNorm, ReLU, Softmax and Flatten call their hooks.

Says which reading this torch has.
Checked by suites/output/test_layers.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, names, states, count):
    class Layer(torch.nn.Sequential):
        def forward(self, x):
            given_to_layers.append(x)
            for layer in self:
                x = layer(x, x) if isinstance(layer, torch.nn.Bilinear) else layer(x)
                given_to_layers.append(x)
            return x

    options = {"Bilinear": (2, 2, 2), "Linear": (2, 2), "BatchNorm1d": (2,), "LayerNorm": (2,), "Softmax": (1,)}
    given_to_layers, ran = [], []
    net = Layer(*(getattr(torch.nn, name)(*options.get(name, ())) for name in names))
    for layer in net:
        for _ in range(count):
            layer.register_forward_hook(lambda module, args, output: ran.append((args, output)))
    for training in states:
        given_to_layers.clear()
        ran.clear()
        net.train(training)(torch.ones(3, 2))
        due = [pair for pair in zip(given_to_layers, given_to_layers[1:]) for _ in range(count)]
        assert len(ran) == (len(due) if training in subject.value else 0)
        for (args, output), (x, out) in zip(ran, due):
            assert all(arg is x for arg in args)
            assert output is out


READINGS = {
    'like any (every torch): Built-in layers call their hooks in training and in evaluation.': (True, False),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), names=['Linear'], states=[False], count=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
