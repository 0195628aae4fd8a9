"""check_routes.py SHARDWRIGHT: executes the text of routes (shard dialect) and compares every device's block with the
slice of the whole tensor that the target sharding says. Blocks are cut here, from the spelling of shardings alone.
"""
import itertools
import random
import re
import subprocess
import sys

from machine import Machine, UNDEFINED, build, numbers


def refs_of(sharding):
    """[[x,y:(1)2],[]] -> [[("x", 1, None), ("y", 1, 2)], []]; partial axes are read apart."""
    lists = re.findall(r"\[([^\[\]]*)\]", sharding.split(" partial")[0][1:-1])
    read = lambda r: (r.split(":")[0], *(numbers(r.split(":")[1]) if ":" in r else (1, None)))
    return [[read(r) for r in l.split(",") if r] for l in lists]


def index(mesh, device, refs):
    """Shard index and number of shards along refs, major to minor."""
    coordinates, rest = {}, device
    for name, size in reversed(list(mesh.items())):
        coordinates[name] = rest % size
        rest //= size
    i = n = 1
    i = 0
    for name, pre, size in refs:
        size = size or mesh[name] // pre
        below = mesh[name] // (pre * size)
        i, n = i * size + coordinates[name] // below % size, n * size
    return i, n


def block(mesh, dims, sharding, device, value):
    """What the device holds: value(position) where the tensor is, UNDEFINED in the padding."""
    starts, sizes = [], []
    for k, refs in zip(dims, refs_of(sharding)):
        i, n = index(mesh, device, refs)
        sizes.append(-(-k // n))
        starts.append(i * sizes[-1])

    def element(p):
        q = [s + i for s, i in zip(starts, p)]
        return value(q) if all(i < k for i, k in zip(q, dims)) else UNDEFINED
    return build(sizes, element)


def parts_of(sharding):
    """The axes that the value is partial over."""
    partial = re.search(r"partial sum\[(.*?)\]", sharding)
    return refs_of(f"[[{partial.group(1)}]]")[0] if partial else []


def summed(mesh, blocks, refs, places):
    """What the devices of a group along refs hold together, for each device; places: where they stand in the mesh."""
    if not refs:
        return blocks
    others = [(name, 1, None) for name in mesh if name not in [r[0] for r in refs]]
    groups = [index(mesh, place, others)[0] for place in places]

    def together(d):
        held = [b[1] for b, g in zip(blocks, groups) if g == groups[d]]
        return blocks[d][0], [UNDEFINED if UNDEFINED in e else sum(e) for e in zip(*held)]
    return [together(d) for d in range(len(blocks))]


def check(tool, mesh, dims, source, target, more, to_mesh=None, ids=None):
    """The target speaks of to_mesh, whose devices in order are `ids`."""
    if to_mesh:
        spelling = ",".join(f"{a}={n}" for a, n in to_mesh.items())
        more = more + ["--to-mesh", spelling + (" ids=" + ",".join(map(str, ids)) if ids else "")]
    command = [tool, "reshard", "--mesh", ",".join(f"{a}={n}" for a, n in mesh.items()), "--shape",
               "x".join(map(str, dims)), "--from", source, "--to", target, "--emit", "spmd=-", "--quiet"]
    text = subprocess.run(command + more, check=True, capture_output=True, text=True).stdout
    machine = Machine(text)
    parts = parts_of(source)
    number = lambda q: sum(i * 37 ** k for k, i in enumerate(q)) + 1

    def part(device):
        i, n = index(mesh, device, parts)
        return lambda q: number(q) - (n - 1) * 5 if i == 0 else 5
    blocks = [block(mesh, dims, source, d, part(d)) for d in range(machine.devices)]
    got = machine.run("main", blocks)
    places = [ids.index(d) if ids else d for d in range(machine.devices)]
    got = summed(to_mesh or mesh, got, parts_of(target), places)
    for d in range(machine.devices):
        want = block(to_mesh or mesh, dims, target, places[d], number)
        same = want[0] == got[d][0] and all(w == UNDEFINED or w == g for w, g in zip(want[1], got[d][1]))
        if not same:
            sys.exit(f"{' '.join(command + more)}\ndevice {d}: {got[d]}\nexpected {want}")
    return text


def shardings(axes, rank):
    """All ways to put whole axes in lists."""
    for n in range(len(axes) + 1):
        for order in itertools.permutations(axes, n):
            for cuts in itertools.combinations_with_replacement(range(n + 1), rank - 1):
                ends = [0, *cuts, n]
                yield "[" + ",".join("[" + ",".join(order[a:b]) + "]" for a, b in zip(ends, ends[1:])) + "]"


def main():
    tool = sys.argv[1]
    rng = random.Random(7)
    texts = []
    small = {"x": 2, "y": 3}
    for source, target in itertools.product(sorted(set(shardings("xy", 2))), repeat=2):
        for dims in ([6, 6], [5, 7]):
            texts.append(check(tool, small, dims, source, target, rng.choice([[], ["--no-exchange"]])))
    cube = {"x": 2, "y": 2, "z": 2}
    every = sorted(set(shardings("xyz", 3)))
    for _ in range(150):
        source, target = rng.choice(every), rng.choice(every)
        free = [a for a in "xyz" if a not in source]
        if free and rng.random() < 0.4:
            source += f" partial sum[{free[0]}]"
        dims = rng.choice([[4, 4, 8], [8, 8, 8], [3, 5, 6]])
        texts.append(check(tool, cube, dims, source, target, rng.choice([[], ["--no-exchange"]])))
    for pair in [("[[x:(1)2],[y]]", "[[y],[x:(2)2]]"), ("[[x],[y]]", "[[y,x:(2)2],[]]"), ("[[y],[x]]", "[[],[x,y]]")]:
        texts.append(check(tool, {"x": 4, "y": 2}, [8, 16], *pair, []))
    for source, target in itertools.product(sorted(set(shardings("xy", 2))), sorted(set(shardings("ab", 2)))):
        ids = rng.choice([None, rng.sample(range(6), 6)])
        free = [a for a in "ab" if a not in target]
        if free and rng.random() < 0.4:
            target += f" partial sum[{rng.choice(free)}]"
        texts.append(check(tool, small, rng.choice([[6, 6], [5, 7]]), source, target, [], {"a": 3, "b": 2}, ids))
    parts = [("[[x,y],[]]", "[[],[]] partial sum[a,b]", None),
             ("[[x],[]]", "[[],[]] partial sum[a,b]", [1, 0, 2, 3, 4, 5]),
             ("[[x],[]] partial sum[y]", "[[a],[]] partial sum[b]", None)]
    for source, target, ids in parts:
        texts.append(check(tool, small, [6, 6], source, target, [], {"a": 3, "b": 2}, ids))
    steps = "all_gather all_slice all_reduce reduce_scatter all_to_all send recv".split()
    counts = {s: sum(t.count(f"shard.{s} ") for t in texts) for s in steps}
    print(f"{len(texts)} routes executed from their text, every block right;", ", ".join(f"{s} {n}" for s, n in counts.items()))
    if not all(counts.values()):
        sys.exit("some op never occurs")


main()
