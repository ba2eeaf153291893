import fc from "../support/fuzz.ts";
import { repetitions } from "../support/repetitions.ts";
import { afterAll, expect, test } from "vitest";

import { createSandbox } from "../../sandbox/index.ts";
import { DEFAULT_LIMITS } from "../../src/model/limits.ts";
import { catalog, check, pathsWith } from "./stubs.ts";

const sandbox = createSandbox({ limits: { ...DEFAULT_LIMITS, wallMs: 5_000 }, workers: 1 });
afterAll(() => sandbox.close());

const granted: ReadonlySet<string> = new Set(pathsWith("allow", "approve"));

/** Ways to say a name, with a local variable now and then where a literal could stand. */
const named = (...names: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom(...names),
      fc.constantFrom(
        "dot",
        "dot",
        "dot",
        "dot",
        "dot",
        "bracket",
        "template",
        "optional",
        "escape",
        "computed",
        "variable",
      ),
    )
    .map(([name, how]) => {
      switch (how) {
        case "dot":
          return `.${name}`;
        case "bracket":
          return `["${name}"]`;
        case "template":
          return `[\`${name}\`]`;
        case "optional":
          return `?.${name}`;
        case "escape":
          return `.\\u{${name.charCodeAt(0).toString(16)}}${name.slice(1)}`;
        case "computed":
          return `["${name.slice(0, 2)}" + "${name.slice(2)}"]`;
        case "variable":
          return "[v0]";
      }
    });

