//# function-constructor-from-an-object-literal-to-reach {"intent":"Function constructor from an object literal to reach host process (vm/vm2/safe-eval class)","end":"THROWN"}
return ({}).constructor.constructor("return process")().version;

//# array-coerced-to-a-property-key-jsonpath-plus-n8n-class {"intent":"array coerced to a property key (jsonpath-plus, n8n class)","end":"THROWN"}
return ({})[["constructor"]][["constructor"]]("return process")();

//# name-from-object-keys-order-or-json {"intent":"name from Object.keys order or JSON","end":"THROWN"}
const c = JSON.parse('["constructor"]')[0];
return "".at[c]("return process")();

//# tool-result-s-constructor-host-object-leak-class {"intent":"tool result's constructor (host object leak class)","end":"THROWN"}
const r = await device.TestSkill.echo({ value: { a: 1 } });
return r.constructor.constructor("return process")().env;

//# stack-overflow-rangeerror-from-host-frames-vm2-recursion {"intent":"stack overflow RangeError from host frames (vm2 recursion class)","end":"completed"}
function f() { try { f(); } catch (e) { return e; } }
const e = f();
return e && e.constructor.constructor("return process")();

//# error-capturestacktrace-on-a-fake-object {"intent":"Error.captureStackTrace on a fake object","end":"completed"}
const o = {}; if (Error.captureStackTrace) Error.captureStackTrace(o, device.MathSkill.add);
return String(o.stack);

//# this-at-top-level {"intent":"this at top level","end":"completed"}
return typeof this === "undefined" ? "undef" : Object.keys(this ?? {}).filter(k => /process|require|host/i.test(k));

//# symbol-species-on-arrays-passed-to-tools-vm2 {"intent":"Symbol.species on arrays passed to tools (vm2 ArraySpeciesCreate class)","end":"completed"}
class Evil extends Array { static get [Symbol.species]() { return function () { throw new Error("species"); }; } }
return await device.TestSkill.echo({ value: Evil.from([1, 2, 3]) });

//# proxy-handler-receives-host-objects {"intent":"Proxy handler receives host objects","end":"completed"}
const seen = [];
const p = new Proxy({}, { get(t, k, r) { seen.push(String(k), typeof r); return undefined; }, ownKeys() { return ["a"]; }, getOwnPropertyDescriptor() { return { value: 1, enumerable: true, configurable: true }; } });
await device.TestSkill.echo({ value: p });
return seen.filter(s => /host|inspect|nodejs/i.test(s));

//# extends-null-and-function-n8n-class {"intent":"extends null and Function (n8n class)","end":"refused"}
class Z extends Function {}
return new Z("return process")();

//# async-generator-constructor {"intent":"async generator constructor","end":"THROWN"}
const AG = (async function* () {}).constructor;
const out = []; for await (const x of new AG("yield typeof process")()) out.push(x);
return out;

//# constructor-via-function-parameter-destructuring {"intent":"constructor via function parameter destructuring","end":"THROWN"}
return (({ constructor: { constructor: F } }) => F("return typeof process")())([]);

//# iterator-helper-prototype-constructor {"intent":"iterator helper prototype constructor","end":"THROWN"}
const it = [][Symbol.iterator](); let p = it, out = [];
while (p) { out.push(Object.getOwnPropertyNames(p).length); p = Object.getPrototypeOf(p); }
return it.constructor?.constructor?.("return typeof process")?.() ?? out;

//# iterate-over-globalthis-via-sloppy-function {"intent":"iterate over globalThis via sloppy Function","end":"THROWN"}
const g = (() => {}).constructor("return this");
try { return Object.getOwnPropertyNames(g()).filter(n => /host|bridge|raw|dispatch|__/.test(n)); } catch (e) { return String(e.name); }

//# bridge-records-have-setters {"intent":"setters on Object.prototype wait for internal records","end":"THROWN"}
const got = [];
for (const k of ["fulfil", "reject", "stack", "resolve", "id", "path", "value", "get", "set", "json", "ok", "callback"]) {
  Object.defineProperty(Object.prototype, k, { configurable: true, set(v) { got.push(k, typeof v === "function" ? String(v) : typeof v); }, get() { return undefined; } });
}
const r = await device.MathSkill.add({ a: 1, b: 2 });
return [r, got.filter((x) => /host|native|process/.test(x))];

//# callee-and-caller {"intent":"arguments.callee, caller and arguments of functions on the stack","end":"refused"}
function f() { return f.caller; }
function g() { return arguments.callee; }
const out = []; for (const h of [f, g, () => device.MathSkill.add.caller, () => device.MathSkill.add.arguments]) { try { out.push(String(h())); } catch (e) { out.push(e.name); } }
return out;

//# constructor-of-a-caught-call-error {"intent":"error of a call leads to the host's Function (vm2 class)","end":"THROWN"}
try { await device.MathSkill.divide({ a: 1, b: 0 }); } catch (e) { return e.constructor.constructor("return process")().mainModule.require("fs").readdirSync("/"); }

