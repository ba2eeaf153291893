//# accumulated-in-async-callbacks {"intent":"async callbacks add to one variable, and nobody awaits","result":6,"calls":3}
let total = 0;
const done = [1, 2, 3].map(async (n) => {
  total += device.MathSkill.add({ a: n, b: 0 });
  return n;
});
return done.length === 3 ? total : 0;

//# alias-of-a-method {"intent":"an aliased method is called without await","result":"Ada3","calls":2}
const { get } = device.UserSkill;
const math = device.MathSkill;
return get({ id: 1 }).name + math.add({ a: 1, b: 2 });

//# arguments-of-builtins {"intent":"calls as arguments of ordinary functions","result":{"keys":["id","name","age","email"],"retries":3,"text":"[]","half":3,"n":2,"isList":true},"calls":6}
const keys = Object.keys(device.UserSkill.get({ id: 1 }));
const cfg = JSON.parse(device.FilesystemMCP.read_file({ path: "/data/config.json" }));
const text = JSON.stringify(device.CalendarMCP.list_events({ date: "2026-01-01" }));
const half = Math.floor(device.MathSkill.divide({ a: 7, b: 2 }));
const n = Number(device.MathSkill.add({ a: 1, b: 1 }));
const isList = Array.isArray(device.TestSkill.echo({ value: [] }));
return { keys, retries: cfg.retries, text, half, n, isList };

//# arguments-of-own-functions {"intent":"a call as argument of a function of the snippet","result":["Grace <grace@example.com>","[FR] HI!"],"calls":2}
function describe(user) {
  return user.name + " <" + user.email + ">";
}
const shout = (s) => s.toUpperCase() + "!";
return [describe(device.UserSkill.get({ id: 3 })), shout(device.TextSkill.translate({ text: "hi", to: "fr" }))];

//# array-from-callback {"intent":"a call in the callback of Array.from","result":"Linus2","calls":2}
const users = Array.from({ length: 2 }, (_, i) => device.UserSkill.get({ id: i + 1 }));
return users[1].name + users.length;

//# array-from-with-a-callback {"intent":"Array.from over a list of calls","result":[2,3],"calls":2}
const sums = [1, 2].map((n) => device.MathSkill.add({ a: n, b: 0 }));
return Array.from(sums, (sum) => sum + 1);

//# array-literal-taken-apart {"intent":"calls in an array literal that is taken apart","result":21,"calls":2}
const [a, b] = [device.MathSkill.add({ a: 1, b: 2 }), device.MathSkill.add({ a: 3, b: 4 })];
return a * b;

//# arrow-helper-used-both-ways {"intent":"an arrow that returns a call, with and without await","result":["Ada","Linus","Grace",36],"calls":4}
const getUser = (id) => device.UserSkill.get({ id });
const first = await getUser(1);
const rest = await Promise.all([2, 3].map(getUser));
return [first.name, ...rest.map(u => u.name), getUser(1).age];

//# assigned-in-branches {"intent":"a variable that gets its call in one of two branches","result":["LINUS",0],"calls":2}
let user;
const id = 2;
if (id === 1) {
  user = device.UserSkill.get({ id: 1 });
} else {
  user = device.UserSkill.get({ id: 2 });
}
const label = user.name.toUpperCase();
let p;
try { p = device.MathSkill.divide({ a: 1, b: 0 }); } catch { p = -1; }
return [label, p + 1];

//# assigned-members {"intent":"calls assigned to members and indexes","result":["Ada","Linus","Grace"],"calls":3}
const state = { list: [] };
state.user = device.UserSkill.get({ id: 1 });
state.list[0] = device.UserSkill.get({ id: 2 });
const m = new Map();
m.set("u", device.UserSkill.get({ id: 3 }));
return [state.user.name, state.list[0].name, m.get("u").name];

//# async-callback-that-awaits-a-helper {"intent":"filter with an async callback that awaits a helper","result":[1],"calls":2}
const isAda = async (id) => (await device.UserSkill.get({ id })).name === "Ada";
return [1, 2].filter(async (id) => await isAda(id));

//# async-callbacks-keep-parallelism {"intent":"async callbacks whose inner await is missing still run at once","result":[9,10,11,12,13],"calls":5}
const lengths = await Promise.all([1, 2, 3, 4, 5].map(async (n) => {
  const text = device.TestSkill.slow({ ms: 500 });
  return text.length + n;
}));
return lengths;

//# async-callbacks-of-lists {"intent":"async callbacks in forEach, filter and find","result":{"names":["Ada","Linus"],"old":[1,3],"found":3},"calls":8}
const names = [];
[1, 2].forEach(async (id) => {
  const user = await device.UserSkill.get({ id });
  names.push(user.name);
});
const old = [1, 2, 3].filter(async (id) => (await device.UserSkill.get({ id })).age > 30);
const found = [1, 2, 3].find(async (id) => { const u = await device.UserSkill.get({ id }); return u.name === "Grace"; });
return { names, old, found };

//# async-helper-returns-a-call {"intent":"an async helper returns a call without await","result":"beta","calls":1}
async function load(path) {
  return device.FilesystemMCP.read_file({ path });
}
const text = await load("/data/notes.txt");
return text.split("\n")[1];

//# async-helper-uses-a-call {"intent":"an async helper uses a call as a value","result":"Grace (45)","calls":1}
async function summary(id) {
  const user = device.UserSkill.get({ id });
  return `${user.name} (${user.age})`;
}
return await summary(3);

//# async-helpers-keep-parallelism {"intent":"async helpers whose inner await is missing still run at once","result":["DONE 501","DONE 502","DONE 503","DONE 504","DONE 505"],"calls":5}
async function shout(ms) {
  const text = device.TestSkill.slow({ ms });
  return text.toUpperCase();
}
return await Promise.all([shout(501), shout(502), shout(503), shout(504), shout(505)]);

//# async-map-as-the-result {"intent":"an async callback, without Promise.all, is the last expression","result":["Ada","Linus","Grace"],"calls":3}
[1, 2, 3].map(async (id) => {
  const user = await device.UserSkill.get({ id });
  return user.name;
})

//# async-method-as-a-value {"intent":"async methods of objects and classes are used as values","result":"Ada 37","calls":2}
const api = {
  nameOf: async (id) => {
    const user = await device.UserSkill.get({ id });
    return user.name;
  },
};
class Users {
  async age(id) { return (await device.UserSkill.get({ id })).age; }
}
const users = new Users();
return api.nameOf(1) + " " + (users.age(1) + 1);

