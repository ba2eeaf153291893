import type { MiddlewareHandler } from "hono";

import {
  ATTRIBUTES,
  type Attributes,
  extractContext,
  hasSdk,
  recordDuration,
  startSpan,
} from "../../telemetry/index.ts";
import type { RouteEnvironment } from "./services.ts";

/** The methods that the conventions for HTTP name; any other is `_OTHER`. */
const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "DELETE", "OPTIONS", "HEAD", "PUT", "PATCH"]);

/**
 * Answers each request within a span, which continues the trace of the headers. The span ends when the answer is sent, or
 * its connection is lost. `findRoute` returns the route of a path, never text from a client.
 */
export function traceHttpRequests(findRoute: (path: string) => string): MiddlewareHandler<RouteEnvironment> {
  return async (c, next) => {
    if (!hasSdk()) return next();
    const startedAt = performance.now();
    const { incoming, outgoing } = c.env;
    const method = METHODS.has(c.req.method) ? c.req.method : "_OTHER";
    const route = findRoute(c.req.path);
    const attributes: Attributes = { [ATTRIBUTES.httpMethod]: method, [ATTRIBUTES.httpRoute]: route };
    const span = startSpan(`${method} ${route}`, {
      kind: "SERVER",
      parent: extractContext(incoming.headers),
      getAttributes: () => ({ ...attributes, "url.scheme": "http", "network.protocol.version": incoming.httpVersion }),
    });
    outgoing.once("close", () => {
      const status = outgoing.statusCode;
      const isFailed = status >= 500;
      const ending = { [ATTRIBUTES.httpStatus]: status, ...(isFailed && { [ATTRIBUTES.errorType]: String(status) }) };
      recordDuration("http", startedAt, { ...attributes, ...ending });
      span?.set(ending);
      if (isFailed) span?.fail(String(status));
      span?.end();
    });
    return span === undefined ? next() : span.run(next);
  };
}
