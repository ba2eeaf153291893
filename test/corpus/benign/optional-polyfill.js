//# sleep-with-settimeout {"intent":"sleep with setTimeout","result":"slept","calls":0}
await new Promise(r => setTimeout(r, 10));
return "slept";

//# textencoder-length {"intent":"TextEncoder length","result":6,"calls":0}
return new TextEncoder().encode("ü🚀").length;

//# base64 {"intent":"btoa and atob","result":["aGVsbG8=","hello","w6k="],"calls":0}
return [btoa("hello"), atob("aGVsbG8="), btoa(String.fromCharCode(...new TextEncoder().encode("é")))];

//# interval-and-clear {"intent":"an interval that is cleared, a timer that is cancelled","result":3,"calls":0}
let n = 0;
const never = setTimeout(() => { n = 100; }, 5);
clearTimeout(never);
await new Promise((resolve) => {
  const id = setInterval(() => { if (++n === 3) { clearInterval(id); resolve(); } }, 2);
});
return n;

//# search-params {"intent":"URLSearchParams builds a query","result":["q=a+b%26c&q=%C3%BC",[["q","a b&c"],["q","ü"]],true," 2"],"calls":0}
const p = new URLSearchParams({ q: "a b&c", lang: "de" });
p.append("q", "ü");
p.delete("lang");
return [p.toString(), [...p], p.has("q"), new URLSearchParams("?a=1&b=+2").get("b")];

//# structured-clone {"intent":"structuredClone copies deeply","result":[2,1,true,0,true],"calls":0}
const a = { d: new Date(0), m: new Map([["k", { n: 1 }]]), s: new Set([1]), list: [1, { x: 2 }] };
a.self = a;
const b = structuredClone(a);
b.list[1].x = 3;
return [a.list[1].x, b.m.get("k").n, b.self === b, b.d.getTime(), b.s.has(1)];

//# text-decoder {"intent":"bytes to text and back","result":[18,"naïve 東京 🚀","Hi"],"calls":0}
const bytes = new TextEncoder().encode("naïve 東京 🚀");
return [bytes.length, new TextDecoder().decode(bytes), new TextDecoder("utf-8").decode(new Uint8Array([72, 105]))];

//# timers-in-order {"intent":"timers, microtasks and promises in their order","result":["sync","micro","then","timer"],"calls":0}
const log = [];
setTimeout(() => log.push("timer"), 0);
queueMicrotask(() => log.push("micro"));
Promise.resolve().then(() => log.push("then"));
log.push("sync");
await new Promise((r) => setTimeout(r, 15));
return log;

//# typed-arrays {"intent":"typed arrays and DataView","result":[[255,254,0,0,0,0,192,63],65534,[3,4],[1,2,3]],"calls":0}
const buf = new ArrayBuffer(8);
const view = new DataView(buf);
view.setInt16(0, -2); view.setFloat32(4, 1.5, true);
const u8 = new Uint8Array(buf);
return [[...u8], view.getUint16(0), Array.from(new Float64Array([1.5, 2]).map((x) => x * 2)), [...new Uint8Array([3, 1, 2]).sort()]];

//# url-parts {"intent":"URL takes an address apart","result":["api.example.com:8443","/v1/items/42","a b",["1","2"],"#frag","https:","?q=a+b&x=1&x=2&y=%C3%A9","https://h.example/a/b"],"calls":0}
const u = new URL("https://user@api.example.com:8443/v1/items/42?q=a%20b&x=1&x=2#frag");
u.searchParams.append("y", "é");
return [u.host, u.pathname, u.searchParams.get("q"), u.searchParams.getAll("x"), u.hash, u.protocol, u.search, new URL("../b", "https://h.example/a/c/d").href];