//# await-before-a-chain-of-methods {"intent":"await in front of a chain of string methods on the result","result":3,"calls":1}
const lines = await device.FilesystemMCP.read_file({ path: "/data/notes.txt" }).trim().split("\n");
return lines.length;

//# await-binds-the-member-first {"intent":"await in front of call and member, without parentheses","result":"Ada","calls":1}
const name = await device.UserSkill.get({ id: 1 }).name;
return name;

//# await-in-a-plain-function {"intent":"await in functions that forgot their async","result":["Grace",[36,28]],"calls":3}
function getName(id) {
  const user = await device.UserSkill.get({ id });
  return user.name;
}
const ages = [1, 2].map((id) => await device.UserSkill.get({ id }).age);
return [getName(3), ages];

//# await-twice {"intent":"await on a value that was awaited already","result":"Ada","calls":1}
const user = await device.UserSkill.get({ id: 1 });
const again = await user;
return (await (await again).name);

//# await-where-it-is-not-needed {"intent":"await in front of plain values","result":[5,3,"xxxxx"],"calls":0}
const n = await 5;
const list = await [1, 2, 3];
const s = await "x".repeat(await n);
return [n, await list.length, s];

//# cache-of-calls {"intent":"a cache of calls in an object and in a Map","result":["Ada",36,"Linus",28],"calls":2}
const seen = {};
const get = (id) => seen[id] ?? (seen[id] = device.UserSkill.get({ id }));
const cache = new Map();
function cached(id) {
  if (!cache.has(id)) cache.set(id, device.UserSkill.get({ id }));
  return cache.get(id);
}
return [get(1).name, get(1).age, cached(2).name, cached(2).age];

//# callbacks-for-which-nobody-can-wait {"intent":"async callbacks inside of plain ones, and what they change used afterwards","result":[[],3,[1,2]],"calls":2}
let sum = 0, list = [];
const first = await device.MathSkill.add(0, 1);
const none = [first].filter((one) => {
  [one].map(async (x) => { sum += await device.MathSkill.add(x, 1) + first; list = Promise.all([x, 2]); });
  return false;
});
return [none, sum, list];

//# calls-in-constructors-and-setters {"intent":"calls assigned to this, read elsewhere","result":["Linus, DEV","Ada"],"calls":3}
class Card {
  constructor(id) { this.user = device.UserSkill.get({ id }); }
  set title(text) { this.big = device.TextSkill.uppercase({ text }); }
  label() { return `${this.user.name}, ${this.big}`; }
}
const card = new Card(2);
card.title = "dev";
const state = { user: null, init() { this.user = device.UserSkill.get({ id: 1 }); } };
state.init();
return [card.label(), state.user.name];

//# calls-nested-in-calls {"intent":"the answer of one call is an argument of the next","result":9,"calls":4}
return device.MathSkill.multiply({
  a: device.MathSkill.add({ a: 1, b: 2 }),
  b: device.TextSkill.word_count({ text: device.FilesystemMCP.read_file({ path: "/data/notes.txt" }) }),
});

//# calls-under-way {"intent":"a map of the calls that are under way","result":["Ada","Ada",0],"calls":1}
const inflight = new Map();
async function user(id) {
  if (inflight.has(id)) return inflight.get(id);
  const promise = device.UserSkill.get({ id }).finally(() => inflight.delete(id));
  inflight.set(id, promise);
  return promise;
}
const [one, two] = await Promise.all([user(1), user(1)]);
return [one.name, two.name, inflight.size];

//# class-field-and-method {"intent":"a call in a class field, a method and a getter","result":["Ada","Grace","Linus"],"calls":3}
class Repo {
  first = device.UserSkill.get({ id: 1 });
  user(id) { return device.UserSkill.get({ id }); }
  get second() { return device.UserSkill.get({ id: 2 }); }
}
const repo = new Repo();
return [repo.first.name, repo.user(3).name, repo.second.name];

//# closure-reads-it-later {"intent":"a closure reads the variable long after","result":["Ada!",36],"calls":2}
const user = device.UserSkill.get({ id: 1 });
const label = () => user.name + "!";
await device.TimeSkill.now();
return [label(), [1].map(() => user.age)[0]];

//# comparison-and-ternary {"intent":"comparison of a call in a ternary","result":"big","calls":1}
const verdict = device.MathSkill.add({ a: 40, b: 2 }) > 41 ? "big" : "small";
verdict

//# compound-assignment {"intent":"+= and ??= with a call","result":[12,"Linus","X"],"calls":4}
let total = 10;
total += device.MathSkill.add({ a: 1, b: 2 });
total -= device.MathSkill.add({ a: 1, b: 0 });
let name = null;
name ??= device.UserSkill.get({ id: 2 }).name;
let text = "";
text += device.TextSkill.uppercase({ text: "x" });
return [total, name, text];

//# computed-names {"intent":"a call as index and as computed key","result":["two",1],"calls":2}
const list = ["zero", "one", "two"];
const o = { [device.TextSkill.uppercase({ text: "k" })]: 1 };
return [list[device.MathSkill.add({ a: 1, b: 1 })], o.K];

//# conditions-of-if-and-not {"intent":"null from a call is falsy in if and under !","result":["no 99","found 1"],"calls":2}
let out = [];
if (device.UserSkill.get({ id: 99 })) out.push("found 99");
else out.push("no 99");
if (!device.UserSkill.get({ id: 1 })) out.push("no 1");
else out.push("found 1");
return out;

//# constructor-gets-a-call {"intent":"a call is handed to a constructor of the snippet","result":"Hello Ada","calls":1}
class Greeting {
  constructor(user) {
    this.text = "Hello " + user.name;
  }
}
return new Greeting(device.UserSkill.get({ id: 1 })).text;

//# conversions {"intent":"String, Number, Boolean, toString and isNaN of calls","result":["2",false,"f",false,false,["a","b"],3,1],"calls":8}
return [
  String(device.MathSkill.add({ a: 1, b: 1 })),
  Boolean(device.UserSkill.get({ id: 99 })),
  device.MathSkill.add({ a: 10, b: 5 }).toString(16),
  Number.isInteger(device.MathSkill.divide({ a: 7, b: 2 })),
  isNaN(device.MathSkill.add({ a: 1, b: 1 })),
  Array.from(device.TestSkill.echo({ value: "ab" })),
  device.TestSkill.echo({ value: [1, 2, 3] }).length,
  [].concat(device.TestSkill.echo({ value: [4] })).length,
];

