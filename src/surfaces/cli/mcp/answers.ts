import { isRecord } from "../../../model/json.ts";
import { lines } from "../layout.ts";
import type { Answer, Terminal } from "../terminal.ts";
import { type Files, SCOPES } from "./files.ts";
import type { Room } from "./room.ts";
import type { Written } from "./write.ts";

/** What was added, and what to do next. */
export function addedAnswer(written: Written, paint: Terminal["paint"], { room }: Pick<Files, "room">): Answer {
  const { name, file, entry } = written;
  return {
    exit: "ok",
    json: { added: written },
    text: `Added ${name} to ${file}: ${room.shownServer(entry)}`,
    remarks: lines([
      ...plainSecrets(written, room).map((note) => paint.err.yellow(note)),
      paint.err.dim(`Try it: skillgate mcp test ${name}`),
    ]),
  };
}

/** What is in a file that others will read, too. */
function plainSecrets({ file, scope, entry }: Written, room: Room): readonly string[] {
  if (scope !== "project" || !isRecord(entry)) return [];
  const values = [entry["env"], entry["headers"]].flatMap((record) => (isRecord(record) ? Object.entries(record) : []));
  const names = values.filter(([, value]) => value === room.MASK).map(([name]) => name);
  return names.map(
    (name) => `Note: ${name} is in ${file} as you wrote it; \${VARIABLE} would come from the environment`,
  );
}

export function scopeHelp(): string {
  return `Scopes:\n${[...SCOPES].map(([name, says]) => `  ${name.padEnd(8)} ${says}`).join("\n")}`;
}
