"""A pattern laid on the graph, batch by batch: what is there decides which step comes next."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import distinct
from orienteer.query.budget import BATCH
from orienteer.query.columns import Batch, Col, EdgeRef, NodeRef, Numbers, Path, column, stacked
from orienteer.query.evaluate import Evaluator
from orienteer.query.paths import reached, shortest
from orienteer.query.plan import Among, Both, Compared, Every, Has, Hop, Match, Meeting, NodeSet, Step
from orienteer.query.sets import Sets

_SMALL = 2_000  # nodes of a set that may narrow what edges lead to
_FEW_STARTS = 64  # rows from which the ends of walks are found ring by ring
_NARROWING = 200_000  # edge ends that one narrowing may read
Names = frozenset[str]


class _Left(NamedTuple):
    """What is still to be bound: nodes, and steps and conditions by number."""

    nodes: Names
    steps: tuple[int, ...]
    conditions: tuple[int, ...]


class Pattern:
    """One pattern, and the rows that it is laid from."""

    def __init__(self, sets: Sets, evaluator: Evaluator, match: Match, batch: Batch) -> None:
        self._sets, self._store, self._budget = sets, sets.store, sets.budget
        self._evaluator, self._match, self._batch = evaluator, match, batch
        self._domains = dict(match.nodes)
        self._marks = frozenset(name for name in batch.columns if name.startswith("#"))
        # The steps that may take the same edge, which Cypher forbids within a pattern.
        self._apart: dict[int, list[int]] = {number: [] for number in range(len(match.steps))}
        for (one, step), (other, another) in combinations(enumerate(match.steps), 2):
            share = {kind >> 1 for kind in step.kinds} & {kind >> 1 for kind in another.kinds}
            if share and not step.shortest and not another.shortest:
                self._apart[one].append(other)
                self._apart[other].append(one)
        self._in_paths = frozenset(name for _, nodes, edges in match.paths for name in (*nodes, *edges))

    def ways(self) -> Iterator[Batch]:
        """Yield the rows that the pattern makes of its batch."""
        batch, match = self._batch, self._match
        for name, nodes in match.nodes:
            if name in batch.columns:
                batch = batch.take(self._is_in(batch.columns[name], nodes))
        if not batch.size:
            return
        self._narrow(batch)
        left = frozenset(name for name, _ in match.nodes if name not in batch.columns)
        yield from self._laid(batch, _Left(left, tuple(range(len(match.steps))), tuple(range(len(match.conditions)))))

    def _is_in(self, nodes: Col, domain: NodeSet) -> NDArray[np.bool_]:
        """Mark the rows in which a name that is bound already is a node of a set."""
        nodes = nodes if nodes.kind == "node" else column(nodes.values())
        if nodes.kind != "node":
            return np.zeros(len(nodes), np.bool_)
        there = nodes.data >= 0
        return there if domain == Every() else there & self._sets.mask(domain)[np.maximum(nodes.data, 0)]

    # Planning.

    def _narrow(self, batch: Batch) -> None:
        """Narrow what the neighbours of small sets may be, if several sets are small: so two ends meet halfway."""
        steps = [step for step in self._match.steps if not step.is_long and not step.shortest]
        small = {name for name, nodes in self._domains.items() if self._estimate(nodes) <= _SMALL}
        if batch.size > 1 or len(small) < 2:
            return
        for step in steps * 2:
            for start, end, kinds in ((step.start, step.end, step.kinds), (step.end, step.start, _turned(step.kinds))):
                if start in batch.columns or end in batch.columns or start not in small or end in small:
                    continue
                rows = self._sets.rows(self._domains[start])
                if int(self._store.adjacency.degree(rows).sum()) > _NARROWING:
                    continue
                parts = [walked.far for walked in self._store.around(rows, Hop(kinds), self._budget, loops=True)]
                reached = distinct(np.concatenate(parts)) if parts else rows[:0]
                kept = self._sets.keep(reached, self._domains[end])
                self._domains[end] = Among(tuple(kept.tolist()))
                if len(kept) <= _SMALL:
                    small.add(end)

    def _estimate(self, nodes: NodeSet) -> float:
        """Return about how many nodes a set has, without evaluating conditions on values."""
        match nodes:
            case Among(rows=rows):
                return len(rows)
            case Every(types=types):
                return self._store.count_of(types)
            case Both(parts=parts):
                return min(map(self._estimate, parts)) * 0.7 ** (len(parts) - 1)
            case Has() | Meeting():
                return self._store.size * 0.3
            case Compared():
                return self._store.size * 0.05
        return len(self._sets.rows(nodes))

    def _types(self, name: str) -> frozenset[int]:
        nodes = self._domains[name]
        parts = nodes.parts if isinstance(nodes, Both) else (nodes,)
        return next((part.types for part in parts if isinstance(part, Every)), frozenset())

    def _next(self, batch: Batch, left: _Left) -> int | str:
        """Return the step that makes the fewest rows, or the node to begin with."""
        cost, chosen = math.inf, -1
        for number in left.steps:
            step = self._match.steps[number]
            has_start, has_end = step.start in batch.columns, step.end in batch.columns
            if has_start and has_end:
                if not step.is_long:
                    return number
                own = 1.0
            elif step.shortest or not (has_start or has_end):
                continue
            else:
                near, far = (step.start, step.end) if has_start else (step.end, step.start)
                kinds = step.kinds if has_start else _turned(step.kinds)
                share = self._estimate(self._domains[far]) / max(self._store.count_of(self._types(far)), 1)
                own = self._store.fan(kinds, self._types(near)) ** max(step.most, 1) * min(share, 1.0)
            if own < cost:
                cost, chosen = own, number
        size, name = min(((self._estimate(self._domains[name]), name) for name in left.nodes), default=(math.inf, ""))
        # A single node is bound at once: from then on both ends of its steps are known.
        return name if name and (chosen < 0 or size <= 1 < cost) else chosen

    def _read_later(self, left: _Left) -> Names | None:
        """Return the names that are still read; None for all."""
        if self._match.kept is None:
            return None
        steps = self._match.steps
        names = set(self._match.kept | self._marks | self._in_paths)
        for number in left.steps:
            names |= {steps[number].start, steps[number].end}
            names |= {steps[other].edge for other in self._apart[number]}
        for number in left.conditions:
            names |= self._match.conditions[number][1]
        return frozenset(names)

    # Execution.

    def _laid(self, batch: Batch, left: _Left) -> Iterator[Batch]:
        batch, left = self._tidied(batch, left)
        if not batch.size:
            return
        if not left.nodes and not left.steps:
            yield self._finished(batch, left)
            return
        chosen = self._next(batch, left)
        if isinstance(chosen, str):
            after = left._replace(nodes=left.nodes - {chosen})
            parts = self._begun(batch, chosen)
        else:
            step = self._match.steps[chosen]
            steps = tuple(number for number in left.steps if number != chosen)
            after = _Left(left.nodes - {step.start, step.end}, steps, left.conditions)
            parts = self._stepped(batch, chosen, after)
        if not self._match.distinct:
            for part in parts:
                yield from self._laid(part, after)
            return
        # One level after another: rows that are alike are walked from once.
        level, size, tested = list[Batch](), 0, after
        for part in parts:
            part, tested = self._tidied(part, after)
            level.append(part)
            size += part.size
            if size > 4 * BATCH:
                merged = stacked(level)
                level = [merged.once(list(merged.columns))]
                size = level[0].size
            self._budget.hold(size)
        if filled := [part for part in level if part.size]:
            yield from self._laid(stacked(filled), tested)

    def _tidied(self, batch: Batch, left: _Left) -> tuple[Batch, _Left]:
        """Test the conditions whose names are all bound, then drop what nothing reads any more."""
        waiting = []
        for number in left.conditions:
            condition, names = self._match.conditions[number]
            if names <= batch.columns.keys():
                batch = batch.take(self._evaluator.true(condition, batch)) if batch.size else batch
            else:
                waiting.append(number)
        left = left._replace(conditions=tuple(waiting))
        later = self._read_later(left)
        if later is not None:
            batch = batch.only(name for name in batch.columns if name in later)
        return batch.once(list(batch.columns)) if self._match.distinct else batch, left

    def _finished(self, batch: Batch, left: _Left) -> Batch:
        """Return whole rows: with the paths that are named, and the conditions on these tested."""
        batch = batch.beside({name: self._path(batch, nodes, edges) for name, nodes, edges in self._match.paths})
        for number in left.conditions:
            batch = batch.take(self._evaluator.true(self._match.conditions[number][0], batch))
        kept = self._match.kept
        return batch if kept is None else batch.only(name for name in batch.columns if name in kept | self._marks)

    def _begun(self, batch: Batch, name: str) -> Iterator[Batch]:
        """Yield each row with each node that a name may be bound to."""
        rows = self._sets.rows(self._domains[name])
        self._budget.walk(batch.size * len(rows))
        wide = max(BATCH // max(len(rows), 1), 1)
        for low in range(0, batch.size, wide):
            part = batch if batch.size <= wide else batch.take(np.arange(low, min(low + wide, batch.size)))
            for first in range(0, len(rows), BATCH):
                some = rows[first : first + BATCH]
                self._budget.check()
                index = np.repeat(np.arange(part.size), len(some))
                yield part.take(index).beside({name: Col("node", np.tile(some, part.size))})

    def _stepped(self, batch: Batch, number: int, after: _Left) -> Iterator[Batch]:
        """Yield each row with each edge that a step may take."""
        step = self._match.steps[number]
        bound = [edge for other in self._apart[number] if (edge := self._match.steps[other].edge) in batch.columns]
        if step.shortest:
            yield from self._shortest(batch, step)
            return
        later = self._read_later(after)
        if step.is_long:
            ends_alone = self._match.distinct and later is not None and step.edge not in later and not bound
            parts = self._reached(batch, step) if ends_alone and step.least <= 1 else None
            yield from self._walked(batch, step, bound) if parts is None else parts
            return
        is_forward = step.start in batch.columns
        near, far = (step.start, step.end) if is_forward else (step.end, step.start)
        rows = batch.columns[near].data
        for index, neighbor, at in self._edges(batch, step, near, far):
            keep = self._fits(batch, step, near, index, neighbor, at)
            if keep is not None:
                index, neighbor, at = index[keep], neighbor[keep], at[keep]
            made = {far: Col("node", neighbor)}
            if bound or later is None or step.edge in later:
                edges = self._store.edge_numbers(rows[index], neighbor, at)
                keep = np.ones(len(at), np.bool_)
                for name in bound:
                    keep &= _differs(batch.columns[name].take(index), edges)
                index, made = index[keep], {far: made[far].take(keep), step.edge: Col("edge", edges[keep])}
            read = batch if later is None else batch.only(name for name in batch.columns if name in later)
            yield read.take(index).beside({name: part for name, part in made.items() if later is None or name in later})

    def _edges(self, batch: Batch, step: Step, near: str, far: str) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
        """Yield the places of rows, the far ends and the places of edges of one step."""
        rows = batch.columns[near].data
        if far in batch.columns:
            ends = batch.columns[far].data
            self._budget.walk(batch.size)
            index, at = self._store.between(rows, ends, step.kinds)
            yield index, ends[index], at
            return
        kinds = step.kinds if near == step.start else _turned(step.kinds)
        for walked in self._store.around(rows, Hop(kinds), self._budget, loops=True):
            yield walked.near, walked.far, walked.at

    def _fits(
        self, batch: Batch, step: Step, near: str, index: Numbers, neighbor: Numbers, at: Numbers
    ) -> NDArray[np.bool_] | None:
        """Mark the edges whose far end is in its set, and whose ends have types that the step allows; None for all."""
        far = step.end if near == step.start else step.start
        keep = None
        if far not in batch.columns and (domain := self._domains[far]) != Every():
            if len(neighbor) * 8 < self._store.size:
                kept = self._sets.keep(distinct(neighbor), domain)
                keep = kept.take(kept.searchsorted(neighbor), mode="clip") == neighbor if len(kept) else neighbor < 0
            else:
                keep = self._sets.mask(domain)[neighbor]
        if step.ends is not None:
            kind, types = self._store.adjacency.kind[at].astype(np.int64), self._store.node_types
            owner = batch.columns[near].data[index]
            first, last = (owner, neighbor) if near == step.start else (neighbor, owner)
            kind = kind if near == step.start else kind ^ 1
            wide = len(self._store.types.nodes)
            codes = (kind * wide + types[first]) * wide + types[last]
            # A loop has both directions, and both of its ends have one type.
            turned = ((kind ^ 1) * wide + types[first]) * wide + types[last]
            wanted = [(kind * wide + start) * wide + end for kind, start, end in step.ends]
            allowed = np.isin(codes, wanted) | ((first == last) & np.isin(turned, wanted))
            keep = allowed if keep is None else keep & allowed
        return keep

    def _walked(self, batch: Batch, step: Step, bound: list[str]) -> Iterator[Batch]:
        """Yield walks of several edges, no edge twice, of any length from `least` to `most`."""
        is_forward = step.start in batch.columns
        near, far = (step.start, step.end) if is_forward else (step.end, step.start)
        hop = Hop(step.kinds if is_forward else _turned(step.kinds))
        wanted = batch.columns[far].data if far in batch.columns else None
        domain = self._domains[far]
        mask = None if wanted is not None or domain == Every() else self._sets.mask(domain)

        def onward(index: Numbers, rows: Numbers, trails: Numbers) -> Iterator[Batch]:
            length = trails.shape[1]
            if length >= step.least:
                keep = np.ones(len(rows), np.bool_)
                if wanted is not None:
                    keep = wanted[index] == rows
                elif mask is not None:
                    keep = mask[rows]
                if keep.any():
                    shown = trails[keep] if is_forward else trails[keep][:, ::-1]
                    yield batch.take(index[keep]).beside({step.edge: Col("trail", shown), far: Col("node", rows[keep])})
            if length == step.most:
                return
            for walked in self._store.around(rows, hop, self._budget, loops=True):
                edges = self._store.edge_numbers(rows[walked.near], walked.far, walked.at)
                keep = (trails[walked.near] != edges[:, None]).all(axis=1)
                for name in bound:
                    keep &= _differs(batch.columns[name].take(index[walked.near]), edges)
                before = walked.near[keep]
                if len(before):  # one part of a ring to its end before the next: no ring is held whole
                    longer = np.concatenate([trails[before], edges[keep][:, None]], axis=1)
                    yield from onward(index[before], walked.far[keep], longer)

        yield from onward(np.arange(batch.size), batch.columns[near].data, np.zeros((batch.size, 0), np.int64))

    def _reached(self, batch: Batch, step: Step) -> list[Batch] | None:
        """Return each row with each node that a walk ends at, if no row asks by which edges; None if that is dearer."""
        near, far = (step.start, step.end) if step.start in batch.columns else (step.end, step.start)
        if batch.size > _FEW_STARTS or far in batch.columns:
            return None
        hop = Hop(step.kinds if near == step.start else _turned(step.kinds))
        mask, parts = self._sets.mask(self._domains[far]), list[Batch]()
        for place, start in enumerate(batch.columns[near].data.tolist()):
            ends = reached(self._store, start, hop, step.least, step.most, self._budget)
            if ends is None:
                return None
            ends = ends[mask[ends]]
            made = batch.take(np.full(len(ends), place)).beside({far: Col("node", ends)})
            parts.append(made.only(name for name in made.columns if name != step.edge))
        return parts

    def _shortest(self, batch: Batch, step: Step) -> Iterator[Batch]:
        starts, ends = batch.columns[step.start].data.tolist(), batch.columns[step.end].data.tolist()
        index, trails, wide = list[int](), list[NDArray[np.int64]](), 0
        every = step.shortest == "all"
        for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
            found = shortest(self._store, start, end, Hop(step.kinds), step.most, self._budget, every=every)
            if found is not None:
                index += [place] * len(found)
                trails.append(found)
                wide = max(wide, found.shape[1])
        padded = [np.pad(trail, ((0, 0), (0, wide - trail.shape[1])), constant_values=-1) for trail in trails]
        data = np.concatenate(padded) if padded else np.zeros((0, 1), np.int64)
        yield batch.take(np.array(index, np.int64)).beside({step.edge: Col("trail", data)})

    def _path(self, batch: Batch, nodes: tuple[str, ...], edges: tuple[str, ...]) -> Col:
        """Return whole paths: their nodes, those inside of walks too, and their edges."""
        starts = batch.columns[nodes[0]].data.tolist()
        along = [batch.columns[name].data.reshape(batch.size, -1) for name in edges]
        trails = np.concatenate(along, axis=1) if along else np.zeros((batch.size, 0), np.int64)
        sources, targets, _ = self._store.ends_of(np.maximum(trails, 0).ravel())
        ends = np.stack([sources, targets], axis=1).reshape(*trails.shape, 2).tolist()
        paths = []
        for start, trail, pairs in zip(starts, trails.tolist(), ends, strict=True):
            walked = [start]
            for at, (source, target) in zip(trail, pairs, strict=True):
                if at >= 0:
                    walked.append(target if source == walked[-1] else source)
            paths.append(Path(tuple(map(NodeRef, walked)), tuple(EdgeRef(at) for at in trail if at >= 0)))
        return column(paths)


def _turned(kinds: Iterable[int]) -> frozenset[int]:
    return frozenset(kind ^ 1 for kind in kinds)


def _differs(known: Col, edges: Numbers) -> NDArray[np.bool_]:
    """Mark the rows whose edge is not among the known ones: (rows,)."""
    data = known.data if known.kind == "trail" else known.data[:, None]
    different: NDArray[np.bool_] = (data != edges[:, None]).all(axis=1)
    return different