//# default-in-a-pattern {"intent":"a call as default value inside of a pattern","result":10,"calls":2}
const { name = device.TextSkill.uppercase({ text: "nobody" }), n = 1 } = { n: 2 };
const [first = device.MathSkill.add({ a: 1, b: 1 })] = [];
return name.length + n + first;

//# default-parameter {"intent":"a call as default value of a parameter","result":"Hi Ada","calls":1}
function greet(user = device.UserSkill.get({ id: 1 })) {
  return "Hi " + user.name;
}
return greet();

//# destructuring-assignment {"intent":"an assignment pattern takes a call apart","result":"Paris:2","calls":1}
let city, days;
({ city, days } = device.WeatherSkill.get_forecast({ city: "Paris", days: 2 }));
return city + ":" + days.length;

//# destructuring-declaration {"intent":"object and array patterns take a call apart","result":["Ada",36,"e1","e3",7],"calls":3}
const { name, age } = device.UserSkill.get({ id: 1 });
const [first, , third] = device.CalendarMCP.list_events({ date: "2026-03-01" });
const { days: [{ temp }] } = device.WeatherSkill.get_forecast({ city: "Oslo" });
return [name, age, first.id, third.id, temp];

//# do-while-and-for-condition {"intent":"calls in the conditions of do-while and for","result":[3,2],"calls":6}
let n;
do { n = device.TestSkill.counter({}); } while (n < 3);
let seen = 0;
for (let i = 0; i < device.MathSkill.add({ a: 1, b: 1 }); i++) seen++;
return [n, seen];

//# filled-object {"intent":"calls as values of an object that a loop fills","result":["C",["Paris 18","Oslo 7"],2],"calls":2}
const byCity = {};
for (const city of ["Paris", "Oslo"]) {
  byCity[city] = device.WeatherSkill.get_forecast({ city });
}
const temps = Object.entries(byCity).map(([city, f]) => `${city} ${f.days[0].temp}`);
return [byCity.Paris.unit, temps, Object.values(byCity).length];

//# filter-callback {"intent":"a call decides in filter","result":["/data/notes.txt","/data/todo.md"],"calls":6}
const files = ["/data/notes.txt", "/data/empty.txt", "/data/todo.md"];
return files.filter(path => device.TextSkill.word_count({ text: device.FilesystemMCP.read_file({ path }) }) > 0);

//# find-some-every {"intent":"calls decide in find, findIndex, some and every","result":[2,2,false,true],"calls":11}
const ids = [1, 2, 3];
return [
  ids.find(id => device.UserSkill.get({ id }).name === "Linus"),
  ids.findIndex(id => device.UserSkill.get({ id }).age > 40),
  ids.some(id => device.UserSkill.get({ id }).age < 18),
  ids.every(id => device.UserSkill.get({ id }).email.endsWith("@example.com")),
];

//# flat-map-callback {"intent":"a call in the callback of flatMap","result":["e1","e2","e3"],"calls":2}
return ["2026-03-01", "2026-03-02"].flatMap(date => device.CalendarMCP.list_events({ date })).map(e => e.id);

//# for-await-of-a-call {"intent":"for await over a call and over a list of calls","result":["e1","e2","e3","Ada","Linus"],"calls":3}
const out = [];
for await (const e of await device.CalendarMCP.list_events({ date: "2026-03-01" })) out.push(e.id);
for await (const u of [device.UserSkill.get({ id: 1 }), device.UserSkill.get({ id: 2 })]) out.push(u.name);
return out;

//# for-each-callback {"intent":"a call in the callback of forEach","result":["Ada","Linus"],"calls":2}
const names = [];
[1, 2].forEach((id) => {
  const user = device.UserSkill.get({ id });
  names.push(user.name);
});
return names;

//# for-in-a-call {"intent":"for-in over a call","result":["id","name","age","email"],"calls":1}
const keys = [];
for (const key in device.UserSkill.get({ id: 2 })) keys.push(key);
return keys;

//# for-of-a-call {"intent":"for-of over a call","result":["Standup","Design review","1:1"],"calls":1}
const titles = [];
for (const event of device.CalendarMCP.list_events({ date: "2026-03-01" })) {
  titles.push(event.title);
}
titles

//# for-of-a-list-of-calls {"intent":"for-of over a literal list of calls","result":["Ada","Linus","Grace"],"calls":3}
const names = [];
for (const user of [device.UserSkill.get({ id: 1 }), device.UserSkill.get({ id: 2 })]) names.push(user.name);
for (const { name } of [3].map((id) => device.UserSkill.get({ id }))) names.push(name);
return names;

//# from-entries {"intent":"calls as values of entries","result":"Linus","calls":2}
const byId = Object.fromEntries([1, 2].map((id) => [id, device.UserSkill.get({ id })]));
return byId[2].name;

//# gate-that-opens-later {"intent":"a test of a promise that only later statements settle","result":"Ada","calls":1}
const waiting = [];
const signal = () => new Promise((resolve) => waiting.push(resolve));
let ready = null;
if (!ready) ready = signal();
const task = (async () => {
  await ready;
  return (await device.UserSkill.get({ id: 1 })).name;
})();
waiting.forEach((resolve) => resolve());
return await task;

//# generator-yields-calls {"intent":"a generator yields calls","result":["Ada","Linus"],"calls":2}
function* users() {
  for (const id of [1, 2]) yield device.UserSkill.get({ id });
}
const names = [];
for (const user of users()) names.push(user.name);
return names;

//# getter-setter-and-static {"intent":"calls in accessors and static fields","result":[3,"ADA!"],"calls":2}
class Config {
  static data = JSON.parse(device.FilesystemMCP.read_file({ path: "/data/config.json" }));
  static get retries() { return Config.data.retries; }
  set name(v) { this.shout = device.TextSkill.uppercase({ text: v }); }
}
const c = new Config();
c.name = "ada";
return [Config.retries, c.shout + "!"];

//# getter-that-calls {"intent":"a getter of an object makes the call","result":"Ada!","calls":1}
const page = {
  id: 1,
  get user() {
    return device.UserSkill.get({ id: this.id });
  },
};
return page.user.name + "!";

