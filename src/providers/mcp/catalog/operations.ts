import type { Progress } from "@modelcontextprotocol/client";

import { describeInexact, inexactToText } from "../../../shared/json/exact-json.ts";
import { isRecord } from "../../../model/json.ts";
import { requireBounds } from "../../../shared/values/value-size.ts";
import type { CallTask, RequestContext, MethodDefinition } from "../../../model/skill.ts";
import type { McpToolCall, ServerRequests } from "../connections/connection.ts";
import { type CallFacts, toValue } from "../results.ts";
import type { TextForm } from "../server-config.ts";
import type { ImportedTool } from "./import-tools.ts";
import { visitsPages } from "../url-elicitation.ts";

export type OperationInput = Readonly<Record<string, unknown>>;

/** A request that a server can execute. */
export interface Operation {
  /** The protocol name, for errors. */
  readonly name: string;
  readonly method: MethodDefinition;
  /** Repeating it is harmless. */
  readonly isRepeatable: boolean;
  /** Rejects with the error of the connection. */
  send(server: ServerRequests, input: OperationInput, context: RequestContext): Promise<unknown>;
  /** Converts the result to the value that a program gets; throws if the result is an error. */
  valueOf(result: unknown, facts: CallFacts, addNote?: (text: string) => void): unknown;
}

/** Creates the operation that calls a tool. `entry` identifies the entry of its server. */
export function toolOperation(tool: ImportedTool, entry: string, text?: TextForm): Operation {
  const { name, method, inputSchema } = tool;
  const execution = method.toolFields?.["execution"];
  const requiresTask = isRecord(execution) && execution["taskSupport"] === "required";
  const options = { hasOutputSchema: tool.outputSchema !== undefined, text };
  return {
    name,
    method,
    isRepeatable: method.metadata?.readOnly === true || method.metadata?.idempotent === true,
    async send(server, input, { callId, signal, progress, client, wire, task }) {
      const onProgress = ({ progress: done, total, message }: Progress): void => progress(done, total, message);
      const isKeyed = method.metadata?.readOnly !== true && callId !== undefined;
      const key = isKeyed ? { idempotencyKey: callId } : {};
      const call = {
        name,
        input,
        inputSchema,
        signal,
        onProgress,
        requiresTask,
        task: task && toToolTask(task, `${name} of ${entry}`),
        ...key,
      };
      const result = await server.callTool(call).catch(async (thrown: unknown) => {
        // The server refused the call before it did anything, so the call can be repeated.
        if (await visitsPages(thrown, client)) return server.callTool(call);
        throw thrown;
      });
      requireBounds(result, `"${name}"`);
      wire?.(result);
      return result;
    },
    valueOf(result, facts, addNote) {
      const note = (text: string): void => addNote?.(`The result of ${facts.skill}.${facts.method} ${text}`);
      const { value, texts } = inexactToText(result);
      if (texts.length > 0) note(`has ${describeInexact(texts)}`);
      return toValue(value, { ...options, addNote: note }, facts);
    },
  };
}

/** Returns the task of a call of a tool; throws if it is a task of another tool or entry: no other server gets its id. */
function toToolTask(task: CallTask, origin: string): NonNullable<McpToolCall["task"]> {
  const { earlier } = task;
  if (earlier !== undefined && earlier.origin !== origin)
    throw new Error("the call waits for a task of another entry of the server");
  return { earlier: earlier?.id, keep: (id) => task.keep({ id, origin }) };
}
