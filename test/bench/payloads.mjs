// What it costs to carry data across the wall, and to compute behind it.

import { createSandbox } from "../../dist/sandbox/index.js";
import { interleaved, table } from "./measure.mjs";
import { loadPeer } from "./peers.mjs";
import { LIMITS } from "./sandbox.mjs";

const SIZES = { "1 KB": 1e3, "100 KB": 1e5, "1 MB": 1e6, "10 MB": 1e7 };

/** Rows of about 100 bytes of JSON each. */
const rowsCode = (bytes) =>
  `Array.from({ length: ${Math.max(1, Math.round(bytes / 100))} }, (_, i) => ({ id: i, name: "name " + i, active: i % 2 === 0, score: i * 1.5, note: "some text of a row, forty characters long" }))`;

export async function benchPayloads() {
  const sandbox = createSandbox({ limits: { ...LIMITS, memoryBytes: 512 << 20 } });
  const ivm = await openIsolatedVm();
  const rows = [];
  for (const [name, bytes] of Object.entries(SIZES)) {
    const make = rowsCode(bytes);
    const json = JSON.stringify(new Function(`return ${make}`)());
    const jobs = {
      made: () => sandbox.run({ code: `globalThis.made = ${make}; return 0`, paths: [] }, nothing),
      out: () => sandbox.run({ code: `globalThis.made = ${make}; await device.A.take(made)`, paths: ["A.take"] }, read),
      in: () =>
        sandbox.run({ code: "return (await device.A.give()).length", paths: ["A.give"] }, async () => ({
          ok: true,
          json,
        })),
      ...(ivm && { ivmMade: () => ivm.made(make), ivmOut: () => ivm.out(make), ivmIn: () => ivm.in(json) }),
    };
    const medians = await interleaved(jobs, 5, bytes > 1e6 ? 1 : 5);
    const out = medians.out - medians.made;
    const ivmOut = ivm && medians.ivmOut - medians.ivmMade;
    rows.push([
      name,
      medians.made,
      ivm ? medians.ivmMade : "",
      out,
      ivmOut ?? "",
      ratio(out, ivmOut),
      medians.in,
      medians.ivmIn ?? "",
      ratio(medians.in, medians.ivmIn),
    ]);
  }
  await sandbox.close();
  table(
    "Data across the wall: made in the guest, passed out of it (beyond making it), passed in and read; ms, a fresh isolate each",
    ["", "made", "isolated-vm", "out", "isolated-vm", "×", "in", "isolated-vm", "×"],
    rows,
  );
}

const nothing = async () => ({ ok: true, json: "0" });

async function read(call) {
  return { ok: true, json: String(call.readArguments().value.length) };
}

const COMPUTE = {
  "filter and aggregate 100,000 rows":
    "const rows = Array.from({ length: 100000 }, (_, i) => ({ id: i, group: i % 10, value: (i * 7919) % 1000 })); const sums = {}; for (const row of rows.filter((each) => each.value > 100)) sums[row.group] = (sums[row.group] ?? 0) + row.value; return sums",
  "sort 100,000 numbers":
    "let x = 1; const a = Array.from({ length: 100000 }, () => (x = (x * 48271) % 2147483647)); a.sort((p, q) => p - q); return a[0]",
  "regular expressions over 500 KB":
    "const text = 'word 1234 foo@example.com lorem ipsum '.repeat(13000); return [text.match(/\\d+/g).length, text.match(/[a-z]+@[a-z.]+/g).length]",
};

export async function benchCompute() {
  const sandbox = createSandbox({ limits: { ...LIMITS, cpuMs: 60_000 } });
  const bare = await openBareEngine();
  const ivm = await openIsolatedVm();
  const rows = [];
  for (const [name, code] of Object.entries(COMPUTE)) {
    const jobs = {
      ours: () => sandbox.run({ code, paths: [] }, async () => ({ ok: true, json: "0" })),
      ...(bare && { bare: () => bare(code) }),
      ...(ivm && { ivm: () => ivm.compute(code) }),
    };
    const medians = await interleaved(jobs, 12, 2);
    rows.push([
      name,
      medians.ours,
      medians.bare ?? "",
      ratio(medians.ours, medians.bare),
      medians.ivm ?? "",
      ratio(medians.ours, medians.ivm),
    ]);
  }
  await sandbox.close();
  table("Computing, ms", ["", "Skillgate", "quickjs-emscripten", "×", "isolated-vm (V8)", "×"], rows);
}

function ratio(ours, theirs) {
  return theirs === undefined ? "" : ours / theirs;
}

async function openBareEngine() {
  try {
    const { newQuickJSWASMModuleFromVariant } = await loadPeer("quickjs-emscripten-core");
    const { default: variant } = await loadPeer("@jitl/quickjs-wasmfile-release-sync");
    const module = await newQuickJSWASMModuleFromVariant(variant);
    return (code) => {
      const runtime = module.newRuntime();
      const context = runtime.newContext();
      context.unwrapResult(context.evalCode(`(() => {${code}})()`)).dispose();
      context.dispose();
      runtime.dispose();
    };
  } catch {
    return undefined; // not installed
  }
}

async function openIsolatedVm() {
  let ivm;
  try {
    ({ default: ivm } = await loadPeer("isolated-vm"));
  } catch {
    return undefined; // not installed
  }
  const fresh = async (work) => {
    const isolate = new ivm.Isolate({ memoryLimit: 512 });
    const context = await isolate.createContext();
    const value = await work(context);
    context.release();
    isolate.dispose();
    return value;
  };
  return {
    compute: (code) => fresh((context) => context.eval(`JSON.stringify((() => {${code}})())`, { copy: true })),
    made: (make) => fresh((context) => context.eval(`globalThis.made = ${make}; 0`)),
    out: (make) =>
      fresh(async (context) => {
        await context.global.set("take", new ivm.Reference(async () => 0));
        return context.eval(
          `(async () => { globalThis.made = ${make}; await take.apply(undefined, [made], { arguments: { copy: true }, result: { promise: true, copy: true } }) })()`,
          { promise: true },
        );
      }),
    in: (json) =>
      fresh(async (context) => {
        const value = JSON.parse(json);
        await context.global.set("give", new ivm.Reference(async () => value));
        return context.eval(
          `(async () => (await give.apply(undefined, [], { result: { promise: true, copy: true } })).length)()`,
          { promise: true, copy: true },
        );
      }),
  };
}
