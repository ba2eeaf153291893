import * as fc from "fast-check";
import { expect, test } from "vitest";

import { openSandbox, run, thrownBy, getValue } from "../support/sandbox.ts";

const sandbox = openSandbox(1);

/** What the same function body returns here, as JSON sees it. */
function here(code: string): unknown {
  return JSON.parse(JSON.stringify(new Function(code)())) as unknown;
}

test("copies with `structuredClone` what the standard says, including cycles and shared parts [S7]", async () => {
  const code = `
    const shared = { s: 1 }, buffer = new ArrayBuffer(8);
    const value = {
      number: -0, big: 10n, text: "x", nothing: null, missing: undefined, list: [1, , 3], named: Object.assign([1], { extra: 2 }),
      date: new Date(5), pattern: /a.b/giu, map: new Map([[shared, new Set([shared, 1])]]), buffer, bytes: new Uint8Array(buffer, 2, 4),
      view: new DataView(buffer, 1, 3), floats: Float64Array.of(1.5, NaN), error: new RangeError("bad", { cause: shared }),
      custom: Object.assign(new Error("own"), { name: "MyError", more: 1 }), boxed: [new String("t"), new Number(2), new Boolean(false), Object(3n)],
      instance: new (class Point { constructor() { this.x = 1 } get y() { return 2 } })(), bare: Object.assign(Object.create(null), { b: 1 }), shared,
    };
    value.self = value; value.list.push(value.list); Object.defineProperty(value, "hidden", { value: 1 }); value[Symbol("s")] = 1;
    value.bytes.fill(7);
    const copy = structuredClone(value);
    const [[key, set]] = copy.map;
    return [
      copy !== value, copy.self === copy, copy.list[3] === copy.list, 1 in copy.list, copy.list.length, copy.named.extra, Object.is(copy.number, -0),
      String(copy.big), "missing" in copy, copy.date.getTime(), String(copy.pattern), copy.pattern.lastIndex, key === copy.shared, set.has(copy.shared), set.has(1),
      copy.bytes.buffer === copy.buffer, copy.buffer !== buffer, [...copy.bytes], copy.bytes.byteOffset, copy.view.byteLength, copy.view.getUint8(1),
      copy.floats[0], copy.error instanceof RangeError, copy.error.message, copy.error.cause === copy.shared, copy.error.stack === value.error.stack,
      copy.custom.name, copy.custom instanceof Error, copy.custom.more ?? null, copy.boxed.map((box) => [typeof box, String(box)]),
      copy.instance.constructor === Object, copy.instance.x, copy.instance.y ?? null, Object.getPrototypeOf(copy.bare) === Object.prototype, copy.bare.b,
      "hidden" in copy, Object.getOwnPropertySymbols(copy).length, Object.keys(copy).length,
    ]`;
  expect(await getValue(sandbox, code)).toEqual(here(code));
});

test("refuses with `structuredClone` what cannot be copied [S7]", async () => {
  const code = `
    const attempt = (make) => { try { return structuredClone(make()) && "done" } catch (error) { return error.name } };
    return [
      [() => () => {}, () => Symbol("s"), () => ({ deep: [() => {}] }), () => Promise.resolve(), () => new WeakMap(), () => new WeakSet(), () => Object(Symbol("s")), () => new Map([[Symbol("s"), 1]])].map(attempt),
      structuredClone(undefined) === undefined, structuredClone.name,
    ]`;
  expect(await getValue(sandbox, code)).toEqual(here(code));
  expect(await thrownBy(sandbox, "structuredClone({ a: () => {} })")).toMatchObject({
    name: "DataCloneError",
    message: "Cannot clone a function",
  });
});

test("fixes the size of a buffer: the methods that CVE-2026-0821 needs are missing [S7]", async () => {
  const misuse = `const b = new ArrayBuffer(64); new Uint8Array({ [Symbol.iterator]: undefined, length: 64, get 0() { b.transfer(8); return 1 } }); return new Uint8Array(b, 0, 64).length`;
  expect(await thrownBy(sandbox, misuse)).toMatchObject({ message: "not a function" });
  const code = `const b = new ArrayBuffer(4);
    const attempt = (make) => { try { return make() ?? "undefined" } catch (error) { return error.message } };
    return [
      ["transfer", "transferToFixedLength", "resize", "maxByteLength", "resizable"].filter((name) => name in b),
      attempt(() => new ArrayBuffer(8, { maxByteLength: 16 })), attempt(() => new b.constructor(8, { maxByteLength: 16 })),
      attempt(() => Reflect.construct(ArrayBuffer, [8, { maxByteLength: 16 }])), attempt(() => ArrayBuffer(8)),
      attempt(() => structuredClone(b, { transfer: [b] })), b.byteLength,
    ]`;
  const resized = "Cannot make a buffer that can be resized: leave out the second argument";
  expect(await getValue(sandbox, code)).toEqual([
    [],
    resized,
    resized,
    resized,
    "Cannot call ArrayBuffer without new",
    "Cannot clone with transfer, which is not available here: leave it out",
    4,
  ]);
});

