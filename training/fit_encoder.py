"""Fit the encoder of the trained reader on the writers' text, measure it on writers held out, and write it into the package.

    python -m training.fit_encoder WORK             fit, measure, write
    python -m training.fit_encoder WORK --epochs 1  a quick look
    python -m training.fit_encoder WORK --go-on OLD/network.pt --epochs 3  when more text has come
    python -m training.fit_encoder WORK --go-on shipped --epochs 3         the same, from the weights of the package

Starts from the embedder's MiniLM: its word vectors stay, its layers and the heads are fitted. WORK keeps the network as it was fitted.
Needs `pip install torch onnx onnxscript onnxruntime` of its own; two hours on one core.
"""

import argparse
import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn
from torch.nn import functional

from kinkeeper.models.embedding.minilm import weights_path
from kinkeeper.reading.model import Surface
from training.corpus import CALIBRATED_ON, HELD_OUT
from training.encoder_network import (
    EPSILON,
    QUESTION_WIDTHS,
    WIDTH,
    Batch,
    Layer,
    Network,
    batch_of,
    loss_of,
)
from training.encoder_rows import (
    ACT_LABELS,
    MODALITY_LABELS,
    PREDICATE_LABELS,
    SLOT_LABELS,
    Row,
    labelled_rows,
)
from training.fit_reader import DATA, SHIPPED, version_of

Base = Mapping[str, NDArray[np.float32]]
"""Weights of MiniLM by the names of BERT's modules."""

LAYERS: Final = 6
COPIES: Final = 3
EPOCHS: Final = 6
BATCH: Final = 24
ENCODER_RATE: Final = 1.2e-4
SLOWER: Final = 0.85
"""How much slower each layer learns than the one above it."""

HIDDEN: Final = 0.06
"""Share of word pieces that are hidden while fitting, so that no single word decides."""

HEAD_RATE: Final = 1e-3
WARM: Final = 0.06
SEED: Final = 7
_HIDDEN_PIECE: Final = 103
"""BERT's piece for a hidden word."""

_PARTS: Final = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "out": "attention.output.dense",
    "first_norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "second_norm": "output.LayerNorm",
}


def main() -> None:
    """Fit, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument(
        "--go-on", help="a network fitted before, or 'shipped'; learns at half the rates"
    )
    parser.add_argument(
        "--group-every", type=int, default=1, help="passes in which each group message is read once"
    )
    arguments = parser.parse_args()
    base = base_weights()
    copies = labelled_rows(DATA, COPIES)
    words = Words(base)
    kept = [index for index, row in enumerate(copies[0]) if row.writer in CALIBRATED_ON]
    fitted_on = [
        index for index, row in enumerate(copies[0]) if row.writer not in CALIBRATED_ON | HELD_OUT
    ]
    before = None if arguments.go_on is None else fitted_before(arguments.go_on)
    network = fit(
        base,
        copies,
        words,
        fitted_on,
        epochs=arguments.epochs,
        before=before,
        group_every=arguments.group_every,
    )
    sums = [predicted(network, batch) for batch in batches_of(copies[0], words, kept)]
    temperatures = {
        "act": _temperature(sums, 0),
        "predicate": _temperature(sums, 1),
        "modality": _temperature(sums, 2),
    }
    cut = _cut_from(sums)
    print(json.dumps({**temperatures, "cut": cut}))
    torch.save(network.state_dict(), arguments.work / "network.pt")
    write(network, base, {**temperatures, "cut": cut}, version_of(DATA))


def base_weights() -> Base:
    """Return MiniLM's weights by the names of BERT's modules, in full precision."""
    path = weights_path()
    if path is None:
        raise SystemExit("the embedder is not installed")
    graph = onnx.load(path).graph
    stored = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    users: dict[str, Any] = {}
    for node in graph.node:
        for name in node.input:
            users.setdefault(name, node)
    found = {}
    for name, values in stored.items():
        if name.endswith("_q"):
            weight = values.astype(np.float32) * stored[f"{name[:-2]}_scale"]
            user = users[name[:-2]]
            if user.op_type == "MatMul":  # known by the bias that is added to its product
                added = users[user.output[0]].input
                own = next(each for each in added if each in stored)
                found[own.replace(".bias", ".weight")] = weight.T
            else:
                found[name[:-2]] = weight
                found[name[:-2].replace(".weight", ".scale")] = stored[f"{name[:-2]}_scale"]
        elif not name.endswith("_scale"):
            found[name] = values
    return {name.removeprefix("inner."): values for name, values in found.items()}


def fitted_before(name: str) -> Mapping[str, Tensor]:
    """Return the parameters of a network: of a file, or as shipped, which lost what 8 bits cannot hold."""
    if name != "shipped":
        states: Mapping[str, Tensor] = torch.load(name)
        return states
    found: dict[str, NDArray[Any]] = dict(_shipped_layers())
    with np.load(SHIPPED / "encoder.npz", allow_pickle=False) as stored:
        several = sum(QUESTION_WIDTHS[:3])
        # A yes-or-no question has a column of zeros before its own.
        kept = [*range(several), *range(several + 1, len(stored["clause.bias"]), 2)]
        found |= {f"clause.{kind}": stored[f"clause.{kind}"][kept] for kind in ("weight", "bias")}
        for part in ("tag", "query", "key"):
            found |= {f"{part}.{kind}": stored[f"{part}.{kind}"] for kind in ("weight", "bias")}
        found |= {part: stored[part] for part in ("nothing", "distance")}
    return {each: torch.tensor(values) for each, values in found.items()}


def _shipped_layers() -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield the parameters of the shipped layers, each weight known by the bias that is added to its product."""
    graph = onnx.load(SHIPPED / "encoder.onnx").graph
    stored = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    users: dict[str, list[Any]] = {}
    for node in graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    for name, values in stored.items():
        if name.startswith("layers."):
            yield f"layers.{name}", values
        elif name.endswith("_quantized"):
            scale = stored[name.replace("_quantized", "_scale")]
            weight = values.astype(np.float32) * scale
            output = users[name][0].output[0]
            while users[output][0].op_type != "Add":
                output = users[output][0].output[0]
            added = next(each for each in users[output][0].input if each in stored)
            yield f"layers.{added.replace('.bias', '.weight')}", weight.T.copy()


