import { deserialize } from "node:v8";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";

import { compileEngine } from "../../sandbox/engine/quickjs.ts";
import { OP } from "../../sandbox/guest/host-protocol.ts";
import { createSnapshotFile, loadSnapshot } from "../../sandbox/engine/snapshot-file.ts";
import type { EngineStop } from "../../sandbox/shared/protocol.ts";
import { Isolate } from "../../sandbox/worker/isolate.ts";
import { buildSnapshot } from "../../sandbox/engine/build-snapshot.ts";

const HEAP_BYTES = 32 << 20;
const SEED = Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8]);
const GUEST = new URL("../../dist/sandbox/guest.json", import.meta.url);

const { module, digest } = compileEngine(new URL("../../dist/sandbox/engine.wasm", import.meta.url));
const prepared = buildSnapshot(module, JSON.parse(readFileSync(GUEST, "utf8")) as string[]);

/** Every memory that a test has opened, in order. */
let memories: WebAssembly.Memory[] = [];
const Native = WebAssembly.Memory;

beforeEach(() => {
  memories = [];
  WebAssembly.Memory = class extends Native {
    constructor(descriptor: { readonly initial: number; readonly maximum: number }) {
      super(descriptor);
      memories.push(this);
    }
  };
});

afterEach(() => {
  WebAssembly.Memory = Native;
});

/** An isolate, what its guest has said, and how to give it work. */
function open() {
  const said: string[] = [];
  let over = false;
  const isolate = new Isolate(module, prepared, HEAP_BYTES, {
    onMessage: (op, _id, _path, text) => {
      if (op === OP.done || op === OP.fail) {
        over = true;
        said.push(typeof text === "string" ? text : "too long");
      }
      return undefined;
    },
    textBytes: () => 1 << 20,
    onTouch: () => {},
    waitForAnswers: () => undefined,
    takesBytes: () => false,
    isInterrupted: () => false,
    isOver: () => over,
  });
  const memory = memories.at(-1) as WebAssembly.Memory;
  const start = (code: string, heapBytes = HEAP_BYTES, milliseconds = 5_000): EngineStop | undefined => {
    over = false;
    const program = { expression: `async () => {${code}\n}`, paths: '["Echo.back"]', heapBytes, seed: SEED };
    return isolate.start(program, performance.now() + milliseconds);
  };
  const deliver = (value: unknown): EngineStop | undefined => {
    over = false;
    return isolate.deliver(JSON.stringify([1, 1, value]), performance.now() + 5_000);
  };
  return { isolate, memory, said, start, deliver };
}

const SECRET = "canary-7f3a";

const SCRIBBLES = [
  `globalThis.mark = "${SECRET}"; Object.prototype.mark = "${SECRET}"; return "${SECRET}".repeat(1000)`,
  `const all = []; for (let i = 0; i < 20000; i++) all.push("${SECRET}" + i); globalThis.all = all`,
  `const dive = (n) => { const own = "${SECRET}" + n; return n > 0 ? dive(n - 1) + own : own }; return dive(800).length`,
  `const dive = () => dive(); dive()`,
  `return new Uint8Array(9e6).fill(99).length`,
  `await device.Echo.back("${SECRET}".repeat(5000))`,
  `throw new Error("${SECRET}")`,
  `for (;;) "${SECRET}".split("").map((c) => c + "${SECRET}")`,
  `return [..."${SECRET}".repeat(2000)].sort().join("").replace(/a/g, "${SECRET}").length`,
  `let b = "${SECRET}" /* ${"x".repeat(100_000)} */; return b`,
  `return JSON.stringify(JSON.parse("[".repeat(5000) + "]".repeat(5000))).length + String(7n ** 9999n).length`,
  `(() => f(dive(300), ${"0,".repeat(20_000)}0))(); function f(...all) { return all.length } function dive(n) { const own = "${SECRET}" + n; return n && dive(n - 1) + own }`,
  `f(${"0,".repeat(3_000)}0); function f(...all) { const dive = (n) => n && dive(n - 1) + "${SECRET}"; return dive(300) }`,
];

