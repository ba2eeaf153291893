import { expect, test } from "vitest";

import { mayCall, mayRead, OWNER } from "../../src/model/caller.ts";

const callerWith = (...grants: string[]) => ({ id: "ada", grants });

test("matches a grant to a method, a skill, or a pattern; everything else is literal [P2]", () => {
  expect(mayCall(callerWith("MathSkill.add"), "MathSkill.add")).toBe(true);
  expect(mayCall(callerWith("MathSkill.add"), "MathSkill.add2")).toBe(false);
  expect(mayCall(callerWith("MathSkill.*"), "MathSkill.add")).toBe(true);
  expect(mayCall(callerWith("MathSkill.*"), "MathSkillX.add")).toBe(false);
  expect(mayCall(callerWith("*.read_*"), "FilesystemMCP.read_file")).toBe(true);
  expect(mayCall(callerWith("*.read_*"), "FilesystemMCP.write_file")).toBe(false);
  expect(mayCall(callerWith("A*B*B"), "AxB")).toBe(false);
  expect(mayCall(callerWith("Math.kill"), "MathSkill")).toBe(false);
  expect(mayCall(callerWith(), "MathSkill.add")).toBe(false);
  expect(mayCall(OWNER, "Anything.at_all")).toBe(true);
});

test("lets a caller read what it may call; reads grant no call [P2]", () => {
  const caller = { id: "ada", grants: ["MathSkill.add"], reads: ["AdminSkill.*"] };
  expect(mayRead(caller, "MathSkill.add")).toBe(true);
  expect(mayRead(caller, "AdminSkill.delete_user")).toBe(true);
  expect(mayCall(caller, "AdminSkill.delete_user")).toBe(false);
  expect(mayRead(caller, "SecretsSkill.get")).toBe(false);
});
