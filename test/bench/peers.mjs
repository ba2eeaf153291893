// The same small job for every runtime: a fresh isolate, one call of a tool, its result used.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { loadAside } from "../support/install-aside.mjs";

const FOLDER = join(import.meta.dirname, "../../.cache/peers");
export const loadPeer = (name) => loadAside(FOLDER, name);

export const RESULTS = {
  results: Array.from({ length: 10 }, (_, i) => ({ title: `t${i}`, url: `https://e.x/${i}`, text: "d".repeat(60) })),
};
const JSON_RESULTS = JSON.stringify(RESULTS);
const PROGRAM = `const r = JSON.parse(await search(JSON.stringify({ query: "x" }))); return r.results.length`;
/** The same for peers that carry the values themselves. */
const WEB_PROGRAM = `const r = await web.search({ query: "x" }); return r.results.length`;
const MEMORY_BYTES = 64 << 20;

/** Each opens to `{ run, close }`; `run` resolves to 10, in a fresh isolate. A peer that is not installed throws. */
export const PEERS = {
  "quickjs-emscripten, new context": () => emscripten("context"),
  "quickjs-emscripten, new runtime": () => emscripten("runtime"),
  "quickjs-emscripten, new module": () => emscripten("module"),
  "quickjs-wasi, new instance": wasi,
  "isolated-vm 5, new isolate": isolatedVm,
  "TanStack code mode, QuickJS": tanstack,
  "executor, QuickJS": executor,
  "run, QuickJS in a thread": vercelRun,
  "UTCP code mode, isolated-vm 5": utcp,
  "Cloudflare code mode, workerd": cloudflare,
};

async function emscripten(fresh) {
  const { newQuickJSWASMModuleFromVariant } = await loadPeer("quickjs-emscripten-core");
  const { default: variant } = await loadPeer("@jitl/quickjs-wasmfile-release-sync");
  const newModule = () => newQuickJSWASMModuleFromVariant(variant);
  let module = await newModule();
  let runtime = module.newRuntime();
  return {
    async run() {
      if (fresh === "module") module = await newModule();
      if (fresh !== "context") runtime = module.newRuntime();
      const context = runtime.newContext();
      const search = context.newFunction("search", (argument) => {
        const deferred = context.newPromise();
        context.getString(argument);
        void Promise.resolve(JSON_RESULTS).then((text) => {
          context.newString(text).consume((handle) => deferred.resolve(handle));
          runtime.executePendingJobs();
        });
        return deferred.handle;
      });
      context.setProp(context.global, "search", search);
      search.dispose();
      const promise = context.unwrapResult(context.evalCode(`(async () => {${PROGRAM}})()`));
      const settled = context.resolvePromise(promise);
      runtime.executePendingJobs();
      const value = context.unwrapResult(await settled).consume((handle) => context.getNumber(handle));
      promise.dispose();
      context.dispose();
      if (fresh !== "context") runtime.dispose();
      return value;
    },
    close() {},
  };
}

async function wasi() {
  const { QuickJS } = await loadPeer("quickjs-wasi");
  const wasm = new WebAssembly.Module(readFileSync(join(FOLDER, "node_modules/quickjs-wasi/quickjs.wasm")));
  return {
    async run() {
      const vm = await QuickJS.create({ wasm });
      let asked;
      const search = vm.newFunction("search", () => {
        asked = vm.newPromise();
        return asked.handle;
      });
      vm.setProp(vm.global, "search", search);
      const promise = vm.evalCode(`(async () => {${PROGRAM}})()`);
      vm.executePendingJobs();
      await Promise.resolve();
      asked.resolve(vm.newString(JSON_RESULTS));
      vm.executePendingJobs();
      const result = await vm.resolvePromise(promise);
      const value = vm.dump("value" in result ? result.value : result);
      vm.dispose();
      return value;
    },
    close() {},
  };
}

async function isolatedVm() {
  const run = await openIsolatedVm(async () => JSON_RESULTS);
  return { run: () => run(PROGRAM), close() {} };
}

/** Runs code that calls `search`, which answers at once; undefined where isolated-vm is not installed. */
export async function openIsolatedVmCalls() {
  try {
    return await openIsolatedVm(async () => 1);
  } catch {
    return undefined;
  }
}

