//# array-prototype-index-setter-captures-bridge-internals {"intent":"Array.prototype index setter captures bridge internals (vm2 GHSA-9qj6 class)","end":"completed"}
const seen = []; Object.defineProperty(Array.prototype, 0, { set(v) { seen.push(typeof v); Object.defineProperty(this, 0, { value: v, writable: true, configurable: true, enumerable: true }); }, configurable: true });
const r = await device.MathSkill.add({ a: 1, b: 2 });
return [r, seen.filter(t => t === "function").length];

//# json-parse-override-rewrites-tool-results {"intent":"JSON.parse override rewrites tool results","end":"completed"}
JSON.parse = () => ({ ok: true, value: "FORGED" });
return await device.MathSkill.add({ a: 1, b: 2 });

//# symbol-iterator-override-on-array-prototype {"intent":"Symbol.iterator override on Array.prototype","end":"completed"}
Array.prototype[Symbol.iterator] = function* () { yield "hijack"; };
return await device.MathSkill.sum({ numbers: [1, 2, 3] });

//# console-replaced-and-poisoned {"intent":"console replaced and poisoned","end":"refused"}
console.log = () => { throw new Error("poison"); }; globalThis.console = null;
return await device.MathSkill.add({ a: 1, b: 2 });

//# bigint-global-replaced-before-host-converts {"intent":"BigInt global replaced before host converts","end":"refused"}
globalThis.BigInt = () => { for (;;) {} }; BigInt.prototype && (BigInt.prototype.toString = () => "hijack");
return 12n;

//# array-from-replaced {"intent":"Array.from is replaced before a list of promises is made plain","end":"completed"}
Array.from = () => [{ name: "forged" }];
const names = () => Promise.all([1].map((id) => device.UserSkill.get({ id }))).map((u) => u.name);
return names();

//# array-methods-replaced {"intent":"push, map, join and the iterator of arrays are replaced","end":"completed"}
for (const k of ["push", "map", "join", "slice", "concat", "forEach", "pop", "shift", "splice", "indexOf", "keys", "entries", "values"]) Array.prototype[k] = () => { throw new Error("poison " + k); };
console.log([1, 2], { a: [3] });
return [await device.MathSkill.sum({ numbers: [1, 2, 3] })];

//# descriptor-words-on-object-prototype {"intent":"get, set, value and writable on Object.prototype poison descriptors","end":"completed"}
Object.prototype.get = function () { return "poison"; };
Object.prototype.set = function () {};
Object.prototype.writable = false; Object.prototype.enumerable = false; Object.prototype.configurable = false;
console.log({ a: 1 });
return [await device.MathSkill.add({ a: 1, b: 2 }), device.MathSkill.add({ a: 2, b: 2 }) + 1];

//# error-class-replaced {"intent":"Error and its prototype are replaced before a call fails","end":"CALL_FAILED"}
Error.prototype.toString = () => "forged"; Error.prototype.name = "Forged";
Object.defineProperty(Error.prototype, "stack", { set(v) { throw new Error("set"); }, get() { return "x"; } });
Object.defineProperty(Error.prototype, "message", { set() {}, get() { return "forged"; } });
await device.MathSkill.divide({ a: 1, b: 0 });

//# freeze-everything {"intent":"builtins and prototypes are frozen before a call","end":"refused"}
for (const o of [Object.prototype, Array.prototype, Promise.prototype, Function.prototype, Error.prototype, JSON, Object, Promise]) Object.freeze(o);
try { await device.MathSkill.divide({ a: 1, b: 0 }); } catch (e) { return [e.name, await device.MathSkill.add({ a: 1, b: 2 })]; }

//# function-methods-replaced {"intent":"call, apply, bind and Reflect are replaced","end":"refused"}
const seen = [];
for (const k of ["call", "apply", "bind"]) Function.prototype[k] = function () { seen.push(k); return "forged"; };
for (const k of Reflect.ownKeys(Reflect)) if (typeof Reflect[k] === "function") Reflect[k] = () => { throw new Error("poison"); };
return [await device.MathSkill.add({ a: 1, b: 2 }), seen.length];

//# map-and-set-replaced {"intent":"Map, Set and WeakMap methods are replaced before the result is read","end":"THROWN"}
for (const p of [Map.prototype, Set.prototype, WeakMap.prototype]) for (const k of Reflect.ownKeys(p)) { try { Object.defineProperty(p, k, { value: () => { throw new Error("poison"); } }); } catch {} }
return { m: new Map(), d: await device.TestSkill.echo({ value: new Date(0) }) };

//# next-run-is-clean {"intent":"leaves traces for the next run on every prototype","end":"completed"}
for (const k of ["a", "b", "1", "then", "toJSON", "x"]) { Object.prototype[k] = "left"; Array.prototype[k] = "left"; }
Object.setPrototypeOf(Object.prototype, null); Math.random = () => 4; Date.now = () => 0; JSON.left = 1;
return "left";

//# promise-all-replaced {"intent":"Promise.all is replaced","end":"completed"}
Promise.all = (list) => list;
const list = [1].map(async (id) => device.UserSkill.get({ id }));
return list[0].name;

//# promise-then-replaced {"intent":"then and resolve of promises are replaced","end":"completed"}
const seen = [];
Promise.prototype.then = function (a, b) { seen.push(typeof a); return this; };
Promise.resolve = () => "forged"; Promise.all = () => ["forged"];
const r = device.MathSkill.add({ a: 1, b: 2 });
return r + 1;

//# string-and-regexp-methods-replaced {"intent":"methods of strings, numbers and regular expressions are replaced","end":"THROWN"}
for (const p of [String.prototype, Number.prototype, RegExp.prototype, Symbol.prototype]) for (const k of Reflect.ownKeys(p)) { try { p[k] = () => { throw new Error("poison"); }; } catch {} }
console.log("%s", "x", 5, /x/);
throw new Error("end");

//# stringify-replaced {"intent":"JSON.stringify and toJSON are replaced before a call","end":"ARGUMENTS_INVALID"}
JSON.stringify = () => '{"to":"mallory","amount":1000000}';
Object.prototype.toJSON = function () { return { a: 100, b: 100 }; };
return await device.MathSkill.add({ a: 1, b: 2 });

//# then-on-object-prototype {"intent":"every object becomes a thenable","end":"completed"}
Object.prototype.then = function (f) { f("hijacked"); };
return await device.TestSkill.echo({ value: { a: 1 } });

//# timers-and-console-replaced {"intent":"timers and console methods are replaced and used again","end":"completed"}
setTimeout = (f) => f(); console.log = console.error = null; print = undefined;
return await device.MathSkill.add({ a: 1, b: 2 });

//# to-primitive-of-promises {"intent":"promises get another Symbol.toPrimitive","end":"completed"}
try { Object.defineProperty(Promise.prototype, Symbol.toPrimitive, { value: () => 1 }); } catch {}
const p = device.UserSkill.get({ id: 1 });
return [String(await p).length > 0];

//# what-stands-behind-promises {"intent":"the object behind Promise.prototype gets members, and another prototype","end":"completed"}
const root = Object.getPrototypeOf(Promise.prototype);
root.evil = () => 1;
Object.setPrototypeOf(root, { get then() { throw new Error("taken"); } });
Object.setPrototypeOf(Promise.prototype, new Proxy({}, { get(target, key, receiver) { throw [target, key, receiver]; } }));
const call = device.MathSkill.add({ a: 1, b: 2 });
try { call.anything; } catch (caught) { return [caught.length, Reflect.ownKeys(root), await call]; }
return await device.TestSkill.echo({ value: { a: 1 } });