//# group-by-with-an-async-callback {"intent":"an async callback of Object.groupBy","result":{"old":2,"young":1},"calls":3}
const groups = Object.groupBy([1, 2, 3], async (id) => (await device.UserSkill.get(id)).age > 30 ? "old" : "young");
({ old: groups.old.length, young: groups.young.length })

//# handlers-by-name {"intent":"async functions in an object, called by a computed name","result":["ADA",3],"calls":2}
const handlers = {
  upper: async (x) => device.TextSkill.uppercase({ text: x }),
  size: async (x) => device.MathSkill.add({ a: x.length, b: 0 }),
};
const out = [];
for (const name of ["upper", "size"]) out.push(handlers[name]("Ada"));
return [out[0].slice(0, 3), out[1] + 0];

//# helper-in-a-sort-callback {"intent":"an async helper is used in a sort callback","result":[2,1],"calls":4}
async function length(id) {
  const user = await device.UserSkill.get({ id });
  return user.name.length;
}
const first = await length(1);
const second = await length(2);
if (first === second) return [];
return [1, 2].sort((a, b) => length(b) - length(a));

//# helper-in-an-object {"intent":"a helper is a member of an object","result":["Grace",3],"calls":2}
const repo = {
  user: (id) => device.UserSkill.get({ id }),
  events(date) { return device.CalendarMCP.list_events({ date }); },
};
return [repo.user(3).name, repo.events("2026-03-01").length];

//# helper-keeps-parallelism {"intent":"a helper that returns a call is handed to Promise.all","result":5,"calls":5}
const wait = (ms) => device.TestSkill.slow({ ms });
const all = await Promise.all([500, 510, 520, 530, 540].map(wait));
return all.length;

//# helper-that-returns-an-object {"intent":"a helper returns an object with a call inside","result":["Ada",29],"calls":2}
const load = (id) => ({ id, user: device.UserSkill.get({ id }) });
const one = load(1);
return [one.user.name, load(2).user.age + 1];

//# helper-that-returns-promise-all {"intent":"a helper returns Promise.all, and its list is used without await","result":["Ada","Linus"],"calls":2}
const fetchAll = (ids) => Promise.all(ids.map((id) => device.UserSkill.get({ id })));
const names = fetchAll([1, 2]).map((u) => u.name);
return names;

//# helper-without-async {"intent":"a plain function that returns a call","result":"Linus/Grace","calls":2}
function getUser(id) {
  return device.UserSkill.get({ id });
}
const user = getUser(2);
return user.name + "/" + getUser(3).name;

//# higher-order-helper {"intent":"a function calls the function that it is given","result":["Ada",[10,20]],"calls":3}
const run = (fn) => fn();
const twice = (fn) => [fn(), fn()];
return [run(() => device.UserSkill.get({ id: 1 })).name, twice(() => device.TestSkill.counter({})).map((n) => n * 10)];

//# iife-without-await {"intent":"the value of an async function that is called on the spot","result":"Ada","calls":1}
const user = (async () => device.UserSkill.get({ id: 1 }))();
return (await user).name;

//# inside-an-argument {"intent":"a call inside of an object or list that is an argument","result":["Ada",2,"Linus",0,4],"calls":5}
const text = JSON.stringify({ user: device.UserSkill.get({ id: 1 }), n: [device.MathSkill.add({ a: 1, b: 1 })] });
const copy = Object.assign({}, device.UserSkill.get({ id: 2 }), { age: 0 });
const echoed = device.TestSkill.echo({ value: { sum: device.MathSkill.add({ a: 2, b: 2 }) } });
return [JSON.parse(text).user.name, JSON.parse(text).n[0], copy.name, copy.age, echoed.sum];

//# interval-of-polls {"intent":"a loop polls until the answer is large enough","result":{"status":3,"polls":3},"calls":3}
let status = device.TestSkill.counter({});
let polls = 1;
while (status < 3) {
  await new Promise((r) => setTimeout(r, 1));
  status = device.TestSkill.counter({});
  polls++;
}
return { status, polls };

//# list-methods-on-mapped-calls {"intent":"find, sort, reduce, some and at on a mapped list","result":[1,"Grace",[2,1,3],true,"Linus","Grace"],"calls":3}
const users = [3, 1, 2].map((id) => device.UserSkill.get({ id }));
const oldest = users.reduce((a, b) => (a.age > b.age ? a : b));
const sorted = [...users].sort((a, b) => a.age - b.age).map((u) => u.id);
return [users.find((u) => u.name === "Ada").id, oldest.name, sorted, users.some((u) => u.age < 30), users.at(-1).name, users.slice(0, 1)[0].name];

//# logical-operators {"intent":"the next call only runs if the first gave nothing","result":["Ada","nobody",null],"calls":4}
const user = device.UserSkill.get({ id: 99 }) || device.UserSkill.get({ id: 1 });
const other = device.UserSkill.get({ id: 98 }) ?? { name: "nobody" };
const both = device.UserSkill.get({ id: 97 }) && device.TestSkill.fail({});
return [user.name, other.name, both];

//# map-and-set-constructors {"intent":"calls as arguments of constructors","result":["Ada",2,2026],"calls":3}
const m = new Map(Object.entries(device.UserSkill.get({ id: 1 })));
const s = new Set(device.TestSkill.echo({ value: [1, 1, 2] }));
const d = new Date(device.TimeSkill.now());
return [m.get("name"), s.size, d.getUTCFullYear()];

//# map-as-the-result {"intent":"map over calls is the last expression","result":[{"id":1,"name":"Ada","age":36,"email":"ada@example.com"},{"id":2,"name":"Linus","age":28,"email":"linus@example.com"},{"id":3,"name":"Grace","age":45,"email":"grace@example.com"}],"calls":3}
[1, 2, 3].map((id) => device.UserSkill.get({ id }))

//# map-callback-adds-up {"intent":"async callbacks of map add to one variable","result":{"total":6,"done":3},"calls":3}
let total = 0;
const done = [1, 2, 3].map(async (n) => { total += await device.MathSkill.add(n, 0); });
return { total, done: done.length };

//# map-callback-fills-a-list {"intent":"map in place of forEach, with an async callback that nobody waits for","result":2,"calls":2}
const names = [];
[1, 2].map(async (id) => {
  const user = await device.UserSkill.get(id);
  names.push(user.name);
});
names.length

//# map-keeps-parallelism {"intent":"Promise.all over a list of calls in a variable still runs at once","result":5,"calls":5}
const jobs = [1, 2, 3, 4, 5].map((n) => device.TestSkill.slow({ ms: 500 + n }));
const done = await Promise.all(jobs);
return done.length;

