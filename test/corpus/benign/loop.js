//# for-of-with-await {"intent":"for of with await","result":{"Paris":18,"London":15,"Tokyo":22},"calls":3,"tools":["WeatherSkill.get_forecast"]}
const cities = ["Paris", "London", "Tokyo"];
const temps = {};
for (const city of cities) {
  const f = await device.WeatherSkill.get_forecast({ city });
  temps[city] = f.days[0].temp;
}
return temps;

//# continue-and-labelled-outer-loop {"intent":"continue and labelled outer loop","result":[[1,0],[2,0],[2,1],[3,0],[3,1],[3,2]],"calls":0}
const pairs = [];
outer:
for (let a = 0; a < 4; a++) {
  for (let b = 0; b < 4; b++) {
    if (b === a) continue outer;
    pairs.push([a, b]);
  }
}
return pairs;

//# break-out-of-labels {"intent":"labels on blocks, continue in while, break in switch in a loop","result":["three",2,5],"calls":0}
const out = [];
found: {
  for (const row of [[1, 2], [3, 4]]) for (const n of row) if (n === 3) { out.push("three"); break found; }
  out.push("never");
}
let i = 0;
loop: while (i < 6) {
  i++;
  switch (i % 3) { case 0: continue loop; case 1: break; default: out.push(i); }
}
return out;

//# classic-for-with-await {"intent":"for with an index and await in the body","result":[1,3,6,11],"calls":4}
const out = [];
for (let i = 0, n = 1; i < 4; i++, n *= 2) {
  out.push(await device.MathSkill.add({ a: n, b: i }));
}
return out;

//# do-while-pages {"intent":"page by page with do-while","result":[3,6],"calls":2}
let page = 0, total = 0, rows;
do {
  rows = page < 2 ? await device.CalendarMCP.list_events({ date: "2026-03-01" }) : [];
  total += rows.length;
  page++;
} while (rows.length > 0);
return [page, total];

//# entries-with-index {"intent":"entries() gives index and value","result":"0a,1b,2c","calls":0}
const out = [];
for (const [i, c] of ["a", "b", "c"].entries()) out.push(i + c);
return out.join();

//# for-await-promises {"intent":"for await over an array of promises","result":["Paris:18","London:15"],"calls":2}
const out = [];
for await (const f of ["Paris", "London"].map((city) => device.WeatherSkill.get_forecast({ city }))) {
  out.push(`${f.city}:${f.days[0].temp}`);
}
return out;

//# for-in-object {"intent":"for-in over an object","result":"ada=36;linus=28;","calls":0}
const ages = { ada: 36, linus: 28 };
let s = "";
for (const name in ages) s += `${name}=${ages[name]};`;
return s;

//# goes-to-operator {"intent":"while (n --> 0), which is no HTML comment","result":"43210","calls":0}
let n = 5, s = "";
while (n --> 0) s += n;
return s;

//# while-with-break {"intent":"retry until it works","result":{"attempts":3,"data":{"ok":true,"attempts":3}},"calls":3}
let attempts = 0;
let data;
while (true) {
  attempts++;
  try {
    data = await device.FlakySkill.fetch_data({});
    break;
  } catch (e) {
    if (attempts >= 5) throw e;
  }
}
return { attempts, data };
