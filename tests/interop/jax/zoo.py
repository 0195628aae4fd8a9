"""Steps of models as their users write them in JAX, as shapes alone: large enough that a plan cuts them, and compiled in
seconds.

ZOO: name -> a function that gives a Step. The first argument of each is its state, which is donated.
"""

import dataclasses
import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

import llama

ZOO = {}
BETWEEN_LAYERS = [lambda x: x]  # what a baseline does to activations there: with_sharding_constraint


@dataclasses.dataclass(frozen=True)
class Step:
    """`weights` is the state, or one of the batch, whose others are cut by their first dimension. `tensor`: how Megatron
    cuts weights, by a part of their name: the dimension that it cuts. Empty: it says nothing of such a model."""

    run: Callable
    state: dict
    batch: tuple
    weights: dict
    tensor: dict


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def i32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.int32)


def step(make):
    ZOO[make.__name__] = make
    return make


def between_layers(x):
    return BETWEEN_LAYERS[0](x)


def trained(loss, weights, batch, tensor=None, moments=2):
    """One step of Adam, or of momentum with one moment."""

    def run(state, *data):
        value, grads = jax.value_and_grad(loss)(state["w"], *data)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
        if moments == 1:
            return {"w": jax.tree.map(lambda w, m: w - 1e-2 * m, state["w"], m), "m": m}, value
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, state["v"], grads)
        w = jax.tree.map(lambda w, m, v: w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), state["w"], m, v)
        return {"w": w, "m": m, "v": v}, value

    state = {key: weights for key in "wmv"[: moments + 1]}
    return Step(run, state, batch, state, tensor or {})


def cross_entropy(logits, labels):
    wide = logits.astype(jnp.float32)
    return jnp.mean(jax.nn.logsumexp(wide, -1) - jnp.take_along_axis(wide, labels[..., None], -1)[..., 0])


def layer_norm(w, x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * w["scale"] + w["bias"]


def norm_shapes(width):
    return {"scale": f32(width), "bias": f32(width)}


def rms_norm(scale, x):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


def softmax_attention(q, k, v, mask=None, bias=0.0):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1]) + bias
    if mask is not None:
        scores = jnp.where(mask, scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v)


