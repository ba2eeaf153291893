import { Ajv2020 } from "ajv/dist/2020.js";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";

import type { Catalog } from "../../src/model/catalog.ts";
import { METADATA_DEFAULTS } from "../../src/model/skill.ts";
import {
  checkAgainstCatalog,
  createPolicy,
  POLICY_SCHEMA,
  readPolicyFiles,
  STARTER_POLICY,
} from "../../src/policy/index.ts";
import { parsePolicy } from "../../src/policy/rows.ts";
import { parseRoles } from "../../src/policy/roles.ts";

const problemsOf = (text: string): readonly string[] =>
  parsePolicy(text, "tools.yaml").problems.map(({ error }) => error);

const said = (place: string, wrong: string): string =>
  `Cannot read the configuration: tools.yaml ${place}: ${wrong} (CONFIG_INVALID)`;

test("writes the starter rows, which are valid [P4]", () => {
  const { rows, problems } = parsePolicy(STARTER_POLICY, "tools.yaml");
  expect(problems).toEqual([]);
  expect(Object.fromEntries(rows.map(({ key, fields }) => [key.text, fields]))).toEqual({
    "*API.*": { requires_approval: "writes" },
    "*Graph.*": { requires_approval: "writes" },
    web_search: { required_scopes: ["tool:web_search"], sensitivity: "low", rate_limit: 60, requires_approval: false },
    documentation: { sensitivity: "low", rate_limit: 100, requires_approval: false },
    database_query: {
      required_scopes: ["tool:database"],
      sensitivity: "high",
      rate_limit: 30,
      requires_approval: true,
    },
    file_system: { sensitivity: "medium", rate_limit: 50 },
    api_call: { sensitivity: "medium", rate_limit: 100 },
    code_execution: { sensitivity: "high", rate_limit: 10, requires_approval: true },
  });
});

/** Rows with a mistake in their form, each with its position and message. */
const MALFORMED: readonly (readonly [text: string, place: string, wrong: string])[] = [
  ["A.b: { decision: maybe }", "line 1, column 8", '"decision" must be allow, ask or deny, not "maybe"'],
  ["A.b:\n  sensitivity: hihg", "line 2, column 3", '"sensitivity" must be low, medium or high, not "hihg"'],
  ["A.b:\n  rate_limit: -1", "line 2, column 3", '"rate_limit" must be a whole number from 0 to 1000000, not -1'],
  ["A.b: { rate_limit: 1.5 }", "line 1, column 8", '"rate_limit" must be a whole number from 0 to 1000000, not 1.5'],
  ["A.b: { timeout: 0 }", "line 1, column 8", '"timeout" must be a number above 0 and up to 2147483, not 0'],
  [
    "A.b: { requires_approval: yes }",
    "line 1, column 8",
    '"requires_approval" must be true, false or writes, not "yes"',
  ],
  ["A.b: { approval: owner }", "line 1, column 8", '"approval" must be none, user or admin, not "owner"'],
  [
    "A.b: { required_scopes: mail }",
    "line 1, column 8",
    '"required_scopes" must be a list of scopes, as in [mail:send], not "mail"',
  ],
  ["A.b: { rate_limits: 1 }", "line 1, column 8", '"A.b" has the unknown field rate_limits; did you mean rate_limit?'],
  ["A.b:", "line 1, column 1", '"A.b" must have fields, as in A.b: { decision: ask }'],
  [
    "A.b.c.d: { decision: ask }",
    "line 1, column 1",
    '"A.b.c.d" is not a method; write Skill.method, a pattern such as Skill.*, or a name',
  ],
  ["flows: [{ from: A.b, to: B.c }]", "line 1, column 9", '"decision" must be allow, ask or deny, not missing'],
  [
    "flows: yes",
    "line 1, column 1",
    '"flows" must be a list, as in [{ from: BraveSearchMCP.*, to: MailSkill.send, decision: ask }]',
  ],
];

test.each(MALFORMED)("reports the position and the mistake of %j [P4]", (text, place, wrong) => {
  expect(problemsOf(text)).toEqual([said(place, wrong)]);
});