test("implements buffers otherwise as Node does [S7]", async () => {
  const code = `
    class Own extends ArrayBuffer {}
    const b = new ArrayBuffer(4), own = new Own(3);
    return [b instanceof ArrayBuffer, b.constructor === ArrayBuffer, b.slice(1).byteLength, b.slice(1) instanceof ArrayBuffer,
      new Uint8Array(4).buffer instanceof ArrayBuffer, ArrayBuffer.isView(new Uint8Array(1)), ArrayBuffer.name, ArrayBuffer.length,
      own.byteLength, own instanceof Own, ArrayBuffer[Symbol.species] === ArrayBuffer, Object.prototype.toString.call(b),
      structuredClone(b).byteLength, new Uint8Array(b).length, new DataView(b).byteLength]`;
  expect(await getValue(sandbox, code)).toEqual(here(code));
});

test("copies with `structuredClone` values of any possible depth [S7]", { tags: "rest" }, async () => {
  const code =
    "let deep = {}; for (let i = 0; i < 20000; i++) deep = { deep }; let n = 0; for (let d = structuredClone(deep); d.deep; d = d.deep) n++; return n";
  expect(await getValue(sandbox, code)).toBe(20_000);
});

test("keeps a `__proto__` key as data in a copy [S7]", async () => {
  const code = `
    const copy = structuredClone(JSON.parse('{"__proto__":{"admin":true},"constructor":1}'));
    return [Object.keys(copy), copy.admin ?? null, Object.getPrototypeOf(copy) === Object.prototype]`;
  expect(await getValue(sandbox, code)).toEqual([["__proto__", "constructor"], null, true]);
});

const TEXTS = [
  "",
  "abc",
  "äöü€",
  "😀x",
  "\ud800",
  "x\udc00y",
  "\u0000\u007f\u0080\u07ff\u0800\uffff",
  "\ufeffbom",
  "é".repeat(3_000),
];

test("encodes with `TextEncoder` as Node does [S7]", async () => {
  const code = `
    const encoder = new TextEncoder(), texts = ${JSON.stringify(TEXTS)};
    const into = (text, size) => { const bytes = new Uint8Array(size); return [encoder.encodeInto(text, bytes), [...bytes]] };
    return [encoder.encoding, texts.map((text) => [...encoder.encode(text)]), [...encoder.encode()], into("a€😀b", 6), into("a€😀b", 8), into("\\ud800", 2), into("ä", 1)]`;
  expect(await getValue(sandbox, code)).toEqual(here(code));
});

const BYTES = [
  [],
  [0x61],
  [0xc3, 0xa4],
  [0xe2, 0x82, 0xac],
  [0xf0, 0x9f, 0x98, 0x80],
  [0xef, 0xbb, 0xbf, 0x61],
  [0xef, 0xbb],
  [0xff],
  [0xc0, 0x80],
  [0xc1, 0xbf],
  [0xe0, 0x80, 0x80],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xf5, 0x80],
  [0xe2, 0x82],
  [0xe2, 0x82, 0x61],
  [0xf0, 0x9f, 0x98],
  [0xf0, 0x9f, 0xe2, 0x82, 0xac],
  [0x80, 0xbf],
  [0xc3, 0xc3, 0xa4],
  [0xf0, 0x80, 0x80, 0x80],
  [0x00, 0x7f],
  [0xff, 0xfe, 0x61, 0x00],
  [0x3d, 0xd8, 0x00, 0xde],
  [0x3d, 0xd8],
  [0x3d, 0xd8, 0x61, 0x00],
  [0x00, 0xdc],
  [0x61, 0x00, 0x62],
];

