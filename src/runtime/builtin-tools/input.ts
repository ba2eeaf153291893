import { SkillgateError } from "../../errors.ts";
import { argumentsMessage, type ArgumentProblem } from "../../model/arguments.ts";
import type { Catalog } from "../../model/catalog.ts";
import { createRegistry } from "../../registry/index.ts";
import { createValidator, type Validation } from "../../validation/index.ts";
import { VALIDATED_TOOLS, type ValidatedTool } from "./definitions.ts";

const validator = createValidator();

/** The built-in tools as methods, so that their arguments are validated like those of any method. */
let builtinCatalog: Catalog | undefined;

/** Validates the arguments of a built-in tool. */
export function validateBuiltin(tool: ValidatedTool, input: unknown): Validation {
  return validator.validate(getMethod(tool), input);
}

/** Returns the arguments with their defaults; throws `ARGUMENTS_INVALID`. */
export function parseBuiltinInput(tool: ValidatedTool, input: unknown): Readonly<Record<string, unknown>> {
  const validation = validateBuiltin(tool, input);
  if (validation.kind === "valid") return validation.input;
  throw invalidInput(tool, validation.problems);
}

function invalidInput(tool: ValidatedTool, problems: readonly ArgumentProblem[]): SkillgateError {
  const message = argumentsMessage(getMethod(tool), problems).replace("Skillgate.", "");
  return new SkillgateError("ARGUMENTS_INVALID", message, { method: tool, problems });
}

function getMethod(tool: ValidatedTool) {
  builtinCatalog ??= readBuiltinCatalog();
  const method = builtinCatalog.method(`Skillgate.${tool}`);
  if (method === undefined) throw new TypeError(`${tool} is not a built-in tool`);
  return method;
}

function readBuiltinCatalog(): Catalog {
  const registry = createRegistry();
  registry.register({
    name: "Skillgate",
    description: "",
    source: "code",
    kind: "code",
    methods: VALIDATED_TOOLS.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input: inputSchema,
    })),
    invoke: () => Promise.reject(new TypeError("These methods are called as tools")),
  });
  return registry.catalog;
}
