#!/usr/bin/env python3
"""Write the example program: a stack of decoder layers, as one core of a compiled model has it.

    generate_decoder.py [OUT]        OUT is decoder_layers.program.json beside this script; - is stdout

The shape is that of a large language model of eight billion parameters, of which one core holds
eight layers and a quarter of each (tensor parallelism over four cores):

  prefill   one prompt of 4096 tokens; straight code, and a branch that computes logits
  decode    a loop over decode steps, one token for each of 64 sequences

Weights and key/value caches are pinned where a loader has put them, so that the allocator's floor
is their end. They are one storage for both functions: `prefill` pins them, `decode` has them from
its caller, without an address. Weights of the MLP are stored in eight bits and widened by the
vector engine one layer ahead of their use. Partial sums meet in all-reduce staging buffers (usage
`collective`). Copies run on an engine of their own. Residual sums and soft-max work in place.

Everything is a function of the constants below: the same file, byte for byte, on every machine.
"""

import json
import os
import sys

LAYERS = 8
HIDDEN = 4096
CORES = 4  # Tensor parallel; this file is one core's share.
HEADS = 32 // CORES
KV_HEADS = 8 // CORES
HEAD = 128
MLP = 14336 // CORES
VOCAB = 128256 // CORES
CONTEXT = 4096  # Positions that one sequence may have.
CACHED = 16384  # Positions that the cache holds, all sequences together.
PROMPT = 4096
SEQUENCES = 64
STEPS_KEPT = 128  # Positions of a decode run whose keys are written per sequence.
BF16, F32, I8, I32 = 2, 4, 1, 4

TENSOR, VECTOR, SCALAR, DMA, LINK = range(5)  # Engines.
PAGE = 4096


