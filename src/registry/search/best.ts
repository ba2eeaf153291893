/**
 * The visible documents with the highest scores above zero, best first; of equal ones, the earlier. A heap keeps the best
 * so far, so that all others cost one comparison.
 */
export function bestDocuments(scores: Float32Array, isVisible: (document: number) => boolean, count: number): number[] {
  const scoreOf = (document: number | undefined): number => scores[document ?? -1] ?? 0;
  const heap: number[] = [];
  let bar = 0;
  for (let document = 0; document < scores.length; document++) {
    if ((scores[document] ?? 0) <= bar || !isVisible(document)) continue;
    if (heap.length < count) rise(heap, document, scoreOf);
    else sink(heap, document, scoreOf);
    if (heap.length === count) bar = scoreOf(heap[0]);
  }
  return heap.sort((a, b) => scoreOf(b) - scoreOf(a) || a - b);
}

type ScoreOf = (document: number | undefined) => number;

/** Adds a document at the end and lets it rise over those with higher scores: the lowest is at the top. */
function rise(heap: number[], document: number, scoreOf: ScoreOf): void {
  let at = heap.push(document) - 1;
  while (at > 0) {
    const above = (at - 1) >> 1;
    const other = heap[above] ?? 0;
    if (scoreOf(other) <= scoreOf(document)) break;
    heap[at] = other;
    at = above;
  }
  heap[at] = document;
}

/** Puts a document in place of the lowest and lets it sink under those with lower scores. */
function sink(heap: number[], document: number, scoreOf: ScoreOf): void {
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    const below = scoreOf(heap[left + 1]) < scoreOf(heap[left]) && left + 1 < heap.length ? left + 1 : left;
    const other = heap[below];
    if (other === undefined || scoreOf(other) >= scoreOf(document)) break;
    heap[at] = other;
    at = below;
  }
  heap[at] = document;
}