test("leaves no byte of the last run in the memory after a reset [S8]", { tags: "rest" }, () => {
  const fresh = open();
  fresh.isolate.reset(HEAP_BYTES, SEED);
  const used = open();
  for (const code of SCRIBBLES) {
    used.start(code, HEAP_BYTES, 200);
    expect(Buffer.from(used.memory.buffer).equals(Buffer.from(fresh.memory.buffer))).toBe(false);
    used.isolate.reset(HEAP_BYTES, SEED);
    expect(firstDifference(used.memory, fresh.memory)).toBe(-1);
  }
});

test("leaves no byte if the memory has grown or the heap has moved [S8]", { tags: "rest" }, () => {
  const fresh = open();
  const used = open();
  used.start("globalThis.big = new Uint8Array(2e7).fill(99)");
  expect(used.memory.buffer.byteLength).toBeGreaterThan(fresh.memory.buffer.byteLength);
  for (const heapBytes of [1 << 20, 3 << 20, 9 << 20, HEAP_BYTES, 2 << 20]) {
    for (const code of SCRIBBLES.slice(0, 7)) used.start(code, heapBytes, 200);
  }
  used.isolate.reset(HEAP_BYTES, SEED);
  fresh.isolate.reset(HEAP_BYTES, SEED);
  expect(firstDifference(used.memory, fresh.memory)).toBe(-1);
});

test("starts a prepared isolate like a new one, whatever runs first [S8]", { tags: "rest" }, () => {
  const [ahead, late] = [open(), open()];
  const plain = "return [typeof mark, Object.keys(globalThis).length, Math.random()]";
  for (const heapBytes of [HEAP_BYTES, HEAP_BYTES, HEAP_BYTES, HEAP_BYTES, 2 << 20, HEAP_BYTES]) {
    for (const code of SCRIBBLES.slice(0, 7)) {
      for (const { start } of [ahead, late]) start(code, HEAP_BYTES, 200);
      ahead.isolate.refresh();
      expect(Buffer.from(ahead.memory.buffer).includes(SECRET)).toBe(false);
      for (const { start } of [ahead, late]) start(plain, heapBytes);
      expect(ahead.said.at(-1)).toBe(late.said.at(-1));
      expect(JSON.parse(ahead.said.at(-1) as string)).toEqual(["undefined", expect.any(Number), expect.any(Number)]);
      expect(ahead.isolate.heapBytes).toBe(late.isolate.heapBytes);
    }
  }
  ahead.isolate.refresh();
  expect(ahead.start("const all = []; for (;;) all.push(new Uint8Array(4096))", 2 << 20)).toBe("memory");
  expect(ahead.isolate.heapBytes).toBeLessThanOrEqual(2 << 20);
  ahead.isolate.refresh();
  ahead.isolate.reset(HEAP_BYTES, SEED);
  late.isolate.reset(HEAP_BYTES, SEED);
  expect(firstDifference(ahead.memory, late.memory)).toBe(-1);
});

test("continues a suspended run in an isolate that was prepared for another one [S7]", () => {
  const first = open();
  first.start("const mine = [1]; mine.push(await device.Echo.back(1)); return mine");
  const parked = first.isolate.park();
  const second = open();
  second.start("return 1");
  second.isolate.refresh();
  second.isolate.unpark(parked);
  second.deliver("answer");
  expect(second.said).toEqual(["1", '[1,"answer"]']);
});

/** Lists the differences of two memories; bytes that only one of them has must be zero. */
function firstDifference(a: WebAssembly.Memory, b: WebAssembly.Memory): number {
  const [x, y] = [Buffer.from(a.buffer), Buffer.from(b.buffer)];
  const common = Math.min(x.length, y.length);
  if (x.compare(y, 0, common, 0, common) !== 0) return x.findIndex((byte, at) => at < common && byte !== y[at]);
  const rest = (x.length > y.length ? x : y).subarray(common);
  return rest.every((byte) => byte === 0) ? -1 : common + rest.findIndex((byte) => byte !== 0);
}