test("refuses in an editor what the parser refuses, and accepts the same rows [P4]", () => {
  const validate = new Ajv2020({ allowUnionTypes: true }).compile(POLICY_SCHEMA);
  const accepted = [
    STARTER_POLICY,
    "A.*: { decision: ask, timeout: 0.5 }",
    "flows: [{ from: a, to: B.*, decision: deny }]",
  ];
  for (const text of accepted) expect([validate(parse(text)), problemsOf(text)]).toEqual([true, []]);
  for (const [text] of MALFORMED) expect(`${text}: ${validate(parse(text))}`).toBe(`${text}: false`);
});

test("reports every mistake of a file [P4]", () => {
  expect(problemsOf("A.b: { decision: no, timeout: x }\nC.d: 5\n")).toHaveLength(3);
});

test("reports a text that is not YAML with its position [P4]", () => {
  expect(() => parsePolicy("A.b: [", "tools.yaml")).toThrow("tools.yaml line 1, column 7: ");
  expect(() => parsePolicy("A.b: { timeout: 1 }\nA.b: { timeout: 2 }", "tools.yaml")).toThrow(
    'tools.yaml line 2, column 1: the key "A.b" appears twice',
  );
});

test.each([
  ["{ decision: allow, requires_approval: true }", "decision: allow and requires_approval: true"],
  ["{ decision: allow, approval: admin }", "decision: allow and approval: admin"],
  ["{ decision: ask, approval: none }", "decision: ask and approval: none"],
  ["{ decision: allow, requires_approval: writes }", "decision: allow and requires_approval: writes"],
  ["{ requires_approval: writes, approval: admin }", "requires_approval: writes and approval: admin"],
  ["{ requires_approval: false, approval: user }", "requires_approval: false and approval: user"],
])("refuses the contradiction in %s [P4]", (fields, pair) => {
  expect(problemsOf(`A.b: ${fields}`)).toEqual([
    said("line 1, column 1", `"A.b" has ${pair}, which contradict; remove one`),
  ]);
});

test.each([
  ["A.*_x", "A.y_*", "A.y_x"],
  ["*.read_*", "A*.read_", undefined],
  ["*.aa*", "*.*aa", "*.aa"],
  ["A.b*", "A.c*", undefined],
  ["A.b*", "A.*", undefined],
  ["*a*.b", "*b*.b", "ba.b"],
])("finds a path that %s and %s match equally [P4]", (one, other, path) => {
  const problems = problemsOf(`"${one}": { decision: ask }\n"${other}": { decision: deny }`);
  if (path === undefined) return expect(problems).toEqual([]);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(/^Cannot read the configuration: tools.yaml line 2, column 1: /);
  expect(problems[0]).toContain(`is as specific as "${one}" on line 1, and both match `);
});

test("reads a hostile file in bounded time [P4]", { tags: "rest" }, () => {
  const long = Array.from({ length: 900 }, (_, at) => `"A.m${at + 100}${"a".repeat(150)}*": { decision: ask }`);
  expect(problemsOf(long.join("\n")).at(-1)).toContain("it has too many long patterns to compare");
  expect(problemsOf(`"A.${"*a".repeat(300)}": { decision: ask }`)[0]).toContain("is not a method");
  const overlapping = Array.from({ length: 900 }, (_, at) => `"*m${at + 100}*": { decision: ask }`).join("\n");
  expect(problemsOf(overlapping)).toHaveLength(20);
  expect(problemsOf(Array.from({ length: 1_001 }, (_, at) => `A.m${at}: { decision: ask }`).join("\n"))).toEqual([
    said("line 1, column 1", "it has 1001 rows; a policy has at most 1000"),
  ]);
});

const method = (path: string, metadata: Partial<typeof METADATA_DEFAULTS> = {}) => {
  const [, name = ""] = path.split(".");
  return { path, name, wireName: name.replaceAll("_", "-"), metadata: { ...METADATA_DEFAULTS, ...metadata } };
};

const policyOf = (text: string, settings: { asksDestructive?: boolean; onlyTightens?: boolean } = {}) => {
  const { rows, flows, problems } = parsePolicy(text, "tools.yaml");
  expect(problems).toEqual([]);
  return createPolicy({
    rows,
    flows,
    roles: new Map([["reader", ["read"]]]),
    asksDestructive: false,
    onlyTightens: false,
    ...settings,
  });
};

