"""A pattern laid on the graph. Which step comes next is decided for each batch, by the fewest rows that it may make."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import distinct
from orienteer.query.budget import BATCH
from orienteer.query.columns import (
    HELD,
    Batch,
    Col,
    EdgeRef,
    NodeRef,
    Numbers,
    Path,
    column,
    joined,
    marks,
    objects,
    stacked,
)
from orienteer.query.evaluate import Evaluator
from orienteer.query.paths import ends_of_walks, shortest_paths
from orienteer.query.plan import Among, Both, Compared, Every, Has, Hop, Match, Meeting, NodeSet, Step
from orienteer.query.sets import Sets, turned

_FEW_STARTS = 64  # rows from which the ends of walks are found ring by ring
_SMALL = 2_000  # nodes of a set that may narrow the sets beside it
_NARROWING = 200_000  # edge ends that one narrowing may read


_Fits = Callable[[Numbers, Numbers], NDArray[np.bool_]]


class _Left(NamedTuple):
    """The parts of a pattern that are not bound yet: nodes, steps and conditions, the last two by number."""

    nodes: frozenset[str]
    steps: tuple[int, ...]
    conditions: tuple[int, ...]


class _Found(NamedTuple):
    """Edges that a step may follow, as aligned arrays (n,): the row of the batch, the far node, the edge's place."""

    row: Numbers
    far: Numbers
    at: Numbers

    def where(self, keep: NDArray[np.bool_]) -> _Found:
        """Return the edges under a mask, (n,)."""
        return self if keep.all() else _Found(self.row[keep], self.far[keep], self.at[keep])


