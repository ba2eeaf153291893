//# plain-infinite-recursion {"intent":"plain infinite recursion","end":"STACK_LIMIT"}
function f() { return f(); } return f();

//# recursion-through-replace-callback {"intent":"recursion through replace callback","end":"STACK_LIMIT"}
function f() { return "a".replace(/a/, f); } return f();

//# generator-delegation-recursion {"intent":"generator delegation recursion","end":"STACK_LIMIT"}
function* g() { yield* g(); } return [...g()];

//# deep-lookahead-regex-at-run-time {"intent":"deep lookahead regex at run time","end":"THROWN"}
return new RegExp("(?=".repeat(100000) + "a" + ")".repeat(100000)).test("a");

//# async-recursion {"intent":"async functions that call themselves before they wait","end":"STACK_LIMIT"}
async function f(n) { return (await f(n + 1)) + 1; } return await f(0);

//# caught-a-thousand-times {"intent":"every overflow is caught and started again","end":"limit"}
let n = 0; function f() { try { f(); } finally { n++; } }
for (let i = 0; i < 1000; i++) { try { f(); } catch {} }
return n > 0;

//# class-constructor-recursion {"intent":"constructors, fields and static blocks without end","end":"STACK_LIMIT"}
class A { x = new A(); } return new A();

//# deep-json-text {"intent":"JSON.parse of a deep text, flat(Infinity) of a deep list","end":"contained"}
const t = "[".repeat(200000) + "]".repeat(200000);
let v = []; for (let i = 0; i < 200000; i++) v = [v];
try { v.flat(Infinity); } catch {} try { String(v); } catch {} return JSON.parse(t);

//# long-chain-of-prototypes {"intent":"a chain of fifty thousand prototypes and bound functions","end":"limit"}
let o = {}; for (let i = 0; i < 50000; i++) o = Object.create(o);
let f = () => 1; for (let i = 0; i < 20000; i++) f = f.bind(null);
try { f(); } catch {} return o.x === undefined;

//# mutual-recursion-by-getters {"intent":"getters, setters, toString and valueOf call each other","end":"STACK_LIMIT"}
const o = { get a() { return this.b; }, get b() { return this.a; }, toString() { return `${this}`; }, valueOf() { return +this; } };
try { void o.a; } catch {} try { void `${o}`; } catch {} return +o;

//# proxy-recursion {"intent":"a proxy that is its own prototype's target","end":"STACK_LIMIT"}
const p = new Proxy({}, { get(t, k, r) { return r[k]; }, has(t, k) { return k in p; } });
return "a" in p;

//# recursion-through-builtins {"intent":"sort, map, reduce, JSON and Reflect call back without end","end":"STACK_LIMIT"}
const f = (x) => [1, 2].sort(() => JSON.stringify({ toJSON: () => Reflect.apply(f, null, [x]) }).length);
return f(1);
