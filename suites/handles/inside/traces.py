"""What a trace says of a hook that another one registers."""


def news(trace):
    """How often the new hook was called in each run; a run ends with the gradients."""
    counts = [0]
    for event in trace:
        counts[-1] += event.what == "new"
        if event.what == "grads":
            counts.append(0)
    return counts[:-1]
