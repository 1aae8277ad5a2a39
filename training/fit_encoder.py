"""Fit the encoder of the trained reader on the writers' text, measure it on writers held out, and write it into the package.

    python -m training.fit_encoder WORK             fit, measure, write
    python -m training.fit_encoder WORK --epochs 1  a quick look

Starts from the embedder's MiniLM: its word vectors and lower layers stay, the upper layers and the heads are fitted. WORK keeps the
lower layers' states (about 1.3 GB), which are computed once. Needs `pip install torch onnx onnxscript onnxruntime` of its own; an hour on one core.
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
from training.corpus import HELD_OUT
from training.encoder_network import (
    EPSILON,
    QUESTION_WIDTHS,
    WIDTH,
    Batch,
    Layer,
    Layers,
    Network,
    batch_of,
    loss_of,
    padding_of,
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
TUNED: Final = 3
"""Upper layers that are fitted."""

COPIES: Final = 2
EPOCHS: Final = 4
BATCH: Final = 24
ENCODER_RATE: Final = 1.2e-4
HEAD_RATE: Final = 1e-3
WARM: Final = 0.06
SEED: Final = 7
_PARTS: Final = {
    "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
    "out": "attention.output.dense", "first_norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense", "narrow": "output.dense", "second_norm": "output.LayerNorm",
}  # fmt: skip


def main() -> None:
    """Fit, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    arguments = parser.parse_args()
    base = base_weights()
    copies = labelled_rows(DATA, COPIES)
    lower = LowerStates(arguments.work, base, copies)
    held = [index for index, row in enumerate(copies[0]) if row.writer in HELD_OUT]
    fitted_on = sorted({*range(len(copies[0]))} - {*held})
    network = fit(base, copies, lower, fitted_on, epochs=arguments.epochs)
    sums = [predicted(network, batch) for batch in batches_of(copies[0], 0, lower, held)]
    temperatures = {
        "act": _temperature(sums, 0), "predicate": _temperature(sums, 1),
        "modality": _temperature(sums, 2),
    }  # fmt: skip
    print(json.dumps(temperatures))
    write(network, base, temperatures, version_of(DATA))


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


class LowerStates:
    """States of the layers that stay as they are, computed once for every row of every copy."""

    def __init__(
        self,
        folder: Path,
        base: Base,
        copies: Sequence[Sequence[Row]],
    ) -> None:
        self._base = base
        sizes = [len(row.row.pieces) for rows in copies for row in rows]
        self._starts = np.cumsum([0, *sizes])
        self._rows = len(copies[0])
        folder.mkdir(parents=True, exist_ok=True)
        path, shape = folder / f"lower-{version_of(DATA)}.npy", (int(self._starts[-1]), WIDTH)
        is_new = not path.exists()
        self._states = (
            np.lib.format.open_memmap(path, "w+", np.float16, shape)
            if is_new
            else np.load(path, mmap_mode="r")
        )
        if is_new:
            self._compute([row for rows in copies for row in rows])

    def of(self, copy: int, index: int) -> NDArray[np.float16]:
        """Return the states of a row, shape (pieces, width)."""
        number = copy * self._rows + index
        found: NDArray[np.float16] = self._states[self._starts[number] : self._starts[number + 1]]
        return found

    @torch.no_grad()
    def _compute(self, rows: Sequence[Row]) -> None:
        layers = Layers([layer_of(self._base, number) for number in range(LAYERS - TUNED)]).eval()
        order = sorted(range(len(rows)), key=lambda each: len(rows[each].row.pieces))
        for place in range(0, len(order), 64):
            own = order[place : place + 64]
            longest = max(len(rows[each].row.pieces) for each in own)
            first = torch.zeros(len(own), longest, WIDTH)
            for line, each in enumerate(own):
                first[line, : len(rows[each].row.pieces)] = self._embedded(rows[each])
            padding = padding_of([len(rows[each].row.pieces) for each in own], longest)
            states = layers(first, padding).numpy()
            for line, each in enumerate(own):
                start, end = self._starts[each], self._starts[each + 1]
                self._states[start:end] = states[line, : end - start]

    def _embedded(self, row: Row) -> Tensor:
        """Return the words' vectors with their places, and which part of the row they stand in."""
        names = "embeddings.word_embeddings", "embeddings.position_embeddings"
        words, places = (torch.tensor(self._base[f"{name}.weight"]) for name in names)
        parts = torch.tensor(self._base["embeddings.token_type_embeddings.weight"])
        pieces = torch.tensor(row.row.pieces)
        where = torch.arange(len(pieces))
        sums = words[pieces] + places[where] + parts[(where >= row.row.own).long()]
        weight, bias = (
            torch.tensor(self._base[f"embeddings.LayerNorm.{kind}"]) for kind in ("weight", "bias")
        )
        return functional.layer_norm(sums, (WIDTH,), weight, bias, EPSILON)


