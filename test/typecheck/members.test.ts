import { describe, expect, test } from "vitest";

import { checkTypes } from "../../src/typecheck/check-types.ts";
import { DECLARATIONS, told, unmarked } from "./samples.ts";

const USER = "UserSkill.get; declared members: id, name, email, tags, address, created";
const NMAE = `! "nmae" does not exist in the result of ${USER} (name)`;

describe("reports a misspelt member of a result as certain, at its position [S5]", () => {
  test.each([
    ["awaited", `const user = await device.UserSkill.get(1);\nreturn user.«nmae»;`, NMAE],
    ["awaited in place", `return (await device.UserSkill.get(1)).«nmae»;`, NMAE],
    ["without await", `return device.UserSkill.get(1).«nmae»;`, NMAE],
    ["in brackets", `return device.UserSkill.get(1)[«"nmae"»];`, NMAE],
    ["taken apart", `const { «nmae», id } = await device.UserSkill.get(1);\nreturn nmae + id;`, NMAE],
    ["taken apart under another name", `const { «nmae»: name } = device.UserSkill.get(1);\nreturn name;`, NMAE],
    ["then", `device.UserSkill.get(1).then((user) => user.«nmae»)`, NMAE],
    ["then, taken apart", `device.UserSkill.get(1).then(({ «nmae» }) => nmae)`, NMAE],
    ["a list at once", `const [user] = await Promise.all([device.UserSkill.get(1)]);\nreturn user.«nmae»;`, NMAE],
    [
      "mapped at once",
      `const users = await Promise.all([1, 2].map((id) => device.UserSkill.get(id)));\nreturn users.map((user) => user.«nmae»);`,
      NMAE,
    ],
    ["mapped without await", `return [1, 2].map((id) => device.UserSkill.get(id).«nmae»);`, NMAE],
    [
      "through a function of its own",
      `const load = async (id) => device.UserSkill.get(id);\nconst user = await load(1);\nreturn user.«nmae»;`,
      NMAE,
    ],
    [
      "in a program that fills a list of its own",
      `const user = await device.UserSkill.get(1);\nconst names = [];\nnames.push(user.«nmae»);\nreturn names;`,
      NMAE,
    ],
    [
      "copied under its own name",
      `const user = await device.UserSkill.get(1);\nreturn { nmae: user.«nmae», id: user.id };`,
      NMAE,
    ],
    ["waited for", `return __waitFor(device.UserSkill.get(1)).«nmae»;`, NMAE],
    ["through an alias", `const { get } = device.UserSkill;\nreturn get(1).«nmae»;`, NMAE],
    [
      "deep inside",
      `return device.UserSkill.get(1).address.«ctiy».length;`,
      `! "ctiy" does not exist in the result of UserSkill.get; declared members: city, zip (city)`,
    ],
    [
      "in a loop",
      `const { users } = await device.UserSkill.list();\nfor (const user of users) print(user.«emial»);`,
      `! "emial" does not exist in the result of UserSkill.list; declared members: id, name, email, tags, address, created (email)`,
    ],
    [
      "in every form",
      `return device.ShapeSkill.get(1).«raduis»;`,
      `! "raduis" does not exist in the result of ShapeSkill.get; declared members: kind, radius, side (radius)`,
    ],
    [
      "of an array",
      `return device.UserSkill.names().«results».map((name) => name);`,
      `! "results" does not exist on an array`,
    ],
    [
      "of an array, misspelt",
      `return device.UserSkill.names().«lenght»;`,
      `! "lenght" does not exist on an array (length)`,
    ],
    ["of a text", `return device.TimeSkill.now().«data»;`, `! "data" does not exist on a string`],
    ["of a number", `return device.MathSkill.add(1, 2).«value»;`, `! "value" does not exist on a number (valueOf)`],
  ])("%s", (_title, marked, ...messages) => {
    const { code, places } = unmarked(marked);
    expect(told(code)).toEqual(messages);
    const found = checkTypes({ code, typescript: false, declarations: DECLARATIONS });
    expect(found.map(({ start, end }) => [start, end])).toEqual(places);
    expect(told(code, true)).toEqual(messages);
  });
});

test.each([
  [
    "a name like no other",
    `return device.UserSkill.get(1).phone;`,
    `? "phone" does not exist in the result of ${USER}`,
  ],
  [
    "one that is tested",
    `return device.UserSkill.get(1).emial ?? "none";`,
    `? "emial" does not exist in the result of ${USER} (email)`,
  ],
  [
    "one that is tested elsewhere",
    `const user = device.UserSkill.get(1);\nif (user.emial) return 1;\nreturn user["emial"].length;`,
    `? "emial" does not exist in the result of ${USER} (email)`,
    `? "emial" does not exist in the result of ${USER} (email)`,
  ],
  [
    "one with a default",
    `const { emial = "none" } = device.UserSkill.get(1);\nreturn emial;`,
    `? "emial" does not exist in the result of ${USER} (email)`,
  ],
])("adds only a note for a member that may exist: %s [S5]", (_title, code, ...messages) => {
  expect(told(code)).toEqual(messages);
});

test.each([
  ["open objects", `return device.WebSkill.search("x").map((hit) => hit.program);`],
  ["unknown results", `return device.WebSkill.fetch("x").anything.at.all;`],
  ["one of several forms", `const shape = device.ShapeSkill.get(1);\nreturn shape.radius + shape.side;`],
  ["a text that is a date", `return device.UserSkill.get(1).created.getTime();`],
  ["promises", `return device.UserSkill.get(1).then((user) => user).catch(() => null).finally(() => {});`],
  ["device itself", `return device.describe("UserSkill.get") + device.search_skills("x") + device.NoSkill.get(1).foo;`],
  ["a name that is tested, like no other", `return device.UserSkill.get(1).phone ?? "none";`],
])("reports nothing about %s [S5]", (_title, code) => {
  expect(told(code)).toEqual([]);
});

test("trusts the types that a TypeScript program declares [S4]", () => {
  const as = `interface Mine { nmae: string }\nconst user = (await device.UserSkill.get(1)) as Mine;\nreturn user.nmae;`;
  const any = `const user: any = await device.UserSkill.get(1);\nreturn user.nmae;`;
  const plain = `const user = await device.UserSkill.get(1)!;\nconst name: string = user.nmae;\nreturn name;`;
  expect([told(as, true), told(any, true), told(plain, true)]).toEqual([[], [], [NMAE]]);
});

test("does not check code that is not a program, or is nested too deeply [S5]", () => {
  expect(told("return device.MathSkill.add(1,")).toEqual([]);
  expect(told("const x = device.MathSkill.add('1', '2') +;")).toEqual([]);
  expect(told(`${"[".repeat(500)}device.MathSkill.add("1")${"]".repeat(500)}`)).toEqual([]);
});

test("reports the first fifty mistakes of a program [S5]", () => {
  expect(told("device.MathSkill.add('1', 2);\n".repeat(60)).length).toBe(50);
});
