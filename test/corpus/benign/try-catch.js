//# handles-missing-file {"intent":"handles missing file","result":"missing: true","calls":1,"tools":["FilesystemMCP.read_file"]}
try {
  return await device.FilesystemMCP.read_file({ path: "/data/missing.txt" });
} catch (err) {
  return "missing: " + (err instanceof Error);
}

//# error-with-cause {"intent":"error with cause","result":"wrapped/true","calls":1,"tools":["MathSkill.divide"]}
try {
  try { await device.MathSkill.divide({ a: 1, b: 0 }); }
  catch (e) { throw new Error("wrapped", { cause: e }); }
} catch (e) {
  return e.message + "/" + (e.cause !== undefined);
}

//# catch-without-binding {"intent":"catch without a variable, nested","result":"json TypeError end","calls":0}
let out = "";
try {
  try { JSON.parse("{bad"); } catch { out += "json "; null.x; }
} catch (e) { out += e.constructor.name; } finally { out += " end"; }
return out;

//# errors-in-parallel-with-finally {"intent":"errors of parallel work are collected","result":{"done":[2,4],"errors":["divide"]},"calls":3}
const errors = [];
const done = [];
await Promise.all([2, 0, 4].map(async (b) => {
  try { done.push(await device.MathSkill.divide({ a: 8, b })); }
  catch (e) { errors.push(e.method ?? "?"); }
  finally { done.sort(); }
}));
return { done, errors };

//# facts-of-a-failed-call {"intent":"a failed call names its skill and its method","result":["string","CALL_FAILED","FilesystemMCP","read_file",true],"calls":1}
try {
  await device.FilesystemMCP.read_file({ path: "/data/none.txt" });
} catch ({ name, code, skill, method, message }) {
  return [typeof name, code, skill, method, message.includes("ENOENT")];
}

//# fallback-value {"intent":"a fallback for each failing read","result":["","fallback"],"calls":2}
const read = async (path, otherwise) => {
  try { return await device.FilesystemMCP.read_file({ path }); } catch { return otherwise; }
};
return [await read("/data/empty.txt", "x"), await read("/data/gone.txt", "fallback")];

//# finally-runs {"intent":"finally after return and after throw","result":["try","catch",[true,false]],"calls":0}
const log = [];
async function f(ok) {
  try { if (!ok) throw new Error("no"); return "try"; }
  catch (e) { return "catch"; }
  finally { log.push(ok); }
}
return [await f(true), await f(false), log];

//# message-of-a-failed-call {"intent":"the message of a failed call says why","result":true,"calls":1}
try {
  await device.MathSkill.divide({ a: 1, b: 0 });
} catch (e) {
  return /division by zero/i.test(e.message) && typeof e.stack === "string";
}

//# rethrow-by-type {"intent":"errors by class, rethrown when unknown","result":"NotFound: user 77","calls":1}
class NotFound extends Error { constructor(m) { super(m); this.name = "NotFound"; } }
async function find(id) {
  const user = await device.UserSkill.get({ id });
  if (user === null) throw new NotFound(`user ${id}`);
  return user.name;
}
try { await find(77); } catch (e) {
  if (!(e instanceof NotFound)) throw e;
  return `${e}`;
}

//# retry-with-backoff {"intent":"a retry helper with a growing delay","result":3,"calls":1}
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function retry(fn, attempts = 3) {
  let last;
  for (let attempt = 0; attempt < attempts; attempt++) {
    try {
      return await fn();
    } catch (error) {
      last = error;
      await sleep(2 ** attempt);
    }
  }
  throw last;
}
await retry(() => device.MathSkill.add({ a: 1, b: 2 }))

//# secrets-do-not-reach-the-snippet {"intent":"the message of a failed call has no secrets of the host in it","result":[],"calls":1}
const e = await device.TestSkill.fail({ message: "no answer" }).catch((x) => x);
const text = [e.message, e.stack, String(e), JSON.stringify(Object.getOwnPropertyDescriptors(e))].join("\n");
return ["canary-pw", "pg://admin", "/srv/canary-host", "db.js", "sk-canary"].filter((s) => text.includes(s));

//# tool-says-no {"intent":"a refused host is an error that can be caught","result":[200,true],"calls":2}
const out = [];
for (const url of ["https://api.example.com/v1/ping", "https://evil.example/x"]) {
  try { out.push((await device.HttpSkill.get({ url })).status); }
  catch (e) { out.push(e.message.includes("not allowed")); }
}
return out;