test("applies the most specific row, and only that row [P4]", () => {
  const policy = policyOf(`
"*": { rate_limit: 1 }
"*.read_*": { rate_limit: 2 }
file_system: { rate_limit: 3 }
read_it: { rate_limit: 4 }
FileSkill.*: { rate_limit: 5 }
FileSkill.read_*: { rate_limit: 6, timeout: 0.5 }
FileSkill.read_it: { rate_limit: 7 }
write-it: { decision: deny }
`);
  const rates = (path: string, metadata = {}) => policy.getRule(method(path, metadata)).rateLimit;
  expect(rates("FileSkill.read_it")).toBe(7);
  expect(rates("FileSkill.read_all")).toBe(6);
  expect(rates("FileSkill.list")).toBe(5);
  expect(rates("MailSkill.read_it")).toBe(4);
  expect(rates("MailSkill.read_all", { capabilities: ["file_system"] })).toBe(2);
  expect(rates("MailSkill.list", { capabilities: ["file_system"] })).toBe(3);
  expect(rates("MailSkill.list")).toBe(1);
  expect(policy.getRule(method("FileSkill.read_it", { timeoutMs: 9 })).timeoutMs).toBe(9);
  expect(policy.getRule(method("MailMCP.write_it")).decision).toBe("deny");
});

test("tells a capability from a name of methods with the same words [P4]", () => {
  const { rows, problems } = parsePolicy("capability:web_search: { decision: deny }", "p");
  expect(problems).toEqual([]);
  const [{ key } = { key: undefined }] = rows;
  expect(key?.match(method("BraveMCP.search", { capabilities: ["web_search"] }))).toBe(
    "is a capability that the method declares",
  );
  expect(key?.match(method("BraveMCP.web_search"))).toBeUndefined();
});

test("notes a capability that is written without its prefix, and rows that match no method [P4]", () => {
  const { rows } = parsePolicy(
    "api_call: { rate_limit: 1 }\ncapability:api_call: { rate_limit: 2 }\nlist: { rate_limit: 3 }\nls: { rate_limit: 4 }",
    "p",
  );
  const methods = [method("WebMCP.get", { capabilities: ["api_call"] }), method("WebMCP.list")];
  expect(
    checkAgainstCatalog(rows, { entries: methods, skills: [], unlisted: [] } as unknown as Catalog, "p").map(
      ({ error }) => error,
    ),
  ).toEqual([
    'p line 1, column 1: "api_call" matches methods by a capability, which is written capability:api_call today',
    'p line 4, column 1: "ls" matches no method of the skills that are loaded',
  ]);
});

test("applies the strictest of two capabilities [P4]", () => {
  const policy = policyOf("web_search: { rate_limit: 1 }\ndatabase: { decision: deny }\napi_call: { decision: ask }");
  const both = method("A.b", { capabilities: ["web_search", "api_call"] });
  expect(policy.getRule(both)).toMatchObject({ decision: "ask", row: "api_call" });
});

test("adds the scopes of a row to those of the method [P3, P4]", () => {
  const policy = policyOf("A.b: { required_scopes: [x, y] }");
  expect(policy.getRule(method("A.b", { requiredScopes: ["y", "z"] })).requiredScopes).toEqual(["y", "z", "x"]);
});

test("asks for what the method, its annotations or the row asks for; only decision: allow lifts that [P4]", () => {
  const policy = policyOf(
    "A.*: { requires_approval: false }\nB.*: { decision: allow }\nC.*: { approval: admin }\nD.*: { decision: ask }",
    { asksDestructive: true },
  );
  const approvals = (path: string, metadata = {}) => policy.getRule(method(path, metadata)).approval;
  expect(approvals("Other.x", { destructive: true })).toBe("user");
  expect(approvals("Other.x")).toBe("none");
  expect(approvals("A.x", { destructive: true })).toBe("user");
  expect(approvals("A.x", { approval: "admin" })).toBe("admin");
  expect(approvals("B.x", { destructive: true, approval: "admin" })).toBe("none");
  expect(approvals("C.x", { approval: "user" })).toBe("admin");
  expect(approvals("D.x")).toBe("user");
});

