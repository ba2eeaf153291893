//# deep-optional-access {"intent":"deep optional access","result":[true,"none",null,null],"calls":1,"tools":["FilesystemMCP.read_file"]}
const cfg = JSON.parse(await device.FilesystemMCP.read_file({ path: "/data/config.json" }));
return [cfg?.features?.beta, cfg?.missing?.deep?.value ?? "none", cfg.list?.[0], cfg.fn?.()];

//# a-skill-of-a-list {"intent":"optional calls of a skill that only the run knows","result":["Ada",null,3,3],"calls":3}
const skills = { users: device.UserSkill, math: device.MathSkill };
const pick = (name) => skills[name];
const users = pick("users"), none = pick("none"), math = pick("math");
return [users?.get(1).name.split(" ")[0], none?.get(1).name ?? null, math?.add(1, 2), math?.["add"]?.(1, 2) + 0];

//# calls-and-indexes {"intent":"optional calls, indexes and deletes","result":[8,null,1,null,"none",true,null],"calls":0}
const o = { f: (x) => x * 2, list: [{ n: 1 }], nul: null };
return [o.f?.(4), o.g?.(4), o.list?.[0]?.n, o.nul?.x.y.z, o.list?.[5]?.n ?? "none", delete o?.f, o?.f];

//# on-a-call {"intent":"optional chaining on the answer of a call","result":["unknown","GRACE"],"calls":2}
const name = (await device.UserSkill.get({ id: 12 }))?.name ?? "unknown";
const other = (await device.UserSkill.get({ id: 3 }))?.name?.toUpperCase?.();
return [name, other];

//# on-device {"intent":"optional chaining on device itself","result":42,"calls":1}
return await device?.MathSkill?.add?.({ a: 20, b: 22 });

//# short-circuit {"intent":"what follows a missing value is not evaluated","result":[true,0,10],"calls":0}
let n = 0;
const missing = undefined;
const v = missing?.[n++]?.(n++);
return [v === undefined, n, missing?.a ?? (n += 10)];
