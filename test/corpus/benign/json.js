//# parse-file-and-stringify {"intent":"parse file and stringify","result":"{\"retries\":4,\"timeoutMs\":1500,\"features\":{\"beta\":true,\"dark\":false}}","calls":1,"tools":["FilesystemMCP.read_file"]}
const cfg = JSON.parse(await device.FilesystemMCP.read_file({ path: "/data/config.json" }));
cfg.retries += 1;
return JSON.stringify(cfg);

//# deep-copy-and-compare {"intent":"copies and comparisons by JSON","result":["Ada",false,[1000,-0.5,true,null,"A"]],"calls":1}
const users = JSON.parse(await device.FilesystemMCP.read_file({ path: "/data/users.json" }));
const copy = JSON.parse(JSON.stringify(users));
copy[0].name = "X";
return [users[0].name, JSON.stringify(users) === JSON.stringify(copy), JSON.parse("[1e3, -0.5, true, null, \"\\u0041\"]")];

//# five-thousand-objects {"intent":"a large round trip through JSON","result":[5000,"user 4999",237781],"calls":0}
const rows = Array.from({ length: 5000 }, (_, id) => ({ id, name: "user " + id, tags: ["a", "b"] }));
const back = JSON.parse(JSON.stringify(rows));
return [back.length, back[4999].name, JSON.stringify(back).length];

//# keep-proto-key-as-data {"intent":"a key __proto__ in JSON is data","result":[["__proto__","a"],true,"{\"__proto__\":{\"x\":1},\"a\":2}"],"calls":0}
const o = JSON.parse('{"__proto__": {"x": 1}, "a": 2}');
return [Object.keys(o), o.x === undefined, JSON.stringify(o)];

//# replacer-and-reviver {"intent":"replacer, reviver, indentation","result":["{\n  \"a\": 1,\n  \"d\": {\n    \"n\": [\n      1,\n      2\n    ]\n  }\n}",{"when":2026,"n":1},"{\"b\":2}","[null,null,null]"],"calls":0}
const text = JSON.stringify({ a: 1, secret: 2, d: { n: [1, 2] } }, (k, v) => (k === "secret" ? undefined : v), 2);
const back = JSON.parse('{"when":"2026-03-01T00:00:00.000Z","n":1}', (k, v) => (k === "when" ? new Date(v).getUTCFullYear() : v));
return [text, back, JSON.stringify({ a: 1, b: 2 }, ["b"]), JSON.stringify([undefined, () => 1, NaN])];

//# to-json-and-errors {"intent":"toJSON of a class, errors of JSON.parse","result":["{\"m\":\"5 EUR\"}","SyntaxError","\"\u2028\\\"é\\u0007\"",true],"calls":0}
class Money { constructor(n) { this.n = n; } toJSON() { return `${this.n} EUR`; } }
let name;
try { JSON.parse("{'a': 1}"); } catch (e) { name = e.name; }
return [JSON.stringify({ m: new Money(5) }), name, JSON.stringify("\u2028\"é\u0007"), JSON.stringify(undefined) === undefined];
