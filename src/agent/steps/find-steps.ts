import { findProgramBlocks } from "../../frontend/index.ts";
import type { ChatToolCall } from "../messages.ts";
import { MAX_PROGRAMS } from "../reply/cut-reply.ts";
import type { Reply } from "../reply/read-reply.ts";
import { findCallsInText } from "./parse-tool-calls.ts";

/** The steps that a reply asks for. Programs come from its text. */
export type ReplySteps =
  | { readonly kind: "none" }
  | { readonly kind: "tools"; readonly calls: readonly ChatToolCall[]; readonly areInText: boolean }
  | { readonly kind: "programs"; readonly programs: readonly string[]; readonly skipped: number };

/** A line of code outside of a fence. */
const CODE_LINE = /^\s*(?:(?:const|let|var)\s+[\w$]+\s*=\s*)?(?:await\s+)?devices?\s*\./;

/** Finds the steps of a reply: its tool calls, else programs in its text, else JSON of tool calls in its text. */
export function findSteps(
  { text, toolCalls, finish }: Pick<Reply, "text" | "toolCalls" | "finish">,
  { readsPrograms, readsToolCalls }: { readonly readsPrograms: boolean; readonly readsToolCalls: boolean },
): ReplySteps {
  if (toolCalls.length > 0) return { kind: "tools", calls: toolCalls, areInText: false };
  if (readsPrograms) {
    const programs = findPrograms(text, finish);
    if (programs.length > 0)
      return {
        kind: "programs",
        programs: programs.slice(0, MAX_PROGRAMS),
        skipped: Math.max(0, programs.length - MAX_PROGRAMS),
      };
  }
  const calls = readsToolCalls ? findCallsInText(text) : [];
  return calls.length > 0 ? { kind: "tools", calls, areInText: true } : { kind: "none" };
}

/** An open block of a reply that was cut off at its maximum length is not a whole program. */
function findPrograms(text: string, finish: Reply["finish"]): readonly string[] {
  const blocks = findProgramBlocks(text).filter(({ isClosed }) => isClosed || finish === "complete");
  if (blocks.length > 0)
    return blocks.map(({ content }) => text.slice(content.start, content.end).replace(/^[ \t]*\n/, ""));
  const [line = ""] = text.split("\n");
  const isCode = finish === "complete" && !text.includes("```") && CODE_LINE.test(line);
  return isCode ? [text] : [];
}