const skill = named(
  "MathSkill",
  "MathSkill",
  "MathSkill",
  "UserSkill",
  "AdminSkill",
  "EmailSkill",
  "SecretsSkill",
  "FilesystemMCP",
  "constructor",
  "__proto__",
);
const method = named(
  "add",
  "add",
  "add",
  "add",
  "get",
  "delete_user",
  "list_users",
  "send",
  "get_token",
  "delete_file",
  "read_file",
  "constructor",
  "call",
);
const variable = fc.integer({ min: 0, max: 4 }).map((n) => `v${n}`);
const root = fc.oneof(
  { weight: 3, arbitrary: fc.constant("device") },
  { weight: 2, arbitrary: variable },
  { weight: 1, arbitrary: fc.constantFrom("(device)", "default_api", "AdminSkill", "MathSkill", "{}") },
);
const expression = fc.oneof(
  root,
  fc.tuple(root, skill).map((parts) => parts.join("")),
  fc.tuple(root, skill, method).map((parts) => parts.join("")),
  fc.tuple(root, method).map((parts) => parts.join("")),
  fc.tuple(root, root).map(([a, b]) => `(true ? ${a} : ${b})`),
  fc.tuple(root, root).map(([a, b]) => `(${a} || ${b})`),
  fc.tuple(root, root).map(([a, b]) => `(${a}, ${b})`),
  root.map((a) => `[${a}][0]`),
  root.map((a) => `({ x: ${a} }).x`),
  root.map((a) => `((x) => x)(${a})`),
  root.map((a) => `Object.values(${a})[0]`),
  fc.tuple(root, skill).map(([a, b]) => `(() => ${a})()${b}`),
  fc.tuple(root, skill, method).map(([a, b, c]) => `((x = ${a}) => x${b})()${c}`),
  root.map((a) => `({ get x() { return ${a} } }).x`),
  fc.tuple(root, skill).map(([a, b]) => `new (class { x = ${a}${b} })().x`),
  root.map((a) => `({ ...${a} })`),
  root.map((a) => `[...[${a}]].at(0)`),
  root.map((a) => `Object.entries(${a}).flat().at(-1)`),
  root.map((a) => `Object.assign({}, ${a})`),
  fc.tuple(root, fc.constantFrom("AdminSkill", "MathSkill")).map(([a, b]) => `Reflect.get(${a}, "${b}")`),
  root.map((a) => `(function* () { yield ${a} })().next().value`),
  fc.tuple(root, skill).map(([a, b]) => `(await (async () => ${a}${b})())`),
  fc.tuple(root, skill, method).map(([a, b, c]) => `[${a}${b}${c}].map((f) => f)[0]`),
  fc.tuple(root, skill, method).map(([a, b, c]) => `new Map([["f", ${a}${b}${c}]]).get("f")`),
  fc.tuple(root, skill, method).map(([a, b, c]) => `((x, y) => y)\`\${${a}${b}${c}}\``),
  fc.tuple(root, skill, method).map(([a, b, c]) => `(${a}${b}${c} ?? ${a}${b})`),
);
const statement = fc.oneof(
  fc
    .tuple(fc.constantFrom("const", "let", "var"), variable, expression)
    .map(([kind, name, value]) => `${kind} ${name} = ${value};`),
  fc.tuple(variable, expression).map(([name, value]) => `${name} = ${value};`),
  fc
    .tuple(fc.constantFrom("MathSkill", "AdminSkill", "UserSkill"), variable, root)
    .map(([key, name, from]) => `const { ${key}: ${name} } = ${from};`),
  fc
    .tuple(fc.constantFrom("add", "delete_user", "get"), variable, root)
    .map(([key, name, from]) => `const { ${key}: ${name} } = ${from};`),
  fc.tuple(variable, root).map(([name, from]) => `const { ...${name} } = ${from};`),
  fc.tuple(variable, root).map(([name, from]) => `for (const ${name} in ${from});`),
  expression.map((value) => `try { await ${value}(1, 2) } catch {}`),
  expression.map((value) => `try { [1].map(${value}) } catch {}`),
  expression.map((value) => `try { ${value}(1).x } catch {}`),
  fc
    .tuple(variable, expression)
    .map(([name, value]) => `for (const ${name} of [${value}]) try { ${name}(1) } catch {}`),
  fc
    .tuple(variable, expression)
    .map(([name, value]) => `try { throw ${value} } catch (${name}) { try { ${name}(1) } catch {} }`),
  fc
    .tuple(fc.constantFrom("AdminSkill", "MathSkill"), variable, root)
    .map(([key, name, from]) => `const { ["${key}"]: ${name} = 1 } = ${from};`),
  fc.tuple(variable, root).map(([name, from]) => `const [${name}] = [${from}];`),
  fc.tuple(variable, root).map(([name, from]) => `({ AdminSkill: ${name} } = ${from});`),
  fc.tuple(variable, expression).map(([name, value]) => `async function ${name}() { return ${value}(1) }`),
  fc.tuple(variable, expression).map(([name, value]) => `function ${name}(f = ${value}) { return f(1).x }`),
  fc
    .tuple(variable, expression)
    .map(
      ([name, value]) => `class ${name.toUpperCase()} { static x = ${value}; static { try { this.x(1) } catch {} } }`,
    ),
  expression.map((value) => `try { (await Promise.all([1].map(async (n) => ${value}(n)))).length } catch {}`),
  expression.map((value) => `try { Promise.all([1].map(async (n) => ${value}(n))).map((x) => x) } catch {}`),
  expression.map((value) => `switch (typeof ${value}) { case "function": try { ${value}(1) } catch {} }`),
);
/** Statements in blocks of their own, so that variables of one name do not meet. */
const program = fc
  .array(fc.tuple(fc.boolean(), statement), { minLength: 1, maxLength: 4 })
  .map((parts) =>
    parts.reduceRight((rest, [inBlock, text]) => (inBlock ? `{ ${text} ${rest} }` : `${text} ${rest}`), ""),
  );

test(
  "accepts no program that reaches a method outside of its paths, and no path outside of the permissions [S6]",
  { tags: "repeated" },
  async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(program, async (source) => {
        const { program: accepted, plan } = check(source);
        if (accepted === undefined) return;
        run++;
        expect(accepted.paths.filter((path) => path.includes(".") && !granted.has(path))).toEqual([]);
        // A computed name stands for all methods of the skill that the caller has.
        const planned = plan.flatMap(({ path }) => (path.endsWith(".*") ? listGranted(path.slice(0, -1)) : [path]));
        expect(planned.filter((path) => !accepted.paths.includes(path))).toEqual([]);
        expect(await reachedBy(accepted.code)).toSatisfy((reached: string[]) =>
          reached.every((path) => accepted.paths.includes(path)),
        );
      }),
      { numRuns: repetitions(250, 1_500, 6_000) },
    );
    expect(run).toBeGreaterThan(repetitions(7, 30, 100));
  },
);

function listGranted(beginning: string): readonly string[] {
  return catalog.methods.map(({ path }) => path).filter((path) => path.startsWith(beginning) && granted.has(path));
}

