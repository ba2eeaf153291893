import { SkillgateError } from "../../errors.ts";
import { argumentsMessage, type ArgumentProblem } from "../../model/arguments.ts";
import type { Catalog } from "../../model/catalog.ts";
import { createRegistry } from "../../registry/index.ts";
import { createValidator, type Validation } from "../../validation/index.ts";
import { OWN_TOOLS, type OwnTool } from "./own-tools.ts";

const validator = createValidator();

/** The three tools as methods, so that their arguments are checked as those of any method. */
let ownCatalog: Catalog | undefined;

/** Checks the arguments of one of the three tools. */
export function validateOwn(tool: OwnTool, input: unknown): Validation {
  return validator.validate(methodOf(tool), input);
}

/** The arguments with their defaults; throws `ARGUMENTS_INVALID`. */
export function ownInput(tool: OwnTool, input: unknown): Readonly<Record<string, unknown>> {
  const validation = validateOwn(tool, input);
  if (validation.kind === "valid") return validation.input;
  throw invalidInput(tool, validation.problems);
}

function invalidInput(tool: OwnTool, problems: readonly ArgumentProblem[]): SkillgateError {
  const message = argumentsMessage(methodOf(tool), problems).replace("Skillgate.", "");
  return new SkillgateError("ARGUMENTS_INVALID", message, { method: tool, problems });
}

function methodOf(tool: OwnTool) {
  ownCatalog ??= readOwnCatalog();
  const method = ownCatalog.method(`Skillgate.${tool}`);
  if (method === undefined) throw new TypeError(`${tool} is none of the three tools`);
  return method;
}

function readOwnCatalog(): Catalog {
  const registry = createRegistry();
  registry.register({
    name: "Skillgate",
    description: "",
    source: "code",
    kind: "code",
    methods: OWN_TOOLS.map(({ name, description, inputSchema }) => ({ name, description, input: inputSchema })),
    invoke: () => Promise.reject(new TypeError("These methods are called as tools")),
  });
  return registry.catalog;
}
