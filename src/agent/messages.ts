/** A message of a conversation, in the format of OpenAI's chat completions. */
export type ChatMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string }
  | {
      readonly role: "assistant";
      readonly content: string;
      /** The thoughts of the model, which some servers expect back with its tool calls. */
      readonly reasoning?: string;
      readonly tool_calls?: readonly ChatToolCall[];
    }
  | {
      readonly role: "tool";
      readonly tool_call_id: string;
      readonly name: string;
      readonly content: string;
      readonly is_error?: true;
    };

/** True for a result; where programs are in fences, results are messages of the user. */
export function isResult({ role, content }: ChatMessage): boolean {
  return role === "tool" || (role === "user" && content.startsWith("[Tool Result: "));
}

/** A tool call of a model; its arguments are JSON as the model wrote it, which may be invalid. */
export interface ChatToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** Creates a tool call in the format of a message. */
export function createToolCall(id: string, name: string, args: string): ChatToolCall {
  return { id, type: "function", function: { name, arguments: args } };
}

/** Returns a key that is the same for calls with equal arguments, however they are written. */
export function getCallKey({ function: { name, arguments: json } }: ChatToolCall): string {
  try {
    return `${name} ${JSON.stringify(JSON.parse(json))}`;
  } catch {
    return `${name} ${json}`; // invalid JSON, which its result reports
  }
}