/** Runs code here, with everything of the catalog on its `device`, and says what it reaches. */
async function reachedBy(code: string): Promise<readonly string[]> {
  const reached: string[] = [];
  const device = Object.create(null) as Record<string, Record<string, unknown>>;
  for (const { path, skill, name } of catalog.methods) {
    device[skill] ??= Object.create(null) as Record<string, unknown>;
    device[skill][name] = async () => void reached.push(path);
  }
  const AsyncFunction = (async () => {}).constructor as new (
    ...text: string[]
  ) => (...args: unknown[]) => Promise<unknown>;
  await new AsyncFunction("device", "__wait", `"use strict";\n${code}`)(device, (method: unknown) => method).catch(
    () => undefined,
  );
  return reached;
}

const NAMES = ["a", "b", "c", "d", "e", "f", "n", "async", "of", "get", "set", "from", "ünï", "$", "_"];

/** Expressions and statements of many kinds, put together at random; most of them mean nothing. */
const { code } = fc.letrec((tie) => {
  const some = tie("expression") as fc.Arbitrary<string>;
  const name = fc.constantFrom(...NAMES);
  const pattern = fc.oneof(
    name,
    name.map((n) => `[${n} = 1, ...c]`),
    name.map((n) => `{ ${n}, d: [e] = [], ...f }`),
  );
  const literal = fc.constantFrom(
    "1",
    "0x1f",
    "1n",
    "1_0",
    ".5",
    "'s'",
    '"\\u{41}"',
    "`t`",
    "null",
    "/r(?<n>x)\\k<n>/giu",
    "/[a&&[b]]/v",
    "/(?i:a)|b{2,}?/",
    "[]",
    "({})",
    "this",
    "new.target",
  );
  const unary = fc.constantFrom(
    "-",
    "+",
    "!",
    "~",
    "typeof ",
    "void ",
    "await ",
    "delete ",
    "new ",
    "...",
    "--",
    "++",
    "async ",
    "yield ",
  );
  const binary = fc.constantFrom(
    "+",
    "-",
    "*",
    "/",
    "%",
    "**",
    "<",
    ">",
    "<<",
    ">>>",
    "==",
    "!==",
    "&&",
    "||",
    "??",
    ",",
    "?.",
    ".",
    " in ",
    " instanceof ",
    "=",
    "+=",
    "??=",
    "=>",
    "<!--",
    "-->",
    "? 1 :",
  );
  return {
    expression: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      name,
      literal,
      fc.tuple(unary, some).map((parts) => parts.join("")),
      fc.tuple(some, binary, some).map((parts) => parts.join(" ")),
      fc.tuple(some, binary, some).map((parts) => parts.join("")),
      some.map((e) => `(${e})`),
      fc.tuple(some, some).map(([a, b]) => `[${a}, ...${b}]`),
      fc.tuple(name, some, some).map(([n, a, b]) => `({ ${n}: ${a}, get ${n}() { return ${b} }, [${a}]: 1, ...${b} })`),
      fc.tuple(some, some).map(([a, b]) => `${a}(${b}, ...${b})`),
      fc.tuple(some, some).map(([a, b]) => `${a}?.[${b}]`),
      fc.tuple(some, some).map(([a, b]) => `${a}\`x\${${b}}y\``),
      fc.tuple(some, some, some).map(([a, b, c]) => `${a} ? ${b} : ${c}`),
      fc.tuple(pattern, some).map(([p, a]) => `(${p}) => ${a}`),
      fc.tuple(name, some).map(([n, a]) => `${n} => { return ${a} }`),
      fc.tuple(pattern, some).map(([p, a]) => `async (${p}, q = ${a}) => { await ${a} }`),
      fc.tuple(pattern, some).map(([p, a]) => `function* (${p}) { yield ${a}; yield* ${a} }`),
      fc
        .tuple(name, some)
        .map(
          ([n, a]) =>
            `class extends (${a}) { static ${n} = ${a}; #p = ${a}; ${n}() { return #p in this } static { ${a} } }`,
        ),
      fc.tuple(pattern, some).map(([p, a]) => `(${p} = ${a})`),
      fc.tuple(name, some).map(([n, a]) => `({ async ${n}() { return ${a} }, async *x() {} }).${n}().y`),
      fc.tuple(name, some).map(([n, a]) => `({ ${n}: async () => ${a} }).${n}() + 1`),
      fc
        .tuple(name, name, some)
        .map(
          ([n, m, a]) =>
            `new (class { ${m}\n async ${n}() { return ${a} } static async ${m}() {} async [${a}]() {} async *${m}() {} })().${n}().y`,
        ),
      some.map((a) => `(() => Promise.all([${a}]).map((x) => x))()`),
      some.map((a) => `[1].filter(async () => { await (async () => ${a})(); })`),
      some.map((a) => `(async function* () { yield ${a} })().x`),
      fc.tuple(some, some).map(([a, b]) => `device.MathSkill.add(${a}, ${b}).x`),
      fc.tuple(some, some).map(([a, b]) => `[${a}].map(async (x) => device.MathSkill.add(x, ${b}))[0].x`),
    ),
    code: fc
      .array(
        fc.oneof(
          some.map((e) => `${e};`),
          some.map((e) => `${e}\n`),
          fc.tuple(name, some).map(([n, e]) => `async function ${n}() { return ${e} }\n${n}().x\n${n}()`),
          some.map((e) => `async function* g() { yield ${e} }\nfor (const x of g()) x\n`),
          fc.tuple(fc.constantFrom("let", "const", "var"), pattern, some).map(([kind, p, e]) => `${kind} ${p} = ${e};`),
          fc.tuple(some, some).map(([a, b]) => `if (${a}) ${b}; else ${b}\n`),
          fc.tuple(pattern, some).map(([p, a]) => `for (const ${p} of ${a}) { continue }`),
          fc.tuple(name, some).map(([n, a]) => `for (var ${n} in ${a}) break;`),
          fc.tuple(some, some).map(([a, b]) => `for (${a}; ${b}; ${a}) ;`),
          fc.tuple(name, some).map(([n, a]) => `${n}: while (${a}) { break ${n} }`),
          fc.tuple(pattern, some).map(([p, a]) => `try { throw ${a} } catch (${p}) { } finally { ${a} }`),
          fc.tuple(some, some).map(([a, b]) => `switch (${a}) { case ${b}: default: ${a} }`),
          fc
            .tuple(name, pattern, some)
            .map(([n, p, a]) => `async function ${n}(${p}) { for await (const x of ${a}) return x }`),
        ),
        { minLength: 1, maxLength: 4 },
      )
      .map((parts) => parts.join("")),
  };
});

