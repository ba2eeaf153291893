import { isRecord } from "../../model/json.ts";

/** A value that the user is asked for, as in VS Code: `${input:id}` is replaced by the answer. */
export interface ConfigInput {
  readonly id: string;
  readonly description: string;
  /** It must not be seen while it is typed. */
  readonly isSecret: boolean;
  /** If there are any, the answer is one of them. */
  readonly choices: readonly string[];
  readonly orElse?: string;
}

export const NO_INPUTS: ReadonlyMap<string, ConfigInput> = new Map();

/** The `inputs` of a file. What is not understood of one is left out: its description, a choice. */
export function parseInputs({ inputs }: Readonly<Record<string, unknown>>): ReadonlyMap<string, ConfigInput> {
  if (!Array.isArray(inputs)) return NO_INPUTS;
  const declared = inputs.filter(isRecord).flatMap((input) => {
    const { id, description, password, options, default: orElse } = input;
    if (typeof id !== "string") return [];
    const choices = Array.isArray(options) ? options.map(parseChoice).filter((choice) => choice !== undefined) : [];
    return {
      id,
      description: typeof description === "string" ? description : id,
      isSecret: password === true,
      choices,
      ...(typeof orElse === "string" && { orElse }),
    };
  });
  return new Map(declared.map((input) => [input.id, input]));
}

/** An input that no list declares: it is asked for by its id, and not shown. */
export function undeclaredInput(id: string): ConfigInput {
  return { id, description: id, isSecret: true, choices: [] };
}

/** The variable of the environment that answers in place of a person: `github-token` → `INPUT_GITHUB_TOKEN`. */
export function inputVariable(id: string): string {
  return `INPUT_${id.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_")}`;
}

function parseChoice(option: unknown): string | undefined {
  const value = isRecord(option) ? option["value"] : option;
  return typeof value === "string" ? value : undefined;
}
