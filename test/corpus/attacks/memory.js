//# array-push-bomb {"intent":"array push bomb","end":"limit"}
const a = []; for (;;) a.push(new Array(1000).fill(0));

//# catch-out-of-memory-and-continue {"intent":"catch out-of-memory and continue","end":"limit"}
const a = []; for (;;) { try { a.push(new ArrayBuffer(1000000)); } catch (e) { a.length = 0; } }

//# symbol-for-registry-flood {"intent":"Symbol.for registry flood","end":"limit"}
for (;;) Symbol.for("x".repeat(1000) + Math.random());

//# error-objects-with-stacks {"intent":"error objects with stacks","end":"limit"}
const a = []; for (;;) a.push(new Error("x".repeat(1000)));

//# arguments-of-calls {"intent":"large arguments and answers are kept","end":"limit"}
const a = []; for (let i = 0; i < 900; i++) a.push(await device.TestSkill.echo({ value: new Array(50000).fill("x" + i) }));
return a.length;

//# big-integers {"intent":"a big integer that squares itself","end":"contained"}
let x = 7n; for (;;) x = x * x;

//# closures-and-generators {"intent":"closures over large lists, suspended generators","end":"limit"}
const a = []; function* g() { const big = new Array(5000).fill(a); yield big; yield big; }
for (;;) { const it = g(); it.next(); a.push(it, () => it); }

//# json-parse-bomb {"intent":"a JSON text that is small as text and large as objects","end":"limit"}
const t = "[" + "[],".repeat(1000000) + "[]]"; const a = []; for (;;) a.push(JSON.parse(t));

//# map-and-set-flood {"intent":"maps, sets and weak maps of objects","end":"limit"}
const m = new Map(), s = new Set(), w = new WeakMap(); for (let i = 0; ; i++) { const k = { i }; m.set(k, [k]); s.add("k" + i); w.set(k, m); }

//# out-of-memory-in-handlers {"intent":"out of memory in catch, finally, getters and promise jobs","end":"limit"}
const a = [];
async function f() { try { for (;;) a.push(new Array(100000).fill(a)); } catch { return f(); } finally { a.push([]); } }
await f();

//# pad-and-repeat {"intent":"padStart, repeat and concat of the longest texts","end":"limit"}
const a = []; for (;;) a.push("x".padStart(50000000, "y") + a.length, "z".repeat(50000000).concat("w"));

//# pending-promises {"intent":"promises that never settle","end":"limit"}
const a = []; for (;;) { a.push(new Promise(() => {}).then(() => a)); if (a.length % 1000 === 0) await null; }

//# split-and-match {"intent":"lists of all matches of a long text","end":"limit"}
const s = "ab".repeat(5000000); const a = []; for (;;) a.push(s.split(""), s.match(/./g), [...s]);

//# string-doubling {"intent":"a text that doubles","end":"THROWN"}
let s = "x"; for (;;) s += s;

//# typed-arrays {"intent":"typed arrays in a list, grown by resize","end":"limit"}
const a = []; for (;;) { a.push(new Uint8Array(1 << 20).fill(1)); try { a.push(new ArrayBuffer(1, { maxByteLength: 1 << 30 })); a.at(-1).resize(1 << 28); } catch {} }
