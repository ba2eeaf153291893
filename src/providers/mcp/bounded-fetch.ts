const NEWLINE = 10;

/** `fetch`, but an answer with a line of more than `maxBytes` is broken off: it would have to be held in memory whole. */
export function boundedFetch(maxBytes: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    const body = response.body.pipeThrough(lineLimit(maxBytes));
    const { status, statusText, headers } = response;
    const bounded = new Response(body, { status, statusText, headers });
    // What a new response does not know: where it came from, after redirects.
    return Object.defineProperties(bounded, {
      url: { value: response.url },
      redirected: { value: response.redirected },
    });
  };
}

function lineLimit(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let lineBytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const newline = chunk.lastIndexOf(NEWLINE);
      lineBytes = newline < 0 ? lineBytes + chunk.length : chunk.length - newline - 1;
      if (lineBytes <= maxBytes) controller.enqueue(chunk);
      else controller.error(new Error(`the answer has more than ${maxBytes} bytes`));
    },
  });
}