//# map-of-lists {"intent":"calls pushed into lists of a Map","result":{"A":2,"L":1},"calls":3}
const groups = new Map();
for (const name of ["Ada", "Alan", "Linus"]) {
  if (!groups.has(name[0])) groups.set(name[0], []);
  groups.get(name[0]).push(device.TextSkill.uppercase({ text: name }));
}
const out = {};
for (const [letter, list] of groups) out[letter] = list.filter((name) => name.startsWith(letter)).length;
return out;

//# map-then-map {"intent":"values of a mapped call are used in the next step","result":"Ada, Linus, Grace","calls":3}
const names = [1, 2, 3]
  .map(id => device.UserSkill.get({ id }))
  .map(user => user.name);
return names.join(", ");

//# map-with-a-block-body {"intent":"a block body that returns a value made from a call","result":["Paris: 18","Oslo: 7"],"calls":2}
const rows = ["Paris", "Oslo"].map((city) => {
  const forecast = device.WeatherSkill.get_forecast({ city });
  return `${city}: ${forecast.days[0].temp}`;
});
return rows;

//# map-with-a-named-helper {"intent":"a named helper in map, then values","result":["Ada","Linus"],"calls":2}
const getUser = (id) => device.UserSkill.get({ id });
return [1, 2].map(getUser).map((u) => u.name);

//# mapped-async-function-used-as-values {"intent":"a list of promises of an async function is used as values","result":["Ada & Linus",64],"calls":4}
async function nameOf(id) {
  const user = await device.UserSkill.get({ id });
  return user.name;
}
const names = [1, 2].map((id) => nameOf(id));
const ages = [1, 2].map(async (id) => (await device.UserSkill.get({ id })).age);
return [names.join(" & "), ages[0] + ages[1]];

//# mapped-variable-used-later {"intent":"a mapped list in a variable, used by index, loop and filter","result":{"first":"Ada","ages":109,"old":2},"calls":3}
const users = [1, 2, 3].map(id => device.UserSkill.get({ id }));
let ages = 0;
for (const user of users) ages += user.age;
return { first: users[0].name, ages, old: users.filter(u => u.age > 30).length };

//# member-of-call {"intent":"member of a call without await","result":"Ada","calls":1}
device.UserSkill.get({ id: 1 }).name

//# memo-by-default {"intent":"a promise that is taken from a map, or made","result":["Ada","Ada"],"calls":1}
const cache = new Map();
const name = async (id) => {
  const promise = cache.get(id) ?? device.UserSkill.get({ id });
  cache.set(id, promise);
  return (await promise).name;
};
return await Promise.all([name(1), name(1)]);

//# memo-in-a-map {"intent":"a map of promises by key","result":["Ada","Ada","Linus"],"calls":2}
const cache = new Map();
async function user(id) {
  const hit = cache.get(id);
  if (hit) return hit;
  const promise = device.UserSkill.get({ id });
  cache.set(id, promise);
  return promise;
}
return (await Promise.all([user(1), user(1), user(2)])).map(({ name }) => name);

//# memo-of-an-async-function {"intent":"an object of the promises of an own function by key","result":["Ada","Ada","Linus"],"calls":2}
const cache = {};
async function load(id) {
  const user = await device.UserSkill.get({ id });
  return user.name;
}
async function name(id) {
  if (!cache[id]) cache[id] = load(id);
  return cache[id];
}
return await Promise.all([1, 1, 2].map(name));

//# memo-used-as-a-value {"intent":"a memo whose await was forgotten is made once as well","result":["Ada","Ada"],"calls":1}
const cache = {};
async function name(id) {
  if (!cache[id]) cache[id] = device.UserSkill.get({ id });
  return cache[id].name;
}
return await Promise.all([name(1), name(1)]);

//# method-changes-its-object {"intent":"an async method changes its object, and nobody waits for it","result":3,"calls":2}
class Counter {
  total = 0;
  async add(n) { const more = await device.MathSkill.add(n, 0); this.total += more; }
}
const counter = new Counter();
counter.add(1);
counter.add(2);
counter.total

//# mutated-result {"intent":"the value of a call is changed in place","result":["first","e1","e3","e2","id","start","durationMin"],"calls":1}
const events = device.CalendarMCP.list_events({ date: "2026-03-01" });
events.push({ id: "e4", durationMin: 5 });
events.sort((a, b) => a.durationMin - b.durationMin);
events[0].id = "first";
delete events[1].title;
return events.map((e) => e.id).concat(Object.keys(events[1]));

//# nested-callbacks {"intent":"a call two callbacks deep","result":[["Ada","Linus"],["Grace"]],"calls":3}
const grid = [[1, 2], [3]].map((row) => row.map((id) => device.UserSkill.get({ id }).name));
return grid;

//# no-semicolons-at-all {"intent":"calls as values where semicolons are missing","result":8,"calls":4}
const a = 1
device.KVSkill.set({ key: "k", value: a })
const b = device.KVSkill.get({ key: "k" }) + 1
let c = b
device.UserSkill.get({ id: 1 }).name.length > 2 && c++
const d = [c]
  .map((n) => device.MathSkill.add({ a: n, b: 1 }) * 2)
return d[0]

//# numbers-from-mapped-calls {"intent":"numbers of mapped calls in Math.max, join, includes and a sum","result":[9,"1+4+9",true,2,14,true],"calls":3}
const sums = [1, 2, 3].map((n) => device.MathSkill.multiply({ a: n, b: n }));
let total = 0;
for (let i = 0; i < sums.length; i++) total += sums[i];
return [Math.max(...sums), sums.join("+"), sums.includes(4), sums.indexOf(9), total, new Set(sums).has(1)];

//# object-and-array-literals-as-result {"intent":"calls inside the returned literal","result":{"user":{"id":1,"name":"Ada","age":36,"email":"ada@example.com"},"numbers":[2,4],"nested":{"now":"2026-03-01T12:00:00.000Z"}},"calls":4}
return {
  user: device.UserSkill.get({ id: 1 }),
  numbers: [device.MathSkill.add({ a: 1, b: 1 }), device.MathSkill.add({ a: 2, b: 2 })],
  nested: { now: device.TimeSkill.now() },
};

//# object-literal-used-later {"intent":"a call as property, read later","result":"Ada at 2026-03-01","calls":2}
const report = { user: device.UserSkill.get({ id: 1 }), when: device.TimeSkill.now() };
return `${report.user.name} at ${report.when.slice(0, 10)}`;

