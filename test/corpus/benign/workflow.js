//# search-then-summarise-top-titles {"intent":"search then summarise top titles","result":{"count":3,"top":["Result 1 for sandboxing","Result 2 for sandboxing","Result 3 for sandboxing"]},"calls":1,"tools":["BraveSearchMCP.search"]}
const { results } = await device.BraveSearchMCP.search({ query: "sandboxing", count: 5 });
const top = results.filter(r => r.score > 80).map(r => r.title);
return { count: top.length, top };

//# pick-the-warmest-city {"intent":"pick the warmest city","result":"Tokyo 23°C","calls":4,"tools":["WeatherSkill.get_forecast"]}
const cities = ["Paris", "London", "Tokyo", "Oslo"];
const fs = await Promise.all(cities.map(c => device.WeatherSkill.get_forecast({ city: c, days: 2 })));
const best = fs.map(f => ({ city: f.city, max: Math.max(...f.days.map(d => d.temp)) })).sort((a, b) => b.max - a.max)[0];
return `${best.city} ${best.max}°C`;

//# undefined-result-becomes-null-or-undefined {"intent":"undefined result becomes null or undefined","result":true,"calls":1,"tools":["TestSkill.nothing"]}
const r = await device.TestSkill.nothing({});
return r == null;

//# moderate-cpu-work-200k-iterations {"intent":"moderate CPU work (200k iterations)","result":-1109637472,"calls":0}
let h = 0;
for (let i = 0; i < 200000; i++) h = (h * 31 + i) | 0;
return h;

//# approved-write {"intent":"a write that a person approved","result":{"written":5,"back":"hello"},"calls":2,"approve":[{"tool":"FilesystemMCP.write_file","args":{"path":"/data/out.txt","content":"hello"},"uses":1}]}
const { written } = await device.FilesystemMCP.write_file({ path: "/data/out.txt", content: "hello" });
return { written, back: await device.FilesystemMCP.read_file({ path: "/data/out.txt" }) };

//# csv-report {"intent":"a report from a CSV file","result":{"rows":4,"best":"APAC","total":700,"average":175},"calls":3}
const csv = await device.FilesystemMCP.read_file({ path: "/data/sales.csv" });
const [head, ...lines] = csv.trim().split("\n");
const keys = head.split(",");
const rows = lines.map((l) => Object.fromEntries(l.split(",").map((v, i) => [keys[i], v])));
const best = rows.reduce((m, r) => (Number(r.amount) > Number(m.amount) ? r : m));
const total = await device.MathSkill.sum({ numbers: rows.map((r) => Number(r.amount)) });
return { rows: rows.length, best: best.region, total, average: await device.MathSkill.divide({ a: total, b: rows.length }) };

//# first-mirror-that-answers {"intent":"the first address that answers","result":{"status":200,"body":"OK https://api.example.com/a"},"calls":2}
const urls = ["http://mirror.example/a", "https://api.example.com/a", "https://api.example.com/b"];
let answer = null;
for (const url of urls) {
  try { answer = await device.HttpSkill.get({ url }); break; } catch (e) { console.warn(url, e.message); }
}
return answer;

//# forecast-table {"intent":"a table of forecasts for several cities","result":{"London":{"avg":16,"rainy":1},"Oslo":{"avg":8,"rainy":1},"Paris":{"avg":19,"rainy":1},"Tokyo":{"avg":23,"rainy":1}},"calls":4}
const cities = ["Paris", "London", "Tokyo", "Oslo"];
const table = {};
await Promise.all(cities.map(async (city) => {
  const { days } = await device.WeatherSkill.get_forecast({ city, days: 3 });
  table[city] = { avg: Math.round(days.reduce((s, d) => s + d.temp, 0) / days.length), rainy: days.filter((d) => d.rain).length };
}));
return Object.fromEntries(Object.entries(table).sort(([a], [b]) => a.localeCompare(b)));

//# free-time {"intent":"free minutes between meetings","result":[105,180],"calls":1}
const toMin = (hhmm) => { const [h, m] = hhmm.split(":").map(Number); return h * 60 + m; };
const events = (await device.CalendarMCP.list_events({ date: "2026-03-01" })).sort((a, b) => toMin(a.start) - toMin(b.start));
const free = [];
for (let i = 1; i < events.length; i++) {
  const end = toMin(events[i - 1].start) + events[i - 1].durationMin;
  free.push(toMin(events[i].start) - end);
}
return free;

//# injected-text-is-only-text {"intent":"a file that gives orders is only text","result":{"suspicious":true,"words":8},"calls":2}
const text = await device.FilesystemMCP.read_file({ path: "/data/injected.txt" });
return { suspicious: /ignore previous instructions/i.test(text), words: await device.TextSkill.word_count({ text }) };

//# odd-answers-are-plain-data {"intent":"an answer with keys then, toJSON, constructor and __proto__","result":[1,"string","X",true,true],"calls":1}
const r = await device.TestSkill.weird({});
return [r.normal, typeof r.then, r.constructor.name, Object.keys(r).includes("__proto__"), ({}).polluted === undefined];