//# constructor-of-a-device-method {"intent":"function constructor through a method of device","end":"refused"}
return device.MathSkill.add.constructor("return process.version")();

//# constructor-of-a-pending-call {"intent":"promise of a call leads to a host constructor","end":"THROWN"}
const p = device.MathSkill.add({ a: 1, b: 2 });
return p.constructor.constructor("return process.execPath")();

//# constructor-of-an-own-async-function {"intent":"the constructor of an async function that was made plain","end":"completed"}
async function f() { return device.MathSkill.add({ a: 1, b: 2 }); }
const sum = f() + 1;
try { return f.constructor("return 1")() + sum; } catch (error) { return error.message; }

//# constructor-of-console {"intent":"function constructor through console.log and print","end":"THROWN"}
return [console.log.constructor("return process.argv")(), print.constructor("return process.env")()];

//# define-getter-on-prototypes {"intent":"__defineGetter__ and __lookupGetter__ reach accessors","end":"refused"}
const out = [];
device.MathSkill.add.__proto__.__defineGetter__("leak", function () { out.push(typeof this); return this; });
void console.log.leak; void (() => {}).leak;
return [out, typeof ({}).__lookupGetter__("__proto__")];

//# extends-async-function {"intent":"class extends the constructor of async functions","end":"THROWN"}
const AF = (async () => {}).constructor;
class X extends AF { constructor() { super("return typeof process"); } }
return await new X()();

//# has-instance-and-unscopables {"intent":"well-known symbols run during host conversions","end":"completed"}
const seen = [];
class T { static [Symbol.hasInstance](v) { seen.push(typeof v); return true; } }
Object.defineProperty(Object.prototype, Symbol.toStringTag, { configurable: true, get() { seen.push("tag"); return "Host"; } });
await device.TestSkill.echo({ value: { a: 1 } instanceof T });
return seen;

//# inspect-symbol {"intent":"node's inspect symbol gets host objects (vm2 class)","end":"completed"}
const o = { [Symbol.for("nodejs.util.inspect.custom")](depth, options, inspect) { return inspect.constructor("return process")().version; } };
console.log(o);
try { throw o; } catch (e) { console.error(e); }
return o;

//# internal-globals-by-name {"intent":"the names under which the host reaches in","end":"refused"}
return [typeof __host, typeof __deliver, typeof __start, typeof __fail, typeof __wait];

//# internal-globals-from-the-global-object {"intent":"own names of the global object, found through a sloppy this","end":"THROWN"}
const g = (function () { return this; })() ?? [].concat.call(undefined);
return Object.getOwnPropertyNames(g ?? {}).filter((n) => n.startsWith("__"));

//# iterator-of-error-list {"intent":"AggregateError of calls leads to host arrays","end":"THROWN"}
try { await Promise.any([device.TestSkill.fail({}), device.MathSkill.divide({ a: 1, b: 0 })]); } catch (e) { return e.errors.constructor.constructor.constructor("return process.cwd()")(); }

//# jsfuck-spelling {"intent":"names spelt from coerced values","end":"THROWN"}
const w = ([][[]] + "")[4] + "ind"; const c = "constructor".split("").join("");
return []["f" + w.slice(0, 0) + (!1 + "")[1] + "t"] ?? [].at[c]("return process.version")();

//# members-of-a-bound-method {"intent":"what a waiting call hands out leads to nothing but itself","end":"refused"}
const get = (holder, key) => holder[key](1, 2);
const names = [device.MathSkill].map((skill) => {
  try { return get(skill, "constructor"); } catch (error) { return error.name; }
});
const method = [device.MathSkill][0].add;
return [names, Object.getPrototypeOf(method) === Function.prototype, Reflect.ownKeys(method), Object.isFrozen(method), method.constructor.name];

//# prepare-stack-trace-of-an-async-error {"intent":"CallSite objects through prepareStackTrace in async code","end":"completed"}
try { Error.prepareStackTrace = (error, sites) => sites.map((site) => site.getFunction?.()); } catch {}
const f = async () => { throw new Error("x"); };
let stack;
try { await f(); } catch (error) { stack = error.stack; }
return typeof stack;

//# prepare-stack-trace {"intent":"Error.prepareStackTrace hands out call sites","end":"completed"}
let sites;
try { Error.prepareStackTrace = (_, s) => { sites = s; return s; }; } catch {}
try { null.x; } catch (e) { void e.stack; }
try { await device.TestSkill.fail({}); } catch (e) { void e.stack; }
return Array.isArray(sites) ? sites.map((s) => [typeof s.getThis?.(), typeof s.getFunction?.(), s.getFileName?.()]) : typeof sites;

