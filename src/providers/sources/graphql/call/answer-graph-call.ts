import { type CallContext, RESPONSE_ARGUMENT } from "../../../../model/skill.ts";
import type { RequestAccount } from "../../../../shared/http/request-account.ts";
import { tryToFind } from "../../answer-call.ts";
import { getMember } from "../../openapi/write-value.ts";
import type { PageLimits } from "../../pages/read-page.ts";
import type { CheckedDocument } from "../check/index.ts";
import { hasData } from "./graph-answer.ts";
import { createGraphError, noteErrors } from "./graph-error.ts";
import { findNextArguments, type GraphPageCall, readGraphPage, refuseText, withSize } from "./graph-pages.ts";
import type { GraphSender } from "./graph-sender.ts";
import { separateFiles } from "./uploads.ts";

/** A call of a method of a GraphQL API, whose text has been checked. */
export interface GraphCall {
  readonly kind: "query" | "mutation";
  /** `TrackerGraph.query` */
  readonly path: string;
  readonly document: CheckedDocument;
  readonly input: Readonly<Record<string, unknown>>;
  readonly context: CallContext;
  /** No selected field has an effect. */
  readonly isRead: boolean;
  readonly account: RequestAccount | undefined;
}

/** Sends the document of a call, and returns the result in the form that its arguments ask for. */
export async function answerGraphCall(call: GraphCall, sender: GraphSender): Promise<unknown> {
  const { kind, document, path, context } = call;
  const form = call.input[RESPONSE_ARGUMENT] ?? false;
  const limits = Array.isArray(form) ? (form as unknown as PageLimits) : undefined;
  if (limits !== undefined && document.pages === undefined) throw refuseText(document, path);
  const input = limits && document.pages ? withPageSize(call.input, document.pages, limits) : call.input;
  const { variables, files } = separateFiles(getMember(input, "variables").value, document.uploads);
  const { text, operationName } = document;
  const answer = await sender.send({ kind, text, operationName, variables, files }, call);
  if (!hasData(answer)) throw createGraphError(answer);
  const addNote = (note: string): void => context.addNote?.(note);
  noteErrors(answer, path, addNote);
  const { data, response } = answer;
  if (form === false) return data;
  const page = document.pages && { path, input, pages: document.pages };
  if (page === undefined || limits === undefined)
    return {
      ...response,
      ...(kind === "query" && { next: tryToFind(() => page && findNextArguments(data, page), addNote) }),
    };
  const onCut = (): void => addNote(`${path} has more items than its pages gave; ask for more: { items, pages }`);
  return readGraphPage(data, page, { limits, onCut });
}

function withPageSize(
  input: GraphCall["input"],
  pages: GraphPageCall["pages"],
  limits: PageLimits,
): GraphCall["input"] {
  return { ...input, variables: withSize(input["variables"], pages, limits) };
}