def layer_of(base: Base, number: int) -> Layer:
    """Return a layer with MiniLM's weights."""
    layer = Layer()
    layer.load_state_dict(
        {
            f"{own}.{kind}": torch.tensor(base[f"encoder.layer.{number}.{theirs}.{kind}"])
            for own, theirs in _PARTS.items()
            for kind in ("weight", "bias")
        }
    )
    return layer


class Words:
    """Vectors of word pieces with their places, as the first layer reads them; they are not fitted."""

    def __init__(self, base: Base) -> None:
        names = ("word", "position", "token_type")
        self._words, self._places, self._parts = (
            torch.tensor(base[f"embeddings.{name}_embeddings.weight"]) for name in names
        )
        self._weight, self._bias = (
            torch.tensor(base[f"embeddings.LayerNorm.{kind}"]) for kind in ("weight", "bias")
        )

    def of(self, row: Row, drawn: random.Random | None = None) -> NDArray[np.float32]:
        """Return the vectors of a row, shape (pieces, width), some of them hidden where chance is given."""
        pieces = torch.tensor(row.row.pieces)
        if drawn is not None:
            places = [each for each in row.row.places if drawn.random() < HIDDEN]
            pieces[places] = _HIDDEN_PIECE
        where = torch.arange(len(pieces))
        parts = self._parts[(where >= row.row.own).long()]
        sums = self._words[pieces] + self._places[where] + parts
        found = functional.layer_norm(sums, (WIDTH,), self._weight, self._bias, EPSILON)
        vectors: NDArray[np.float32] = found.numpy()
        return vectors


def batches_of(rows: Sequence[Row], words: Words, chosen: Sequence[int]) -> Iterator[Batch]:
    """Yield batches of rows of like length, all chosen ones once."""
    order = sorted(chosen, key=lambda each: len(rows[each].row.pieces))
    for place in range(0, len(order), BATCH):
        own = order[place : place + BATCH]
        yield batch_of([rows[each] for each in own], [words.of(rows[each]) for each in own])


def fit(
    base: Base,
    copies: Sequence[Sequence[Row]],
    words: Words,
    chosen: Sequence[int],
    *,
    epochs: int,
    before: Mapping[str, Tensor] | None,
    group_every: int = 1,
) -> Network:
    """Return the network after some passes over the chosen rows, each time with other names.

    Args:
        group_every: In how many passes each message of a group is read once; all others are read in every pass.
    """
    torch.manual_seed(SEED)
    drawn = random.Random(SEED)  # noqa: S311 - an order, no secret
    network = Network([layer_of(base, number) for number in range(LAYERS)])
    if before is not None:
        network.load_state_dict(before)
    layers = [[*layer.parameters()] for layer in network.layers.layers]
    inner = {each for own in layers for each in own}
    heads = [each for each in network.parameters() if each not in inner]
    rates = [*(ENCODER_RATE * SLOWER ** (LAYERS - 1 - place) for place in range(LAYERS)), HEAD_RATE]
    rates = rates if before is None else [each / 2 for each in rates]
    groups = [{"params": own, "lr": 0.0} for own in (*layers, heads)]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
    passes = [
        [
            each
            for each in chosen
            if copies[0][each].surface is not Surface.GROUP
            or each % group_every == epoch % group_every
        ]
        for epoch in range(epochs)
    ]
    steps, step = sum(math.ceil(len(each) / BATCH) for each in passes), 0
    for epoch, own_pass in enumerate(passes):
        copy = epoch % len(copies)
        plan = [*range(0, len(own_pass), BATCH)]
        order = sorted(
            own_pass, key=lambda each: len(copies[0][each].row.pieces) + drawn.random() * 8
        )
        drawn.shuffle(plan)
        network.train()
        summed = 0.0
        for place in plan:
            own = order[place : place + BATCH]
            rows = [copies[copy][each] for each in own]
            batch = batch_of(rows, [words.of(each, drawn) for each in rows])
            share = min(1.0, step / (WARM * steps)) * (1 - step / steps)
            for group, rate in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = rate * share
            with torch.autocast("cpu", torch.bfloat16):
                outputs = network(batch)
            loss = loss_of(tuple(each.float() for each in outputs), batch)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            step, summed = step + 1, summed + float(loss.detach())
        print(f"epoch {epoch + 1}: loss {summed / len(plan):.3f}", flush=True)
    return network.eval()