//# once-in-a-class {"intent":"a class that keeps the promise of its first call","result":[1,1],"calls":1}
class Counter {
  pending = null;
  async load() {
    if (!this.pending) this.pending = device.TestSkill.counter({});
    return await this.pending;
  }
}
const counter = new Counter();
return await Promise.all([counter.load(), counter.load()]);

//# once-in-a-field {"intent":"a write that is made once, however often it is asked for at the same time","result":[1,1,1],"calls":1}
const lock = { held: null };
async function once() {
  if (lock.held) return lock.held;
  lock.held = device.TestSkill.counter({});
  const count = await lock.held;
  return count;
}
return await Promise.all([once(), once(), once()]);

//# once-in-a-variable {"intent":"a variable that is null before the first call","result":[1,1],"calls":1}
let ready = null;
async function start() {
  if (ready === null) ready = device.TestSkill.counter({});
  return ready;
}
return await Promise.all([start(), start()]);

//# operators {"intent":"arithmetic and string operators on calls","result":"Sum: 3, twice: 12","calls":2}
return "Sum: " + device.MathSkill.add({ a: 1, b: 2 }) + ", twice: " + device.MathSkill.multiply({ a: 3, b: 2 }) * 2;

//# optional-call-of-a-method {"intent":"optional calls as values","result":["Ada",6,-1],"calls":3}
const u = device.UserSkill?.get?.({ id: 1 });
return [u.name, device?.MathSkill.add({ a: 1, b: 2 }) * 2, device.UserSkill.get({ id: 99 })?.name?.length ?? -1];

//# optional-chaining {"intent":"?. on a call that gives null","result":["none","Ada"],"calls":2}
return [device.UserSkill.get({ id: 99 })?.name ?? "none", device.UserSkill.get({ id: 1 })?.name];

//# own-async-function-as-a-value {"intent":"an async function of the snippet is used as a value","result":"Hi Ada and Linus, 5","calls":3}
async function nameOf(id) {
  const user = await device.UserSkill.get({ id });
  return user.name;
}
const load = async (id) => ({ id, user: await device.UserSkill.get({ id }) });
const name = nameOf(1);
const { user } = load(2);
return `Hi ${name} and ${user.name}, ${nameOf(3).length}`;

//# own-function-fills-a-list {"intent":"an async function fills a list, and nobody waits for it","result":"Ada, Linus","calls":2}
const names = [];
async function load(id) {
  const user = await device.UserSkill.get(id);
  names.push(user.name);
}
load(1)
load(2)
return names.join(", ");

//# patterns-over-lists-of-calls {"intent":"patterns take lists and objects of calls apart","result":["Ada",28,4,"Grace",["Ada","Linus"]],"calls":6}
const [a, b] = [1, 2].map((id) => device.UserSkill.get({ id }));
const { x, y } = { x: device.MathSkill.add({ a: 1, b: 1 }), y: device.UserSkill.get({ id: 3 }) };
const names = ((...users) => users.map((u) => u.name))(device.UserSkill.get({ id: 1 }), device.UserSkill.get({ id: 2 }));
return [a.name, b.age, x * 2, y.name, names];

//# pool-in-a-list {"intent":"a pool whose promises find themselves in a list","result":0,"calls":3}
const running = [];
for (const id of [1, 2, 3]) {
  const task = device.UserSkill.get({ id }).then(() => running.splice(running.indexOf(task), 1));
  running.push(task);
  if (running.length >= 2) await Promise.race(running);
}
await Promise.all(running);
return running.length;

//# pool-of-async-functions {"intent":"a pool whose async functions take their own promises out, and a loop that asks whether some are left","result":0,"calls":3}
const running = new Set();
for (const id of [1, 2, 3]) {
  const task = (async () => {
    await device.UserSkill.get({ id });
    running.delete(task);
  })();
  running.add(task);
}
while (running.size > 0) await new Promise((resolve) => setTimeout(resolve, 2));
return running.size;

//# pool-that-forgets-what-is-done {"intent":"a pool of two: each promise takes itself out of the set once it is over","result":[["Ada","Linus","Grace"],0],"calls":3}
const names = [];
const running = new Set();
for (const id of [1, 2, 3]) {
  const task = device.UserSkill.get({ id }).then((user) => {
    names.push(user.name);
    running.delete(task);
  });
  running.add(task);
  if (running.size >= 2) await Promise.race(running);
}
await Promise.all(running);
return [names, running.size];

//# print-of-lists-and-objects {"intent":"lists and objects with calls are printed","result":"printed","calls":4}
console.log([device.MathSkill.add({ a: 1, b: 2 })], { user: device.UserSkill.get({ id: 1 }) });
[1, 2].map((id) => console.log(device.UserSkill.get({ id })));
"printed"

//# printed-values {"intent":"printed and returned values are awaited","result":[3],"calls":4}
console.log(device.UserSkill.get({ id: 1 }));
print(device.UserSkill.get({ id: 2 }).name);
console.log("now", device.TimeSkill.now());
return [device.MathSkill.add({ a: 1, b: 2 })];

//# promise-all-in-a-plain-helper {"intent":"Promise.all is used as a list in a plain helper","result":7,"calls":2}
function totalLength(ids) {
  return Promise.all(ids.map((id) => device.UserSkill.get({ id }))).map((u) => u.name.length).reduce((a, b) => a + b, 0);
}
return [totalLength([1, 2])].reduce((a, b) => a + b) - 1;

//# promise-all-without-await {"intent":"Promise.all without await, used as the list","result":[10,["Ada","Linus"]],"calls":4}
const [a, b] = Promise.all([device.MathSkill.add({ a: 1, b: 2 }), device.MathSkill.add({ a: 3, b: 4 })]);
const users = Promise.all([1, 2].map((id) => device.UserSkill.get({ id })));
return [a + b, users.map((u) => u.name)];

//# promise-or-value {"intent":"a program that asks whether it has a promise","result":[true,"Ada"],"calls":1}
const user = device.UserSkill.get({ id: 1 });
const isPromise = user instanceof Promise;
return [isPromise, (isPromise ? await user : user).name];

//# pushed-into-a-computed-list {"intent":"calls pushed into lists that are made on the way","result":[3,"GRACE"],"calls":4}
const byLetter = {};
for (const { name } of device.DatabaseMCP.query({ sql: "select * from users" })) {
  (byLetter[name[0]] ??= []).push(device.TextSkill.uppercase({ text: name }));
}
return [byLetter.A[0].length, byLetter.G.join()];