test("asks before the writes of APIs with the starter policy, and not before reads [P4]", () => {
  const policy = policyOf(STARTER_POLICY);
  expect(policy.getRule(method("ShopAPI.addOrder"))).toMatchObject({ decision: "ask", row: "*API.*" });
  expect(policy.getRule(method("ShopAPI.listOrders", { readOnly: true }))).toMatchObject({ decision: "allow" });
  expect(policy.getRule(method("MailSkill.send"))).toMatchObject({ decision: "allow" });
});

test("lets the policy of a project that is not trusted only tighten [P4, P12]", () => {
  const text = `
A.*: { decision: allow, rate_limit: 100, cooldown_seconds: 1, timeout: 60, sensitivity: low, required_scopes: [x] }
B.*: { decision: deny }
C.*: { rate_limit: 5 }
flows: [{ from: A.b, to: B.c, decision: allow }, { from: A.b, to: B.d, decision: deny }]
`;
  const own = {
    approval: "user",
    rateLimit: 10,
    cooldownSeconds: 5,
    timeoutMs: 1_000,
    sensitivity: "high",
    requiredScopes: ["y"],
  } as const;
  const policy = policyOf(text, { onlyTightens: true });
  expect(policy.getRule(method("A.x", own))).toMatchObject({ ...own, requiredScopes: ["y", "x"], decision: "ask" });
  expect(policy.getRule(method("B.x")).decision).toBe("deny");
  expect(policy.getRule(method("C.x")).rateLimit).toBe(5);
  expect(policy.findFlow(method("A.b"), method("B.c"))).toBeUndefined();
  expect(policy.findFlow(method("A.b"), method("B.d"))).toMatchObject({ decision: "deny", place: "tools.yaml line 5" });
  expect(policy.roles.size).toBe(0);
  expect(policyOf(text).getRule(method("A.x", own))).toMatchObject({
    approval: "none",
    rateLimit: 100,
    timeoutMs: 60_000,
  });
});

test("reads the scopes of roles, and reports others with their position [P3]", () => {
  expect(parseRoles("reader: [mail:read]\n", "roles.yaml")).toEqual({
    roles: new Map([["reader", ["mail:read"]]]),
    problems: [],
  });
  expect(parseRoles("reader: [a]\nwriter: b\n", "roles.yaml").problems).toEqual([
    {
      source: "roles.yaml",
      error:
        'Cannot read the configuration: roles.yaml line 2, column 1: the role "writer" must be a list of scopes, as in writer: [mail:send], not "b" (CONFIG_INVALID)',
    },
  ]);
});

test("reads the roles of the policy, and reports each that has no list of scopes [P3]", () => {
  const { roles, rows, problems } = parsePolicy("roles: { reader: [mail:read] }\nMailSkill.*: { decision: ask }", "p");
  expect([...roles]).toEqual([["reader", ["mail:read"]]]);
  expect([rows.map(({ key }) => key.text), problems]).toEqual([["MailSkill.*"], []]);
  expect(parsePolicy("roles:\n  reader: [a]\n  writer: b", "p").problems).toEqual([
    {
      source: "p",
      error:
        'Cannot read the configuration: p line 3, column 3: the role "writer" must be a list of scopes, as in writer: [mail:send], not "b" (CONFIG_INVALID)',
    },
  ]);
  expect(parsePolicy("roles: [reader]", "p").problems[0]?.error).toContain('"roles" must have a list of scopes');
});

test("reads roles.yaml of earlier versions, and says what to write in the policy instead [P3]", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const tools = join(folder, "tools.yaml");
  writeFileSync(tools, "roles: { sender: [mail:send] }\n");
  writeFileSync(join(folder, "roles.yaml"), "sender: [old]\nreader: [mail:read]\n");
  const { roles, notes } = await readPolicyFiles({ tools });
  expect(new Map(roles)).toEqual(
    new Map([
      ["sender", ["mail:send"]],
      ["reader", ["mail:read"]],
    ]),
  );
  expect(notes.map(({ error }) => error.split("\n").slice(1))).toEqual([["roles:", '  reader: ["mail:read"]']]);
});
