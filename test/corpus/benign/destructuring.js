//# nested-object {"intent":"nested object","result":7,"calls":1,"tools":["WeatherSkill.get_forecast"]}
const { days: [{ temp }] } = await device.WeatherSkill.get_forecast({ city: "Oslo" });
return temp;

//# object-rest {"intent":"object rest","result":{"id":1,"name":"Ada","age":36},"calls":1,"tools":["UserSkill.get"]}
const { email, ...pub } = await device.UserSkill.get({ id: 1 });
return pub;

//# computed-keys {"intent":"computed keys and nested defaults","result":[25.5,"none"],"calls":1}
const key = "total";
const [{ [key]: total, note: { text = "none" } = {} }] = await device.DatabaseMCP.query({ sql: "select * from orders" });
return [total, text];

//# defaults-and-renames {"intent":"default values and new names","result":["Paris","C","calm"],"calls":1}
const { city: place, unit = "F", wind = "calm" } = await device.WeatherSkill.get_forecast({ city: "Paris" });
return [place, unit, wind];

//# loop-heads {"intent":"patterns in loop heads","result":["Ada<ada>","Linus<linus>","Grace<grace>","a1"],"calls":1}
const users = await device.DatabaseMCP.query({ sql: "select * from users" });
const out = [];
for (const { name, email: mail } of users) out.push(`${name}<${mail.split("@")[0]}>`);
for (const [k, { n }] of Object.entries({ a: { n: 1 } })) out.push(k + n);
return out;

//# methods-from-skills {"intent":"methods taken from a skill by destructuring","result":15,"calls":2}
const { add, multiply: times } = device.MathSkill;
return await times({ a: await add({ a: 1, b: 2 }), b: 5 });

//# of-awaited-all {"intent":"patterns over Promise.all","result":"Ada, Design review, 12:00","calls":3}
const [{ name }, [, { title }], now] = await Promise.all([
  device.UserSkill.get({ id: 1 }),
  device.CalendarMCP.list_events({ date: "2026-03-01" }),
  device.TimeSkill.now({}),
]);
return `${name}, ${title}, ${now.slice(11, 16)}`;

//# parameters {"intent":"patterns as parameters","result":"Linus/28/x/2?/0/undefined/0","calls":1}
const fmt = ({ name, age: years = 0 }, [first, ...others] = []) => `${name}/${years}/${first}/${others.length}`;
const user = await device.UserSkill.get({ id: 2 });
return fmt(user, ["x", "y", "z"]) + fmt({ name: "?" });

//# skills-from-device {"intent":"skills taken from device by destructuring","result":"N=3","calls":2}
const { MathSkill, TextSkill: text } = device;
const n = await MathSkill.add({ a: 1, b: 2 });
return (await text.uppercase({ text: "n=" })) + n;

//# swap-and-skip {"intent":"swap, skipped elements, rest of an array","result":{"a":9,"b":1,"rest":[4,5]},"calls":0}
let [a, , b = 9, ...rest] = [1, 2, undefined, 4, 5];
[a, b] = [b, a];
return { a, b, rest };