async function openIsolatedVm(search) {
  const { default: ivm } = await loadPeer("isolated-vm");
  return async (code) => {
    const isolate = new ivm.Isolate({ memoryLimit: 64 });
    const context = await isolate.createContext();
    await context.global.set("$search", new ivm.Reference(search));
    const value = await context.eval(
      `(async () => { const search = (a) => $search.apply(undefined, [a], { arguments: { copy: true }, result: { promise: true, copy: true } }); ${code} })()`,
      { promise: true, copy: true },
    );
    context.release();
    isolate.dispose();
    return value;
  };
}

async function tanstack() {
  const { createQuickJSIsolateDriver } = await loadPeer("@tanstack/ai-isolate-quickjs");
  const driver = createQuickJSIsolateDriver({ memoryLimit: 64 });
  const bindings = {
    search: { name: "search", description: "", inputSchema: { type: "object" }, execute: async () => JSON_RESULTS },
  };
  return {
    async run() {
      const context = await driver.createContext({ bindings });
      const result = await context.execute(PROGRAM);
      await context.dispose();
      if (!result.success) throw new Error(JSON.stringify(result.error));
      return result.value;
    },
    close() {},
  };
}

async function executor() {
  const { makeQuickJsExecutor } = await loadPeer("@executor-js/runtime-quickjs");
  const Effect = await loadPeer("effect/Effect");
  const quickjs = makeQuickJsExecutor({ memoryLimitBytes: MEMORY_BYTES });
  const tools = { invoke: () => Effect.succeed(RESULTS) };
  return {
    async run() {
      const outcome = await Effect.runPromise(
        quickjs.execute(`const r = await tools.web.search({ query: "x" }); return r.results.length`, tools),
      );
      if (outcome.error) throw new Error(String(outcome.error));
      return outcome.result;
    },
    close() {},
  };
}

async function vercelRun() {
  const { createRunner } = await loadPeer("run");
  const runner = createRunner({ limits: { memoryLimitBytes: MEMORY_BYTES } });
  const hostFunctions = { web: { search: async () => RESULTS } };
  return {
    async run() {
      const { status, value } = await runner.run({ source: WEB_PROGRAM, hostFunctions });
      if (status !== "completed") throw new Error(`the run is ${status}`);
      return value;
    },
    close() {},
  };
}

/** UTCP asks for isolated-vm 6, which asks for Node 22; all that it uses is in 5. */
async function utcp() {
  await loadPeer("isolated-vm"); // where it is not built, this says so and UTCP does not
  const { addFunctionToUtcpDirectCall } = await loadPeer("@utcp/direct-call");
  const { CodeModeUtcpClient } = await loadPeer("@utcp/code-mode");
  const unmute = mute(/^(Calling tool|Successfully registered|\[DirectCommunicationProtocol\])/);
  const template = (name) => ({ name, call_template_type: "direct-call", callable_name: name });
  const input = { type: "object", properties: { query: { type: "string" } }, required: ["query"] };
  const search = { name: "search", description: "", tags: [], inputs: input, outputs: { type: "object" } };
  addFunctionToUtcpDirectCall("search", async () => RESULTS);
  addFunctionToUtcpDirectCall("web", async () => ({
    utcp_version: "1.0.0",
    manual_version: "1.0.0",
    tools: [{ ...search, tool_call_template: template("search") }],
  }));
  const client = await CodeModeUtcpClient.create(FOLDER, null);
  const { success, errors } = await client.registerManual(template("web"));
  if (!success) throw new Error(errors.join("; "));
  return {
    async run() {
      const { result, logs } = await client.callToolChain(WEB_PROGRAM, 10_000, MEMORY_BYTES >> 20);
      if (logs.length > 0) throw new Error(logs.join("; "));
      return result;
    },
    close: unmute,
  };
}

/** UTCP prints several lines for each call. */
function mute(pattern) {
  const { log } = console;
  console.log = (...words) => {
    if (!pattern.test(String(words[0]))) log(...words);
  };
  return () => (console.log = log);
}

async function cloudflare() {
  const { default: workerd } = await loadPeer("workerd");
  const { openCloudflare } = await import("./cloudflare.mjs");
  return openCloudflare({ peers: FOLDER, workerd: workerd.default, results: RESULTS, program: WEB_PROGRAM });
}
