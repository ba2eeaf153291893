import { createServer } from "node:http";

import { expect, test } from "vitest";

import { retryAfterFetch } from "../../../../src/providers/mcp/http/retry-after-fetch.ts";

/** Fetches from a server that answers with this status, header and text. */
async function fetchFrom(status: number, retryAfter: string | undefined, text: string): Promise<string> {
  const server = createServer((_request, response) =>
    response.writeHead(status, retryAfter === undefined ? {} : { "retry-after": retryAfter }).end(text),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  try {
    const response = await retryAfterFetch(fetch)(`http://127.0.0.1:${port}/`);
    expect([response.status, response.url]).toEqual([status, `http://127.0.0.1:${port}/`]);
    return await response.text();
  } finally {
    server.close();
  }
}

test("adds the pause that a busy server asks for to its answer [R4]", async () => {
  expect(await fetchFrom(429, "2", "slow down")).toBe("slow down; retry after 2 s");
  expect(await fetchFrom(503, "2", "")).toBe("retry after 2 s");
  expect(await fetchFrom(503, new Date(Date.now() - 60_000).toUTCString(), "busy")).toBe("busy; retry after 0 s");
});

test("leaves other answers as they are", async () => {
  expect(await fetchFrom(503, undefined, "busy")).toBe("busy");
  expect(await fetchFrom(503, "soon", "busy")).toBe("busy");
  expect(await fetchFrom(200, "2", "fine")).toBe("fine");
});
