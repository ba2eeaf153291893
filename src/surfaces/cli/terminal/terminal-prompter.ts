import type { ConfigInput, Prompter, TrustRequest } from "../../../config/index.ts";
import { askLine, askSecret, askYesNo, isAtTerminal } from "./ask-line.ts";
import { countSpaces } from "../../../shared/visible-text.ts";
import { escaped, lines } from "../text/layout.ts";

/** Creates a prompter that asks the user at the terminal; `undefined` without a terminal. */
export function createTerminalPrompter(signal: AbortSignal): Prompter | undefined {
  if (!isAtTerminal()) return undefined;
  return {
    input: (input) => askInput(input, signal),
    mayTrust: (request) => askYesNo(trustQuestion(request), signal),
  };
}

/** The request of a project for trust, as a question. */
function trustQuestion(request: TrustRequest): string {
  return lines([requestText(request), "Trust it until it changes? [y/N] "]);
}

/** Lists what a project would use or start, with invisible characters escaped so that nothing can be disguised. */
export function requestText({ folder, isChanged, parts }: TrustRequest): string {
  const rows = parts.map(({ name, detail, isChanged: isPartChanged }) => {
    const mark = isPartChanged ? " (changed)" : "";
    return `  ${countSpaces(escaped(name))}${mark}${detail === "" ? "" : `: ${countSpaces(escaped(detail))}`}`;
  });
  const since = isChanged ? " has changed since you trusted it" : " is not trusted yet";
  return lines([`${escaped(folder)}${since}. With your permissions, it would use or start:`, ...rows]);
}

async function askInput(input: ConfigInput, signal: AbortSignal): Promise<string | undefined> {
  const { description, isSecret, choices, orElse } = input;
  const offered = choices.length === 0 ? "" : ` (${choices.map(escaped).join(", ")})`;
  const usual = orElse === undefined || isSecret ? "" : ` [${escaped(orElse)}]`;
  const question = `${escaped(description)}${offered}${usual}: `;
  const answer = (await (isSecret ? askSecret : askLine)(question, signal)).trim();
  if (answer === "") return orElse;
  if (choices.length === 0 || choices.includes(answer) || signal.aborted) return answer;
  process.stderr.write(`${escaped(answer)} is not one of the choices\n`);
  return askInput(input, signal);
}