@torch.no_grad()
def predicted(network: Network, batch: Batch) -> tuple[Batch, tuple[Tensor, Tensor, Tensor]]:
    """Return a batch with the sums of every head."""
    return batch, network(batch)


def _temperature(
    sums: Sequence[tuple[Batch, tuple[Tensor, Tensor, Tensor]]], question: int
) -> float:
    """Return what the sums of a question are divided by so that the chances fit best."""
    values = torch.cat([outputs[1].split(QUESTION_WIDTHS, 1)[question] for _, outputs in sums])
    labels = torch.cat([batch.labels[:, question] for batch, _ in sums])
    tried = np.linspace(0.5, 3.0, 51)
    losses = [float(functional.cross_entropy(values / each, labels)) for each in tried]
    return float(tried[int(np.argmin(losses))])


def _cut_from(sums: Sequence[tuple[Batch, tuple[Tensor, Tensor, Tensor]]]) -> float:
    """Return the score from which a word begins a clause: the one with the best F."""
    scores = torch.cat([outputs[0][:, -1] for _, outputs in sums])
    wanted = torch.cat([batch.cuts for batch, _ in sums]) > 0

    def f_of(least: float) -> float:
        found = scores >= least
        return float(2 * (found & wanted).sum() / (found.sum() + wanted.sum()))

    best = max((float(each) for each in np.linspace(-3, 3, 61)), key=f_of)
    print(json.dumps({"cuts": int(wanted.sum()), "F of cuts": round(f_of(best), 3)}))
    return best


def write(network: Network, base: Base, fitted: Mapping[str, float], version: str) -> None:
    """Write all layers with weights of 8 bits, and the heads, into the package."""
    layers = network.layers
    whole, small = SHIPPED / "encoder.whole.onnx", SHIPPED / "encoder.onnx"
    torch.onnx.export(
        layers,
        (torch.zeros(1, 8, WIDTH),),
        str(whole),
        input_names=["states"],
        output_names=["out"],
        dynamic_axes={"states": {1: "pieces"}, "out": {1: "pieces"}},
        dynamo=False,
        opset_version=17,
    )
    quantize_dynamic(
        whole,
        small,
        weight_type=QuantType.QInt8,
        per_channel=True,
        op_types_to_quantize=["MatMul"],
        extra_options={"MatMulConstBOnly": True},
    )
    whole.unlink()
    np.savez_compressed(
        SHIPPED / "encoder.npz", allow_pickle=False, **heads_of(network, base, fitted, version)
    )


def heads_of(
    network: Network, base: Base, fitted: Mapping[str, float], version: str
) -> dict[str, NDArray[Any]]:
    """Return the arrays that the package's `Encoder` reads: a yes-or-no question becomes two columns."""
    weight, bias = network.clause.weight.detach().numpy(), network.clause.bias.detach().numpy()
    several = sum(QUESTION_WIDTHS[:3])
    nil = np.zeros((1, weight.shape[1]), dtype=np.float32)
    rows = [weight[:several], *(part for row in weight[several:] for part in (nil, row[None]))]
    sums = [bias[:several], *(np.array([0.0, each]) for each in bias[several:])]
    found: dict[str, NDArray[Any]] = {
        "version": np.array(version),
        "words.scale": base["embeddings.word_embeddings.scale"],
        "places": base["embeddings.position_embeddings.weight"].astype(np.float16),
        "parts": base["embeddings.token_type_embeddings.weight"],
        "norm.weight": base["embeddings.LayerNorm.weight"],
        "norm.bias": base["embeddings.LayerNorm.bias"],
        "clause.weight": np.concatenate(rows).astype(np.float32),
        "clause.bias": np.concatenate(sums).astype(np.float32),
        "nothing": network.nothing.detach().numpy(),
        "distance": network.distance.detach().numpy(),
        "cut": np.array(fitted["cut"]),
        "labels.slots": np.array(SLOT_LABELS, dtype=np.str_),
    }
    for name, module in (("tag", network.tag), ("query", network.query), ("key", network.key)):
        found[f"{name}.weight"] = module.weight.detach().numpy()
        found[f"{name}.bias"] = module.bias.detach().numpy()
    labels = {"act": ACT_LABELS, "predicate": PREDICATE_LABELS, "modality": MODALITY_LABELS}
    for question in ("act", "predicate", "modality", "negated", "secret", "plan"):
        own = labels.get(question, ("no", "yes"))
        found[f"labels.{question}"] = np.array(own, dtype=np.str_)
        found[f"temperature.{question}"] = np.array(fitted.get(question, 1.0))
    return found


if __name__ == "__main__":
    main()
