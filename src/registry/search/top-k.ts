/**
 * Selects the documents with the highest scores, best first; of equal ones, the earlier first. A heap holds the best so
 * far, so that every other document costs one comparison.
 */
export function selectTopDocuments(documents: Uint32Array, scores: Float32Array, count: number): number[] {
  const heap = Array.from(documents.subarray(0, count));
  for (let at = 0; at < heap.length; at++) rise(heap, at, scores);
  for (let at = heap.length; at < documents.length; at++) {
    const document = documents[at] ?? 0;
    if (isAbove(document, heap[0] ?? 0, scores)) sink(heap, document, scores);
  }
  return heap.sort((a, b) => (isAbove(a, b, scores) ? -1 : 1));
}

function isAbove(a: number, b: number, scores: Float32Array): boolean {
  const [first, second] = [scores[a] ?? 0, scores[b] ?? 0];
  return first > second || (first === second && a < b);
}

/** Moves a document up past those with higher scores: the lowest score is at the top. */
function rise(heap: number[], from: number, scores: Float32Array): void {
  const document = heap[from] ?? 0;
  let at = from;
  while (at > 0) {
    const above = (at - 1) >> 1;
    const other = heap[above] ?? 0;
    if (!isAbove(other, document, scores)) break;
    heap[at] = other;
    at = above;
  }
  heap[at] = document;
}

/** Replaces the lowest document and moves the new one down past those with lower scores. */
function sink(heap: number[], document: number, scores: Float32Array): void {
  let at = 0;
  for (;;) {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    if (left >= heap.length) break;
    const below = right < heap.length && isAbove(heap[left] ?? 0, heap[right] ?? 0, scores) ? right : left;
    const other = heap[below] ?? 0;
    if (!isAbove(document, other, scores)) break;
    heap[at] = other;
    at = below;
  }
  heap[at] = document;
}
