import type { Input, Person, StartRequest } from "../../config/index.ts";
import { askLine, askSecret, askYesNo, isAtTerminal } from "./ask-line.ts";
import { countSpaces } from "../../shared/visible-text.ts";
import { escaped, lines } from "./layout.ts";

/** The person at the terminal, who can be asked what configuration leaves open. Nobody there: nothing. */
export function personAtTerminal(signal: AbortSignal): Person | undefined {
  if (!isAtTerminal()) return undefined;
  return {
    input: (input) => askInput(input, signal),
    mayStart: (request) => askYesNo(startQuestion(request), signal),
  };
}

/** Nothing in it can pretend to be something else. */
function startQuestion({ file, servers }: StartRequest): string {
  const rows = servers.map(
    ({ name, starts, isChanged }) =>
      `  ${escaped(name)}${isChanged ? " (changed)" : ""}: ${countSpaces(escaped(starts))}`,
  );
  const what = servers.length === 1 ? "this MCP server" : "these MCP servers";
  return lines([
    `${escaped(file)} in this folder wants to start ${what}, with your rights:`,
    ...rows,
    "Allow that, and remember it until one of them changes? [y/N] ",
  ]);
}

async function askInput(input: Input, signal: AbortSignal): Promise<string | undefined> {
  const { description, isSecret, choices, orElse } = input;
  const offered = choices.length === 0 ? "" : ` (${choices.map(escaped).join(", ")})`;
  const usual = orElse === undefined || isSecret ? "" : ` [${escaped(orElse)}]`;
  const question = `${escaped(description)}${offered}${usual}: `;
  const answer = (await (isSecret ? askSecret : askLine)(question, signal)).trim();
  if (answer === "") return orElse;
  if (choices.length === 0 || choices.includes(answer) || signal.aborted) return answer;
  process.stderr.write(`${escaped(answer)} is none of them\n`);
  return askInput(input, signal);
}
