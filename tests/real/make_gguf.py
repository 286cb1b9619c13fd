#!/usr/bin/python3
"""make_gguf - write a tiny llama model with random weights, as a GGUF file.

Usage: make_gguf.py [--seed N] [--layers N] [--dim N] [--context N] FILE

Same options, same bytes.  The model says nothing sensible, but a real engine
loads it, and every token it samples is whole, printable text: control tokens
and bytes that are only a part of a character are barred by the weights (see
barred_weight), so that an answer always has as many tokens as were asked for.
"""
import argparse
import random
import struct

UINT32, FLOAT32, BOOL, STRING, ARRAY, INT32 = 4, 6, 7, 8, 9, 5  # types of metadata
NORMAL, CONTROL = 1, 3  # types of tokens
TENSOR_F32 = 0
ALIGNMENT = 32
HEAD = 16  # dimensions of an attention head
RMS_EPSILON = 1e-5

CONTROLS = ["<|bos|>", "<|endoftext|>", "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>", "<|end|>"]
SYLLABLES = "ba ce di fo gu ka le mi no pu ra se ti vo wa".split()
FOREIGN = ["é", "ü", " naïve", " Zürich", "–", "…", "語", " 東京", " мир", "🙂", " 🚀"]


def byte_alphabet():
    """GPT-2's printable stand-ins for the 256 bytes."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    alphabet, spare = {}, 256
    for byte in range(256):
        if byte in plain:
            alphabet[byte] = chr(byte)
        else:
            alphabet[byte] = chr(spare)
            spare += 1
    return alphabet


def words(rng):
    """Texts that become tokens of their own."""
    made = [" " + s for s in SYLLABLES]
    for _ in range(120):
        made.append(" " + "".join(rng.choice(SYLLABLES) for _ in range(rng.randrange(2, 4))))
    return list(dict.fromkeys(made + FOREIGN))


def vocabulary(rng):
    """Tokens as bytes (None for a control token), their spellings, the merges."""
    alphabet = byte_alphabet()

    def spell(data):
        return "".join(alphabet[b] for b in data)

    texts = [None] * len(CONTROLS) + [bytes([b]) for b in range(256)]
    spellings = CONTROLS + [alphabet[b] for b in range(256)]
    merges, known = [], set(texts)
    for word in words(rng):
        data = word.encode()
        for end in range(2, len(data) + 1):
            if data[:end] in known:
                continue
            known.add(data[:end])
            texts.append(data[:end])
            spellings.append(spell(data[:end]))
            merges.append(spell(data[:end - 1]) + " " + spell(data[end - 1:end]))
    return texts, spellings, merges


def may_be_sampled(text):
    """Whole characters, none of them a control character."""
    if text is None:
        return False
    try:
        return text.decode().isprintable()
    except UnicodeDecodeError:
        return False


class Weights:
    """Random matrices from one generator, as lists of rows."""

    def __init__(self, rng):
        self.rng = rng

    def matrix(self, rows, columns, gain=1.0):
        # Uniform with variance gain^2/columns; random() is the same on every Python.
        limit = gain * (3.0 / columns) ** 0.5
        return [[limit * (2.0 * self.rng.random() - 1.0) for _ in range(columns)] for _ in range(rows)]

    def still(self, rows, columns):
        """Like matrix(), but what it computes leaves dimension 0 as it is."""
        made = self.matrix(rows, columns)
        made[0] = [0.0] * columns
        return made


def embeddings(weights, count, dim):
    """Dimension 0 is the same for every token, and no layer changes it."""
    rows = weights.matrix(count, dim, gain=dim ** 0.5)
    for row in rows:
        row[0] = 4.0
    return rows


def output(weights, texts, dim):
    """Since dimension 0 is always positive, a negative weight there bars a token."""
    rows = weights.matrix(len(texts), dim, gain=2.0)
    barred_weight = -30.0
    for row, text in zip(rows, texts):
        row[0] = 0.0
        if not may_be_sampled(text):
            row[:] = [barred_weight] + [0.0] * (dim - 1)
    return rows


def tensors(rng, texts, layers, dim):
    """Name and rows, in the order in which they are written."""
    weights, wide, ones = Weights(rng), 3 * dim, [[1.0] * dim]
    yield "token_embd.weight", embeddings(weights, len(texts), dim)
    for i in range(layers):
        block = f"blk.{i}."
        yield block + "attn_norm.weight", ones
        for name in ("attn_q", "attn_k", "attn_v"):
            yield block + name + ".weight", weights.matrix(dim, dim)
        yield block + "attn_output.weight", weights.still(dim, dim)
        yield block + "ffn_norm.weight", ones
        yield block + "ffn_gate.weight", weights.matrix(wide, dim)
        yield block + "ffn_up.weight", weights.matrix(wide, dim)
        yield block + "ffn_down.weight", weights.still(dim, wide)
    yield "output_norm.weight", ones
    yield "output.weight", output(weights, texts, dim)


def metadata(options, texts, spellings, merges):
    """Key, type and value of everything but the weights."""
    types = [CONTROL if text is None else NORMAL for text in texts]
    return [
        ("general.architecture", STRING, "llama"),
        ("general.name", STRING, "tailgate-tiny"),
        ("general.alignment", UINT32, ALIGNMENT),
        ("general.file_type", UINT32, 0),
        ("llama.context_length", UINT32, options.context),
        ("llama.embedding_length", UINT32, options.dim),
        ("llama.block_count", UINT32, options.layers),
        ("llama.feed_forward_length", UINT32, 3 * options.dim),
        ("llama.attention.head_count", UINT32, options.dim // HEAD),
        ("llama.attention.head_count_kv", UINT32, options.dim // HEAD),
        ("llama.attention.layer_norm_rms_epsilon", FLOAT32, RMS_EPSILON),
        ("llama.rope.dimension_count", UINT32, HEAD),
        ("llama.vocab_size", UINT32, len(texts)),
        ("tokenizer.ggml.model", STRING, "gpt2"),
        ("tokenizer.ggml.pre", STRING, "gpt-2"),
        ("tokenizer.ggml.tokens", (ARRAY, STRING), spellings),
        ("tokenizer.ggml.token_type", (ARRAY, INT32), types),
        ("tokenizer.ggml.merges", (ARRAY, STRING), merges),
        ("tokenizer.ggml.bos_token_id", UINT32, CONTROLS.index("<|bos|>")),
        ("tokenizer.ggml.eos_token_id", UINT32, CONTROLS.index("<|endoftext|>")),
        ("tokenizer.ggml.padding_token_id", UINT32, CONTROLS.index("<|pad|>")),
        ("tokenizer.ggml.add_bos_token", BOOL, True),
    ]


def packed(kind, value):
    """A value as GGUF stores it."""
    if isinstance(kind, tuple):
        return struct.pack("<IQ", kind[1], len(value)) + b"".join(packed(kind[1], v) for v in value)
    if kind == STRING:
        data = value.encode()
        return struct.pack("<Q", len(data)) + data
    return struct.pack({UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<?"}[kind], value)


def padded(data):
    return data + b"\0" * (-len(data) % ALIGNMENT)


def gguf(pairs, named):
    """The whole file: header, metadata, directory of tensors, tensors."""
    directory, body = b"", b""
    for name, rows in named:
        # A vector has one dimension; GGUF counts them from the innermost.
        shape = [len(rows[0])] + ([len(rows)] if len(rows) > 1 else [])
        directory += packed(STRING, name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        directory += struct.pack("<IQ", TENSOR_F32, len(body))
        body += padded(b"".join(struct.pack(f"<{len(row)}f", *row) for row in rows))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(named), len(pairs))
    for key, kind, value in pairs:
        number = kind[0] if isinstance(kind, tuple) else kind
        head += packed(STRING, key) + struct.pack("<I", number) + packed(kind, value)
    return padded(head + directory) + body


def main():
    parser = argparse.ArgumentParser(description="write a tiny llama model with random weights")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--dim", type=int, default=64, help=f"a multiple of {HEAD}")
    parser.add_argument("--context", type=int, default=4096)
    parser.add_argument("file")
    options = parser.parse_args()
    if options.layers < 1 or options.dim < HEAD or options.dim % HEAD:
        parser.error(f"at least one layer, and dimensions in multiples of {HEAD}")
    rng = random.Random(options.seed)
    texts, spellings, merges = vocabulary(rng)
    named = list(tensors(rng, texts, options.layers, options.dim))
    with open(options.file, "wb") as file:
        file.write(gguf(metadata(options, texts, spellings, merges), named))
    print(f"{options.file}: {len(texts)} tokens, {sum(map(may_be_sampled, texts))} of them sampled")


if __name__ == "__main__":
    main()
