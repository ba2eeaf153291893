//# parallel-fetch {"intent":"parallel fetch","result":3,"calls":2,"tools":["WeatherSkill.get_forecast"]}
const [paris, london] = await Promise.all([
  device.WeatherSkill.get_forecast({ city: "Paris" }),
  device.WeatherSkill.get_forecast({ city: "London" }),
]);
return paris.days[0].temp - london.days[0].temp;

//# any-picks-the-first-success {"intent":"any picks the first success","result":10,"calls":2,"tools":["MathSkill.divide","MathSkill.add"]}
return await Promise.any([
  device.MathSkill.divide({ a: 1, b: 0 }),
  device.MathSkill.add({ a: 5, b: 5 }),
]);

//# all-settled-mixed {"intent":"allSettled tells which failed","result":[2,"failed","failed",42],"calls":3}
const results = await Promise.allSettled([
  device.MathSkill.divide({ a: 6, b: 3 }),
  device.MathSkill.divide({ a: 1, b: 0 }),
  device.FilesystemMCP.read_file({ path: "/data/missing.txt" }),
  42,
]);
return results.map((r) => (r.status === "fulfilled" ? r.value : "failed"));

//# any-all-fail {"intent":"AggregateError when every call fails","result":[true,2,"AggregateError"],"calls":2}
try {
  await Promise.any([device.MathSkill.divide({ a: 1, b: 0 }), device.MathSkill.divide({ a: 2, b: 0 })]);
  return "no error";
} catch (e) {
  return [e instanceof AggregateError, e.errors.length, e.name];
}

//# batches {"intent":"in batches of two","result":[1,4,9,16,25],"calls":5}
const ids = [1, 2, 3, 4, 5];
const out = [];
for (let i = 0; i < ids.length; i += 2) {
  const batch = ids.slice(i, i + 2);
  out.push(...await Promise.all(batch.map((id) => device.MathSkill.multiply({ a: id, b: id }))));
}
return out;

//# catch-for-each {"intent":"every promise has its own catch","result":[false,true],"calls":2}
const paths = ["/data/notes.txt", "/data/nope.txt"];
const texts = await Promise.all(paths.map((path) => device.FilesystemMCP.read_file({ path }).catch(() => null)));
return texts.map((t) => t === null);

//# entries-sets-and-maps-of-calls {"intent":"calls kept in objects, sets and maps, and awaited later","result":[{"a":3,"b":7},[11,15],[3,7],19],"calls":7}
const calls = { a: device.MathSkill.add(1, 2), b: device.MathSkill.add(3, 4) };
const sums = {};
for (const [key, call] of Object.entries(calls)) sums[key] = await call;
const set = new Set([device.MathSkill.add(5, 6), device.MathSkill.add(7, 8)]);
const map = new Map(Object.entries({ a: device.MathSkill.add(1, 2), b: device.MathSkill.add(3, 4) }));
const numbers = new Set([device.MathSkill.add(9, 10)]);
return [sums, await Promise.all(set), await Promise.all(map.values()), [...numbers][0]];

//# executor-is-async {"intent":"an async executor, and resolve with a call","result":["Ada",3],"calls":2}
const name = await new Promise(async (resolve, reject) => {
  try {
    const user = await device.UserSkill.get({ id: 1 });
    resolve(user.name);
  } catch (e) { reject(e); }
});
const sum = await new Promise((resolve) => setTimeout(() => resolve(device.MathSkill.add({ a: 1, b: 2 })), 2));
return [name, sum];

//# lists-made-in-other-ways {"intent":"spread, concat, values and slices of promises","result":["Ada","Linus","Linus",[3,"X"],[1,7]],"calls":5}
const first = [1, 2].map((id) => device.UserSkill.get({ id }));
const jobs = { sum: device.MathSkill.add({ a: 1, b: 2 }), text: device.TextSkill.uppercase({ text: "x" }) };
const [a, b] = await Promise.all([...first]);
const [c] = await Promise.all(first.slice(1));
const values = await Promise.all(Object.values(jobs));
const more = await Promise.all([].concat(device.MathSkill.add({ a: 0, b: 1 }), 7));
return [a.name, b.name, c.name, values, more];

//# map-with-index {"intent":"Promise.all over map with async callbacks","result":[{"city":"Paris","last":18},{"city":"London","last":16},{"city":"Oslo","last":9}],"calls":3}
const cities = ["Paris", "London", "Oslo"];
const rows = await Promise.all(cities.map(async (city, i) => {
  const f = await device.WeatherSkill.get_forecast({ city, days: i + 1 });
  return { city, last: f.days.at(-1).temp };
}));
return rows;

//# nested {"intent":"Promise.all inside of Promise.all, over a Map and a generator","result":{"a":[1,2],"b":[2,7]},"calls":3}
const m = new Map([["x", 1], ["y", 2]]);
function* jobs() { yield device.MathSkill.add({ a: 1, b: 1 }); yield 7; }
const [a, b] = await Promise.all([
  Promise.all([...m.values()].map((n) => device.MathSkill.add({ a: n, b: 0 }))),
  Promise.all(jobs()),
]);
return { a, b };

//# object-of-promises {"intent":"an object whose values are promises","result":{"sum":3,"product":12},"calls":2}
const jobs = { sum: device.MathSkill.add({ a: 1, b: 2 }), product: device.MathSkill.multiply({ a: 3, b: 4 }) };
const entries = await Promise.all(Object.entries(jobs).map(async ([k, p]) => [k, await p]));
return Object.fromEntries(entries);