def page_up(n):
    return -(-n // PAGE) * PAGE


class Loader:
    """Hands out the addresses that the model loader has fixed before the compiler runs."""

    def __init__(self):
        self.end = 0
        self.given = set()  # Names of what both functions have.

    def next(self, size):
        address = self.end
        self.end = page_up(self.end + size)
        return address


class Function:
    def __init__(self, name, loader):
        self.name, self.loader = name, loader
        self.memlocs, self.sizes, self.blocks = [], {}, []

    def loc(self, name, size, **keys):
        self.sizes[name] = size
        self.memlocs.append({"name": name, "bytes": size, **keys})
        return name

    def tensor(self, name, count, width, **keys):
        """A location declared by its element count, the product being the allocator's business."""
        self.sizes[name] = count * width
        self.memlocs.append({"name": name, "elem_count": count, "elem_size": width, **keys})
        return name

    def pinned(self, name, size, usage):
        """Bytes at an address of the loader's."""
        return self.loc(name, size, usage=usage, address=self.loader.next(size))

    def given(self, name, size, usage):
        """Bytes of both functions: pinned by the one that comes first, the caller's for the other."""
        keys = {} if name in self.loader.given else {"address": self.loader.next(size)}
        self.loader.given.add(name)
        return self.loc(name, size, usage=usage, **keys)

    def view(self, name, of, offset, size):
        self.sizes[name] = size
        self.memlocs.append({"name": name, "alias_of": of, "offset": offset, "bytes": size})
        return name

    def block(self, name, succs):
        self.blocks.append({"name": name, "succs": succs, "instructions": []})

    def run(self, op, engine, uses, defs, **keys):
        ins = {"op": op, "engine": engine, "uses": uses, "defs": defs, **keys}
        self.blocks[-1]["instructions"].append(ins)

    def copy(self, source, target):
        self.run("dma", DMA, [source], [target], kind="dma_copy")

    def object(self):
        return {"name": self.name, "memlocs": self.memlocs, "blocks": self.blocks}


def part(name, offset, size):
    """Some bytes of a location."""
    return {"loc": name, "offset": offset, "bytes": size}


def weights(f):
    """The parameters of the core's share, the same in both functions."""
    f.given("embedding", VOCAB * HIDDEN * BF16, "weight")
    for i in range(LAYERS):
        f.given(f"l{i}.norm1", HIDDEN * BF16, "weight")
        f.given(f"l{i}.wqkv", HIDDEN * (HEADS + 2 * KV_HEADS) * HEAD * BF16, "weight")
        f.given(f"l{i}.wo", HEADS * HEAD * HIDDEN * BF16, "weight")
        f.given(f"l{i}.norm2", HIDDEN * BF16, "weight")
        f.given(f"l{i}.wgu8", HIDDEN * 2 * MLP * I8, "weight")
        f.given(f"l{i}.wd8", MLP * HIDDEN * I8, "weight")
        f.given(f"l{i}.scales", 3 * MLP * F32, "weight")
    f.given("norm", HIDDEN * BF16, "weight")
    f.given("head", VOCAB * HIDDEN * BF16, "weight")
    f.given("rope", CONTEXT * HEAD * F32, "constant")


def caches(f):
    """Keys and values of every layer: read, and written in part, by both functions."""
    for i in range(LAYERS):
        for kv in ("k", "v"):
            f.given(f"l{i}.{kv}cache", CACHED * KV_HEADS * HEAD * BF16, "input")


def widen(f, i):
    """Starts widening the MLP weights of layer `i`; the layer before it is still at work."""
    if i >= LAYERS:
        return
    f.tensor(f"l{i}.wgu", HIDDEN * 2 * MLP, BF16)
    f.tensor(f"l{i}.wd", MLP * HIDDEN, BF16)
    f.run("dequantize", VECTOR, [f"l{i}.wgu8", f"l{i}.scales"], [f"l{i}.wgu"])
    f.run("dequantize", VECTOR, [f"l{i}.wd8", f"l{i}.scales"], [f"l{i}.wd"])


def all_reduce(f, tag, partial, size):
    """Sums `partial` over the cores; returns where the sum is."""
    sent = f.loc(f"{tag}.send", size, usage="collective")
    got = f.loc(f"{tag}.recv", size, usage="collective")
    f.copy(partial, sent)
    f.run("all_reduce", LINK, [sent], [got], kind="collective")
    return got


def attention(f, i, x, rows, keys, spans):
    """Attention of layer `i` over `keys` positions; returns the partial sum.

    The `rows` tokens are taken in equal chunks; a token of chunk c attends to `spans[c]` positions.
    """
    q_bytes, kv_bytes = rows * HEADS * HEAD * BF16, rows * KV_HEADS * HEAD * BF16
    chunk = q_bytes // len(spans)
    normed = f.tensor(f"l{i}.normed1", rows * HIDDEN, BF16)
    f.run("rms_norm", VECTOR, [x, f"l{i}.norm1"], [normed])
    qkv = f.loc(f"l{i}.qkv", q_bytes + 2 * kv_bytes)
    f.run("matmul", TENSOR, [normed, f"l{i}.wqkv"], [qkv])
    q = f.view(f"l{i}.q", qkv, 0, q_bytes)
    k = f.view(f"l{i}.k", qkv, q_bytes, kv_bytes)
    v = f.view(f"l{i}.v", qkv, q_bytes + kv_bytes, kv_bytes)
    turned = f.loc(f"l{i}.q_turned", q_bytes)
    f.run("rotate", SCALAR, [q, "rope"], [turned])
    new_k = f.loc(f"l{i}.k_turned", kv_bytes)
    f.run("rotate", SCALAR, [k, "rope"], [new_k])
    f.copy(new_k, part(f"l{i}.kcache", 0, kv_bytes))
    f.copy(v, part(f"l{i}.vcache", 0, kv_bytes))
    # The tensor engine wants the keys the other way round; the copy engine turns them.
    flipped = f.loc(f"l{i}.k_flipped", keys * KV_HEADS * HEAD * BF16)
    f.copy(f"l{i}.kcache", flipped)
    context = f.tensor(f"l{i}.context", rows * HEADS * HEAD, BF16)
    for c, span in enumerate(spans):
        n = rows // len(spans) * HEADS * span
        scores = f.tensor(f"l{i}.scores{c}", n, BF16)
        f.run("matmul", TENSOR, [part(turned, c * chunk, chunk), flipped], [scores])
        odds = f.tensor(f"l{i}.odds{c}", n, BF16)
        f.run("softmax", SCALAR, [scores], [odds], in_place=[[scores, odds]])
        f.run("matmul", TENSOR, [odds, f"l{i}.vcache"], [part(context, c * chunk, chunk)])
    partial = f.tensor(f"l{i}.attended", rows * HIDDEN, BF16)
    f.run("matmul", TENSOR, [context, f"l{i}.wo"], [partial])
    return partial


def mlp(f, i, x, rows):
    """The gated MLP of layer `i`; returns the partial sum."""
    half = rows * MLP * BF16
    normed = f.tensor(f"l{i}.normed2", rows * HIDDEN, BF16)
    f.run("rms_norm", VECTOR, [x, f"l{i}.norm2"], [normed])
    both = f.loc(f"l{i}.gate_up", 2 * half)
    f.run("matmul", TENSOR, [normed, f"l{i}.wgu"], [both])
    gate = f.view(f"l{i}.gate", both, 0, half)
    up = f.view(f"l{i}.up", both, half, half)
    gated = f.loc(f"l{i}.silu", half)
    f.run("silu", SCALAR, [gate], [gated])
    product = f.loc(f"l{i}.gated", half)
    f.run("multiply", VECTOR, [gated, up], [product], in_place=[[gated, product]])
    partial = f.tensor(f"l{i}.projected", rows * HIDDEN, BF16)
    f.run("matmul", TENSOR, [product, f"l{i}.wd"], [partial])
    return partial


def layers(f, x, rows, keys, spans):
    """All layers; returns the last residual stream."""
    size = rows * HIDDEN * BF16
    widen(f, 0)
    for i in range(LAYERS):
        widen(f, i + 1)
        for half in ("attention", "mlp"):
            partial = attention(f, i, x, rows, keys, spans) if half == "attention" else mlp(f, i, x, rows)
            total = all_reduce(f, f"l{i}.{half}", partial, size)
            after = f.tensor(f"l{i}.after_{half}", rows * HIDDEN, BF16)
            f.run("add", VECTOR, [x, total], [after], in_place=[[x, after]])
            x = after
    return x


def embed(f, tokens, rows, name):
    """Looks the tokens up; each core has a slice of the vocabulary, so the rows are summed."""
    mine = f.tensor(f"{name}.rows", rows * HIDDEN, BF16)
    f.run("gather", DMA, [tokens, "embedding"], [mine])
    got = all_reduce(f, name, mine, rows * HIDDEN * BF16)
    x = f.tensor(f"{name}.x", rows * HIDDEN, BF16)
    f.run("cast", SCALAR, [got], [x])
    return x


def logits(f, x, rows, target):
    """Normalised, multiplied by the head, copied to where the caller looks for it."""
    normed = f.tensor("head.normed", rows * HIDDEN, BF16)
    f.run("rms_norm", VECTOR, [x, "norm"], [normed])
    out = f.tensor("head.logits", rows * VOCAB, F32)
    f.run("matmul", TENSOR, [normed, "head"], [out])
    f.copy(out, target)
    return out


def prefill(loader):
    f = Function("prefill", loader)
    weights(f)
    caches(f)
    f.loc("tokens", PROMPT * I32, usage="input")  # The caller's own; not ours to place.
    f.pinned("hidden", HIDDEN * BF16, "output")
    f.pinned("logits", VOCAB * F32, "output")
    f.block("entry", [1, 2])
    x = embed(f, "tokens", PROMPT, "embed")
    x = layers(f, x, PROMPT, PROMPT, [PROMPT * c // 4 for c in range(1, 5)])
    last = f.loc("last", HIDDEN * BF16)
    f.copy(part(x, (PROMPT - 1) * HIDDEN * BF16, HIDDEN * BF16), last)
    f.copy(last, "hidden")
    f.block("want_logits", [2])
    logits(f, last, 1, "logits")
    f.block("exit", [])
    f.run("return", SCALAR, ["hidden"], [])
    return f.object()


def decode(loader):
    f = Function("decode", loader)
    weights(f)
    caches(f)
    f.pinned("first_tokens", SEQUENCES * I32, "input")
    f.pinned("said", SEQUENCES * STEPS_KEPT * I32, "output")
    f.pinned("step_logits", SEQUENCES * VOCAB * F32, "output")
    f.block("entry", [1])
    tokens = f.loc("now", SEQUENCES * I32)
    f.copy("first_tokens", tokens)
    position = f.loc("position", 64)
    f.run("zero", SCALAR, [], [position])
    f.block("step", [1, 2])
    x = embed(f, tokens, SEQUENCES, "embed")
    x = layers(f, x, SEQUENCES, CACHED, [CONTEXT])
    out = logits(f, x, SEQUENCES, "step_logits")
    best = f.loc("best", SEQUENCES * 2 * F32)
    f.run("argmax", VECTOR, [out], [best])
    every = all_reduce(f, "pick", best, SEQUENCES * 2 * F32)
    f.run("select", SCALAR, [every], [tokens])
    f.copy(tokens, part("said", 0, SEQUENCES * I32))
    f.run("add_one", SCALAR, [position], [position])
    f.block("exit", [])
    f.run("return", SCALAR, ["said"], [])
    return f.object()


def program():
    loader = Loader()
    functions = [prefill(loader), decode(loader)]
    module = {"name": "core0", "core": 0, "functions": functions}
    return {"format": "dramalloc-program", "version": 1, "name": "decoder-layers", "cores": 1, "modules": [module]}


def text(value):
    """JSON with one location or instruction a line, so that a reader and a diff can follow it."""

    def line(v):
        return json.dumps(v, separators=(",", ":"))

    def rows(items, indent):
        pad = " " * indent
        return "[\n" + ",\n".join(pad + line(v) for v in items) + "]"

    def head(v, without):
        return line({k: w for k, w in v.items() if k != without})[:-1]

    functions = []
    for f in value["modules"][0]["functions"]:
        blocks = ",\n".join(
            "   " + head(b, "instructions") + ',"instructions":' + rows(b["instructions"], 4) + "}" for b in f["blocks"]
        )
        functions.append(
            '  {"name":' + line(f["name"]) + ',"memlocs":' + rows(f["memlocs"], 3) + ',\n  "blocks":[\n' + blocks + "]}"
        )
    module = " " + head(value["modules"][0], "functions") + ',"functions":[\n' + ",\n".join(functions) + "]}"
    return head(value, "modules") + ',"modules":[\n' + module + "]}\n"


def main(argv):
    if len(argv) > 2:
        sys.exit(__doc__)
    here = os.path.dirname(os.path.abspath(__file__))
    out = argv[1] if len(argv) == 2 else os.path.join(here, "decoder_layers.program.json")
    made = text(program())
    if out == "-":
        sys.stdout.write(made)
    else:
        with open(out, "w", encoding="utf-8", newline="\n") as file:
            file.write(made)


if __name__ == "__main__":
    main(sys.argv)
