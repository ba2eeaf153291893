// Plays the recorded model of a task and counts what it is shown.

import { estimateTokens } from "../../../dist/src/registry/token-count.js";

/**
 * Plays `model` until it answers. `call` makes one call and gives its text. Every response of the model is a turn, its answer
 * too; in each turn it processes all that it was shown before.
 */
export async function play(model, page, call) {
  let turns = 0;
  let shown = estimateTokens(page);
  let written = 0;
  let processed = 0;
  let next = model.next();
  for (;;) {
    turns += 1;
    processed += shown + written;
    if (next.done) return { answer: next.value, turns, shown, processed };
    const texts = await Promise.all(next.value.map(call));
    written += estimateTokens(JSON.stringify(next.value));
    shown += texts.reduce((tokens, text) => tokens + estimateTokens(text), 0);
    next = model.next(texts);
  }
}
