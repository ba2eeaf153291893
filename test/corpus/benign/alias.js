//# alias-of-one-skill {"intent":"alias of one skill","result":11,"calls":1,"tools":["MathSkill.add"]}
const math = device.MathSkill;
return await math.add({ a: 10, b: 1 });

//# a-method-as-argument {"intent":"a method is handed to a function of the snippet","result":[1,2],"calls":2}
const twice = async (fn, args) => [await fn(args), await fn(args)];
return await twice(device.TestSkill.counter, {});

//# a-method-as-callback {"intent":"a method is handed to map","result":[3,7],"calls":2}
const sums = await Promise.all([{ a: 1, b: 2 }, { a: 3, b: 4 }].map(device.MathSkill.add));
return sums;

//# a-method-in-an-object {"intent":"methods as values of an object","result":[3,12],"calls":2}
const ops = { plus: device.MathSkill.add, times: (a, b) => device.MathSkill.multiply({ a, b }) };
return [await ops.plus({ a: 1, b: 2 }), await ops.times(3, 4)];

//# a-method-in-then {"intent":"a method is handed to then","result":42,"calls":1}
return await Promise.resolve({ a: 40, b: 2 }).then(device.MathSkill.add);

//# a-method {"intent":"a method under another name","result":17,"calls":1}
const read = device.FilesystemMCP.read_file;
return (await read({ path: "/data/notes.txt" })).length;

//# device-as-a-parameter-on-the-spot {"intent":"device is handed to a function that is called on the spot","result":6,"calls":1}
(async ({ MathSkill }) => {
  const sum = MathSkill.add(1, 2);
  return sum * 2;
})(device)

//# device-as-a-parameter {"intent":"device is handed to functions","result":["Ada","Linus"],"calls":2}
async function nameOf(device, id) {
  const user = await device.UserSkill.get(id);
  return user.name;
}
async function main({ device }) {
  return [await nameOf(device, 1), await nameOf(device, 2)];
}
main({ device })

//# device-itself {"intent":"device under another name","result":9,"calls":1}
const d = device;
return await d.MathSkill.add({ a: 4, b: 5 });

//# method-chosen-by-a-condition {"intent":"one of two methods is chosen, a retry gets one","result":[2,3],"calls":4}
const op = 2 > 1 ? device.MathSkill.subtract : device.MathSkill.add;
const retry = async (fn, times = 4) => {
  for (let i = 1; ; i++) {
    try { return await fn({}); } catch (e) { if (i === times) throw e; }
  }
};
return [await op({ a: 5, b: 3 }), (await retry(device.FlakySkill.fetch_data)).attempts];

//# methods-in-a-map {"intent":"methods in a Map, and nobody awaits","result":6,"calls":2}
const ways = new Map([["add", device.MathSkill.add], ["sub", device.MathSkill.subtract]]);
let total = 0;
for (const way of ["add", "sub"]) total += ways.get(way)(3, 1);
total

//# methods-in-an-object-without-await {"intent":"methods of one object, some awaited and some used as values","result":["Ada",3,3],"calls":3}
const tools = { add: device.MathSkill.add, user: device.UserSkill.get };
const sum = Promise.all([tools.add(1, 2)]);
const user = tools["us" + "er"](1);
return [user.name, (await sum)[0], tools.add(1, 2) + 0];

//# own-object-with-the-name-of-a-method {"intent":"own objects have a member of the same name as the method of a skill in a list","result":[3,">x1",2],"calls":1}
const math = [device.MathSkill][0];
const log = { prefix: ">", add(n, text) { return this.prefix + text + n; } };
const set = new Set();
for (const n of [1, 2]) set.add(n);
[math.add(1, 2) + 0, log.add(1, "x"), set.size]

//# skill-and-method-as-parameters {"intent":"a skill and the name of its method as parameters, and nobody awaits","result":["Ada","yes","no"],"calls":3}
const call = (skill, method, ...args) => skill[method](...args);
function known({ users }, id) { const user = users.get(id); return user === null ? "no" : "yes"; }
[call(device.UserSkill, "get", 1).name, known({ users: device.UserSkill }, 1), known({ users: device.UserSkill }, 999)]

//# skill-as-a-parameter {"intent":"a skill is handed to a function, spread and kept in an object","result":[2,"X",10],"calls":3}
async function withMath(math, n) { return await math.add({ a: n, b: 1 }); }
const box = { text: device.TextSkill };
const copy = { ...device.MathSkill };
return [await withMath(device.MathSkill, 1), await box.text.uppercase({ text: "x" }), await copy.add({ a: 5, b: 5 })];

//# skill-in-a-field {"intent":"a skill in a field of a class, and nobody awaits","result":"Ada","calls":1}
class Api {
  constructor(skill) { this.skill = skill; }
  name(id) { return this.skill.get(id).name; }
}
new Api(device.UserSkill).name(1)

//# skills-in-a-list {"intent":"skills in a list, called in a callback, and nobody awaits","result":[["Ada","Ada"],4],"calls":3}
const names = [device.UserSkill, device.UserSkill].map((skill) => skill.get(1).name);
return [names, [device.MathSkill].map((math) => math.add(1, 2))[0] + 1];

//# steps-of-a-pipeline {"intent":"methods in a list of steps","result":2,"calls":2}
const steps = [device.TextSkill.uppercase, (text) => ({ text: text + " B" }), device.TextSkill.word_count];
let value = { text: "a" };
for (const step of steps) value = await step(value);
return value;