class Pattern:
    """One pattern, and the rows that it begins with."""

    def __init__(self, sets: Sets, evaluator: Evaluator, match: Match, batch: Batch) -> None:
        self._sets, self._evaluator = sets, evaluator
        self._store, self._budget = sets.store, sets.budget
        self._match, self._batch = match, batch
        self._domains = dict(match.nodes)
        self._marks = frozenset(marks(batch))
        self._hops = [Hop(step.kinds) for step in match.steps]
        # Steps that share an edge type may not share an edge.
        self._apart: dict[int, list[int]] = {number: [] for number in range(len(match.steps))}
        for (one, step), (other, another) in combinations(enumerate(match.steps), 2):
            shared = {kind >> 1 for kind in step.kinds} & {kind >> 1 for kind in another.kinds}
            if shared and not step.shortest and not another.shortest:
                self._apart[one].append(other)
                self._apart[other].append(one)
        self._in_paths = frozenset(name for _, nodes, edges in match.paths for name in (*nodes, *edges))

    def rows(self) -> Iterator[Batch]:
        """Yield the rows that the pattern makes of its batch."""
        batch, match = self._batch, self._match
        for name, nodes in match.nodes:
            if name in batch.columns:
                batch = self._among(batch, name, nodes)
        for step in match.steps:
            if step.edge in batch.columns and batch.columns[step.edge].kind != "edge":
                batch = _as_kind(batch, step.edge, "edge")
        if not batch.size:
            return
        left = frozenset(name for name, _ in match.nodes if name not in batch.columns)
        self._narrow(batch)
        everything = _Left(left, tuple(range(len(match.steps))), tuple(range(len(match.conditions))))
        yield from self._laid(batch, everything)

    def _among(self, batch: Batch, name: str, nodes: NodeSet) -> Batch:
        """Return the rows whose node is in a set."""
        batch = _as_kind(batch, name, "node")
        if nodes == Every() or not batch.size:
            return batch
        return batch.take(self._sets.mask(nodes)[batch.columns[name].data])

    # Planning.

    def _narrow(self, batch: Batch) -> None:
        """Narrow the sets next to small sets, if several sets are small: so two ends meet halfway."""
        small = {name for name in self._domains if self._size(name) <= _SMALL}
        if batch.size > 1 or len(small) < 2:
            return
        for _ in range(2):
            for step, hop in zip(self._match.steps, self._hops, strict=True):
                if step.is_long or step.shortest:
                    continue
                for start, end, way in ((step.start, step.end, hop), (step.end, step.start, turned(hop))):
                    if start in small and end not in small and not {start, end} & batch.columns.keys():
                        self._narrow_end(start, end, way, small)

    def _narrow_end(self, start: str, end: str, hop: Hop, small: set[str]) -> None:
        sets = self._sets
        rows = sets.rows(self._domains[start])
        if int(self._store.adjacency.degree(rows).sum()) > _NARROWING:
            return
        parts = [walked.far for walked in self._store.around(rows, hop, self._budget, loops=True)]
        reached = distinct(np.concatenate(parts)) if parts else rows[:0]
        kept = sets.keep(reached, self._domains[end])
        self._domains[end] = Among(tuple(kept.tolist()))
        if len(kept) <= _SMALL:
            small.add(end)

    def _size(self, name: str) -> float:
        """Estimate how many nodes a name may be bound to."""
        return self._estimate(self._domains[name])

    def _estimate(self, nodes: NodeSet) -> float:
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
        best: tuple[float, int | str] | None = None
        for number in left.steps:
            step = self._match.steps[number]
            has_start, has_end = step.start in batch.columns, step.end in batch.columns
            if step.edge in batch.columns or (has_start and has_end and not step.is_long):
                return number
            if has_start and has_end:
                cost = 1.0
            elif step.shortest or not (has_start or has_end):
                continue
            else:
                near, far = (step.start, step.end) if has_start else (step.end, step.start)
                hop = self._hops[number] if has_start else turned(self._hops[number])
                share = min(self._size(far) / max(self._store.count_of(self._types(far)), 1), 1.0)
                cost = self._store.fan(hop.kinds, self._types(near)) ** (8 if step.most is None else step.most) * share
            if best is None or cost < best[0]:
                best = cost, number
        size, name = min(((self._size(name), name) for name in left.nodes), default=(np.inf, ""))
        if name and (best is None or size <= 1 < best[0]):
            return name
        assert best is not None, "a step that is left has an end that is bound, or a node is left"
        return best[1]

    def _read_later(self, left: _Left) -> frozenset[str] | None:
        """Return the names that are still read; None for all."""
        if self._match.kept is None:
            return None
        steps = self._match.steps
        names = set(self._match.kept | self._marks | self._in_paths)
        for number in left.steps:
            names |= {steps[number].start, steps[number].end, steps[number].edge}
            names |= {steps[other].edge for other in self._apart[number]}
        for number in left.conditions:
            names |= self._match.conditions[number][1]
        return frozenset(names)

    # Execution.

    def _laid(self, batch: Batch, left: _Left) -> Iterator[Batch]:
        """Yield the rows with everything that is left bound."""
        batch, left = self._tidy(batch, left)
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
        # Level by level: rows that are alike continue as one.
        tidied, size, tested = list[Batch](), 0, after
        for part in parts:
            tidy, tested = self._tidy(part, after)
            if tidy.size:
                tidied.append(tidy)
                size += tidy.size
                if size > HELD:
                    tidied = [_once(stacked(tidied))]
                    size = tidied[0].size
                self._budget.hold(size)
        if tidied:
            yield from self._laid(stacked(tidied), tested)

    def _tidy(self, batch: Batch, left: _Left) -> tuple[Batch, _Left]:
        """Test the conditions whose names are all bound, and drop the columns that are not read any more."""
        waiting = []
        for number in left.conditions:
            condition, names = self._match.conditions[number]
            if not names <= batch.columns.keys():
                waiting.append(number)
            elif batch.size:
                batch = batch.take(self._evaluator.true(condition, batch))
        left = left._replace(conditions=tuple(waiting))
        later = self._read_later(left)
        if later is not None:
            batch = batch.only(name for name in batch.columns if name in later)
        return _once(batch) if self._match.distinct else batch, left

    def _finished(self, batch: Batch, left: _Left) -> Batch:
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
        """Yield the rows that a step makes."""
        step, later = self._match.steps[number], self._read_later(after)
        others = [self._match.steps[other].edge for other in self._apart[number]]
        bound = [batch.columns[name] for name in others if name in batch.columns]
        if step.shortest:
            yield from self._shortest(batch, number)
        elif step.is_long:
            is_read = later is None or step.edge in later or bound
            both_ways = {kind ^ 1 in step.kinds or kind >> 1 in self._store.symmetric for kind in step.kinds}
            if is_read or not self._match.distinct or step.least > 1:
                yield from self._walked(batch, number, bound)
            elif both_ways == {False}:
                yield from self._reached(batch, number)
            elif both_ways == {True} and batch.size <= _FEW_STARTS:
                yield from self._reached_both_ways(batch, number)
            else:
                yield from self._walked(batch, number, bound)
        elif step.edge in batch.columns:
            yield from self._known(batch, step, bound)
        else:
            near, far = (step.start, step.end) if step.start in batch.columns else (step.end, step.start)
            needs_edge = bool(bound) or later is None or step.edge in later
            for found in self._edges(batch, number):
                found = self._fitting(batch, step, near, far, found)
                made = {far: Col("node", found.far)}
                if needs_edge:
                    near_rows = batch.columns[near].data[found.row]
                    edges = self._store.edge_numbers(near_rows, found.far, found.at)
                    keep = np.ones(len(edges), np.bool_)
                    for known in bound:
                        keep &= _differs(known.take(found.row), edges)
                    found = found.where(keep)
                    made = {far: Col("node", found.far), step.edge: Col("edge", edges[keep])}
                read = batch if later is None else batch.only(n for n in batch.columns if n in later or n == near)
                yield read.take(found.row).beside(made)

    def _edges(self, batch: Batch, number: int) -> Iterator[_Found]:
        """Yield the edges that a step may follow from each row."""
        step, hop = self._match.steps[number], self._hops[number]
        if step.start in batch.columns and step.end in batch.columns:
            starts, ends = batch.columns[step.start].data, batch.columns[step.end].data
            self._budget.walk(batch.size)
            index, at = self._store.between(starts, ends, step.kinds)
            yield _Found(index, ends[index], at)
            return
        near, way = (step.start, hop) if step.start in batch.columns else (step.end, turned(hop))
        for walked in self._store.around(batch.columns[near].data, way, self._budget, loops=True):
            yield _Found(*walked)

    def _fitting(self, batch: Batch, step: Step, near: str, far: str, found: _Found) -> _Found:
        """Return the edges whose far end is in its set, and whose ends have the types that the step names."""
        if far not in batch.columns and self._domains[far] != Every():
            sets, nodes = self._sets, self._domains[far]
            if len(found.far) * 8 < self._store.size:
                kept = sets.keep(distinct(found.far), nodes)
                found = found.where(np.isin(found.far, kept))
            else:
                found = found.where(sets.mask(nodes)[found.far])
        if step.ends is not None:
            types, wide = self._store.node_types, len(self._store.types.nodes)
            kinds, owner = self._store.adjacency.kind[found.at].astype(np.int64), batch.columns[near].data[found.row]
            first, last, kinds = (owner, found.far, kinds) if near == step.start else (found.far, owner, kinds ^ 1)
            codes = (kinds * wide + types[first]) * wide + types[last]
            allowed = [(kind * wide + start) * wide + end for kind, start, end in step.ends]
            found = found.where(np.isin(codes, allowed))
        return found

    def _known(self, batch: Batch, step: Step, bound: list[Col]) -> Iterator[Batch]:
        """Yield the rows in which an edge that is bound fits a step, once for each way."""
        edges = batch.columns[step.edge].data
        source, target, types = self._store.ends_of(edges)
        mask = self._store.kind_mask(step.kinds)
        is_loop = source == target
        for start, end, fits in (
            (source, target, mask[2 * types] | (is_loop & mask[2 * types + 1])),
            (target, source, mask[2 * types + 1] & ~is_loop),
        ):
            keep = fits.copy()
            for known in bound:
                keep &= _differs(known, edges)
            for name, rows in ((step.start, start), (step.end, end)):
                if name in batch.columns:
                    keep &= batch.columns[name].data == rows
                elif self._domains[name] != Every():
                    keep &= self._sets.mask(self._domains[name])[rows]
            if step.start == step.end:
                keep &= is_loop
            at = np.flatnonzero(keep)
            found = _Found(at, end[at], edges[at])
            made = {step.start: Col("node", start[found.row]), step.end: Col("node", found.far)}
            yield batch.take(found.row).beside(made)

    # Steps with a length.

    def _ends(self, batch: Batch, number: int) -> tuple[str, str, Hop, _Fits]:
        """Return near end, far end and hop of a step, and the test of walks from rows of the batch to nodes: (n,)."""
        step, hop = self._match.steps[number], self._hops[number]
        forward = step.start in batch.columns
        near, far = (step.start, step.end) if forward else (step.end, step.start)
        nodes, wanted = self._domains[far], batch.columns[far].data if far in batch.columns else None
        mask = None if wanted is not None or nodes == Every() else self._sets.mask(nodes)

        def fits(index: Numbers, ends: Numbers) -> NDArray[np.bool_]:
            if wanted is not None:
                return np.asarray(wanted[index] == ends)
            return np.ones(len(ends), np.bool_) if mask is None else mask[ends]

        return near, far, hop if forward else turned(hop), fits

    def _walked(self, batch: Batch, number: int, bound: list[Col]) -> Iterator[Batch]:
        """Yield walks that follow no edge twice, part by part to their ends: no ring is held whole."""
        step = self._match.steps[number]
        near, far, hop, fits = self._ends(batch, number)
        forward = near == step.start
        waiting = [(np.arange(batch.size), batch.columns[near].data, np.zeros((batch.size, 0), np.int64))]
        while waiting:
            index, rows, trails = waiting.pop()
            length = trails.shape[1]
            if length >= step.least:
                keep = fits(index, rows)
                if keep.any():
                    shown = trails[keep] if forward else trails[keep][:, ::-1]
                    shown = shown if length else np.full((len(shown), 1), -1)
                    yield batch.take(index[keep]).beside({step.edge: Col("trail", shown), far: Col("node", rows[keep])})
            if length == step.most:
                continue
            held = sum(part[2].size for part in waiting)
            for walked in self._store.around(rows, hop, self._budget, loops=True):
                edges = self._store.edge_numbers(rows[walked.near], walked.far, walked.at)
                keep = (trails[walked.near] != edges[:, None]).all(axis=1)
                for known in bound:
                    keep &= _differs(known.take(index[walked.near]), edges)
                if keep.any():
                    on = walked.near[keep]
                    longer = np.concatenate([trails[on], edges[keep][:, None]], axis=1)
                    held += longer.size
                    self._budget.hold(held)
                    waiting.append((index[on], walked.far[keep], longer))

    def _reached(self, batch: Batch, number: int) -> Iterator[Batch]:
        """Yield the ends of walks, each once for a row. A directed walk of the fewest steps follows no edge twice."""
        step = self._match.steps[number]
        near, far, hop, fits = self._ends(batch, number)
        index, rows, length = np.arange(batch.size), batch.columns[near].data, 0
        seen = np.zeros(0, np.int64)
        while len(index):
            if length >= step.least:
                keep = fits(index, rows)
                yield batch.take(index[keep]).beside({far: Col("node", rows[keep])})
            if length == step.most:
                return
            length += 1
            parts = [
                np.unique(index[walked.near] * self._store.size + walked.far)
                for walked in self._store.around(rows, hop, self._budget, loops=True)
            ]
            codes = np.setdiff1d(np.concatenate(parts), seen) if parts else seen[:0]
            seen = np.union1d(seen, codes)
            self._budget.hold(len(seen))
            index, rows = codes // self._store.size, codes % self._store.size

    def _reached_both_ways(self, batch: Batch, number: int) -> Iterator[Batch]:
        """Yield the ends of walks whose edges lead both ways, each once for a row."""
        step = self._match.steps[number]
        near, far, hop, fits = self._ends(batch, number)
        for place, start in enumerate(batch.columns[near].data.tolist()):
            ends = ends_of_walks(self._store, start, hop, step.least, step.most, self._budget)
            ends = ends[fits(np.full(len(ends), place), ends)]
            yield batch.take(np.full(len(ends), place)).beside({far: Col("node", ends)})

    def _shortest(self, batch: Batch, number: int) -> Iterator[Batch]:
        step, hop = self._match.steps[number], self._hops[number]
        starts, ends = batch.columns[step.start].data.tolist(), batch.columns[step.end].data.tolist()
        index, trails = list[int](), list[Numbers]()
        for place, both in enumerate(zip(starts, ends, strict=True)):
            found = shortest_paths(self._sets, both, hop, step.most, every=step.shortest == "all")
            if found is not None:
                index += [place] * len(found)
                trails.append(found)
                self._budget.hold(len(index))
        if index:
            yield batch.take(np.array(index)).beside({step.edge: joined([Col("trail", part) for part in trails])})

    def _path(self, batch: Batch, nodes: tuple[str, ...], edges: tuple[str, ...]) -> Col:
        """Return whole paths as values."""
        columns = {name: batch.columns[name].data for name in (*nodes, *edges)}
        ends = dict[int, tuple[int, int]]()
        for name in edges:
            numbers = np.unique(columns[name])
            numbers = numbers[numbers >= 0]
            source, target, _ = self._store.ends_of(numbers)
            ends |= zip(numbers.tolist(), zip(source.tolist(), target.tolist(), strict=True), strict=True)
        firsts, walks = columns[nodes[0]].tolist(), [columns[name].reshape(batch.size, -1).tolist() for name in edges]
        self._budget.hold(batch.size, 100 * batch.size * (1 + len(edges)))
        paths = []
        for row, first in enumerate(firsts):
            if row % 4096 == 0:
                self._budget.check()
            along = [at for walk in walks for at in walk[row] if at >= 0]
            passed = [first]
            for at in along:
                source_row, target_row = ends[at]
                passed.append(target_row if source_row == passed[-1] else source_row)
            paths.append(Path(tuple(map(NodeRef, passed)), tuple(map(EdgeRef, along))))
        return objects(paths)


def _as_kind(batch: Batch, name: str, kind: str) -> Batch:
    """Return the rows in which a name is a node, or an edge, with a column of that kind."""
    part = batch.columns[name] if batch.columns[name].kind == kind else column(batch.columns[name].values())
    if part.kind != kind:
        wanted = NodeRef if kind == "node" else EdgeRef
        fits = np.array([isinstance(value, wanted) for value in part.values()], np.bool_)
        part, batch = column([value for value in part.values() if isinstance(value, wanted)]), batch.take(fits)
        return batch.beside({name: part if len(part) else Col("node", np.zeros(0, np.int64))})
    batch = batch.beside({name: part})
    return batch.take(~part.nulls) if part.nulls.any() else batch


def _once(batch: Batch) -> Batch:
    return batch.once(list(batch.columns))


def _differs(known: Col, edges: Numbers) -> NDArray[np.bool_]:
    """Mark the rows in which an edge is not a known one: (n,)."""
    data = known.data if known.kind == "trail" else known.data[:, None]
    differs: NDArray[np.bool_] = (data != edges[:, None]).all(axis=1)
    return differs