//# pushed-promises-keep-parallelism {"intent":"calls pushed into a list and awaited together run at once","result":"done 500|done 500|done 500|done 500|done 500","calls":5}
const jobs = [];
for (let i = 0; i < 5; i++) {
  jobs.push(device.TestSkill.slow({ ms: 500 }));
}
const done = await Promise.all(jobs);
return done.join("|");

//# pushed-values {"intent":"calls pushed into a list, used as values later","result":["Grace","Ada"],"calls":2}
const users = [];
for (const id of [3, 1]) users.push(device.UserSkill.get({ id }));
return users.map(u => u.name);

//# reassigned-variable {"intent":"let gets another call in a loop","result":["Ada","Linus","Grace"],"calls":4}
let user = device.UserSkill.get({ id: 1 });
const names = [];
for (let id = 2; user; id++) {
  names.push(user.name);
  user = device.UserSkill.get({ id });
}
return names;

//# recursive-async-function {"intent":"an async function that calls itself without await","result":6,"calls":3}
async function sum(n) {
  if (n === 0) return 0;
  return device.MathSkill.add({ a: n, b: sum(n - 1) });
}
return sum(3);

//# recursive-helper {"intent":"a plain helper calls itself with the answer of a call","result":11,"calls":4}
const total = (n) => (n === 0 ? 0 : device.MathSkill.add({ a: n, b: total(n - 1) }));
return total(4) + 1;

//# reduce-callback {"intent":"calls in the callback of reduce","result":[10,109],"calls":7}
const total = [1, 2, 3, 4].reduce((sum, n) => device.MathSkill.add({ a: sum, b: n }), 0);
const ages = [1, 2, 3].reduce((sum, id) => sum + device.UserSkill.get({ id }).age, 0);
return [total, ages];

//# reduce-that-starts-with-a-call {"intent":"reduce starts with the result of a call","result":6,"calls":1}
return [1, 2].reduce((sum, n) => sum + n, device.MathSkill.add({ a: 1, b: 2 }));

//# reduce-with-an-async-accumulator {"intent":"reduce with an async callback, and its result as a value","result":["sum: 3",3],"calls":5}
const sum = (ids) => ids.reduce(async (before, n) => (await before) + (await device.MathSkill.add(n, 0)), 0);
const total = [1, 2].reduce(async (before, n) => (await before) + (await device.MathSkill.add(n, 0)), Promise.resolve(0));
if (total > 2) { ["sum: " + total, sum([1, 2, 3]) / 2] } else { "small" }

//# replace-callback-is-the-call {"intent":"the callback of replaceAll is nothing but the call","result":"A-B","calls":2}
return "a-b".replaceAll(/[a-z]/g, (text) => device.TextSkill.uppercase({ text }));

//# replace-callback {"intent":"a call in the callback of replace","result":"users Ada and Grace","calls":2}
return "users 1 and 3".replace(/\d/g, (d) => device.UserSkill.get({ id: Number(d) }).name);

//# replace-with-an-async-callback {"intent":"an async callback of replace","result":"[ADA] 3 and [LINUS] 5","calls":2}
const text = "Ada and Linus";
text.replace(/[A-Z]\w+/g, async (name) => `[${await device.TextSkill.uppercase(name)}] ${name.length}`)

//# result-of-then-as-a-value {"intent":"what then gives is used as a value","result":4,"calls":1}
const length = device.UserSkill.get({ id: 1 }).then((user) => user.name.length);
return length + 1;

//# retry-without-await {"intent":"a retry loop whose call is not awaited","result":{"tries":3,"ok":true},"calls":3}
for (let i = 0; i < 5; i++) {
  try {
    const data = device.FlakySkill.fetch_data({});
    return { tries: i + 1, ok: data.ok };
  } catch (e) {
    print("again", e.message);
  }
}

//# returned-from-then {"intent":"callbacks of then and catch return calls","result":3,"calls":2}
return device.UserSkill.get({ id: 1 })
  .then((user) => device.TextSkill.uppercase({ text: user.name }))
  .then((text) => text.length)
  .catch(() => device.TimeSkill.now({}));

//# service-class-without-await {"intent":"a class of async methods that never awaits","result":["Ada","Linus"],"calls":2}
class UserService {
  cache = {};
  async find(id) {
    if (!this.cache[id]) this.cache[id] = device.UserSkill.get({ id });
    return this.cache[id];
  }
  async nameOf(id) {
    return this.find(id).name;
  }
}
const service = new UserService();
const names = [];
for (const id of [1, 2, 1]) names.push(service.nameOf(id));
return [...new Set(names)];

//# some-callback-is-the-call-itself {"intent":"the callback of some and every is nothing but the call","result":[false,true,[]],"calls":6}
const ids = [98, 99];
return [ids.some(id => device.UserSkill.get({ id })), [1, 2].every(id => device.UserSkill.get({ id })), ids.filter(id => device.UserSkill.get({ id }))];

//# sort-callback {"intent":"a call in a comparator","result":[1,3],"calls":2}
return [3, 1].sort((a, b) => device.UserSkill.get({ id: a }).age - device.UserSkill.get({ id: b }).age);

//# spread-of-calls {"intent":"spread of a call in an array, an object and arguments","result":[4,5,{"id":1,"name":"Ada","age":37,"email":"ada@example.com"}],"calls":3}
const all = [...device.CalendarMCP.list_events({ date: "2026-03-01" }), { title: "Dinner" }];
const max = Math.max(...device.TestSkill.echo({ value: [1, 5, 3] }));
const user = { ...device.UserSkill.get({ id: 1 }), age: 37 };
return [all.length, max, user];

//# statements-in-order {"intent":"calls as statements take effect in their order","result":3,"calls":3}
device.KVSkill.set({ key: "a", value: 1 });
device.KVSkill.set({ key: "a", value: 2 });
const v = device.KVSkill.get({ key: "a" });
return v + 1;

//# switch-case-is-a-call {"intent":"a call as label of a case","result":"three","calls":2}
switch (3) {
  case device.MathSkill.add({ a: 1, b: 1 }): return "two";
  case device.MathSkill.add({ a: 1, b: 2 }): return "three";
}

