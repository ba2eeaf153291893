import type { Progress } from "@modelcontextprotocol/client";

import { requireBounds } from "../../../shared/value-size.ts";
import type { CallContext, MethodDefinition } from "../../../model/skill.ts";
import type { Connection } from "../connections/connection.ts";
import { type CallFacts, toValue } from "../results.ts";
import type { ImportedTool } from "./import-tools.ts";
import { visitsPages } from "../url-elicitation.ts";

export type OperationInput = Readonly<Record<string, unknown>>;

/** Something that a server can be asked to do. */
export interface Operation {
  /** On the wire, for errors. */
  readonly name: string;
  readonly method: MethodDefinition;
  /** Doing it twice does no harm. */
  readonly isRepeatable: boolean;
  /** Rejects with whatever the connection throws. */
  send(connection: Connection, input: OperationInput, context: CallContext): Promise<unknown>;
  /** What a snippet gets of the result; throws what the result says went wrong. */
  valueOf(result: unknown, facts: CallFacts): unknown;
}

/** Calls a tool. */
export function toolOperation(tool: ImportedTool): Operation {
  const { name, method, inputSchema } = tool;
  return {
    name,
    method,
    isRepeatable: method.metadata?.readOnly === true || method.metadata?.idempotent === true,
    async send(connection, input, { signal, progress, client, wire }) {
      const onProgress = ({ progress: done, total, message }: Progress): void => progress(done, total, message);
      const call = { name, input, inputSchema, signal, onProgress };
      const result = await connection.callTool(call).catch(async (thrown: unknown) => {
        // It was refused before anything was done, so that it can be made again.
        if (await visitsPages(thrown, client)) return connection.callTool(call);
        throw thrown;
      });
      requireBounds(result, `"${name}"`);
      wire?.(result);
      return result;
    },
    valueOf: (result, facts) => toValue(result, tool, facts),
  };
}