def heads_shapes(width, heads):
    per_head = f32(width, heads, width // heads)
    return {"q": per_head, "k": per_head, "v": per_head, "o": f32(heads, width // heads, width)}


def attend(w, x, memory=None, mask=None, bias=0.0):
    memory = x if memory is None else memory
    q, (k, v) = jnp.einsum("btw,whd->bthd", x, w["q"]), (jnp.einsum("btw,whd->bthd", memory, w[n]) for n in "kv")
    return jnp.einsum("bthd,hdw->btw", softmax_attention(q, k, v, mask, bias), w["o"])


def causal(t):
    return jnp.tril(jnp.ones((t, t), bool))


MEGATRON = {"'q'": 1, "'k'": 1, "'v'": 1, "'o'": 0, "'up'": 1, "'gate'": 1, "'down'": 0, "'table'": 0, "'up_bias'": 0}
STACKED = {name: dim + 1 for name, dim in MEGATRON.items() if name != "'table'"} | {"'table'": 0}


def block_shapes(width, heads):
    mlp = {"up": f32(width, 4 * width), "up_bias": f32(4 * width), "down": f32(4 * width, width), "down_bias": f32(width)}
    return {"norm1": norm_shapes(width), "attention": heads_shapes(width, heads), "norm2": norm_shapes(width), **mlp}


def block(w, x, mask=None, drop=lambda x, _: x):
    x = between_layers(x)
    x = x + drop(attend(w["attention"], layer_norm(w["norm1"], x), mask=mask), 0)
    h = jax.nn.gelu(layer_norm(w["norm2"], x) @ w["up"] + w["up_bias"])
    return x + drop(h @ w["down"] + w["down_bias"], 1)


# --- language models --------------------------------------------------------------------------------------------------


@step
def transformer():
    width, layers, vocabulary, batch, length = 1024, 3, 16384, 32, 512

    def loss(w, tokens, labels):
        x = w["table"][tokens] * np.sqrt(width) + jnp.sin(jnp.arange(length)[:, None] / 1e4 ** (jnp.arange(width) / width))
        for layer in w["blocks"]:
            x = block(layer, x, causal(length))
        return cross_entropy(x @ w["head"], labels)

    weights = {"table": f32(vocabulary, width), "blocks": [block_shapes(width, 16)] * layers, "head": f32(width, vocabulary)}
    return trained(loss, weights, (i32(batch, length),) * 2, MEGATRON | {"'head'": 1})


@step
def gpt2():
    """GPT-2 small with fewer layers: tied tables of 50257 words, which nothing here divides."""
    width, layers, vocabulary, batch, length = 768, 4, 50257, 16, 512

    def loss(w, tokens, labels):
        x = w["table"][tokens] + w["position"]
        for layer in w["blocks"]:
            x = block(layer, x, causal(length))
        return cross_entropy(layer_norm(w["norm"], x) @ w["table"].T, labels)

    blocks = {"blocks": [block_shapes(width, 12)] * layers}
    weights = {"table": f32(vocabulary, width), "position": f32(length, width), **blocks, "norm": norm_shapes(width)}
    return trained(loss, weights, (i32(batch, length),) * 2, {k: v for k, v in MEGATRON.items() if k != "'table'"})


@step
def llama3():
    """Llama-3 8B with four of its layers, scanned and rematerialised; bf16 beside f32 weights."""
    weights = jax.tree.map(lambda s: f32(*s), llama.shapes(4), is_leaf=lambda x: isinstance(x, tuple))
    cut = {"'embedding'": 0, "'head'": 1, "'q'": 2, "'k'": 2, "'v'": 2, "'o'": 1, "'gate'": 2, "'up'": 2, "'down'": 1}

    def layer(x, w):
        return llama.layer(between_layers(x), w)

    def loss(w, tokens, labels):
        x = w["embedding"].astype(jnp.bfloat16)[tokens]
        x, _ = jax.lax.scan(jax.checkpoint(layer), x, w["layers"])
        return cross_entropy(llama.norm(x, w["norm"]) @ w["head"].astype(x.dtype), labels)

    return trained(loss, weights, (i32(16, 2048),) * 2, cut)


@step
def gemma():
    """Layers in a loop, computed again backward; one head of keys for all; tied table, capped logits."""
    width, layers, heads, head, vocabulary, batch, length = 2048, 4, 8, 256, 65536, 16, 1024

    def layer(x, w):
        x = between_layers(x)
        h = rms_norm(1 + w["norm1"], x)
        q = llama.rotate(jnp.einsum("btw,whd->bthd", h, w["q"]))
        k, v = llama.rotate((h @ w["k"])[:, :, None])[:, :, 0], h @ w["v"]
        scores = 50 * jnp.tanh(jnp.einsum("bqhd,bkd->bhqk", q, k) / np.sqrt(head) / 50)
        shares = jax.nn.softmax(jnp.where(causal(length), scores, -1e9), -1)
        x = x + jnp.einsum("bhqk,bkd,hdw->bqw", shares, v, w["o"])
        h = rms_norm(1 + w["norm2"], x)
        return x + (jax.nn.gelu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], None

    def loss(w, tokens, labels):
        x = w["table"][tokens] * np.float32(np.sqrt(width))
        x, _ = jax.lax.scan(jax.checkpoint(layer), x, w["layers"])
        return cross_entropy(30 * jnp.tanh(rms_norm(1 + w["norm"], x) @ w["table"].T / 30), labels)

    shapes = {"q": (width, heads, head), "k": (width, head), "v": (width, head), "o": (heads, head, width)}
    shapes |= {"norm1": (width,), "norm2": (width,), "gate": (width, 4 * width), "up": (width, 4 * width), "down": (4 * width, width)}
    stacked = {name: f32(layers, *shape) for name, shape in shapes.items()}
    weights = {"table": f32(vocabulary, width), "layers": stacked, "norm": f32(width)}
    cut = {k: v for k, v in STACKED.items() if k not in ("'k'", "'v'")}
    return trained(loss, weights, (i32(batch, length),) * 2, cut)


@step
def t5():
    """Encoder and decoder with relative positions."""
    width, layers, heads, vocabulary, batch, length = 768, 2, 12, 32128, 32, 256

    def near(table):
        return table[jnp.clip(jnp.arange(length)[None] - jnp.arange(length)[:, None] + 16, 0, 31)].transpose(2, 0, 1)

    def feed(w, x):
        h = rms_norm(w["norm3"], x)
        return x + (jax.nn.gelu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]

    def loss(w, source, target, labels):
        memory, x = w["table"][source], w["table"][target]
        for layer in w["encoder"]:
            memory = between_layers(memory)
            memory = memory + attend(layer["self"], rms_norm(layer["norm1"], memory), bias=near(w["near"]))
            memory = feed(layer, memory)
        for layer in w["decoder"]:
            x = between_layers(x)
            x = x + attend(layer["self"], rms_norm(layer["norm1"], x), mask=causal(length), bias=near(w["near"]))
            x = x + attend(layer["cross"], rms_norm(layer["norm2"], x), memory)
            x = feed(layer, x)
        return cross_entropy(x @ w["table"].T, labels)

    norms = {f"norm{i}": f32(width) for i in (1, 2, 3)}
    mlp = {"gate": f32(width, 2048), "up": f32(width, 2048), "down": f32(2048, width)}
    encoder = {"self": heads_shapes(width, heads), **norms, **mlp}
    decoder = encoder | {"cross": heads_shapes(width, heads)}
    weights = {"table": f32(vocabulary, width), "near": f32(32, heads), "encoder": [encoder] * layers, "decoder": [decoder] * layers}
    return trained(loss, weights, (i32(batch, length),) * 3, MEGATRON)


def experts(w, x, chosen):
    """Dense dispatch to places in experts, and back: `chosen` of the experts for each token."""
    n, places = w["router"].shape[1], x.shape[1] * chosen // w["router"].shape[1] * 5 // 4
    share, which = jax.lax.top_k(jax.nn.softmax(x @ w["router"]), chosen)
    sent = jax.nn.one_hot(which, n).transpose(0, 2, 1, 3).reshape(x.shape[0], -1, n)
    place = (jnp.cumsum(sent, 1) * sent - 1).reshape(x.shape[0], chosen, -1, n).transpose(0, 2, 1, 3)
    at = jax.nn.one_hot(place.astype(jnp.int32), places) * jax.nn.one_hot(which, n)[..., None]
    there, back = at.sum(2), (at * share[..., None, None]).sum(2)
    h = jnp.einsum("btec,btw->ebcw", there, x)
    h = jax.nn.silu(jnp.einsum("ebcw,ewh->ebch", h, w["expert_up"]))
    return jnp.einsum("ebcw,btec->btw", jnp.einsum("ebch,ehw->ebcw", h, w["expert_down"]), back)


def moe_step(chosen, scanned):
    width, layers, heads, n, vocabulary, batch, length = 1024, 2, 16, 8, 16384, 32, 256

    def layer(x, w):
        x = between_layers(x)
        x = x + attend(w["attention"], rms_norm(w["norm1"], x), mask=causal(length))
        return x + experts(w, rms_norm(w["norm2"], x), chosen), None

    def loss(w, tokens, labels):
        x = w["table"][tokens]
        if scanned:
            x, _ = jax.lax.scan(layer, x, w["layers"])
        else:
            for each in w["layers"]:
                x, _ = layer(x, each)
        return cross_entropy(x @ w["head"], labels)

    shapes = {"norm1": f32(width), "norm2": f32(width), "attention": heads_shapes(width, heads), "router": f32(width, n)}
    shapes |= {"expert_up": f32(n, width, 4 * width), "expert_down": f32(n, 4 * width, width)}
    stacked = jax.tree.map(lambda s: f32(layers, *s.shape), shapes) if scanned else [shapes] * layers
    weights = {"table": f32(vocabulary, width), "layers": stacked, "head": f32(width, vocabulary)}
    cut = (STACKED if scanned else MEGATRON) | {"'head'": 1, "'expert_up'": int(scanned), "'expert_down'": int(scanned)}
    return trained(loss, weights, (i32(batch, length),) * 2, cut)


@step
def mixture_of_experts():
    return moe_step(1, False)


@step
def moe_top2():
    return moe_step(2, True)


# --- sequences --------------------------------------------------------------------------------------------------------


@step
def lstm():
    width, vocabulary, batch, length = 1024, 8192, 128, 64

    def one(w, x):
        def advance(state, now):
            h, c = state
            i, f, g, o = jnp.split(now @ w["in"] + h @ w["again"] + w["bias"], 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((x.shape[1], width))
        return jax.lax.scan(advance, (zero, zero), x)[1]

    def loss(w, tokens, labels):
        x = w["table"][tokens].transpose(1, 0, 2)
        for layer in w["layers"]:
            x = one(layer, x)
        return cross_entropy(x.transpose(1, 0, 2) @ w["head"], labels)

    layer = {"in": f32(width, 4 * width), "again": f32(width, 4 * width), "bias": f32(4 * width)}
    weights = {"table": f32(vocabulary, width), "layers": [layer] * 2, "head": f32(width, vocabulary)}
    return trained(loss, weights, (i32(batch, length),) * 2, {"'in'": 1, "'again'": 1, "'bias'": 0, "'head'": 1})


def first_order(decay, x):
    """h[t] = decay[t] h[t-1] + x[t] along dimension 1."""
    return jax.lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (decay, x), axis=1)[1]


@step
def mamba():
    width, inner, state, layers, vocabulary, batch, length = 768, 1536, 16, 2, 16384, 16, 256

    def mix(w, x):
        u, gate = jnp.split(x @ w["in"], 2, -1)
        u = sum(jnp.pad(u, ((0, 0), (i, 0), (0, 0)))[:, :length] * w["taps"][i] for i in range(4))
        u = jax.nn.silu(u)
        rate = jax.nn.softplus(u @ w["rate_in"] @ w["rate_out"])
        b, c = u @ w["b"], u @ w["c"]
        decay = jnp.exp(-rate[..., None] * jnp.exp(w["a"]))
        h = first_order(decay, (rate * u)[..., None] * b[:, :, None])
        y = jnp.einsum("btds,bts->btd", h, c) + u * w["skip"]
        return (y * jax.nn.silu(gate)) @ w["out"]

    def loss(w, tokens, labels):
        x = w["table"][tokens]
        for layer in w["layers"]:
            x = between_layers(x)
            x = x + mix(layer, rms_norm(layer["norm"], x))
        return cross_entropy(x @ w["table"].T, labels)

    layer = {"norm": f32(width), "in": f32(width, 2 * inner), "taps": f32(4, inner), "rate_in": f32(inner, 48)}
    layer |= {"rate_out": f32(48, inner), "b": f32(inner, state), "c": f32(inner, state), "a": f32(inner, state)}
    layer |= {"skip": f32(inner), "out": f32(inner, width)}
    weights = {"table": f32(vocabulary, width), "layers": [layer] * layers}
    return trained(loss, weights, (i32(batch, length),) * 2)


@step
def state_space():
    """Diagonal recurrences as one associative scan a layer."""
    width, state, layers, batch, length = 512, 256, 3, 32, 512

    def loss(w, x, y):
        for layer in w["layers"]:
            x = between_layers(x)
            u = layer_norm(layer["norm"], x) @ layer["b"]
            decay = jnp.broadcast_to(jax.nn.sigmoid(layer["decay"]), u.shape)
            h = first_order(decay, u)
            x = x + jax.nn.glu(jax.nn.gelu(h @ layer["c"]) @ layer["mix"])
        return jnp.mean((x @ w["out"] - y) ** 2)

    layer = {"norm": norm_shapes(width), "decay": f32(state), "b": f32(width, state), "c": f32(state, width), "mix": f32(width, 2 * width)}
    return trained(loss, {"layers": [layer] * layers, "out": f32(width, 64)}, (f32(batch, length, width), f32(batch, length, 64)))


@step
def decode():
    """Greedy decoding with a cache until all texts have ended."""
    width, layers, heads, vocabulary, batch, length = 2048, 2, 16, 32768, 64, 512
    head = width // heads

    def attend_cached(w, h, cache, at):
        q, k, v = (jnp.einsum("bw,whd->bhd", h, w[name]) for name in "qkv")
        keys = jax.lax.dynamic_update_slice(cache["k"], k[:, None], (0, at, 0, 0))
        values = jax.lax.dynamic_update_slice(cache["v"], v[:, None], (0, at, 0, 0))
        scores = jnp.einsum("bhd,bshd->bhs", q, keys) / np.sqrt(head)
        shares = jax.nn.softmax(jnp.where(jnp.arange(length) <= at, scores, -1e9), -1)
        return jnp.einsum("bhs,bshd,hdw->bw", shares, values, w["o"]), {"k": keys, "v": values}

    def run(cache, w, first):
        def more(s):
            return (s[0] < length) & ~jnp.all(s[3])

        def advance(s):
            at, caches, token, done, text = s
            x, kept = w["table"][token], []
            for layer, cache in zip(w["layers"], caches, strict=True):
                y, cache = attend_cached(layer["attention"], rms_norm(layer["norm1"], x), cache, at)
                x, kept = x + y, [*kept, cache]
                h = rms_norm(layer["norm2"], x)
                x = x + (jax.nn.silu(h @ layer["gate"]) * (h @ layer["up"])) @ layer["down"]
            token = jnp.argmax(x @ w["head"], -1).astype(jnp.int32)
            text = jax.lax.dynamic_update_slice(text, token[:, None], (0, at))
            return at + 1, kept, token, done | (token == 0), text

        start = (0, cache["caches"], first, jnp.zeros(batch, bool), jnp.zeros((batch, length), jnp.int32))
        _, caches, _, _, text = jax.lax.while_loop(more, advance, start)
        return {"caches": caches}, text

    layer = {"norm1": f32(width), "norm2": f32(width), "attention": heads_shapes(width, heads)}
    layer |= {"gate": f32(width, 4 * width), "up": f32(width, 4 * width), "down": f32(4 * width, width)}
    weights = {"table": f32(vocabulary, width), "layers": [layer] * layers, "head": f32(width, vocabulary)}
    cache = {"k": f32(batch, length, heads, head), "v": f32(batch, length, heads, head)}
    return Step(run, {"caches": [cache] * layers}, (weights, i32(batch)), weights, MEGATRON | {"'head'": 1})


# --- images -----------------------------------------------------------------------------------------------------------


def conv(x, w, stride=1):
    return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@step
def resnet50():
    batch, size = 64, 64

    def unit(w, x, act=True):
        x = conv(x, w["w"], w["stride"])
        mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
        x = (x - mean) * jax.lax.rsqrt(var + 1e-5) * w["scale"] + w["bias"]
        return jax.nn.relu(x) if act else x

    def shapes(k, c_in, c_out):
        return {"w": f32(k, k, c_in, c_out), "scale": f32(c_out), "bias": f32(c_out)}

    plan, weights, c_in = [], {"stem": shapes(7, 3, 64), "stages": []}, 64
    for stage, (n, c) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
        blocks = []
        for i in range(n):
            stride = 2 if stage and not i else 1
            w = {"reduce": shapes(1, c_in, c), "middle": shapes(3, c, c), "widen": shapes(1, c, 4 * c)}
            if not i:
                w["project"] = shapes(1, c_in, 4 * c)
            blocks.append(w)
            plan.append((stage, i, stride))
            c_in = 4 * c
        weights["stages"].append(blocks)
    weights["out"] = f32(2048, 1000)

    def loss(w, images, labels):
        x = unit(w["stem"] | {"stride": 2}, images)
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        for stage, i, stride in plan:
            b = w["stages"][stage][i]
            y = unit(b["reduce"] | {"stride": 1}, x)
            y = unit(b["middle"] | {"stride": stride}, y)
            y = unit(b["widen"] | {"stride": 1}, y, False)
            x = jax.nn.relu(y + (unit(b["project"] | {"stride": stride}, x, False) if "project" in b else x))
        return cross_entropy(x.mean((1, 2)) @ w["out"], labels)

    return trained(loss, weights, (f32(batch, size, size, 3), i32(batch)), moments=1)


def vit_step(dropout):
    width, heads, layers, batch, size, patch = 768, 12, 3, 64, 224, 16

    def loss(w, images, labels, *key):
        x = jax.lax.conv_general_dilated(images, w["patch"], (patch, patch), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = x.reshape(batch, -1, width)
        x = jnp.concatenate([jnp.broadcast_to(w["class"], (batch, 1, width)), x], 1) + w["position"]

        def drop(layer, x, place):
            if not dropout:
                return x
            now = jax.random.fold_in(jax.random.wrap_key_data(key[0]), 2 * layer + place)
            return jnp.where(jax.random.bernoulli(now, 0.9, x.shape), x / 0.9, 0)

        for i, layer in enumerate(w["blocks"]):
            x = block(layer, x, drop=functools.partial(drop, i))
        return cross_entropy(layer_norm(w["norm"], x)[:, 0] @ w["head"], labels)

    n = (size // patch) ** 2
    weights = {"patch": f32(patch, patch, 3, width), "class": f32(1, 1, width), "position": f32(n + 1, width)}
    weights |= {"blocks": [block_shapes(width, heads)] * layers, "norm": norm_shapes(width), "head": f32(width, 1000)}
    key = (jax.ShapeDtypeStruct((2,), jnp.uint32),) if dropout else ()
    return trained(loss, weights, (f32(batch, size, size, 3), i32(batch), *key), MEGATRON)


@step
def vit():
    return vit_step(False)


@step
def vit_dropout():
    return vit_step(True)


@step
def unet():
    """Noise of images predicted: two resolutions, time in each block, attention at the lower one."""
    batch, size, c = 32, 32, 128

    def group_norm(w, x):
        groups = x.reshape(*x.shape[:3], 32, -1)
        mean, var = groups.mean((1, 2, 4), keepdims=True), groups.var((1, 2, 4), keepdims=True)
        return ((groups - mean) * jax.lax.rsqrt(var + 1e-5)).reshape(x.shape) * w["scale"] + w["bias"]

    def residual(w, x, time):
        h = conv(jax.nn.silu(group_norm(w["norm1"], x)), w["first"]) + (time @ w["time"])[:, None, None]
        h = conv(jax.nn.silu(group_norm(w["norm2"], h)), w["second"])
        return h + (conv(x, w["skip"]) if "skip" in w else x)

    def shapes(c_in, c_out):
        w = {"norm1": norm_shapes(c_in), "first": f32(3, 3, c_in, c_out), "time": f32(4 * c, c_out)}
        w |= {"norm2": norm_shapes(c_out), "second": f32(3, 3, c_out, c_out)}
        return w | ({"skip": f32(1, 1, c_in, c_out)} if c_in != c_out else {})

    def loss(w, images, noise, at):
        angle = at[:, None] * jnp.exp(-jnp.arange(c // 2) * (np.log(1e4) / (c // 2)))
        time = jax.nn.silu(jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], -1) @ w["time"])
        left = jnp.cos(at)[:, None, None, None]
        x = conv(left * images + jnp.sqrt(1 - left**2) * noise, w["in"])
        high = residual(w["down1"], x, time)
        low = residual(w["down2"], conv(high, w["shrink"], 2), time)
        flat = group_norm(w["norm"], low).reshape(batch, -1, 2 * c)
        low = low + attend(w["attention"], flat).reshape(low.shape)
        low = residual(w["middle"], low, time)
        grown = conv(jnp.repeat(jnp.repeat(low, 2, 1), 2, 2), w["grow"])
        x = residual(w["up"], jnp.concatenate([grown, high], -1), time)
        return jnp.mean((conv(jax.nn.silu(group_norm(w["norm_out"], x)), w["out"]) - noise) ** 2)

    weights = {"time": f32(c, 4 * c), "in": f32(3, 3, 3, c), "down1": shapes(c, c), "shrink": f32(3, 3, c, 2 * c)}
    weights |= {"down2": shapes(2 * c, 2 * c), "norm": norm_shapes(2 * c), "attention": heads_shapes(2 * c, 4)}
    weights |= {"middle": shapes(2 * c, 2 * c), "grow": f32(3, 3, 2 * c, c), "up": shapes(2 * c, c)}
    weights |= {"norm_out": norm_shapes(c), "out": f32(3, 3, c, 3)}
    image = f32(batch, size, size, 3)
    return trained(loss, weights, (image, image, f32(batch)))


# --- ranking ----------------------------------------------------------------------------------------------------------


def mlp_shapes(*sizes):
    return [{"w": f32(a, b), "b": f32(b)} for a, b in zip(sizes, sizes[1:])]


def mlp(layers, x):
    for w in layers[:-1]:
        x = jax.nn.relu(x @ w["w"] + w["b"])
    return x @ layers[-1]["w"] + layers[-1]["b"]


def ranking_loss(w, dense, looked_up, clicked):
    x = mlp(w["bottom"], dense)
    every = jnp.stack([x, *looked_up], 1)
    pairs = jnp.einsum("bnd,bmd->bnm", every, every).reshape(x.shape[0], -1)
    score = mlp(w["top"], jnp.concatenate([x, pairs], -1))[:, 0]
    return jnp.mean(jax.nn.softplus(score) - clicked * score)


def ranking_shapes(rows, width, tables):
    n = width + (tables + 1) ** 2
    return {"tables": [f32(rows, width)] * tables, "bottom": mlp_shapes(16, 512, 256, width), "top": mlp_shapes(n, 1024, 512, 1)}


@step
def ranking():
    """Tables of users and things, looked up once each."""
    rows, width, tables, batch = 200_000, 64, 8, 8192

    def loss(w, dense, rows, clicked):
        return ranking_loss(w, dense, [table[rows[:, i]] for i, table in enumerate(w["tables"])], clicked)

    return trained(loss, ranking_shapes(rows, width, tables), (f32(batch, 16), i32(batch, tables), f32(batch)), {"'tables'": 0}, 1)


@step
def ranking_segments():
    """Bags of many entries, summed by segments."""
    rows, width, tables, batch, bag = 200_000, 64, 4, 4096, 16

    def loss(w, dense, entries, clicked):
        owner = jnp.repeat(jnp.arange(batch), bag)
        bags = [jax.ops.segment_sum(t[entries[:, i].reshape(-1)], owner, batch) for i, t in enumerate(w["tables"])]
        return ranking_loss(w, dense, bags, clicked)

    batch_shapes = f32(batch, 16), i32(batch, tables, bag), f32(batch)
    return trained(loss, ranking_shapes(rows, width, tables), batch_shapes, {"'tables'": 0}, 1)