//# switch-on-a-call {"intent":"a call is what switch looks at","result":"two","calls":1}
switch (device.MathSkill.add({ a: 1, b: 1 })) {
  case 1: return "one";
  case 2: return "two";
  default: return "many";
}

//# template-literal {"intent":"a call inside a template literal","result":"It is 2026-03-01T12:00:00.000Z and Grace is 45.","calls":3}
return `It is ${device.TimeSkill.now()} and ${device.UserSkill.get({ id: 3 }).name} is ${device.UserSkill.get({ id: 3 }).age}.`;

//# ternary-branches {"intent":"a call in each branch of a ternary","result":"Ada","calls":1}
const admin = true;
const user = admin ? device.UserSkill.get({ id: 1 }) : device.UserSkill.get({ id: 2 });
return user.name;

//# tested-and-given-back {"intent":"a variable and a field that are tested, and given back, in a program that keeps other promises","result":["down",0,"down"],"calls":2}
const isUp = device.TestSkill.echo({ value: 0 });
const state = { isUp };
const text = isUp ? "up" : "down";
const [same] = await Promise.all([device.TestSkill.echo({ value: text })]);
return [text, state.isUp, same];

//# then-around-promise-all {"intent":"then on Promise.all, returned as it is","result":["Ada","Linus"],"calls":2}
return Promise.all([1, 2].map((id) => device.UserSkill.get({ id }))).then((users) => users.map((u) => u.name));

//# then-catch-finally {"intent":"a chain of then, catch and finally","result":["failed",true],"calls":1}
let ended = false;
const value = await device.MathSkill.divide({ a: 1, b: 0 })
  .then((v) => "value " + v)
  .catch(() => "failed")
  .finally(() => { ended = true; });
return [value, ended];

//# then-on-a-call {"intent":"then without await is the last expression","result":"Ada","calls":1}
device.UserSkill.get({ id: 1 }).then((user) => user.name)

//# then-sets-a-variable {"intent":"then sets a variable that the next line reads, and nobody waits","result":["Ada",true],"calls":1}
let user, done = false;
device.UserSkill.get(1)
  .then((found) => { user = found; })
  .catch((error) => { console.error(error); })
  .finally(() => { done = true; });
[user.name, done]

//# thrown-and-negated {"intent":"a call in throw and in a sequence","result":"no user: null","calls":1}
try {
  throw new Error("no user: " + device.UserSkill.get({ id: 99 }));
} catch (e) {
  return (0, e.message);
}

//# timer-that-is-tested {"intent":"Boolean and ! of a promise that waits for what comes after","result":[true,true,"over"],"calls":0}
async function waitFor(test) {
  while (!test()) await new Promise((resolve) => setTimeout(resolve, 2));
  return "over";
}
let flag = false;
const over = waitFor(() => flag);
const known = [Boolean(over), !!over];
flag = true;
return [...known, await over];

//# try-catch-around-a-statement {"intent":"a failing call as a statement is caught","result":"failed","calls":1}
let state = "fine";
try {
  device.TestSkill.fail({ message: "boom" });
} catch {
  state = "failed";
}
return state;

//# try-catch-around-a-variable {"intent":"a failing call in a variable is caught","result":"missing","calls":1}
let result;
try {
  const data = device.FilesystemMCP.read_file({ path: "/data/missing.txt" });
  result = "read " + data;
} catch (e) {
  result = "missing";
}
return result;

//# try-catch-around-return {"intent":"a failing call is caught where it stands","result":"caught","calls":1}
try {
  return device.MathSkill.divide({ a: 1, b: 0 });
} catch (error) {
  return "caught";
}

//# try-in-a-helper {"intent":"a helper catches what the function throws that it is given","result":["none",2],"calls":2}
const safe = (fn, otherwise) => {
  try { return fn(); } catch (e) { return otherwise; }
};
return [safe(() => device.MathSkill.divide({ a: 1, b: 0 }), "none"), safe(() => device.MathSkill.divide({ a: 4, b: 2 }), "none")];

//# typeof-in-instanceof {"intent":"typeof, in and instanceof look at the value","result":["number",true,true,true,-3],"calls":5}
return [
  typeof device.MathSkill.add({ a: 1, b: 2 }),
  "email" in device.UserSkill.get({ id: 1 }),
  device.CalendarMCP.list_events({ date: "2026-03-01" }) instanceof Array,
  device.MathSkill.add({ a: 1, b: 2 }) === 3,
  -device.MathSkill.add({ a: 1, b: 2 }),
];

//# typescript-casts-around-calls {"intent":"casts and non-null marks between call and use","result":["Ada",4,"linus@example.com",10],"calls":4}
const name = (device.UserSkill.get({ id: 1 }) as { name: string }).name;
const n = (device.MathSkill.add({ a: 1, b: 2 }) as number) + 1;
const mail = device.UserSkill.get({ id: 2 })!.email!;
const list = <string[]>device.FilesystemMCP.list_directory({ path: "/data" });
return [name, n, mail, list.length];

//# variable-awaited-later {"intent":"calls start together, values are awaited later","result":"done 500,done 510,done 520,done 530,done 540","calls":5}
const a = device.TestSkill.slow({ ms: 500 });
const b = device.TestSkill.slow({ ms: 510 });
const c = device.TestSkill.slow({ ms: 520 });
const d = device.TestSkill.slow({ ms: 530 });
const e = device.TestSkill.slow({ ms: 540 });
return [await a, await b, await c, await d, await e].join();

//# variable-handed-to-promise-all {"intent":"promises in variables meet in Promise.all","result":11,"calls":2}
const p = device.WeatherSkill.get_forecast({ city: "Paris" });
const q = device.WeatherSkill.get_forecast({ city: "Oslo" });
const [paris, oslo] = await Promise.all([p, q]);
return paris.days[0].temp - oslo.days[0].temp;

//# variable-used-as-a-value {"intent":"the variable holds the value, not a promise","result":"Ada is 36","calls":1}
const user = device.UserSkill.get({ id: 1 });
const text = user.name + " is " + user.age;
return text;

//# variable-used-both-ways {"intent":"the same variable in Promise.all and, later, as a value","result":["Linus","Linus"],"calls":1}
const user = device.UserSkill.get({ id: 2 });
const [same] = await Promise.all([user]);
return [same.name, (await user).name];

//# while-condition {"intent":"a call as the condition of while","result":3,"calls":4}
let rounds = 0;
while (device.TestSkill.counter({}) < 4) {
  rounds++;
}
return rounds;