def batches_of(
    rows: Sequence[Row], copy: int, lower: LowerStates, chosen: Sequence[int]
) -> Iterator[Batch]:
    """Yield batches of rows of like length, all chosen ones once."""
    order = sorted(chosen, key=lambda each: len(rows[each].row.pieces))
    for place in range(0, len(order), BATCH):
        own = order[place : place + BATCH]
        yield batch_of([rows[each] for each in own], [lower.of(copy, each) for each in own])


def fit(
    base: Base,
    copies: Sequence[Sequence[Row]],
    lower: LowerStates,
    chosen: Sequence[int],
    *,
    epochs: int,
) -> Network:
    """Return the network after some passes over the chosen rows, each time with other names."""
    torch.manual_seed(SEED)
    drawn = random.Random(SEED)  # noqa: S311 - an order, no secret
    network = Network([layer_of(base, number) for number in range(LAYERS - TUNED, LAYERS)])
    upper = {*network.upper.parameters()}
    groups = [
        {"params": [*upper], "lr": ENCODER_RATE},
        {"params": [each for each in network.parameters() if each not in upper], "lr": HEAD_RATE},
    ]
    rates = [ENCODER_RATE, HEAD_RATE]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
    steps, step = epochs * math.ceil(len(chosen) / BATCH), 0
    for epoch in range(epochs):
        copy = epoch % len(copies)
        plan = [*range(0, len(chosen), BATCH)]
        order = sorted(
            chosen, key=lambda each: len(copies[0][each].row.pieces) + drawn.random() * 8
        )
        drawn.shuffle(plan)
        network.train()
        summed = 0.0
        for place in plan:
            own = order[place : place + BATCH]
            batch = batch_of(
                [copies[copy][each] for each in own], [lower.of(copy, each) for each in own]
            )
            share = min(1.0, step / (WARM * steps)) * (1 - step / steps)
            for group, rate in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = rate * share
            loss = loss_of(network(batch), batch)
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


def write(
    network: Network,
    base: Base,
    temperatures: Mapping[str, float],
    version: str,
) -> None:
    """Write all layers with weights of 8 bits, and the heads, into the package."""
    lower = [layer_of(base, number) for number in range(LAYERS - TUNED)]
    layers = Layers([*lower, *network.upper.layers]).eval()  # type: ignore[list-item]
    whole, small = SHIPPED / "encoder.whole.onnx", SHIPPED / "encoder.onnx"
    torch.onnx.export(
        layers, (torch.zeros(1, 8, WIDTH),), str(whole), input_names=["states"],
        output_names=["out"], dynamic_axes={"states": {1: "pieces"}, "out": {1: "pieces"}},
        dynamo=False, opset_version=17,
    )  # fmt: skip
    quantize_dynamic(
        whole, small, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=["MatMul"],
        extra_options={"MatMulConstBOnly": True},
    )  # fmt: skip
    whole.unlink()
    np.savez_compressed(
        SHIPPED / "encoder.npz",
        allow_pickle=False,
        **heads_of(network, base, temperatures, version),
    )


def heads_of(
    network: Network,
    base: Base,
    temperatures: Mapping[str, float],
    version: str,
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
        "labels.slots": np.array(SLOT_LABELS, dtype=np.str_),
    }
    for name, module in (("tag", network.tag), ("query", network.query), ("key", network.key)):
        found[f"{name}.weight"] = module.weight.detach().numpy()
        found[f"{name}.bias"] = module.bias.detach().numpy()
    labels = {"act": ACT_LABELS, "predicate": PREDICATE_LABELS, "modality": MODALITY_LABELS}
    for question in ("act", "predicate", "modality", "negated", "secret", "plan"):
        own = labels.get(question, ("no", "yes"))
        found[f"labels.{question}"] = np.array(own, dtype=np.str_)
        found[f"temperature.{question}"] = np.array(temperatures.get(question, 1.0))
    return found


if __name__ == "__main__":
    main()
