import { type ConfigInput, inputVariable, undeclaredInput } from "./servers/inputs.ts";
import { inputsReadBy } from "./reads.ts";
import { type DeclaredServer, type ServerSources, variablesFor } from "./servers/read-servers.ts";
import type { HeldPart } from "./trust/index.ts";
import type { Variables } from "./variables.ts";

/** Asks the user what the configuration leaves open. */
export interface Prompter {
  /** Returns the answer to `${input:id}`; `undefined` if the user gives none. */
  input(input: ConfigInput): Promise<string | undefined>;
  /** Whether a project may do what its files say. */
  mayTrust(request: TrustRequest): Promise<boolean>;
}

/** A project that its owner has not trusted yet as it is now. */
export interface TrustRequest {
  /** Absolute. */
  readonly folder: string;
  /** It has changed since it was trusted. */
  readonly isChanged: boolean;
  readonly parts: readonly HeldPart[];
}

/** Asks for the inputs of the servers that will start, and returns the answers. */
export async function askForInputs(
  prompter: Prompter,
  declared: readonly DeclaredServer[],
  sources: ServerSources,
): Promise<Variables> {
  const servers = declared.filter(
    ({ isOverruled, isHeld, config }) => !isOverruled && !isHeld && config?.enabled === true,
  );
  const answers = new Map<string, string>();
  for (const input of servers.flatMap((server) => openInputs(server, sources))) {
    if (answers.has(input.id)) continue;
    const answer = await prompter.input(input);
    if (answer !== undefined) answers.set(input.id, answer);
  }
  return (id) => answers.get(id);
}

/** The inputs of a server that the environment does not answer. */
function openInputs({ entry, inputs, file }: DeclaredServer, sources: ServerSources): readonly ConfigInput[] {
  const variables = variablesFor(file, sources);
  return inputsReadBy(entry)
    .filter((id) => variables(inputVariable(id)) === undefined)
    .map((id) => inputs.get(id) ?? undeclaredInput(id));
}
