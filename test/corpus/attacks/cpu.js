//# empty-while-loop {"intent":"empty while loop","end":"limit"}
while (true) {}

//# infinite-promise-chain {"intent":"infinite promise chain","end":"limit"}
const f = () => Promise.resolve().then(f); return await f();

//# catastrophic-regex-nested-plus {"intent":"catastrophic regex nested plus","end":"limit"}
return /^(a+)+$/.test("a".repeat(40) + "!");

//# sort-comparator-never-returns {"intent":"sort comparator never returns","end":"limit"}
return [3, 2, 1].sort(() => { for (;;) {} });

//# native-lastindexof-on-a-huge-array-like {"intent":"native: lastIndexOf on a huge array-like","end":"limit"}
return Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1);

//# native-splice-on-a-huge-array-like {"intent":"native: splice on a huge array-like","end":"limit"}
Array.prototype.splice.call({ length: 2 ** 53 - 10 }, 0, 1); return 1;

//# native-replaceall-blowup {"intent":"native: replaceAll blowup","end":"limit"}
return "a".repeat(1e5).replaceAll("a", "b".repeat(1e5)).length;

//# proxy-chain-of-200000 {"intent":"proxy chain of 200000","end":"limit"}
let p = {}; for (let i = 0; i < 200000; i++) p = new Proxy(p, {}); return p.x;

//# spread-an-infinite-generator {"intent":"spread an infinite generator","end":"limit"}
return Math.max(...(function* () { for (;;) yield 1; })());

//# async-generator-without-end {"intent":"for await over an endless generator","end":"limit"}
async function* g() { for (;;) yield 1; }
let n = 0; for await (const x of g()) n += x;
return n;

//# big-integer-power {"intent":"native: powers, quotients and texts of big integers","end":"contained"}
let x = 3n ** 2000000n; x = x * x / (7n ** 1500000n); return x.toString().length;

//# big-integer-text {"intent":"native: a big integer from a text of digits","end":"contained"}
return BigInt("9".repeat(2000000)).toString(3).length;

//# decode-in-a-loop {"intent":"text and base64 of megabytes, again and again","end":"limit"}
const s = "é".repeat(1000000); for (;;) { atob(btoa("x".repeat(3000000))); new TextDecoder().decode(new TextEncoder().encode(s)); decodeURIComponent(encodeURIComponent(s)); }

//# do-while-in-an-async-function {"intent":"an endless loop in an async function that nobody awaits","end":"limit"}
async function f() { do {} while (true); }
f(); return 1;

//# doubling-promises {"intent":"a queue of jobs that doubles","end":"limit"}
const f = async () => { await null; await Promise.all([f(), f()]); }; await f();

//# finally-starts-again {"intent":"try, catch and finally around endless loops","end":"limit"}
for (;;) { try { for (;;) { try { while (1); } finally { continue; } } } catch { continue; } }

//# getters-of-a-proxy-chain {"intent":"proxies that trap each other","end":"limit"}
let p = {}; const h = { get: (t, k, r) => t[k] ?? r[k], has: () => { for (;;) {} } };
p = new Proxy(Object.create(new Proxy(p, h)), h); return "x" in p || p.x;

//# json-of-shared-parts {"intent":"JSON.stringify of a graph of 2^30 paths","end":"limit"}
let v = [1]; for (let i = 0; i < 30; i++) v = [v, v]; return JSON.stringify(v).length;

//# loop-inside-a-blocking-call {"intent":"endless toJSON of a blocking call, with catch","end":"limit"}
try { device.TestSkill.echo({ value: { toJSON() { for (;;) {} } } }).x; } catch { for (;;) {} }

//# microtasks-without-end {"intent":"queueMicrotask feeds itself","end":"limit"}
const f = () => queueMicrotask(f); f();
await new Promise(() => {});

