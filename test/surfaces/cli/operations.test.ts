import type { Command } from "commander";
import { expect, test } from "vitest";

import { OPERATION_FIELDS } from "../../../src/surfaces/cli/operations/operation.ts";
import { createProgram } from "../../../src/surfaces/cli/program.ts";

/** What a command does itself, in its own process. */
const OWN_FLAGS = new Set(["eval", "yes", "watch", "socket"]);

/** What a command makes of its arguments. */
const ARGUMENTS: Readonly<Record<string, ReadonlySet<string>>> = {
  run: new Set(["source"]),
  call: new Set(["path", "input"]),
  "automation run": new Set(["name", "occurrence"]),
};

test.each([
  ["run", "run"],
  ["call", "call"],
  ["automation run", "automation"],
] as const)("passes each flag of %s on to the process that serves the project", (path, kind) => {
  let command: Command | undefined = createProgram(() => async () => {});
  for (const name of path.split(" ")) command = command?.commands.find((each) => each.name() === name);
  const flags = command?.options.map((option) => option.attributeName()).filter((flag) => !OWN_FLAGS.has(flag));
  const fields = Object.keys(OPERATION_FIELDS[kind]).filter((field) => ARGUMENTS[path]?.has(field) !== true);
  expect(flags?.toSorted()).toEqual(fields.toSorted());
});