//# own-promises {"intent":"new Promise, resolve, reject and finally","result":[5,"RangeError",["start","sync","finally"]],"calls":1}
const log = [];
const p = new Promise((resolve, reject) => { log.push("start"); resolve(device.MathSkill.add({ a: 2, b: 3 })); });
log.push("sync");
const v = await p.finally(() => log.push("finally"));
const r = await Promise.reject(new RangeError("no")).catch((e) => e.name);
return [v, r, log];

//# parallel-is-parallel {"intent":"five slow calls take the time of one","result":["done 491","done 492","done 493","done 494","done 495"],"calls":5}
const done = await Promise.all([1, 2, 3, 4, 5].map((i) => device.TestSkill.slow({ ms: 490 + i })));
return done;

//# pool-of-workers {"intent":"a pool with a limit of concurrent calls","result":[2,3,4,5],"calls":4}
async function pool(items, limit, work) {
  const results = new Array(items.length);
  let next = 0;
  await Promise.all(Array.from({ length: limit }, async () => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at]);
    }
  }));
  return results;
}
await pool([1, 2, 3, 4], 2, (n) => device.MathSkill.add({ a: n, b: 1 }))

//# producer-and-consumer {"intent":"a consumer is started before the producer","result":[10,20,30],"calls":3}
const queue = [], seen = [];
let wake = () => {};
async function consume() {
  while (seen.length < 3) {
    if (queue.length === 0) await new Promise((r) => { wake = r; });
    while (queue.length) seen.push(queue.shift());
  }
}
async function produce() {
  for (const n of [1, 2, 3]) {
    queue.push(await device.MathSkill.multiply({ a: n, b: 10 }));
    wake();
  }
}
const done = consume();
produce();
await done;
return seen;

//# race-picks-the-fast-one {"intent":"race between a slow and a fast call","result":2,"calls":2}
return await Promise.race([device.TestSkill.slow({ ms: 900 }), device.MathSkill.add({ a: 1, b: 1 })]);

//# reduce-with-async-callback {"intent":"reduce with an async accumulator","result":["Ada","Linus","Grace"],"calls":3}
return await [1, 2, 3].reduce(async (before, id) => {
  const names = await before;
  const { name } = await device.UserSkill.get({ id });
  return [...names, name];
}, []);

//# rejection-is-caught {"intent":"one failing call rejects Promise.all","result":true,"calls":2}
try {
  await Promise.all([device.MathSkill.add({ a: 1, b: 1 }), device.MathSkill.divide({ a: 1, b: 0 })]);
} catch (e) {
  return e.message.includes("Division by zero");
}

//# sequence-by-reduce {"intent":"promises chained by reduce","result":[2,4,6],"calls":3}
return await [1, 2, 3].reduce(
  (chain, n) => chain.then(async (list) => [...list, await device.MathSkill.add({ a: n, b: n })]),
  Promise.resolve([]),
);

//# settled-then-values {"intent":"values out of allSettled","result":{"ok":[17],"failed":[true]},"calls":2}
const settled = await Promise.allSettled(["/data/notes.txt", "/data/none.txt"].map((path) => device.FilesystemMCP.read_file({ path })));
const ok = settled.filter((s) => s.status === "fulfilled").map((s) => s.value.length);
const failed = settled.flatMap((s) => (s.status === "rejected" ? [s.reason.message.includes("no such file")] : []));
return { ok, failed };

//# sixty-calls-at-once {"intent":"as many calls at once as are allowed, nearly","result":120,"calls":60}
const sums = await Promise.all(Array.from({ length: 60 }, (_, i) => device.MathSkill.add({ a: i, b: 1 })));
return sums.length + sums[59];

//# started-and-resolved-later {"intent":"a function waits for what a later line resolves","result":["main","waiter"],"calls":0}
const log = [];
let open;
const gate = new Promise((resolve) => { open = resolve; });
async function waiter() {
  await gate;
  log.push("waiter");
}
waiter();
log.push("main");
open();
await gate;
await null;
return log;

//# statements-run-before-what-they-start {"intent":"what is started without await goes on after the next statements","result":["a starts","b starts","both started"],"calls":3}
const log = [];
async function job(name) {
  log.push(name + " starts");
  await device.TimeSkill.now({});
  log.push(name + " ends");
}
job("a");
job("b");
log.push("both started");
await device.TestSkill.slow({ ms: 60 });
return log.slice(0, 3);

//# timeout-by-race {"intent":"a call against a timer","result":"timeout","calls":1}
const timeout = (ms) => new Promise((_, reject) => setTimeout(() => reject(new Error("timeout")), ms));
try {
  return await Promise.race([device.TestSkill.hang({}), timeout(30)]);
} catch (e) {
  return e.message;
}

//# with-resolvers {"intent":"Promise.withResolvers and a timer","result":"late","calls":0}
const { promise, resolve } = Promise.withResolvers();
setTimeout(resolve, 3, "late");
return await promise;

//# worker-pool {"intent":"three workers share one queue","result":[10,20,30,40,50],"calls":5}
const queue = [5, 4, 3, 2, 1];
const out = [];
async function worker() {
  while (queue.length) {
    const n = queue.shift();
    out.push(await device.MathSkill.multiply({ a: n, b: 10 }));
  }
}
await Promise.all([worker(), worker(), worker()]);
return out.sort((a, b) => a - b);