//# native-fill-and-from {"intent":"native: Array.from and fill of huge lengths","end":"limit"}
[].fill.call({ length: 2 ** 53 - 1 }, 0); return Array.from({ length: 1e9 }).length;

//# native-index-of {"intent":"native: indexOf and includes on array-likes","end":"limit"}
return [].indexOf.call({ length: 2 ** 53 - 1 }, 9) + [].includes.call({ length: 2 ** 53 - 1 }, 9);

//# native-join {"intent":"native: join of a list of four thousand million holes","end":"limit"}
return new Array(4294967295).join("").length;

//# native-reverse-and-copy-within {"intent":"native: reverse and copyWithin on array-likes","end":"limit"}
[].copyWithin.call({ length: 2 ** 53 - 1, 5: 1 }, 0, 3); [].reverse.call({ length: 2 ** 53 - 1 }); return 1;

//# native-sort {"intent":"native: sort of many equal and of many odd values","end":"limit"}
return [].sort.call({ length: 2 ** 32 - 1 }).length;

//# native-to-string {"intent":"native: a huge list becomes a text","end":"limit"}
return (new Array(1e9) + "").length;

//# native-unshift-and-concat {"intent":"native: unshift on an array-like, concat of spreadable ones","end":"limit"}
try { [].unshift.call({ length: 2 ** 53 - 2 }, 1); } catch {}
return [].concat({ length: 2 ** 32 - 2, [Symbol.isConcatSpreadable]: true }).length;

//# normalise-and-case {"intent":"native: normal forms and upper case of long texts","end":"limit"}
const s = "\u1E9B\u0323\uFDFA".repeat(500000); for (;;) (s.normalize("NFKD") + s.normalize("NFC")).toUpperCase().localeCompare(s);

//# regex-alternation {"intent":"catastrophic alternation, lookahead and back references","end":"limit"}
return /^(([a-z])+.)+[A-Z]([a-z])+$/.test("a".repeat(60)) || /(x+x+)+y/.test("x".repeat(60)) || /^(?=(a+)+$)\1b/.test("a".repeat(50) + "c");

//# regex-in-split-and-replace {"intent":"catastrophic patterns in split, replace, match and matchAll","end":"limit"}
const s = "a".repeat(40) + "!";
try { s.split(/(a|aa)+$/); } catch {}
return [s.replace(/(a|a)*$/g, ""), ...s.matchAll(/(a*)*b/g)].length;

//# string-search {"intent":"native: indexOf, lastIndexOf and split with patterns that almost match","end":"limit"}
const h = "a".repeat(2e6), n = "a".repeat(1e6) + "b"; let c = 0; for (let i = 0; i < 50; i++) c += h.indexOf(n) + h.lastIndexOf("b" + n);
return c;

//# structured-clone-of-shared-parts {"intent":"structuredClone of huge and of deep values","end":"limit"}
let v = {}; for (let i = 0; i < 50000; i++) v = { v }; try { structuredClone(v); } catch {}
for (;;) structuredClone(new Array(100000).fill({ a: 1 }));

//# thenable-chain {"intent":"a thenable that always gives another","end":"limit"}
await { then(f) { f(this); } };

//# typed-array-sort {"intent":"native: sort of a large typed array with a hostile comparator","end":"limit"}
return new Float64Array(3e6).map(Math.random).sort((a, b) => (a < b ? 1 : -1)).length;

//# url-of-many-parts {"intent":"an address with a hundred thousand dots and parameters","end":"limit"}
const u = new URL("http://h/" + "../a/".repeat(100000) + "?" + "a=%41&".repeat(50000));
for (let i = 0; i < 20000; i++) { u.searchParams.append("k", "v"); void u.href; }
return u.href.length;

//# formats-without-end {"intent":"a new format of the host each time","end":"limit"}
for (let i = 0; ; i++) (i / 7).toLocaleString("en", { minimumFractionDigits: i % 20, minimumIntegerDigits: 1 + (i % 21) });