//# open-tasks {"intent":"open tasks of a list, in capitals","result":["BUY MILK","PAY RENT"],"calls":3}
const md = await device.FilesystemMCP.read_file({ path: "/data/todo.md" });
const open = md.split("\n").filter((l) => l.startsWith("- [ ]")).map((l) => l.slice(6));
const loud = [];
for (const text of open) loud.push(await device.TextSkill.uppercase({ text }));
return loud;

//# paginate-until-empty {"intent":"a loop that asks for pages until one is small","result":[1,2,3],"calls":3}
const all: number[] = [];
let page = 1;
while (true) {
  const next = await device.MathSkill.add({ a: page, b: 0 });
  all.push(next);
  if (next >= 3) break;
  page++;
}
all

//# read-every-file {"intent":"list a folder and measure each file","result":{"code.txt":38,"empty.txt":0,"injected.txt":86,"log.txt":135,"notes.txt":17,"unicode.txt":19},"calls":7}
const names = await device.FilesystemMCP.list_directory({ path: "/data" });
const texts = names.filter((n) => n.endsWith(".txt"));
const sizes = {};
for (const name of texts) {
  const text = await device.FilesystemMCP.read_file({ path: `/data/${name}` });
  sizes[name] = text.length;
}
return sizes;

//# remember-and-recall {"intent":"values kept in a store","result":[1,[2,{"c":3}],null,null],"calls":7}
for (const [key, value] of Object.entries({ a: 1, b: [2, { c: 3 }], d: null })) {
  await device.KVSkill.set({ key, value });
}
const back = await Promise.all(["a", "b", "d", "missing"].map((key) => device.KVSkill.get({ key })));
return back;

//# search-and-compare {"intent":"two searches, merged without doubles","result":["100 Result 1 for alpha","93 Result 2 for alpha","100 Result 1 for beta","93 Result 2 for beta"],"calls":2}
const queries = ["alpha", "beta", "alpha"];
const found = await Promise.all([...new Set(queries)].map((query) => device.BraveSearchMCP.search({ query, count: 2 })));
const merged = found.flatMap((f) => f.results).filter((r, i, all) => all.findIndex((x) => x.url === r.url) === i);
return merged.map(({ title, score }) => `${score} ${title}`);

//# sieve-of-primes {"intent":"primes below a hundred thousand","result":9592,"calls":0}
const n = 100000;
const sieve = new Uint8Array(n);
let count = 0;
for (let i = 2; i < n; i++) {
  if (sieve[i]) continue;
  count++;
  for (let j = i * 2; j < n; j += i) sieve[j] = 1;
}
return count;

//# state-machine {"intent":"a small state machine","result":["start","load","check"],"calls":1}
const steps = { start: "load", load: "check", check: "done" };
const trail = [];
let state = "start", data;
while (state !== "done") {
  trail.push(state);
  if (state === "load") data = await device.FilesystemMCP.read_file({ path: "/data/config.json" });
  if (state === "check" && !JSON.parse(data).features.beta) throw new Error("beta is off");
  state = steps[state];
}
return trail;

//# text-statistics {"intent":"words, longest word, most frequent letter","result":{"words":10,"longest":"instructions","letter":"i","times":9},"calls":1}
const text = (await device.FilesystemMCP.read_file({ path: "/data/injected.txt" })).toLowerCase();
const words = text.match(/[a-z_]+/g);
const freq = {};
for (const c of text) if (/[a-z]/.test(c)) freq[c] = (freq[c] || 0) + 1;
const [letter, times] = Object.entries(freq).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0];
return { words: words.length, longest: words.reduce((a, b) => (b.length > a.length ? b : a)), letter, times };

//# users-and-their-orders {"intent":"totals of each user, highest first","result":[{"name":"Linus","total":100},{"name":"Ada","total":35.5},{"name":"Grace","total":0}],"calls":2}
const users = await device.DatabaseMCP.query({ sql: "SELECT id, name FROM users" });
const orders = await device.DatabaseMCP.query({ sql: "SELECT user_id, total FROM orders" });
const totals = new Map();
for (const { user_id, total } of orders) totals.set(user_id, (totals.get(user_id) ?? 0) + total);
return users
  .map(({ id, name }) => ({ name, total: totals.get(id) ?? 0 }))
  .sort((a, b) => b.total - a.total);

//# validate-records {"intent":"records that are sorted into good and bad","result":[{"id":1,"bad":["name"]},{"id":2,"bad":["age"]}],"calls":1}
const users = await device.DatabaseMCP.query({ sql: "select * from users" });
const rules = [
  ["name", (v) => typeof v === "string" && v.length > 3],
  ["age", (v) => Number.isInteger(v) && v >= 30],
  ["email", (v) => /^[^@\s]+@[^@\s]+\.[a-z]{2,}$/.test(v)],
];
const report = users.map((u) => ({ id: u.id, bad: rules.filter(([k, ok]) => !ok(u[k])).map(([k]) => k) }));
return report.filter((r) => r.bad.length);
