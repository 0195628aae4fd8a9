"""Executes the text of a one-device program on all devices of its grid at once, in plain Python.

Knows what `shardwright reshard --emit spmd=-` writes: some StableHLO, and the shard dialect's collectives by their
definition. Tensors are (shape, flat list); every name holds one value per device.
"""
import itertools
import math
import re

UNDEFINED = "undefined"  # what nobody may read into a result


def strides(shape):
    return [math.prod(shape[i + 1:]) for i in range(len(shape))]


def positions(shape):
    return itertools.product(*[range(n) for n in shape])


def build(shape, f):
    return (list(shape), [f(p) for p in positions(shape)])


def at(x, p):
    return x[1][sum(s * i for s, i in zip(strides(x[0]), p))]


def numbers(text):
    return [int(n) for n in re.findall(r"-?\d+", text)]


def shape_of(type_text):
    return [int(n) for n in re.findall(r"(\d+)x", re.search(r"tensor<([^>]*)>", type_text).group(1))]


class Machine:
    def __init__(self, text):
        self.grid = [int(n) for n in re.search(r"shard.grid @mesh\(shape = ([\dx]+)\)", text).group(1).split("x")]
        axes = re.search(r"shardwright.axes = \[([^\]]*)\]", text).group(1)
        self.axes = [a.strip().strip('"') for a in axes.split(",")] if axes else []
        self.devices = math.prod(self.grid)
        self.functions = {}
        name = None
        for line in text.splitlines():
            head = re.match(r"  func.func (?:private )?@([\w.$]+)\(", line)
            if head:
                name = head.group(1)
                self.functions[name] = []
            elif name and re.match(r"    (%|return )", line):
                self.functions[name].append(line.strip())

    def coordinates(self, device):
        return [device // s % n for s, n in zip(strides(self.grid), self.grid)]

    def device(self, coordinates):
        return sum(s * c for s, c in zip(strides(self.grid), coordinates))

    def group(self, device, axes):
        """Devices of the group over `axes`, in order, and where this one stands."""
        here, members = self.coordinates(device), []
        for p in positions([self.grid[a] for a in axes]):
            c = list(here)
            for a, i in zip(axes, p):
                c[a] = i
            members.append(self.device(c))
        return members, members.index(device)

    def run(self, function, blocks):
        """blocks: one per device; returns the result's blocks."""
        env = {"%x": blocks}
        mail = {}
        for line in self.functions[function]:
            if line.startswith("return "):
                return env[re.match(r"return (\S+)", line).group(1)]
            self.step(line, env, mail)
        raise ValueError("a function without return")

    def step(self, line, env, mail):
        left, right = line.split(" = ", 1)
        names = [n.strip() for n in left.split(",")]
        op = re.match(r'"?([\w.]+)', right).group(1)
        method = getattr(self, op.split(".")[-1] if op != "arith.constant" else "scalar_constant")
        if op == "call":
            callee = re.match(r"call @([\w.$]+)\((\S+)\)", right)
            env[names[0]] = self.run(callee.group(1), env[callee.group(2)])
            return
        operands = re.findall(r"%[\w.$]+", right.split(" : ")[0].split("<{")[0])
        values = [env[n] for n in operands]
        results = [method(right, d, [v[d] for v in values], values, mail) for d in range(self.devices)]
        if len(names) == 1:
            env[names[0]] = results
        for i, n in enumerate(names if len(names) > 1 else []):
            env[n] = [r[i] for r in results]

    call = None

    # --- local work

    def scalar_constant(self, text, *_):
        table = re.search(r"dense<(.*)> : (tensor<.*>)", text)
        if table:
            return (shape_of(table.group(2)), numbers(table.group(1)))
        return int(re.search(r"constant (-?\d+)", text).group(1))

    def constant(self, text, *_):
        value, kind = re.search(r"dense<(.*?)> : (tensor<[^>]*>)", text).groups()
        return build(shape_of(kind), lambda p: int(float(value)) if value not in ("true", "false") else value == "true")

    def muli(self, text, d, v, *_):
        return v[0] * v[1]

    def addi(self, text, d, v, *_):
        return v[0] + v[1]

    def index_cast(self, text, d, v, *_):
        return v[0]

    def from_elements(self, text, d, v, *_):
        return ([], [v[0]])

    def extract(self, text, d, v, *_):
        return at(v[0], v[1:])

    def reshape(self, text, d, v, *_):
        return (shape_of(text.rsplit("->")[1]), v[0][1])

    def transpose(self, text, d, v, *_):
        order = numbers(re.search(r"permutation = array<i64:?([^>]*)>", text).group(1))
        shape = [v[0][0][i] for i in order]

        def source(p):
            q = [0] * len(p)
            for i, o in enumerate(order):
                q[o] = p[i]
            return at(v[0], q)
        return build(shape, source)

    def pad(self, text, d, v, *_):
        low = numbers(re.search(r"edge_padding_low = array<i64:?([^>]*)>", text).group(1))
        inside = lambda q: all(0 <= i < n for i, n in zip(q, v[0][0]))

        def source(p):
            q = [i - l for i, l in zip(p, low)]
            return at(v[0], q) if inside(q) else UNDEFINED
        return build(shape_of(text.rsplit("->")[1]), source)

    def slice(self, text, d, v, *_):
        start = numbers(re.search(r"start_indices = array<i64:?([^>]*)>", text).group(1))
        return build(shape_of(text.rsplit("->")[1]), lambda p: at(v[0], [i + s for i, s in zip(p, start)]))

    def dynamic_slice(self, text, d, v, *_):
        shape = shape_of(text.rsplit("->")[1])
        start = [s[1][0] for s in v[1:]]
        assert all(0 <= s <= n - k for s, n, k in zip(start, v[0][0], shape)), "a slice would be moved"
        return build(shape, lambda p: at(v[0], [i + s for i, s in zip(p, start)]))

    def dynamic_update_slice(self, text, d, v, *_):
        start = [s[1][0] for s in v[2:]]
        assert all(0 <= s <= n - k for s, n, k in zip(start, v[0][0], v[1][0])), "an update would be moved"

        def source(p):
            q = [i - s for i, s in zip(p, start)]
            return at(v[1], q) if all(0 <= i < n for i, n in zip(q, v[1][0])) else at(v[0], p)
        return build(v[0][0], source)

    def broadcast_in_dim(self, text, d, v, *_):
        return build(shape_of(text.rsplit("->")[1]), lambda p: v[0][1][0])

    def iota(self, text, d, v, *_):
        dim = int(re.search(r"iota_dimension = (\d+)", text).group(1))
        return build(shape_of(text.rsplit("->")[1]), lambda p: p[dim])

    def compare(self, text, d, v, *_):
        how = re.search(r"comparison_direction (\w+)", text).group(1)
        f = {"LT": lambda a, b: a < b, "GE": lambda a, b: a >= b, "EQ": lambda a, b: a == b}[how]
        return (v[0][0], [f(a, b) for a, b in zip(v[0][1], v[1][1])])

    def multiply(self, text, d, v, *_):
        return (v[0][0], [a * b for a, b in zip(v[0][1], v[1][1])])

    def subtract(self, text, d, v, *_):
        return (v[0][0], [a - b for a, b in zip(v[0][1], v[1][1])])

    def __getattr__(self, name):
        if name == "and":
            return lambda text, d, v, *_: (v[0][0], [a and b for a, b in zip(v[0][1], v[1][1])])
        raise AttributeError(name)

    def select(self, text, d, v, *_):
        which = v[0][1] * (len(v[1][1]) if not v[0][0] else 1)
        return (v[1][0], [b if a else c for a, b, c in zip(which, v[1][1], v[2][1])])

    # --- what devices say to each other

    def process_linear_index(self, text, d, *_):
        return d

    def process_multi_index(self, text, d, *_):
        axes = numbers(re.search(r"axes = \[([^\]]*)\]", text).group(1))
        c = [self.coordinates(d)[a] for a in axes]
        return c if len(c) > 1 else c[0]

    @staticmethod
    def axes_of(text):
        return numbers(re.search(r"grid_axes = \[([^\]]*)\]", text).group(1))

    @staticmethod
    def key(text, name):
        return int(re.search(name + r" = (-?\d+)", text).group(1))

    @staticmethod
    def cut(x, dim, n, i):
        size = x[0][dim] // n
        shape = list(x[0])
        shape[dim] = size
        return build(shape, lambda p: at(x, list(p[:dim]) + [p[dim] + i * size] + list(p[dim + 1:])))

    @staticmethod
    def join(parts, dim):
        size = parts[0][0][dim]
        shape = list(parts[0][0])
        shape[dim] = size * len(parts)
        return build(shape, lambda p: at(parts[p[dim] // size], list(p[:dim]) + [p[dim] % size] + list(p[dim + 1:])))

    @staticmethod
    def add(parts):
        total = lambda t: UNDEFINED if UNDEFINED in t else sum(t)
        return (parts[0][0], [total(t) for t in zip(*[p[1] for p in parts])])

    def all_gather(self, text, d, v, all_values, mail):
        members, _ = self.group(d, self.axes_of(text))
        return self.join([all_values[0][m] for m in members], self.key(text, "gather_axis"))

    def all_slice(self, text, d, v, *_):
        members, i = self.group(d, self.axes_of(text))
        return self.cut(v[0], self.key(text, "slice_axis"), len(members), i)

    def all_reduce(self, text, d, v, all_values, mail):
        return self.add([all_values[0][m] for m in self.group(d, self.axes_of(text))[0]])

    def reduce_scatter(self, text, d, v, all_values, mail):
        members, i = self.group(d, self.axes_of(text))
        return self.cut(self.all_reduce(text, d, v, all_values, mail), self.key(text, "scatter_axis"), len(members), i)

    def all_to_all(self, text, d, v, all_values, mail):
        members, i = self.group(d, self.axes_of(text))
        parts = [self.cut(all_values[0][m], self.key(text, "split_axis"), len(members), i) for m in members]
        return self.join(parts, self.key(text, "concat_axis"))

    def send(self, text, d, v, all_values, mail):
        assert self.axes_of(text) == list(range(len(self.grid)))
        mail.setdefault((d, self.device(v[1:])), []).append(v[0])
        return v[0]

    def recv(self, text, d, v, all_values, mail):
        return mail[(self.device(v[1:]), d)].pop(0)
