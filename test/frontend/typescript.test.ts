import { describe, expect, test } from "vitest";
import { parse } from "acorn";
import ts from "typescript";

import { read, readText, readViolations } from "../support/read-program-source.ts";

describe("parses TypeScript and blanks its types [S4]", () => {
  test("keeps lines and columns [S4]", () => {
    const source = "interface User {\n  id: number;\n}\nconst u: User = { id: 1 as number };\nreturn u!.id;";
    expect(readText(source)).toBe(
      ";               \n             \n \nconst u       = { id: 1           };\nreturn u .id;",
    );
  });

  test("reads JavaScript as JavaScript, even if TypeScript would read it differently [S4]", () => {
    const source = "const a = 1, b = 2, c = 3;\nreturn a<b>(c);";
    expect(readText(source)).toBe(source);
  });

  test("reads type arguments of a call as types if they cannot be anything else [S4]", () => {
    expect(readText("return get<User>(1)")).toBe("return get      (1)");
    expect(readText("return get<string | number>(1)")).toBe("return get                 (1)");
    expect(readText("class User {}\nreturn get<User>(1)")).toBe("class User {}\nreturn get<User>(1)");
  });

  test("sets the field of a parameter property [S4]", () => {
    const plain = "class A { constructor(private a: number, readonly b = 2) { } }\n0";
    expect(read(plain)).toMatchObject({
      text: "class A { constructor(        a        ,          b = 2) { } }\n0",
      edits: [{ kind: "wrap", start: 58, end: 58, before: "; this.a = a; this.b = b;", after: "" }],
    });
    const derived = "class B extends A { constructor(public c: string) { super(1); this.d() } }\n0";
    expect(read(derived)).toMatchObject({
      edits: [{ kind: "wrap", start: 61, end: 61, before: "; this.c = c;", after: "" }],
    });
    const overload = "class C { constructor(d: string); constructor(public d: unknown) { } }\n0";
    expect(read(overload)).toMatchObject({
      edits: [{ kind: "wrap", start: 66, end: 66, before: "; this.d = d;", after: "" }],
    });
  });

  test.each([
    [
      "enum Color { Red, Green = 5, Blue }",
      "NODE_FORBIDDEN",
      "enum Color",
      "Write const Color = Object.freeze({ Red: 0, Green: 5, Blue: 6 })",
    ],
    [
      "namespace N { export const x = 1 }",
      "NODE_FORBIDDEN",
      "namespace N",
      "Leave the namespace out, or write an object: const N = { … }",
    ],
    [
      "@sealed class A {}",
      "NODE_FORBIDDEN",
      "decorator @sealed",
      "Leave it out, or call the function yourself: const Decorated = decorate(Plain)",
    ],
    [
      'import fs = require("fs")',
      "MODULE_FORBIDDEN",
      'import fs = require("fs")',
      "Everything is on device: call await device.Skill.method(…)",
    ],
  ])("refuses %s with the code to write instead [S4]", (source, code, what, fix) => {
    expect(readViolations(source)).toMatchObject([{ code, line: 1, column: 0, fix }]);
    expect(readViolations(source)[0]?.message).toContain(`: ${what} (`);
  });

  test.each([
    "declare enum E { A }",
    "declare namespace N { const a: number }",
    "import type { A } from 'a'",
    "import { type A } from 'a'",
    "export type A = 1",
    "declare const a: number",
  ])("removes %s as type-only [S4]", (source) => {
    expect(readText(`${source}\n1`).trim()).toBe(";".padEnd(source.length).concat("\n1"));
  });
});

/** What TypeScript itself makes of a text, as a tree without places. */
function parseTree(javaScript: string): unknown {
  const tree = parse(javaScript, {
    ecmaVersion: 17,
    sourceType: "module",
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: true,
  });
  return JSON.parse(
    JSON.stringify(tree, (key, value: unknown) => {
      if (key === "start" || key === "end" || key === "raw") return undefined;
      return Array.isArray(value)
        ? value.filter((entry) => (entry as { type?: string } | null)?.type !== "EmptyStatement")
        : value;
    }),
  );
}

