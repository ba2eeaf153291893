//# generator-function {"intent":"generator function","result":[2,3,4,5],"calls":0}
function* range(a, b) { for (let i = a; i < b; i++) yield i; }
return [...range(2, 6)];

//# async-generator {"intent":"an async generator over calls","result":{"Paris":18,"Oslo":7},"calls":2}
async function* forecasts(cities) {
  for (const city of cities) yield await device.WeatherSkill.get_forecast({ city });
}
const temps = {};
for await (const f of forecasts(["Paris", "Oslo"])) temps[f.city] = f.days[0].temp;
return temps;

//# delegation-and-values {"intent":"yield*, values sent in, return values","result":[{"value":1,"done":false},{"value":42,"done":false},{"value":7,"done":false},{"value":8,"done":false},{"value":"end","done":true},{"done":true}],"calls":0}
function* inner() { const x = yield 1; return x * 2; }
function* outer() { const r = yield* inner(); yield r; yield* [7, 8]; return "end"; }
const it = outer();
return [it.next(), it.next(21), it.next(), it.next(), it.next(), it.next()];

//# early-exit {"intent":"return and throw close a generator","result":[1,"closed","caught x",3],"calls":0}
const log = [];
function* g() { try { yield 1; yield 2; } catch (e) { log.push("caught " + e); yield 3; } finally { log.push("closed"); } }
for (const v of g()) { log.push(v); break; }
const it = g();
it.next();
log.push(it.throw("x").value);
return log;

//# infinite-with-take {"intent":"an infinite generator, taken in part","result":[[0,1,2,3,4],0],"calls":0}
function* naturals() { let n = 0; while (true) yield n++; }
function* take(it, n) { for (const v of it) { if (n-- <= 0) return; yield v; } }
return [[...take(naturals(), 5)], naturals().next().value];

//# iterator-helpers {"intent":"map, filter, take and toArray of iterators","result":[[1,9,25],5],"calls":0}
function* naturals() { for (let n = 1; ; n++) yield n; }
return [naturals().filter((n) => n % 2).map((n) => n * n).take(3).toArray(), [1, 2, 3].values().drop(1).reduce((a, b) => a + b)];

//# pages {"intent":"an async generator that asks for page after page","result":["Result 1 for p1","Result 2 for p1","Result 3 for p1","Result 1 for p2","Result 2 for p2","Result 1 for p3"],"calls":4}
async function* pages() {
  for (let page = 1; ; page++) {
    const { results } = await device.BraveSearchMCP.search({ query: "p" + page, count: 4 - page });
    if (results.length === 0) return;
    yield* results;
  }
}
const titles = [];
for await (const r of pages()) titles.push(r.title);
return titles;
