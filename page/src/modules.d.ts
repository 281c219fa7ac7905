declare module "graphology-layout-forceatlas2/iterate.js" {
  /** Move the nodes once; both matrices are as `helpers.graphToByteArrays` of the library makes them. */
  export default function iterate(settings: object, nodes: Float32Array, edges: Float32Array): object;
}

/** The name of the worker's file, which the build puts in. */
declare const LAYOUT_WORKER: string;
/** The name of the file that moves nodes freely, which is loaded once somebody adds to a picture. */
declare const FREE_DRAWING: string;
