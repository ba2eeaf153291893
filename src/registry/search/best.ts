/**
 * Those of some documents that have the highest scores, best first; of equal ones, the earlier. A heap keeps the best so
 * far, so that all others cost one comparison.
 */
export function bestDocuments(documents: Uint32Array, scores: Float32Array, count: number): number[] {
  const heap: number[] = [];
  let bar = 0;
  for (let at = 0; at < documents.length; at++) {
    const document = documents[at] ?? 0;
    if ((scores[document] ?? 0) <= bar) continue;
    if (heap.length < count) rise(heap, document, scores);
    else sink(heap, document, scores);
    if (heap.length === count) bar = scores[heap[0] ?? 0] ?? 0;
  }
  return heap.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
}

/** Adds a document at the end and lets it rise over those with higher scores: the lowest is at the top. */
function rise(heap: number[], document: number, scores: Float32Array): void {
  const score = scores[document] ?? 0;
  let at = heap.push(document) - 1;
  while (at > 0) {
    const above = (at - 1) >> 1;
    const other = heap[above] ?? 0;
    if ((scores[other] ?? 0) <= score) break;
    heap[at] = other;
    at = above;
  }
  heap[at] = document;
}

/** Puts a document in place of the lowest and lets it sink under those with lower scores. */
function sink(heap: number[], document: number, scores: Float32Array): void {
  const score = scores[document] ?? 0;
  let at = 0;
  for (;;) {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    if (left >= heap.length) break;
    const isRight = right < heap.length && (scores[heap[right] ?? 0] ?? 0) < (scores[heap[left] ?? 0] ?? 0);
    const below = isRight ? right : left;
    const other = heap[below] ?? 0;
    if ((scores[other] ?? 0) >= score) break;
    heap[at] = other;
    at = below;
  }
  heap[at] = document;
}