test("finds a byte that is left anywhere (probe) [S8]", { tags: "rest" }, () => {
  const [a, b] = [open(), open()];
  for (const { isolate } of [a, b]) isolate.reset(HEAP_BYTES, SEED);
  new Uint8Array(a.memory.buffer)[9_000_001] = 1;
  expect(firstDifference(a.memory, b.memory)).toBe(9_000_001);
});

test("continues a suspended run in another isolate, also of another size [S7]", () => {
  const first = open();
  const code =
    "const mine = { list: [1, 2], map: new Map([[1, 'x']]) }; const got = await device.Echo.back(1); mine.list.push(got); return [mine.list, mine.map.get(1), Math.random()]";
  first.start(code);
  const parked = first.isolate.park();
  expect(parked.bytes.byteLength).toBeLessThan(100_000);
  first.start("return 'something else'");
  const second = open();
  second.start("globalThis.big = new Uint8Array(2e7).fill(99)");
  for (const place of [second, first]) {
    place.isolate.unpark(parked);
    place.deliver("answer");
    expect(JSON.parse(place.said.at(-1) as string)).toEqual([[1, 2, "answer"], "x", expect.any(Number)]);
  }
  expect(first.said.at(-1)).toBe(second.said.at(-1));
});

test("suspends a run with a small heap, and continues it with its limit [S7]", () => {
  const { isolate, start, deliver, said } = open();
  const code =
    "const kept = new Uint8Array(1e6).fill(5); await device.Echo.back(1); const more = []; for (;;) more.push(new Uint8Array(1e5).fill(kept[0]))";
  expect(start(code, 2 << 20)).toBe(undefined);
  const parked = isolate.park();
  start("return 1");
  isolate.unpark(parked);
  expect(isolate.heapBytes).toBeGreaterThan(1e6);
  expect(deliver(0)).toBe("memory");
  expect(isolate.heapBytes).toBeLessThanOrEqual(2 << 20);
  expect(said).toEqual(["1"]);
});

test("enforces heap limits to the page, from less than a megabyte up [S7]", () => {
  const { isolate, start } = open();
  const greedy = "const all = []; for (;;) all.push(new Uint8Array(4096))";
  for (const kilobytes of [768, 1_024, 2_048, 5_000, 10_240, 16_384, 30_000]) {
    expect(start(greedy, kilobytes << 10)).toBe("memory");
    expect(isolate.heapBytes).toBeLessThanOrEqual((kilobytes << 10) + 65_536);
    expect(isolate.heapBytes).toBeGreaterThan((kilobytes << 10) - (512 << 10));
  }
});

test("loads exactly the snapshot that the build has made [S8]", () => {
  const folder = new URL("./", GUEST);
  const loaded = loadSnapshot(module, digest, folder);
  expect(loaded.snapshot.heap.length).toBe(prepared.snapshot.heap.length);
  const file = createSnapshotFile(module, digest, folder);
  const getKey = (stored: Uint8Array): unknown => (deserialize(stored) as { readonly key: unknown }).key;
  expect(getKey(createSnapshotFile(module, "another engine", folder))).not.toBe(getKey(file));
  expect(file.length).toBeLessThan(1 << 20);
});

test("keeps the snapshot smaller than a megabyte [S8]", () => {
  expect(prepared.snapshot.data.length + prepared.snapshot.heap.length).toBeLessThan(1e6);
});

test("clears a memory with a forged end of its heap like others [S8]", { tags: "rest" }, () => {
  const { isolate, memory, start } = open();
  const fresh = open();
  for (const end of [0, 5_400_000, 0x7f_ff_ff_ff, 0xff_ff_ff_ff]) {
    start("await device.Echo.back(1)");
    new DataView(memory.buffer).setUint32(86_864, end, true);
    expect(isolate.park().bytes.byteLength).toBeLessThanOrEqual(memory.buffer.byteLength);
    isolate.reset(HEAP_BYTES, SEED);
  }
  start("return 1");
  start("return 1");
  isolate.reset(HEAP_BYTES, SEED);
  fresh.isolate.reset(HEAP_BYTES, SEED);
  expect(firstDifference(memory, fresh.memory)).toBe(-1);
});
