//# getter-in-the-argument-with-a-second-value-on-second {"intent":"getter in the argument with a second value on second read (TOCTOU)","end":"completed"}
let n = 0;
return await device.FilesystemMCP.read_file({ get path() { return n++ === 0 ? "/data/notes.txt" : "/etc/passwd"; } });

//# valueof-object-where-a-number-is-expected {"intent":"valueOf object where a number is expected","end":"refused"}
return await device.MathSkill.add({ a: { valueOf: () => 1 }, b: 2 });

//# prototype-pollution-through-a-key-value-store {"intent":"prototype pollution through a key/value store","end":"completed"}
await device.KVSkill.set({ key: "__proto__", value: { polluted: 1 } });
return await device.KVSkill.get({ key: "toString" });

//# control-characters-that-grow-six-times-in-json {"intent":"control characters that grow six times in JSON","end":"limit"}
return (await device.TestSkill.echo({ value: "\u0001".repeat(4000000) })).length;

//# sparse-array-of-length-4e9 {"intent":"sparse array of length 4e9","end":"limit"}
const a = []; a.length = 4000000000;
return await device.TestSkill.echo({ value: a });

//# path-traversal-text {"intent":"path traversal text","end":"CALL_FAILED"}
return await device.FilesystemMCP.read_file({ path: "/data/../../etc/passwd" });

//# missing-parameters {"intent":"missing parameters","end":"refused"}
return await device.MathSkill.add({ a: 1 });

//# tojson-that-recurses-into-the-same-tool {"intent":"toJSON that recurses into the same tool","end":"limit"}
const o = { toJSON() { device.TestSkill.echo({ value: o }); return 1; } };
return await device.TestSkill.echo({ value: o });

//# huge-number-of-keys {"intent":"huge number of keys","end":"limit"}
const o = {}; for (let i = 0; i < 200000; i++) o["k" + i] = i;
return Object.keys(await device.TestSkill.echo({ value: o })).length;

//# big-integers-and-symbols {"intent":"BigInt, symbols and functions as values","end":"completed"}
const out = [];
for (const value of [2n ** 80n, Symbol("x"), () => 1, -0, undefined]) { try { out.push(String(await device.TestSkill.echo({ value }))); } catch (e) { out.push(e.name); } }
return out;

//# cyclic-argument {"intent":"an object that holds itself","end":"THROWN"}
const o = { list: [] }; o.list.push(o);
return await device.TestSkill.echo({ value: o });

//# deep-argument {"intent":"an argument a hundred thousand lists deep","end":"limit"}
let v = []; for (let i = 0; i < 100000; i++) v = [v];
return await device.TestSkill.echo({ value: v });

//# getter-that-throws {"intent":"getters of arguments throw, loop and call","end":"completed"}
const out = [];
for (const o of [{ get a() { throw new Error("getter"); }, b: 1 }, { get a() { device.TestSkill.counter({}); return 1; }, b: 1 }]) { try { out.push(await device.MathSkill.add(o)); } catch (e) { out.push(e.message); } }
return out;

//# getter-that-waits {"intent":"a getter of an argument blocks for another call","end":"completed"}
const o = { get value() { return device.TestSkill.echo({ value: 1 }) + 1; } };
return await device.TestSkill.echo(o);

//# inherited-arguments {"intent":"arguments that are inherited, not own","end":"ARGUMENTS_INVALID"}
return await device.MathSkill.add(Object.create({ a: 1, b: 2 }));

//# not-a-number-and-infinity {"intent":"NaN and Infinity where numbers are wanted","end":"ARGUMENTS_INVALID"}
return await device.MathSkill.add({ a: NaN, b: Infinity });

//# nul-from-a-call {"intent":"NUL and lone surrogates go there and back","end":"completed"}
const a = await device.TestSkill.nul({});
const b = await device.TestSkill.echo({ value: "\ud800x\udfff" });
return [a.length, b.length, (await device.TestSkill.echo({ value: "\0\0" })).length];

//# nul-in-a-path {"intent":"a NUL that cuts the path in C","end":"CALL_FAILED"}
return await device.FilesystemMCP.read_file({ path: "/data/notes.txt\0/../../etc/passwd" });

//# null-for-required {"intent":"null and undefined for required parameters","end":"refused"}
await device.MathSkill.add({ a: null, b: 1 });
return await device.UserSkill.get({ id: undefined });

//# number-edges {"intent":"numbers at the edges of doubles","end":"completed"}
const out = [];
for (const [a, b] of [[1e308, 1e308], [-0, 0], [5e-324, 0], [2 ** 53, 1], [Number.MIN_VALUE, -Number.MAX_VALUE]]) { try { out.push(String(await device.MathSkill.add({ a, b }))); } catch (e) { out.push(e.code); } }
return out;

