import { expect, test } from "vitest";

import {
  type Caller,
  listAdminRights,
  mayAdminister,
  mayCall,
  mayCallAll,
  mayRead,
  mayReadAll,
  OWNER,
} from "../../src/model/caller.ts";

const callerWith = (...patterns: string[]) => ({ permissions: patterns.map((pattern) => `call:${pattern}`) });

test("matches a permission to a method, a skill, or a pattern; everything else is literal [P2]", () => {
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

test("lets a caller read what it may call; what it may see grants no call [P2]", () => {
  const caller = { id: "ada", permissions: ["call:MathSkill.add", "see:AdminSkill.*"] };
  expect(mayRead(caller, "MathSkill.add")).toBe(true);
  expect(mayRead(caller, "AdminSkill.delete_user")).toBe(true);
  expect(mayCall(caller, "AdminSkill.delete_user")).toBe(false);
  expect(mayRead(caller, "SecretsSkill.get")).toBe(false);
});

test("limits a caller to the calls and the views of its profile [P2, O9]", () => {
  const permissions = ["call:MathSkill.*", "see:LogSkill.*"];
  const caller = {
    permissions: ["call:*"],
    profile: { name: "math", permissions, except: ["MathSkill.drop"], tools: {} },
  };
  const paths = ["MathSkill.add", "MathSkill.drop", "LogSkill.tail", "MailSkill.send"];
  expect(paths.map((path) => mayCall(caller, path))).toEqual([true, false, false, false]);
  expect(paths.map((path) => mayRead(caller, path))).toEqual([true, false, true, false]);
  expect([mayCallAll(caller), mayReadAll(caller), mayCallAll(OWNER), mayReadAll(OWNER)]).toEqual([
    false,
    false,
    true,
    true,
  ]);
  expect(mayRead({ ...caller, permissions: ["see:Math*"] }, "MathSkill.add")).toBe(true);
  expect(mayCall({ ...caller, permissions: ["see:Math*"] }, "MathSkill.add")).toBe(false);
});

test("gives only the rights to administer that are named, each with Read [P2]", () => {
  const holder = { permissions: ["call:*", "admin:ManageRuns"] };
  expect(listAdminRights(holder)).toEqual(["Read", "ManageRuns"]);
  expect(mayAdminister({ permissions: ["call:*", "see:*"] }, "Read")).toBe(false);
  expect(listAdminRights(OWNER)).toContain("ManageKeys");
});

test.each([
  [undefined, "permissions must be a list. Write texts such as call:MathSkill.*, see:MathSkill.*, admin:Read"],
  [["MathSkill.add"], '"MathSkill.add" is not a permission. Write texts such as call:MathSkill.*'],
  [["call:"], '"call:" is not a permission.'],
  [[7], "7 is not a permission."],
])("refuses %j as the permissions of a caller [P2]", (permissions, words) => {
  expect(() => mayCall({ permissions } as never, "MathSkill.add")).toThrow(words);
});

test("the right to a part opens a method with parts, and no other one", () => {
  const paths = ["MathSkill.add", "DbSkill.query", "OtherGraph.query", "TrackerGraph.query"];
  const list = (caller: Pick<Caller, "permissions">, hasParts: boolean): readonly string[] =>
    paths.filter((path) => mayCall(caller, path, hasParts));
  const wide = { permissions: ["call:*:issues", "call:*.query:issues", "call:DbSkill.query:issues"] };
  expect(list(wide, false)).toEqual([]);
  expect(mayCall(wide, "TrackerGraph.query:issues")).toBe(true);
  expect(mayCall(wide, "TrackerGraph.query:me")).toBe(false);
  const narrow = { permissions: ["call:TrackerGraph.query:me"] };
  expect(list(narrow, true)).toEqual(["TrackerGraph.query"]);
  expect(list(narrow, false)).toEqual([]);
  expect(mayCall(narrow, "TrackerGraph.query:issues")).toBe(false);
});
