import { isRecord } from "../model/json.ts";
import type { HandledResult, ResultPart, ResultSpace } from "../model/kept-results.ts";
import type { ReturnedResults } from "./protocol.ts";

/** Questions about results, which the front has. */
export type ResultQuestion =
  | { readonly what: "handle"; readonly handle: string }
  | { readonly what: "handles" }
  | {
      readonly what: "part";
      readonly uri: string;
      readonly offset: number | undefined;
      readonly length: number | undefined;
    };

/** The large results of a run on an executor: the front gets them with the outcome, and has those of earlier runs. */
export interface ReturnedSpace {
  readonly space: ResultSpace;
  list(): ReturnedResults;
}

/** `handle` is the name under which a later program can use the result of the run. */
export function createReturnedSpace(
  handle: string,
  ask: (question: ResultQuestion) => Promise<unknown>,
): ReturnedSpace {
  const texts: string[] = [];
  let handled: HandledResult | undefined;
  return {
    space: {
      results: {
        keep: (runId, text) => `result://${runId}/${texts.push(text)}`,
        read: async (uri, offset, length) => parsePart(await ask({ what: "part", uri, offset, length })),
      },
      handles: {
        keep(_, result) {
          handled = result;
          return handle;
        },
        get: async (_, name) => parseHandled(await ask({ what: "handle", handle: name })),
        list: async () => parseHandles(await ask({ what: "handles" })),
      },
    },
    list: () => ({ texts, ...(handled !== undefined && { handled }) }),
  };
}

function parsePart(value: unknown): ResultPart | undefined {
  const { text, total } = isRecord(value) ? value : {};
  return typeof text === "string" && typeof total === "number" ? { text, total } : undefined;
}

function parseHandled(value: unknown): HandledResult | undefined {
  const { json, tagged, summary } = isRecord(value) ? value : {};
  const isValid = typeof json === "string" && typeof tagged === "boolean" && typeof summary === "string";
  return isValid ? { json, tagged, summary } : undefined;
}

function parseHandles(value: unknown): readonly { readonly handle: string; readonly summary: string }[] {
  return (Array.isArray(value) ? (value as unknown[]) : []).flatMap((item) => {
    const { handle, summary } = isRecord(item) ? item : {};
    return typeof handle === "string" && typeof summary === "string" ? [{ handle, summary }] : [];
  });
}
