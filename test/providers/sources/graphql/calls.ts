import { buildSchema } from "graphql";
import { expect, onTestFinished } from "vitest";

import type { CallContext } from "../../../../src/model/skill.ts";
import type { QueryRequests } from "../../../../src/model/tools/source-requests.ts";
import { type ApiLimits, createApiClient } from "../../../../src/providers/sources/http/api-client.ts";
import { answerGraphCall } from "../../../../src/providers/sources/graphql/call/answer-graph-call.ts";
import { GraphSender } from "../../../../src/providers/sources/graphql/call/graph-sender.ts";
import { hideBytes } from "../../../../src/providers/sources/graphql/call/uploads.ts";
import { checkDocument } from "../../../../src/providers/sources/graphql/check/check-document.ts";
import { TRACKER } from "./tracker.ts";

const SCHEMA = buildSchema(TRACKER);

interface CallOptions {
  readonly kind?: "query" | "mutation";
  readonly includeResponse?: unknown;
  readonly isRead?: boolean;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Calls of a client, whose texts are checked before. */
export function createCalls(url: string, requests: QueryRequests = "post", limits: Partial<ApiLimits> = {}) {
  const endpoint = new URL(url);
  const client = createApiClient({ server: endpoint.origin, allowsPrivate: true, limits });
  onTestFinished(() => client.close());
  const sender = new GraphSender({ client, endpoint, requests });
  const notes: string[] = [];
  const call = async (query: string, variables?: object, options: CallOptions = {}): Promise<unknown> => {
    const { kind = "query", includeResponse, isRead = kind === "query", ...others } = options;
    const document = checkDocument(SCHEMA, kind, query, hideBytes(variables ?? {}));
    expect(document.problems).toEqual([]);
    const context = {
      callId: "run/1",
      signal: new AbortController().signal,
      addNote: (text: string) => notes.push(text),
      ...others,
    } as unknown as CallContext;
    const input = { query, ...(variables && { variables }), ...(includeResponse !== undefined && { includeResponse }) };
    const path = kind === "query" ? "TrackerGraph.query" : "TrackerGraph.mutate";
    return answerGraphCall({ kind, path, document, input, context, isRead, account: undefined }, sender);
  };
  return { call, notes };
}

/** Follows pages as the sandbox does. */
export async function readPages(
  call: ReturnType<typeof createCalls>["call"],
  query: string,
  { items = 1_000, pages = 100, ...variables }: { items?: number; pages?: number; [name: string]: unknown } = {},
): Promise<readonly unknown[]> {
  const list: unknown[] = [];
  type Next = { readonly variables: object; readonly includeResponse: unknown } | null;
  for (let next: Next = { variables, includeResponse: [items, pages] }; next !== null;) {
    const { includeResponse } = next;
    const page = (await call(query, next.variables, { includeResponse })) as { items: unknown[]; next: Next };
    list.push(...page.items);
    next = page.next;
  }
  return list;
}
