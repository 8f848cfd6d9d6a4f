#!/usr/bin/env python3
"""Writes the XLA dumps in tests/data/xla: what XLA's CPU compiler decided about a few small programs.

    python3 -m venv VENV && VENV/bin/pip install 'jax[cpu]'
    VENV/bin/python tools/make_xla_dumps.py [-o tests/data/xla]

Nothing is run: the programs are compiled for shapes, with `--xla_dump_to`. Of each, three files are
kept under XLA's own endings, without what nobody reads here: the shares of the stack in the peak, and
the text of the instructions. Other versions of jax write other dumps; the tests read the numbers that
they compare from the dumps themselves.
"""

import argparse
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

ASSIGNMENT = "-buffer-assignment.txt"
RANGES = "-live-range.txt"
VALUES = "-buffer-assignment-values.txt"


def ranges_only(text):
    """The sequence and the live ranges, without the report on the peak that follows them."""
    return re.split(r"^  Live ranges at ", text, maxsplit=1, flags=re.MULTILINE)[0]


def without_instructions(text):
    """Values with their positions and uses."""
    return "".join(
        line
        for line in text.splitlines(keepends=True)
        if not line.startswith(" from instruction:")
    )


KEPT = {ASSIGNMENT: lambda text: text, RANGES: ranges_only, VALUES: without_instructions}


def programs():
    """Names, functions and the shapes that they are compiled for."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def shape(*dims):
        return jax.ShapeDtypeStruct(dims, jnp.float32)

    def mlp_train_step(params, x, y):
        def loss(params):
            h = x
            for i, (w, b) in enumerate(params):
                h = h @ w + b
                if i < len(params) - 1:
                    h = jax.nn.relu(h)
            return jnp.mean((h - y) ** 2)

        value, grads = jax.value_and_grad(loss)(params)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    widths = [64, 256, 512, 128, 10]
    params = [(shape(a, b), shape(b)) for a, b in zip(widths, widths[1:])]
    yield "mlp_train_step", mlp_train_step, (params, shape(32, 64), shape(32, 10))

    def attention(x, weights):
        wq, wk, wv, wo, w1, w2 = weights
        heads, width = 4, x.shape[-1] // 4
        q, k, v = ((x @ w).reshape(-1, heads, width) for w in (wq, wk, wv))
        scores = jax.nn.softmax(jnp.einsum("qhd,khd->hqk", q, k) / width**0.5)
        x = x + jnp.einsum("hqk,khd->qhd", scores, v).reshape(x.shape) @ wo
        return x + jax.nn.gelu(x @ w1) @ w2

    def attention_scan(weights, x):
        def layer(x, weights):
            x = attention(x, weights)
            return x, jnp.sum(x)

        return lax.scan(layer, x, weights)

    layers, d, tokens = 3, 64, 96
    square, wide, narrow = (layers, d, d), (layers, d, 4 * d), (layers, 4 * d, d)
    stacked = (*(shape(*square) for _ in range(4)), shape(*wide), shape(*narrow))
    yield "attention_scan", attention_scan, (stacked, shape(tokens, d))

    def attention_grad(weights, x):
        def loss(weights):
            return jnp.mean(attention(attention(x, weights), weights) ** 2)

        return jax.grad(loss)(weights)

    flat = tuple(shape(*w.shape[1:]) for w in stacked)
    yield "attention_grad", attention_grad, (flat, shape(tokens - 1, d))

    def convnet(weights, x, y):
        def loss(weights):
            k1, k2, k3, w = weights
            names = ("NHWC", "HWIO", "NHWC")

            def convolve(x, k, stride):
                strides = (stride, stride)
                return lax.conv_general_dilated(x, k, strides, "SAME", dimension_numbers=names)

            h = jax.nn.relu(convolve(x, k1, 1))
            h = jax.nn.relu(convolve(h, k2, 2))
            h = jax.nn.relu(convolve(h, k3, 2))
            return jnp.mean((h.mean((1, 2)) @ w - y) ** 2)

        return jax.value_and_grad(loss)(weights)

    kernels = (shape(3, 3, 3, 16), shape(3, 3, 16, 32), shape(3, 3, 32, 32), shape(32, 10))
    yield "convnet", convnet, (kernels, shape(4, 23, 23, 3), shape(4, 10))


def compile_all(dump):
    """Compiles every program; XLA writes into `dump`."""
    # Read when jax is imported, so not at the top of the file.
    os.environ["XLA_FLAGS"] = f"--xla_dump_to={dump} --xla_dump_hlo_as_text"
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax

    names = []
    for name, function, shapes in programs():
        function.__name__ = name
        jax.jit(function).lower(*shapes).compile()
        names.append(name)
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "tests/data/xla")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as dump:
        for name in compile_all(dump):
            for ending, keep in KEPT.items():
                found = list(pathlib.Path(dump).glob(f"*.jit_{name}.*{ending}"))
                if len(found) != 1:
                    sys.exit(f"{name}: {len(found)} files end in {ending}")
                text = keep(found[0].read_text(encoding="utf-8"))
                (args.output / (name + ending)).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