test("decodes with `TextDecoder` as Node does, and refuses what Node refuses [S7]", async () => {
  const code = `
    const samples = ${JSON.stringify(BYTES)}.map((bytes) => Uint8Array.from(bytes));
    const attempt = (read) => { try { return read() } catch (error) { return error.name } };
    const all = ["utf-8", "utf-16le"].flatMap((label) => [{}, { fatal: true }, { ignoreBOM: true }].flatMap((options) =>
      samples.map((bytes) => attempt(() => new TextDecoder(label, options).decode(bytes)))));
    const streamed = ["utf-8", "utf-16le"].map((label) => samples.map((bytes) => {
      const decoder = new TextDecoder(label);
      return [...bytes].map((byte) => decoder.decode(Uint8Array.of(byte), { stream: true })).join("|") + "|" + decoder.decode() + decoder.decode(Uint8Array.of(0xef, 0xbb, 0xbf, 0x62, 0, 0x62));
    }));
    const { buffer } = Uint8Array.of(1, 0xc3, 0xa4, 2);
    const inputs = [buffer, new DataView(buffer, 1, 2), new Uint16Array(buffer), undefined].map((input) => new TextDecoder().decode(input));
    const shape = new TextDecoder("UTF8 ", { fatal: 1 });
    const wrong = [() => new TextDecoder("nothing"), () => new TextDecoder().decode("text"), () => new TextDecoder().decode([1])].map(attempt);
    const reused = new TextDecoder("utf-8", { fatal: true }); attempt(() => reused.decode(Uint8Array.of(0xff)));
    return [all, streamed, inputs, [shape.encoding, shape.fatal, shape.ignoreBOM], wrong, reused.decode(Uint8Array.of(0x61))]`;
  expect(await getValue(sandbox, code)).toEqual(here(code));
});

test("decodes latin1 as windows-1252, as the standard requires [S7]", async () => {
  const code = `
    const decoder = new TextDecoder("latin1");
    return [decoder.encoding, decoder.decode(Uint8Array.of(0x41, 0x80, 0x81, 0x99, 0x9f, 0xa0, 0xe4, 0xff))]`;
  expect(await getValue(sandbox, code)).toEqual(["windows-1252", "A€\u0081™Ÿ\u00a0äÿ"]);
});

test("implements `atob` and `btoa` as Node does [S7]", async () => {
  const code = `
    const attempt = (read) => { try { return read() } catch { return "throws" } };
    return [["", "a", "ab", "abc", "\\u00ff\\u0000", "€"].map((text) => attempt(() => btoa(text))), ["", "YQ==", "YQ", "YWI=", " Y W J j ", "YQ=", "Y", "====", "YQ==YQ==", "/+8=", "_-", "null"].map((text) => attempt(() => atob(text)))]`;
  expect(await getValue(sandbox, code)).toEqual(here(code));
});

/** Random inputs, different in every run of the tests; printed where the two results differ. */
function chance<Value>(arbitrary: fc.Arbitrary<Value>, count: number): readonly Value[] {
  return fc.sample(arbitrary, count);
}

test("decodes random base64 as Node does [S7]", { tags: "rest" }, async () => {
  const letters = fc.constantFrom(...Array.from("AZaz09+/=-_ \t\n\f\r\v\u00a0é\0"));
  const texts = chance(
    fc.array(letters, { maxLength: 10 }).map((list) => list.join("")),
    3_000,
  );
  const binary = chance(fc.string({ unit: fc.constantFrom("\0", "a", "\x7f", "\x80", "ÿ", "Ā"), maxLength: 9 }), 500);
  const code = `
    const attempt = (read) => { try { return read() } catch (error) { return error.name } };
    return [${JSON.stringify(texts)}.map((text) => [text, attempt(() => atob(text))]), ${JSON.stringify(binary)}.map((text) => [text, attempt(() => btoa(text))])]`;
  expect(await getValue(sandbox, code)).toEqual(here(code));
});

test("decodes random bytes as Node does, complete and in pieces [S7]", { tags: "rest" }, async () => {
  const odd = fc.constantFrom(
    0x41,
    0x80,
    0xbf,
    0xc2,
    0xe0,
    0xa0,
    0xed,
    0xef,
    0xbb,
    0xf0,
    0x90,
    0xf4,
    0x8f,
    0xff,
    0xfe,
    0xd8,
    0xdc,
    0,
  );
  const bytes = chance(fc.array(fc.oneof(odd, fc.nat(255)), { maxLength: 12 }), 1_500);
  const code = `
    const attempt = (read) => { try { return read() } catch (error) { return error.name } };
    return ${JSON.stringify(bytes)}.map((list) => [list, ...["utf-8", "utf-16le"].flatMap((label) => {
      const all = Uint8Array.from(list), cut = list.length >> 1, decoder = new TextDecoder(label), strict = new TextDecoder(label, { fatal: true });
      return [
        attempt(() => new TextDecoder(label, { ignoreBOM: true }).decode(all)),
        attempt(() => strict.decode(all)),
        attempt(() => decoder.decode(all.subarray(0, cut), { stream: true }) + "|" + decoder.decode(all.subarray(cut))),
      ];
    })])`;
  expect(await getValue(sandbox, code)).toEqual(here(code));
});

