/** ForceAtlas2 by frames, in a worker or where the picture is: the library's own worker is made of a blob, which policies forbid. */

import iterate from "graphology-layout-forceatlas2/iterate.js";

/** A request for places: `nodes` holds x, y, size and 1 where it must stay, for each; `edges` pairs of places in it. */
export type Wanted = { run: number; nodes: Float32Array; edges: Uint32Array; milliseconds: number };
/** Places so far: x, y for each node. */
export type Placed = { run: number; at: Float32Array; done: boolean };
/** What finds places and tells them; a new request ends the one before. */
export type Settler = { begin: (wanted: Wanted) => void; stop: () => void };

const NODE = 10; // floats of a node in the library's matrix: x, y, four of motion, mass, convergence, size, fixed
const EDGE = 3; // source, target, weight
const MOST_SPREAD = 400,
  SPREAD = 1.9,
  ROUNDS = 40; // nodes; of the least distance; how often each pair is looked at

/** Return what lays nodes out in this thread, and lets go of it after each frame. */
export function settler(tell: (placed: Placed) => void, frameMilliseconds: number): Settler {
  let current = 0;

  /** Let the nodes move for a frame's time, tell where they are, and go on until the time is over or another run begins. */
  function settle(run: number, settings: object, nodes: Float32Array, edges: Float32Array, end: number): void {
    if (run !== current) return;
    const frame = performance.now() + frameMilliseconds;
    do iterate(settings, nodes, edges);
    while (performance.now() < Math.min(frame, end));
    const done = performance.now() >= end,
      at = new Float32Array((nodes.length / NODE) * 2);
    if (done) spread(nodes);
    for (let node = 0; node * 2 < at.length; node++) at.set(nodes.subarray(node * NODE, node * NODE + 2), node * 2);
    tell({ run, at, done });
    if (!done) setTimeout(() => settle(run, settings, nodes, edges, end)); // a message that waits is read in between
  }

  return {
    begin: (wanted) => {
      current = wanted.run;
      const { settings, nodes, edges } = matrices(wanted);
      settle(wanted.run, settings, nodes, edges, performance.now() + wanted.milliseconds);
    },
    stop: () => {
      current = 0;
    },
  };
}

/** Return nodes and edges as the library wants them. */
function matrices(data: Wanted): { settings: object; nodes: Float32Array; edges: Float32Array } {
  const count = data.nodes.length / 4;
  const nodes = new Float32Array(count * NODE),
    edges = new Float32Array((data.edges.length / 2) * EDGE);
  for (let node = 0; node < count; node++) {
    const [x = 0, y = 0, size = 1, fixed = 0] = data.nodes.subarray(node * 4, node * 4 + 4);
    nodes.set([x, y, 0, 0, 0, 0, 1, 1, size, fixed], node * NODE);
  }
  for (let edge = 0; edge * 2 < data.edges.length; edge++) {
    const [source = 0, target = 0] = data.edges.subarray(edge * 2, edge * 2 + 2);
    edges.set([source * NODE, target * NODE, 1], edge * EDGE);
    for (const end of [source, target]) nodes[end * NODE + 6]! += 1; // mass: a node repels by its edges
  }
  const settings = {
    linLogMode: false,
    outboundAttractionDistribution: false,
    adjustSizes: false,
    edgeWeightInfluence: 0,
    strongGravityMode: true,
    scalingRatio: 10,
    gravity: 0.05,
    slowDown: 1 + Math.log(count + 1),
    barnesHutOptimize: count > 300,
    barnesHutTheta: 0.6,
  };
  return { settings, nodes, edges };
}

/** Push nodes apart that lie on each other, so that their names can be read; what must stay stays. */
function spread(nodes: Float32Array): void {
  const count = nodes.length / NODE;
  if (count > MOST_SPREAD) return;
  const side = (axis: number) => {
    const places = Array.from({ length: count }, (_, node) => nodes[node * NODE + axis]!);
    return Math.max(...places) - Math.min(...places);
  };
  const least = Math.max(side(0), side(1), 1) / (SPREAD * Math.sqrt(count));
  for (let round = 0; round < ROUNDS; round++)
    for (let one = 0; one < count; one++)
      for (let other = one + 1; other < count; other++) push(nodes, one * NODE, other * NODE, least);
}

function push(nodes: Float32Array, one: number, other: number, least: number): void {
  const across = nodes[other]! - nodes[one]! || 1e-3 * (other - one),
    down = nodes[other + 1]! - nodes[one + 1]!,
    distance = Math.hypot(across, down);
  if (distance >= least) return;
  const share = (least - distance) / distance / 2;
  for (const [node, sign] of [
    [one, -1],
    [other, 1],
  ] as const) {
    if (nodes[node + 9]) continue; // it is held
    nodes[node]! += sign * share * across;
    nodes[node + 1]! += sign * share * down;
  }
}
