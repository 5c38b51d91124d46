"""Forms of a network: what a sentence about "a module" leaves open, so that its test tries each of them.

A form takes a network that calls its two modules one after the other, and returns it with another forward, which gives
the same numbers; the modules keep their names. A test draws one (`networks`) and builds with it. The tool for authors,
`suites.selfcheck.author.substitutions`, tries them where a test draws none.
"""

from types import FunctionType
from typing import Any, Dict

from hypothesis import strategies as st


def with_forward(module: Any, forward: Any) -> Any:
    """Give a module, and no other one of its class, another forward."""
    kind = type(module)
    # What old torch.compile gives up it gives up for ever, whoever comes next: each has its own code.
    code = forward.__code__.replace()
    own = FunctionType(code, forward.__globals__, "forward", forward.__defaults__, forward.__closure__)
    module.__class__ = type(kind.__name__, (kind,), {"forward": own})
    return module


def straight(net: Any) -> Any:
    """The network as it is, one module after the other."""
    return net


def prints_inside(net: Any) -> Any:
    """Its first module prints, which breaks the graph inside."""
    first = next(net.children())
    inner = type(first).forward

    def forward(self: Any, x: Any) -> Any:
        print(end="")
        return inner(self, x)

    with_forward(first, forward)
    return net


def rows_by_data(net: Any) -> Any:
    """Between its two modules a shape depends on data, which breaks the graph of the network itself."""
    import torch

    first, second = [name for name, _ in net.named_children()]

    def forward(self: Any, x: Any) -> Any:
        y = getattr(self, first)(x)
        rows = torch.nonzero(torch.ones(y.shape[0])).flatten()
        return getattr(self, second)(y.index_select(0, rows))

    return with_forward(net, forward)


def in_layers(net: Any) -> Any:
    """Its modules are in an nn.Sequential, with dropout in eval mode, and a layer norm comes after them."""
    import torch

    first, second = net.children()
    net.body = torch.nn.Sequential(first, torch.nn.Dropout(0.5).eval(), second)
    net.norm = torch.nn.LayerNorm(1).double()
    net.norm.weight.data.zero_()

    def forward(self: Any, x: Any) -> Any:
        y = self.body(x)
        return y + self.norm(y.unsqueeze(-1)).squeeze(-1)

    return with_forward(net, forward)


def loops(net: Any) -> Any:
    """It loops over an nn.ModuleDict of its modules."""
    import torch

    net.parts = torch.nn.ModuleDict(dict(net.named_children()))

    def forward(self: Any, x: Any) -> Any:
        for part in self.parts.values():
            x = part(x)
        return x

    return with_forward(net, forward)


def prints_in_loop(net: Any) -> Any:
    """It loops over an nn.ModuleList of its modules, and prints in the loop."""
    import torch

    net.parts = torch.nn.ModuleList(net.children())

    def forward(self: Any, x: Any) -> Any:
        for part in self.parts:
            print(end="")
            x = part(x)
        return x

    return with_forward(net, forward)


def twice(net: Any) -> Any:
    """It calls its first module twice."""
    first, second = [name for name, _ in net.named_children()]

    def forward(self: Any, x: Any) -> Any:
        one = getattr(self, first)
        return getattr(self, second)((one(x) + one(x)) / 2)

    return with_forward(net, forward)


def two_outputs(net: Any) -> Any:
    """Its first module has two outputs."""
    first, second = [name for name, _ in net.named_children()]
    inner = type(getattr(net, first)).forward

    def both(self: Any, x: Any) -> Any:
        y = inner(self, x)
        return y, y * 1

    def forward(self: Any, x: Any) -> Any:
        one, two = getattr(self, first)(x)
        return getattr(self, second)((one + two) / 2)

    with_forward(getattr(net, first), both)
    return with_forward(net, forward)


#: A recorded run plays each with each sentence that leaves it open, also where an example costs much; a quick one some.
FORMS = (straight, prints_inside, rows_by_data, in_layers, loops, prints_in_loop, twice, two_outputs)
#: Why a strategy leaves out some of them.
LEFT_OUT: Dict[Any, Dict[str, str]] = {}


def networks(**but: str) -> Any:
    """Any form but those that are named, each with the reason."""
    known = [form.__name__ for form in FORMS]
    assert set(but) < set(known), f"no form of {', '.join(known)}: {', '.join(but)}"
    drawn = st.sampled_from([form for form in FORMS if form.__name__ not in but])
    LEFT_OUT[drawn] = but
    return drawn


#: In which the graph breaks, left out where the sentence says that it does not.
BREAKS = dict.fromkeys(("prints_inside", "rows_by_data", "prints_in_loop"), "the sentence says: no graph break")
LOOP = "before 2.4 torch gives up a loop that breaks the graph: its modules run as in eager mode"
INSIDE = "before 2.4 a module that breaks the graph inside runs as in eager mode"
PARTS = "before 2.4 a global hook runs for the parts of a broken graph, too"
TWO_NAMES = "its modules have two names: functional_call and old torch.export do otherwise with these"
LAYERS = "the sentence says: own forward, and a layer of torch.nn has none"
ANY = networks()
#: Where old releases do otherwise with modules in a graph than in eager mode, and the sentences of that time say so.
IN_GRAPHS = networks(prints_in_loop=LOOP, prints_inside=INSIDE)
ONE_NAME = networks(in_layers=TWO_NAMES, loops=TWO_NAMES, prints_in_loop=TWO_NAMES)
EXPORTED = networks(
    in_layers=TWO_NAMES,
    loops=TWO_NAMES,
    prints_in_loop=TWO_NAMES,
    prints_inside="torch 2.2 exports no print()",
    rows_by_data="before 2.6 torch exports no such shape, or compiles what comes behind it",
)
ONE_GRAPH = networks(**BREAKS)


def first_of(output: Any) -> Any:
    """An output, or the first of several."""
    return output[0] if isinstance(output, tuple) else output


def scaled(output: Any, by: int) -> Any:
    """An output, or each of several, multiplied."""
    return tuple(one * by for one in output) if isinstance(output, tuple) else output * by