test("copies random values as Node does [S7]", { tags: "rest" }, async () => {
  const { value } = fc.letrec<{ readonly value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom(
        "1",
        "-0",
        "NaN",
        "'t'",
        "null",
        "undefined",
        "true",
        "7n",
        "new Date(9)",
        "/a/gi",
        "shared",
        "[,1,,]",
      ),
      fc.constantFrom(
        "new Uint8Array(buffer, 1, 2)",
        "new Error('e')",
        "new Number(3)",
        "() => 1",
        "Symbol('s')",
        "new Point(1)",
      ),
      fc.array(tie("value"), { maxLength: 4 }).map((list) => `[${list.join(", ")}]`),
      fc.array(tie("value"), { maxLength: 4 }).map((list) => `new Set([${list.join(", ")}])`),
      fc
        .array(fc.tuple(tie("value"), tie("value")), { maxLength: 3 })
        .map((list) => `new Map([${list.map(([k, v]) => `[${k}, ${v}]`).join(", ")}])`),
      fc
        .uniqueArray(fc.tuple(fc.constantFrom("a", "b", "['__proto__']", "0", "toJSON"), tie("value")), {
          maxLength: 4,
          selector: ([key]) => key,
        })
        .map((list) => `({ ${list.map(([k, v]) => `${k}: ${v}`).join(", ")} })`),
    ),
  }));
  const texts = chance(value, 600);
  const code = `
    const buffer = Uint8Array.of(1, 2, 3, 4).buffer, shared = { s: [] }; shared.self = shared;
    class Point { constructor(x) { this.x = x } get y() { return 1 } }
    const seen = new Map();
    const told = (value) => {
      if (typeof value !== "object" || value === null) return Object.is(value, -0) ? "-0" : typeof value + " " + String(value);
      if (seen.has(value)) return "again " + seen.get(value);
      seen.set(value, seen.size);
      const kind = Object.prototype.toString.call(value), own = Object.getPrototypeOf(value) === Object.prototype;
      if (kind === "[object Error]") return [kind, value.name, value.message];
      const inner = value instanceof Map || value instanceof Set ? [...value].map(told) : kind === "[object Date]" || kind === "[object RegExp]" ? String(Number(value) || value) : [];
      return [kind, own, inner, Object.getOwnPropertyNames(value).filter((name) => name !== "lastIndex").map((name) => [name, told(value[name])])];
    };
    const attempt = (make) => { seen.clear(); try { return told(structuredClone(make())) } catch (error) { return error.name } };
    return [${texts.map((text) => `[${JSON.stringify(text)}, attempt(() => (${text}))]`).join(",\n")}]`;
  expect(await getValue(sandbox, code)).toEqual(here(code));
});

test("runs `queueMicrotask` callbacks after the current code and before timers [S7]", async () => {
  const code = `
    const order = [];
    const fired = new Promise((done) => setTimeout(() => done(order.push("timer"))));
    Promise.resolve().then(() => order.push("promise"));
    queueMicrotask((...args) => order.push("microtask", args.length));
    order.push("now");
    await fired;
    return order`;
  expect(await getValue(sandbox, code)).toEqual(["now", "promise", "microtask", 0, "timer"]);
});

test("ends the run at an error in a microtask, with its line [S7]", async () => {
  const code =
    "queueMicrotask(() => {\n  throw new RangeError('bad') });\nawait new Promise((done) => setTimeout(done, 1e6))";
  const { end } = await run(sandbox, code);
  expect(end.kind === "threw" && JSON.parse(end.json)).toMatchObject({ name: "RangeError", message: "bad" });
  expect(end.kind === "threw" && JSON.parse(end.json).stack).toMatch(/^ {4}at <anonymous> \(program\.js:3:\d+\)\n/);
  expect(await thrownBy(sandbox, "queueMicrotask('text')")).toMatchObject({
    message: "Cannot queue what is not a function",
  });
});

test("counts milliseconds with `performance.now` from its first use [S7]", async () => {
  const code =
    "const a = performance.now(); await new Promise((done) => setTimeout(done, 30)); return [a, performance.now()]";
  const [first, second] = (await getValue(sandbox, code)) as [number, number];
  expect(first).toBe(0);
  expect(second).toBeGreaterThanOrEqual(29);
});

test("runs, repeats and stops timers in order, with their arguments [S7]", async () => {
  const code = `
    const order = [];
    const late = new Promise((done) => setTimeout((...args) => done(order.push("late", ...args)), 40, 1, 2));
    setTimeout(() => order.push("early"), 5);
    const stopped = setTimeout(() => order.push("never"), 10);
    clearTimeout(stopped); clearTimeout(undefined); clearTimeout("x"); clearTimeout(999999);
    let ticks = 0;
    await new Promise((done) => { const interval = setInterval(() => { if (++ticks === 3) { clearInterval(interval); done() } }, 3) });
    await late;
    return [order, ticks, typeof stopped]`;
  expect(await getValue(sandbox, code)).toEqual([["early", "late", 1, 2], 3, "number"]);
});
