//# local-names-that-look-special-but-are-fine {"intent":"local names that look special but are fine","result":7,"calls":0}
const process = (x) => x + 1;
const require = 3, module = { exports: 1 }, window = "w", global = 1;
return process(require) + module.exports + window.length + global;

//# names-of-globals {"intent":"local names that are globals elsewhere","result":["got x",1,"/data",[1],2,[3],4,3,"nseme",3,"here",[],"t"],"calls":0}
const fetch = (u) => "got " + u, open = 1, path = "/data", data = [1], time = 2, list = [3], input = 4, sum = (a, b) => a + b;
let name = "n", status = "s", event = "e", self = "me", top = 1, parent = 2, location = "here", history = [], document = { title: "t" };
return [fetch("x"), open, path, data, time, list, input, sum(1, 2), name + status + event + self, top + parent, location, history, document.title];

//# names-of-other-systems {"intent":"local variables named like objects of other systems","result":[2,"js",5,2],"calls":0}
const tools = ["hammer", "saw"];
const skills = [{ name: "js" }], functions = { run: () => 5 }, api = { get: (x) => x + 1 };
return [tools.length, skills[0].name, functions.run(), api.get(1)];

//# names-of-skills {"intent":"local variables named like skills","result":[12,"Ada"],"calls":1}
const MathSkill = { add: (a, b) => a * b };
const UserSkill = device.UserSkill;
return [MathSkill.add(3, 4), (await UserSkill.get({ id: 1 })).name];

//# own-print {"intent":"a function print of the snippet's own","result":["[a]","[2]"],"calls":0}
const out = [];
function print(x) { out.push("[" + x + "]"); }
print("a"); print(2);
return out;

//# parameters-and-catch-variables {"intent":"special names as parameters, labels and in catch","result":["1,2,3","e",3,"x"],"calls":0}
const run = (process, global, module) => [process, global, module].join();
try { throw new Error("e"); } catch (console) { var m = console.message; }
eval_: for (const require of [1]) { if (require) break eval_; }
const o = { eval: 1, import: 2, process: { env: { HOME: "x" } } };
return [run(1, 2, 3), m, o.eval + o.import, o.process.env.HOME];

//# shadowed-device {"intent":"device as a parameter is another object","result":"lamp!72","calls":1}
const f = (device) => device.name + device.AdminSkill;
const g = ({ device }) => device;
return f({ name: "lamp", AdminSkill: "!" }) + g({ device: 7 }) + (await device.MathSkill.add({ a: 1, b: 1 }));

//# typeof-of-what-is-not-there {"intent":"typeof asks for names that other systems have","result":["undefined",true,"no net","undefined","undefined"],"calls":0}
return [typeof require, typeof process === "undefined", typeof fetch === "function" ? "net" : "no net", typeof window, typeof undefinedName];