//# paths-and-addresses {"intent":"traversal, encoded dots, other schemes and user names in addresses","end":"completed"}
const out = [];
for (const path of ["..", "/data/..%2f..%2fetc/passwd", "/data/%2e%2e/x", "file:///etc/passwd", "\\\\host\\x", "/proc/self/environ"]) { try { await device.FilesystemMCP.read_file({ path }); out.push(path); } catch { } }
for (const url of ["https://api.example.com@evil.example/", "https://api.example.com.evil.example/", "http://169.254.169.254/", "file:///etc/passwd"]) { try { await device.HttpSkill.get({ url }); out.push(url); } catch { } }
return out;

//# proto-as-parameter-name {"intent":"arguments by the name of __proto__","end":"ARGUMENTS_INVALID"}
return await device.MathSkill.add(JSON.parse('{"__proto__": {"a": 1, "b": 2}}'));

//# proto-key-in-a-literal {"intent":"__proto__, constructor and prototype as keys of arguments","end":"completed"}
const r = await device.TestSkill.echo({ value: JSON.parse('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}') });
return [({}).isAdmin === undefined, Object.keys(r)];

//# proxy-argument {"intent":"a proxy whose keys change from look to look","end":"completed"}
let n = 0;
const p = new Proxy({}, { ownKeys: () => (n++ % 2 ? ["path"] : ["path", "x"]), getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }), get: (_, k) => (k === "path" ? (n++ > 3 ? "/etc/passwd" : "/data/notes.txt") : undefined) });
return await device.FilesystemMCP.read_file(p);

//# shared-parts-that-explode {"intent":"a graph of 2^28 paths","end":"limit"}
let v = ["x"]; for (let i = 0; i < 28; i++) v = [v, v];
return await device.TestSkill.echo({ value: v });

//# string-objects-and-subclasses {"intent":"String objects, subclasses of arrays, arguments objects, typed arrays","end":"completed"}
class L extends Array { toJSON() { return "not a list"; } }
const out = [];
for (const value of [new String("/data/notes.txt"), L.from([1]), (function () { return arguments; })(1, 2), new Uint8Array(3), new Float32Array(2), new Date(NaN), /x/, new Error("e"), new WeakMap()]) { try { out.push(JSON.stringify(await device.TestSkill.echo({ value })) ?? null); } catch (e) { out.push(e.name); } }
return out;

//# tags-of-the-wire {"intent":"objects that look like the tags of the wire","end":"refused"}
const out = [];
for (const value of [{ $bytes: "AAAA" }, { $bytes: "!!" }, { $bytes: 5 }, { $date: "2026-01-01" }, { $date: {} }, { $undefined: 1 }, [{ $undefined: 1 }]]) { try { out.push(JSON.stringify(await device.TestSkill.echo({ value })) ?? "undefined"); } catch (e) { out.push(e.name); } }
try { out.push(await device.MathSkill.add({ $undefined: 1 }, { $undefined: 1 })); } catch (e) { out.push(e.code); }
return out;

//# to-json-changes-the-path {"intent":"toJSON gives another value than the object shows","end":"refused"}
const o = { path: "/data/notes.txt", toJSON() { return { path: "/data/../etc/passwd" }; } };
return await device.FilesystemMCP.read_file(o);

//# to-json-never-ends {"intent":"toJSON of an argument loops for ever","end":"limit"}
return await device.TestSkill.echo({ value: { toJSON() { for (;;) {} } } });

//# too-many-values {"intent":"more values than parameters","end":"refused"}
return await device.MathSkill.add(1, 2, 3);

//# two-megabytes-of-text {"intent":"an argument beyond its limit, caught and tried again","end":"limit"}
let n = 0; for (let i = 0; i < 50; i++) { try { await device.TestSkill.echo({ value: "x".repeat(2000000) }); } catch { n++; } }
throw new Error("refused " + n);

//# unknown-parameter {"intent":"a parameter that does not exist, beside those that do","end":"refused"}
return await device.FilesystemMCP.read_file({ path: "/data/notes.txt", encoding: "utf8", admin: true });

//# wrong-type-at-run-time {"intent":"a text for a number that is only known at run time","end":"ARGUMENTS_INVALID"}
const ids = JSON.parse('["1; DROP TABLE users"]');
return await device.UserSkill.get({ id: ids[0] });

//# wrong-types {"intent":"a text for a number, a number for a text, a list for an object","end":"refused"}
await device.MathSkill.add({ a: "1", b: 2 });
await device.FilesystemMCP.read_file({ path: 5 });
return await device.MathSkill.sum({ numbers: "1,2,3" });

//# options-of-a-format {"intent":"getters, proxies and long texts as the options of a format","end":"completed"}
const tries = [
  { get weekday() { throw new Error("read"); } },
  new Proxy({}, { get: () => "long" }),
  { timeZone: "A".repeat(1e6) },
  { timeZone: "../../etc/passwd" },
  { calendar: "\0" },
  { weekday: { toString: () => "long" } },
];
return tries.map((options) => { try { return new Date(0).toLocaleDateString("en", options); } catch (error) { return error.name; } });
