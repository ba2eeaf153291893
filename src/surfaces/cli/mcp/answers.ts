import { count, lines } from "../output.ts";
import type { Answer, Terminal } from "../terminal.ts";
import { type Files, SCOPES } from "./files.ts";
import type { Written } from "./write.ts";

/** What was added, and what to do next. */
export function addedAnswer(
  written: readonly Written[],
  paint: Terminal["paint"],
  { room }: Pick<Files, "room">,
): Answer {
  const names = written.map(({ name }) => name);
  const next = names.length === 1 ? `skillgate mcp test ${names[0]}` : "skillgate mcp list";
  return {
    exit: "ok",
    json: { added: written },
    text: lines(written.map(({ name, file, entry }) => `Added ${name} to ${file}: ${room.shownServer(entry)}`)),
    remarks:
      written.length === 0
        ? ""
        : paint.err.dim(`Try ${names.length === 1 ? "it" : count(names.length, "server")}: ${next}`),
  };
}

export function scopeHelp(): string {
  return `Scopes:\n${[...SCOPES].map(([name, says]) => `  ${name.padEnd(8)} ${says}`).join("\n")}`;
}
