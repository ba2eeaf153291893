//# memoize-tool-calls {"intent":"memoize tool calls","result":true,"calls":1,"tools":["UserSkill.get"]}
const memo = (fn) => {
  const cache = new Map();
  return async (k) => {
    if (!cache.has(k)) cache.set(k, await fn(k));
    return cache.get(k);
  };
};
const getUser = memo((id) => device.UserSkill.get({ id }));
const a = await getUser(1), b = await getUser(1);
return a === b;

//# iife-as-last-expression {"intent":"IIFE as last expression","result":30,"calls":1,"tools":["MathSkill.add"]}
(async () => {
  const r = await device.MathSkill.add({ a: 1, b: 2 });
  return r * 10;
})()

//# counters-and-partials {"intent":"counters, partial application, composition","result":[2,11,7,[2,2,3]],"calls":0}
const counter = (() => { let n = 0; return { inc: () => ++n, get n() { return n; } }; })();
counter.inc(); counter.inc();
const compose = (...fs) => (x) => fs.reduceRight((v, f) => f(v), x);
const curry = (f) => (a) => (b) => f(a, b);
return [counter.n, compose((x) => x + 1, (x) => x * 2)(5), curry((a, b) => a - b)(10)(3), [1, 2, 3].map(curry(Math.max)(2))];

//# debounce-like-queue {"intent":"functions that run calls one after the other","result":[2,4,"last"],"calls":2}
const queue = [];
let tail = Promise.resolve();
const enqueue = (job) => (tail = tail.then(job).then((v) => { queue.push(v); return v; }));
enqueue(() => device.MathSkill.add({ a: 1, b: 1 }));
enqueue(() => device.MathSkill.add({ a: 2, b: 2 }));
await enqueue(async () => "last");
return queue;

//# let-per-iteration {"intent":"each round of a loop has its own variable","result":[[0,1,2],[3,3,3]],"calls":0}
const fs = [], gs = [];
for (let i = 0; i < 3; i++) fs.push(() => i);
for (var j = 0; j < 3; j++) gs.push(() => j);
return [fs.map((f) => f()), gs.map((g) => g())];

//# this-and-arguments {"intent":"this, bind, call, apply, arguments, rest","result":[6,9,9,7,5,2,0,"undefined"],"calls":0}
function sum() { return Array.from(arguments).reduce((a, b) => a + b, 0); }
const o = { n: 5, plain() { return this.n; }, arrow() { return [1].map(() => this.n)[0]; } };
const free = o.plain;
return [sum(1, 2, 3), sum.apply(null, [4, 5]), free.call({ n: 9 }), free.bind({ n: 7 })(), o.arrow(), ((...r) => r.length)(1, 2), sum.length, (function () { return typeof this; })()];