//# promise-constructor-replaced {"intent":"Promise.prototype.constructor is replaced before a call","end":"completed"}
const got = [];
Promise.prototype.constructor = function (run) { run((v) => got.push(v), (e) => got.push(e)); };
Promise.prototype.constructor[Symbol.species] = Promise.prototype.constructor;
const r = await device.MathSkill.add({ a: 1, b: 2 });
return [r, got.length];

//# promise-species {"intent":"a promise subclass collects internal resolving functions","end":"completed"}
const got = [];
class P extends Promise { constructor(run) { super((a, b) => { got.push(a, b); run(a, b); }); } }
const p = device.MathSkill.add({ a: 1, b: 2 });
Object.defineProperty(p, "constructor", { value: P });
await p.then((x) => x);
return got.map((f) => { try { return String(f.constructor("return process.version")()); } catch (e) { return e.name; } });

//# proto-of-device {"intent":"prototypes of device and its skills are set","end":"completed"}
const out = [];
for (const o of [device.MathSkill, device.MathSkill.add]) {
  try { Object.setPrototypeOf(o, { delete_user: 1 }); out.push("set"); } catch (e) { out.push(e.name); }
  try { o.__proto__ = { x: 1 }; out.push(o.x === 1); } catch (e) { out.push(e.name); }
}
return out;

//# prototype-of-async-function {"intent":"AsyncFunction from getPrototypeOf","end":"THROWN"}
const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;
return await AsyncFunction("return typeof process + typeof require")();

//# prototype-of-generator-function {"intent":"GeneratorFunction from an own property lookup","end":"THROWN"}
const G = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(function* () {}), "constructor").value;
return [...G("yield typeof process")()];

//# proxy-as-this-of-builtins {"intent":"builtins are called on proxies of promises and of device","end":"completed"}
const p = new Proxy(device.MathSkill.add({ a: 1, b: 2 }), { get: (t, k) => (k === "then" ? t.then.bind(t) : Reflect.get(t, k)) });
return [await p, Object.prototype.toString.call(new Proxy(device.MathSkill, {}))];

//# reflect-construct-function {"intent":"Reflect.construct with newTarget and Reflect.get","end":"THROWN"}
const F = Reflect.get(Reflect.getPrototypeOf(() => {}), "constructor");
return Reflect.construct(F, ["return process.version"], class {})();

//# reviver-and-replacer-this {"intent":"holders of JSON.parse and JSON.stringify callbacks","end":"completed"}
const got = [];
JSON.parse('{"a":{"b":1}}', function (k, v) { got.push(this.constructor.constructor); return v; });
JSON.stringify({ a: 1 }, function (k, v) { got.push(this.constructor.constructor); return v; });
return got.map((F) => { try { return F("return process.version")(); } catch (e) { return e.name; } });

//# source-of-a-device-method {"intent":"source text of bridge functions","end":"refused"}
return [String(device.MathSkill.add), Function.prototype.toString.call(console.log), (async () => {}).toString.call(setTimeout)].map((s) => /node:|\/home|\/usr|require\(/.test(s));

//# structured-clone-of-device {"intent":"structuredClone of device, of functions and with transfer","end":"refused"}
const out = [];
for (const f of [() => structuredClone(device), () => structuredClone(device.MathSkill), () => structuredClone({ f() {} }), () => structuredClone(new ArrayBuffer(8), { transfer: [1] })]) { try { out.push(typeof f()); } catch (e) { out.push(e.name); } }
return out;

//# timers-take-code-and-this {"intent":"this of timers and microtasks, and their constructors","end":"completed"}
const got = [];
setTimeout(function () { got.push(typeof this, this && Object.keys(this).join()); }, 1);
queueMicrotask(function () { got.push(typeof this); });
await new Promise((r) => setTimeout(r, 10));
try { got.push(setTimeout.constructor("return process.pid")()); } catch (e) { got.push(e.name); }
return got;

//# url-converts-hostile-objects {"intent":"polyfills convert objects with throwing and lying toString","end":"refused"}
const evil = { toString() { return { toString() { return "http://x/"; } }; }, [Symbol.toPrimitive]() { throw new Error("deep"); } };
const out = [];
for (const f of [() => new URL(evil), () => new URLSearchParams(evil), () => new URLSearchParams({ [Symbol.iterator]: 5 }), () => new TextEncoder().encode(evil), () => atob(evil), () => btoa("\u{1F600}"), () => new TextDecoder("no-such"), () => new TextDecoder().decode({ length: 5 })]) { try { out.push(String(f()).slice(0, 20)); } catch (e) { out.push(e.constructor.constructor === Function.prototype.constructor); } }
return out;

//# weak-references-and-collection {"intent":"WeakRef, FinalizationRegistry and gc","end":"completed"}
const out = [];
for (const n of ["WeakRef", "FinalizationRegistry", "gc", "std", "os", "bjson", "SharedArrayBuffer", "Atomics", "WebAssembly"]) { try { out.push(typeof new (class { static [Symbol.species] = n })(), n in (0, Object).getPrototypeOf({})); } catch (e) { out.push(e.name); } }
return out.length;
