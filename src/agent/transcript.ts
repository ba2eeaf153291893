import { getMessage, sentence, SkillgateError } from "../errors.ts";
import { isRecord } from "../model/json.ts";
import type { AgentEvent } from "./events.ts";

/** The first line of a transcript. */
const HEADER = { transcript: "skillgate", version: 1 } as const;

const EVENT_TYPES: ReadonlySet<unknown> = new Set<AgentEvent["type"]>([
  "turn",
  "delta",
  "code",
  "plan",
  "call_started",
  "call_progress",
  "call_ended",
  "output",
  "result",
  "waiting",
  "message",
  "usage",
  "notice",
  "error",
  "done",
]);

/** Returns the first line of a transcript: each further line is the JSON of one event. */
export function formatTranscriptHeader(): string {
  return `${JSON.stringify(HEADER)}\n`;
}

/** Parses a transcript, whose end may be missing. Throws `CONFIG_INVALID` with the line of what is wrong. */
export function parseTranscript(text: string, file: string): readonly AgentEvent[] {
  const [header = "", ...lines] = text.split("\n");
  const parsed = parseLine(header, file, 1);
  if (parsed["transcript"] !== HEADER.transcript) throw invalid(file, 1, "it is not the header of a transcript");
  if (parsed["version"] !== HEADER.version)
    throw invalid(
      file,
      1,
      `it is of version ${JSON.stringify(parsed["version"])}; version ${HEADER.version} is supported`,
    );
  return lines.flatMap((line, index) => (line.trim() === "" ? [] : [parseEvent(line, file, index + 2)]));
}

function parseEvent(line: string, file: string, number: number): AgentEvent {
  const event = parseLine(line, file, number);
  if (!EVENT_TYPES.has(event["type"])) throw invalid(file, number, "it is not an event of an agent");
  return event as unknown as AgentEvent; // written by this program; what is shown of it is escaped
}

function parseLine(line: string, file: string, number: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (isRecord(value)) return value;
  } catch (thrown) {
    throw invalid(file, number, getMessage(thrown));
  }
  throw invalid(file, number, "it is not a JSON object");
}

function invalid(file: string, line: number, what: string): SkillgateError {
  return new SkillgateError("CONFIG_INVALID", sentence("CONFIG_INVALID", `${file}, line ${line}: ${what}`));
}

/** Formats the events of a conversation as Markdown: messages, programs with their calls, and results. */
export function formatTranscript(events: readonly AgentEvent[]): string {
  return `${events.flatMap(formatEvent).join("\n\n")}\n`;
}

function formatEvent(event: AgentEvent): readonly string[] {
  switch (event.type) {
    case "message": {
      const { role, content } = event.message;
      if (content === "" || role === "tool" || role === "system") return [];
      if (role === "user" && content.startsWith("[Tool Result: ")) return [];
      return [`## ${role === "user" ? "User" : "Assistant"}`, content];
    }
    case "code":
      return [`### Program ${event.step}`, fence(event.code, "js")];
    case "call_ended":
      return [`- \`${event.path}\` ${event.outcome}, ${event.durationMs.toFixed(1)} ms`];
    case "result":
      return [event.isError ? "Failed:" : "Result:", fence(event.text, "text")];
    case "notice":
      return [`> ${event.text}`];
    case "error":
      return [`> ${event.error.message}`];
    case "waiting":
      return [`> Run ${event.runId} waits for an approval`];
    case "done":
      return event.reason === "answer" || event.reason === "waiting" ? [] : [`> Ended: ${event.reason}`];
    case "turn":
    case "delta":
    case "plan":
    case "call_started":
    case "call_progress":
    case "output":
    case "usage":
      return [];
  }
}

/** The fence is longer than any in the text. */
function fence(text: string, language: string): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map(({ length }) => length));
  const mark = "`".repeat(longest + 1);
  return `${mark}${language}\n${text.trimEnd()}\n${mark}`;
}