test("accepts no program that the engine cannot parse [S5]", { tags: "rest" }, async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(code as fc.Arbitrary<string>, async (source) => {
      const accepted = check(`var ${NAMES.join(", ")};\n{ ${source}\n}`).program;
      if (accepted === undefined) return;
      run++;
      const { end } = await sandbox.run({ ...accepted, code: `return 1;${accepted.code}` }, () =>
        Promise.resolve({ ok: true, json: "null" }),
      );
      expect(end, accepted.code).toEqual({ kind: "returned", json: "1" });
    }),
    { numRuns: repetitions(500, 1_000, 3_000) },
  );
  expect(run).toBeGreaterThan(repetitions(150, 100));
});

test("answers any input with violations or a program [S5]", { tags: "repeated" }, () => {
  const bits = fc.constantFrom(
    "device",
    ".MathSkill",
    ".add",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "`",
    "${",
    "'",
    '"',
    "\\",
    "/",
    "*",
    "//",
    "/*",
    "*/",
    "\n",
    "\r",
    " ",
    "=>",
    "=",
    "...",
    "await ",
    "async ",
    "function ",
    "class ",
    "return ",
    "```",
    "```js\n",
    "<",
    ">",
    "!",
    "--",
    "\u202e",
    "\u0000",
    "\ud800",
    "😀",
    "1",
    "a",
    ":",
    ";",
    ",",
    "?.",
    "@",
    "#",
    "as any",
    "import ",
    "export default ",
    "enum ",
    "True",
    '{"tool":',
    "js\n",
  );
  fc.assert(
    fc.property(fc.array(bits, { maxLength: 30 }), (parts) => {
      const { violations, program: accepted } = check(parts.join(""));
      expect(violations.length === 0).toBe(accepted !== undefined);
    }),
    { numRuns: repetitions(500, 1_500, 5_000) },
  );
});
