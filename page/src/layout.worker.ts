/** The page's layout in a thread of its own. */

import { settler, type Wanted } from "./layout";

const FRAME_MILLISECONDS = 40;
const { begin } = settler((placed) => self.postMessage(placed), FRAME_MILLISECONDS);

self.onmessage = ({ data }: MessageEvent<Wanted>) => begin(data);
