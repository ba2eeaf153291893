//# bracket-access-with-a-literal-skill-name {"intent":"bracket access with a literal skill name","result":2,"calls":1,"tools":["MathSkill.add"]}
return await device["MathSkill"]["add"]({ a: 1, b: 1 });

//# method-with-brackets {"intent":"brackets with literals of every kind","result":6,"calls":3}
const a = await device["MathSkill"].add({ "a": 1, ["b"]: 2 });
const b = await device.MathSkill['subtract']({ a, b: 1 });
return await device[`MathSkill`][`multiply`]({ a, b });

//# names-that-constants-hold {"intent":"skill and method names in constants","result":[3,"Ada",6],"calls":3}
const SKILL = "MathSkill", METHOD = 'add', USERS = `UserSkill`;
const { [USERS]: users } = device;
const first = device[SKILL][METHOD](1, 2);
function later() { return device[SKILL][OTHER]({ a: 2, b: 3 }); }
const OTHER = "multiply";
return [first, users.get(1).name.split(" ")[0], later()];

//# own-objects {"intent":"computed access to own objects","result":8,"calls":0}
const handlers = { add: (x) => x + 1, double: (x) => x * 2 };
return ["add", "double"].reduce((v, name) => handlers[name](v), 3);
