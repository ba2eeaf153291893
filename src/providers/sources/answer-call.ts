import { getMessage } from "../../errors.ts";
import { type CallContext, RESPONSE_ARGUMENT } from "../../model/skill.ts";
import type { DescribedOperation } from "./openapi/operation.ts";
import { type ApiResponse, findNextPage } from "./pages/next-page.ts";
import { type PageLimits, readPage, withPageSize } from "./pages/read-page.ts";
import type { SourceOperation } from "./source-operation.ts";

/** Sends requests to the server of a source. */
export interface OperationSender {
  /** The base of its requests. */
  readonly server: URL;
  /** Resolves with the value of the answer, or with an `ApiResponse`. */
  send(operation: DescribedOperation, input: Readonly<Record<string, unknown>>, call: SentCall): Promise<unknown>;
}

interface SentCall {
  readonly context: CallContext;
  readonly isRead: boolean;
  readonly includeResponse: boolean;
}

interface SourceCall extends Omit<SentCall, "includeResponse"> {
  readonly operation: SourceOperation;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Sends the request of a call, and returns the result in the form that its arguments ask for. */
export async function answerCall(
  { operation, input, ...call }: SourceCall,
  sender: OperationSender,
  path: string,
): Promise<unknown> {
  const { pages } = operation;
  const form = input[RESPONSE_ARGUMENT];
  if (form === undefined || form === false) return sender.send(operation, input, { ...call, includeResponse: false });
  const limits = Array.isArray(form) ? (form as unknown as PageLimits) : undefined;
  const sized = limits && pages ? withPageSize(input, pages, limits) : input;
  const answer = (await sender.send(operation, sized, { ...call, includeResponse: true })) as ApiResponse;
  if (pages === undefined) return answer;
  const addNote = (text: string): void => call.context.addNote?.(text);
  const page = { operation, input: sized, pages, server: sender.server };
  if (limits === undefined) return { ...answer, next: tryToFind(() => findNextPage(answer, page), addNote) };
  const onCut = (): void => addNote(`${path} has more items than its pages gave; ask for more: { items, pages }`);
  return readPage(answer, page, { limits, onCut });
}

/** Finds the next page; null without one. The whole response counts more than its next page, which may be out of reach. */
export function tryToFind(find: () => unknown, addNote: (text: string) => void): unknown {
  try {
    return find() ?? null;
  } catch (error) {
    addNote(getMessage(error));
    return null;
  }
}
