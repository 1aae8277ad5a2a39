"""The network behind the encoder: layers as in BERT, and heads for clauses, words and links; batches of labelled rows for it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from kinkeeper.reading.encoder import FURTHEST
from training.encoder_rows import (
    ACT_LABELS,
    MODALITY_LABELS,
    PREDICATE_LABELS,
    SLOT_LABELS,
    UNREACHED,
    Row,
)

WIDTH: Final = 384
HEADS: Final = 12
KEYS: Final = 128
SMOOTHING: Final = 0.05
QUESTION_WIDTHS: Final = (len(ACT_LABELS), len(PREDICATE_LABELS), len(MODALITY_LABELS), 1, 1, 1)
"""Columns of the clause head by question; a yes-or-no question has one."""

EPSILON: Final = 1e-12
_LINK_SCALE: Final = 8.0
_CUT_WEIGHT: Final = 4.0
"""Few words begin a clause: each weighs as much as four that do not."""


class Layer(nn.Module):
    """One layer of BERT (Devlin et al. 2019)."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.first_norm, self.second_norm = (nn.LayerNorm(WIDTH, EPSILON) for _ in range(2))
        self.dropout = nn.Dropout(0.1)

    def forward(self, states: Tensor, padding: Tensor | None = None) -> Tensor:
        """Return the next states, shape (batch, pieces, width); `padding` is added to the attention scores."""
        batch, pieces, _ = states.shape

        def by_head(values: Tensor) -> Tensor:
            return values.view(batch, pieces, HEADS, WIDTH // HEADS).transpose(1, 2)

        query, key, value = (by_head(part(states)) for part in (self.query, self.key, self.value))
        scores = query @ key.transpose(-1, -2) / math.sqrt(WIDTH // HEADS)
        if padding is not None:
            scores = scores + padding
        mixed = (torch.softmax(scores, -1) @ value).transpose(1, 2).reshape(batch, pieces, WIDTH)
        states = self.first_norm(states + self.dropout(self.out(mixed)))
        inner = self.narrow(functional.gelu(self.wide(states)))
        normed: Tensor = self.second_norm(states + self.dropout(inner))
        return normed


class Layers(nn.Module):
    """Some layers on top of each other."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, states: Tensor, padding: Tensor | None = None) -> Tensor:
        """Return the states of the last layer."""
        for layer in self.layers:
            states = layer(states, padding)
        return states


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Rows side by side: vectors of their word pieces, and labels.

    Attributes:
        states: Vectors of the word pieces, shape (rows, pieces, width).
        padding: Shape (rows, 1, 1, pieces): 0, or very negative where a row has ended.
        words: Row and piece of every word, shape (words, 2).
        tags: Of every word.
        begins: Whether a slot begins at a word.
        cuts: Whether a clause begins at a word.
        clause_rows: Row of every clause.
        members: Clause and word of every word in a clause, shape (n, 2).
        labels: Shape (clauses, 7): act, predicate, modality, negated, secret, plan, link.
        parts: Mean over each open item and earlier message, shape (rows, parts, pieces).
        distances: Index of the distance of each part, -1 where a row has no more, shape (rows, parts).
    """

    states: Tensor
    padding: Tensor
    words: Tensor
    tags: Tensor
    begins: Tensor
    cuts: Tensor
    clause_rows: Tensor
    members: Tensor
    labels: Tensor
    parts: Tensor
    distances: Tensor


class Network(nn.Module):
    """All layers and the heads."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        super().__init__()
        self.layers = Layers(layers)
        self.clause = nn.Linear(2 * WIDTH, sum(QUESTION_WIDTHS))
        self.tag = nn.Linear(WIDTH, len(SLOT_LABELS) + 2)
        self.query, self.key = nn.Linear(2 * WIDTH, KEYS), nn.Linear(WIDTH, KEYS)
        self.nothing = nn.Parameter(torch.zeros(KEYS))
        self.distance = nn.Parameter(torch.zeros(2 * FURTHEST))
        self.dropout = nn.Dropout(0.1)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Return the sums of tags (words), of questions (clauses), and of links (clauses, 1 + parts)."""
        states = self.layers(batch.states, batch.padding)
        words = states[batch.words[:, 0], batch.words[:, 1]]
        clauses = len(batch.clause_rows)
        count = torch.bincount(batch.members[:, 0], minlength=clauses)[:, None]
        mean = torch.zeros(clauses, WIDTH).index_add(
            0, batch.members[:, 0], words[batch.members[:, 1]]
        )
        summary = self.dropout(torch.cat([mean / count, states[batch.clause_rows, 0]], 1))
        query = self.query(summary)
        keys = self.key(batch.parts @ states)[batch.clause_rows]
        distances = batch.distances[batch.clause_rows]
        links = (keys * query[:, None]).sum(-1) / _LINK_SCALE + self.distance[distances.clamp(0)]
        links = links.masked_fill(distances < 0, -1e4)
        nothing = (query @ self.nothing)[:, None] / _LINK_SCALE
        return self.tag(self.dropout(words)), self.clause(summary), torch.cat([nothing, links], 1)


def batch_of(rows: Sequence[Row], states: Sequence[NDArray[np.float32]]) -> Batch:
    """Return rows side by side."""
    longest = max(len(each) for each in states)
    most = max(1, *(len(row.row.items) + len(row.row.earlier) for row in rows))
    side = np.zeros((len(rows), longest, WIDTH), dtype=np.float32)
    parts = np.zeros((len(rows), most, longest), dtype=np.float32)
    distances = np.full((len(rows), most), -1)
    words, tags, begins, cuts, clause_rows, members, labels = [], [], [], [], [], [], []
    for line, (row, own) in enumerate(zip(rows, states, strict=True)):
        side[line, : len(own)] = own
        items, spans = len(row.row.items), (*row.row.items, *row.row.earlier)
        for index, (start, end) in enumerate(spans):
            parts[line, index, start:end] = 1 / (end - start)
            distances[line, index] = (
                FURTHEST + min(index, FURTHEST - 1)
                if index < items
                else min(len(spans) - index - 1, FURTHEST - 1)
            )
        first = len(words)
        words += [(line, place) for place in row.row.places]
        tags += row.tags
        begins += row.begins
        cuts += row.cuts
        for each in row.clauses:
            members += [(len(clause_rows), first + word) for word in range(each.first, each.end)]
            clause_rows.append(line)
            labels.append(
                (
                    each.act,
                    each.predicate,
                    each.modality,
                    each.is_negated,
                    each.is_secret,
                    each.is_plan,
                    each.link,
                )
            )
    return Batch(
        states=torch.from_numpy(side),
        padding=padding_of([len(each) for each in states], longest),
        words=torch.tensor(words),
        tags=torch.tensor(tags),
        begins=torch.tensor(begins).float(),
        cuts=torch.tensor(cuts).float(),
        clause_rows=torch.tensor(clause_rows),
        members=torch.tensor(members),
        labels=torch.tensor(labels, dtype=torch.long),
        parts=torch.from_numpy(parts),
        distances=torch.from_numpy(distances),
    )


def padding_of(sizes: Sequence[int], longest: int) -> Tensor:
    """Return what is added to attention scores, shape (rows, 1, 1, longest): 0, or very negative past a row's end."""
    lengths = torch.tensor(sizes)[:, None]
    return torch.where(torch.arange(longest)[None] < lengths, 0.0, -1e4)[:, None, None]


def loss_of(outputs: tuple[Tensor, Tensor, Tensor], batch: Batch) -> Tensor:
    """Return what is to be made small: the sum over all heads, the rarer and softer ones weighing less."""
    tags, clauses, links = outputs
    act, predicate, modality, *flags = clauses.split(QUESTION_WIDTHS, 1)
    labels = batch.labels
    cross, binary = functional.cross_entropy, functional.binary_cross_entropy_with_logits
    total = cross(act, labels[:, 0], label_smoothing=SMOOTHING)
    total = total + cross(predicate, labels[:, 1], label_smoothing=SMOOTHING)
    total = total + 0.5 * cross(modality, labels[:, 2])
    for weight, column, flag in zip((0.3, 0.3, 0.7), (3, 4, 5), flags, strict=True):
        total = total + weight * binary(flag[:, 0], labels[:, column].float())
    total = total + 1.5 * cross(tags[:, : len(SLOT_LABELS)], batch.tags)
    total = total + 0.5 * binary(tags[:, -2], batch.begins)
    total = total + 2.0 * binary(tags[:, -1], batch.cuts, pos_weight=torch.tensor(_CUT_WEIGHT))
    reached = labels[:, 6] != UNREACHED
    if reached.any():
        total = total + 0.7 * cross(links[reached], labels[reached, 6] + 1)
    return total
