import { expect, test } from "vitest";

import { OPERATION_FIELDS } from "../../../src/surfaces/cli/operations/operation.ts";
import { createProgram } from "../../../src/surfaces/cli/program.ts";

/** What a command does itself, in its own process. */
const OWN_FLAGS = new Set(["eval", "yes", "watch", "socket"]);

/** What a command makes of its arguments. */
const ARGUMENTS = new Set(["source", "path", "input"]);

test.each(["run", "call"] as const)("passes each flag of %s on to the process that serves the project", (name) => {
  const command = createProgram(() => async () => {}).commands.find((each) => each.name() === name);
  const flags = command?.options.map((option) => option.attributeName()).filter((flag) => !OWN_FLAGS.has(flag));
  const fields = Object.keys(OPERATION_FIELDS[name]).filter((field) => !ARGUMENTS.has(field));
  expect(flags?.toSorted()).toEqual(fields.toSorted());
});