describe("keeps the meaning that the program has in TypeScript [S4]", () => {
  const compilerOptions = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, isolatedModules: true };

  test.each([
    ["let x: number = 1, y!: string; x"],
    ["function f<T extends A = B>(this: Foo, a?: number, {b}: {b:string} = {}, ...c: any[]): asserts a is string {}"],
    ["const f = async <T,>(a: T): Promise<T> => a"],
    ["(x as any as Foo).y"],
    ["((x) as Foo).y"],
    ["x satisfies Foo"],
    ["x!"],
    ["x!.y!()"],
    ["(<T>(x)).y"],
    ["<T>x"],
    ["new Map<string, number>()"],
    ["f<T>`x`; let q: number"],
    ["const g = f<string>; g"],
    [
      "class A<T> extends B<T> implements C, D { private readonly x: number = 1; static y?: string; z!: number; declare w: any; constructor(a: number, c?: string) { super() } get v(): number { return 1 } [key: string]: any; protected async m<U>(u: U): Promise<void> {} override n?(): void; private static s = 1; static readonly r: number; foo(a: string): void; foo(a: any) {} }",
    ],
    ["abstract class A { abstract x: number; abstract m(): void; b = 1 }"],
    ["interface A extends B { x: number }\nfoo()"],
    ["type A<T> = T\n;(1)"],
    ["declare const x: number; x"],
    ["declare function f(): void; f()"],
    ["function f(a: string): void\nfunction f(a: any) {}"],
    ['declare module "x" {}'],
    ['import type { A } from "x"'],
    ['import type A from "x"; foo'],
    ["for (const x of y as any[]) {}"],
    ["try {} catch (e: unknown) {}"],
    ["const x = y as const"],
    ["let f: (a: number) => void"],
    ["let v = a ? (b as C) : d"],
    ["const {a, b}: {a: string; b: number} = c"],
    ["function g(x: unknown): x is string { return true }"],
    ["declare global { interface X {} }"],
    ['let x = <const>["a"]'],
    ["const f = (a: number): a is 5 => true"],
    ["let a = b!"],
    ["a! = 5"],
    ["a!++"],
    ["async (x?: number) => {}"],
    ["(x: number, y?: string): void => {}"],
    ["function f(a = 1 as number) {}"],
    ["({ m<T>(x: T): T { return x }, get a(): number { return 1 }, async *g(x: number) {} })"],
    ["type A = { a: 1 };\n[1].map(x => x)"],
    ["if (x) { type B = 1 }"],
    ["let x = y as Foo\n(z)"],
    ["let x = y as Foo\n;[1].map(z)"],
    ["let x = y as Foo\n[1].map(z)"],
    ["function assertIsString(val: any): asserts val {}"],
    ["var x = function<T>(a: T) {}"],
    ["const o = { a: 1 as number, b: <string>c }"],
    ["f(a as B, c!)"],
    ["`${a as string}`"],
    ["x?.y!.z"],
    ["x?.[0]!; let z: 1"],
    ['const x: typeof import("y") = 1'],
    ["let { a }: X = y, [b]: Y = z"],
    ["const f = async (x: string): Promise<{\n  a: number\n}> => {\n return x }"],
    ['class P { a = 1\n public ["b"] = 2\n private c\n *g(): any {} }'],
    ['class P { a: number\n ["b"]: string\n static\n x: number }'],
    ["const x = { a: 1 } satisfies Record<string, number>\nconst y = 2"],
    ["const n = (x: any): number => x as number\n`a`"],
    ["for (let i: number = 0; i < 3; i++) {}"],
    ["for (const [k, v] of Object.entries(x) as [string, number][]) { k }"],
    ["const xs: Array<{ a: number; b?: string[] }> = []; xs"],
    ["const m = new Map<string, Array<Promise<number>>>(); m"],
    ["type Fn = <T>(x: T) => T; const id: Fn = x => x"],
    ["const a = b as unknown as string[]; a.map((s: string): string => s)"],
    ["function f(this: Window, a: number) { return a }"],
    ["function f(this: any) { return 1 }"],
    ["let x: Foo<Bar<Baz>> = y; let z = a >> b"],
    ["const r = await device.A.b<Result>({a: 1}); r"],
    ["const y = JSON.parse(x) as { a: number }\nreturn y.a"],
    ["label: for (const a of b as any) { continue label }"],
    ["const fn = <T extends object>(o: T, k: keyof T) => o[k]"],
    ["let u: unique symbol"],
    ["let t: [a: string, b?: number, ...rest: boolean[]] = x"],
    ["let c: new (...args: any[]) => object"],
    ["let p: `a${string}b`"],
    ["let k: A extends infer U ? U : never"],
    ["let a1: asserts"],
    ["let o: { readonly [K in keyof T]?: T[K] }"],
    ["let q: typeof a.b.c"],
    ["let z = a < b && c > d; let w: number"],
    ["if (a < b || c > (d)) {} let w: number"],
    ["let x = a as any || b"],
    ["let x = a! + b!"],
    ["let x = (a as any)!.b"],
    ["return x as Foo"],
    ["throw x as Error"],
    ["x = y as Z, w = 1 as any"],
    ["let d = new Date() as any as Date; const e = !d!"],
    ["class A { m?(): void; n(): void { } }"],
    ["class A { static { let x: number = 1 } }"],
    ["class A { get [x as any](): number { return 1 } }"],
    ["class A { readonly = 1; declare = 2; abstract = 3; override = 4; static = 5; private() {} }"],
    ["class A<in out T> {}"],
    ["let f = function (this: any) {}"],
    ["let f2 = { async m(this: X, a: 1): Promise<void> {} }"],
    ["a satisfies B\n(c)"],
    ["abstract class A { private abstract x(): void; protected constructor(); constructor() {} }"],
    ["type A = 1\ntype B = 2\nconst c: A | B = 1"],
    ["let v = <any>window; let w = <T,>(x: T) => x"],
    ["(async <T>(x: T) => x)(1)"],
    ["const a = (b: number) => (c: string): void => {}"],
    ["const f = ({ a, b }: { a: string; b: number }) => a"],
    ["f((x): x is string => true)"],
    ["a ? (b, c: number) => d : e"],
  ])("%s [S4]", (source) => {
    const { outputText } = ts.transpileModule(source, { compilerOptions });
    const expected = outputText.replace(/^"use strict";\n/, "").replace(/export \{\};\n?$/, "");
    const text = readText(source);
    expect(parseTree(text)).toEqual(parseTree(expected));
    expect(text.length).toBe(source.length);
    expect(text.split("\n").map((line) => line.length)).toEqual(source.split("\n").map((line) => line.length));
  });
});
