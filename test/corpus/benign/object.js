//# entries-and-fromentries {"intent":"entries and fromEntries","result":{"BETA":false,"DARK":true},"calls":1,"tools":["FilesystemMCP.read_file"]}
const cfg = JSON.parse(await device.FilesystemMCP.read_file({ path: "/data/config.json" }));
return Object.fromEntries(Object.entries(cfg.features).map(([k, v]) => [k.toUpperCase(), !v]));

//# hasownproperty-and-in {"intent":"hasOwnProperty and in","result":[true,true,false,true],"calls":0}
const o = { a: undefined };
return [Object.hasOwn(o, "a"), "a" in o, "b" in o, o.hasOwnProperty("a")];

//# computed-and-numeric-keys {"intent":"computed, numeric and symbol keys keep their order","result":[["2","10","z","b1","a-b"],"{\"2\":\"two\",\"10\":\"ten\",\"z\":1,\"b1\":2,\"a-b\":3}","sym",3],"calls":0}
const k = "b";
const s = Symbol("s");
const o = { z: 1, [k + 1]: 2, 10: "ten", 2: "two", [s]: "sym", "a-b": 3 };
return [Object.keys(o), JSON.stringify(o), o[s], o["a-b"]];

//# freeze-and-copy {"intent":"freeze, spread, assign, structural copies","result":[1,true,{"a":3,"n":{"b":2}},{"a":1,"n":{"b":2},"c":4},true,false],"calls":0}
const base = Object.freeze({ a: 1, n: { b: 2 } });
let failed = false;
try { base.a = 2; } catch { failed = true; }
const copy = { ...base, a: 3 };
return [base.a, failed, copy, Object.assign({}, base, { c: 4 }), Object.isFrozen(base), Object.isFrozen(base.n)];

//# getters-and-methods {"intent":"accessors and methods of an object literal","result":["hi Grace H",["first","last","full","greet"]],"calls":0}
const o = {
  first: "Ada", last: "L",
  get full() { return `${this.first} ${this.last}`; },
  set full(v) { [this.first, this.last] = v.split(" "); },
  greet() { return "hi " + this.full; },
};
o.full = "Grace H";
return [o.greet(), Object.keys(o)];

//# nested-update {"intent":"an update deep inside without mutation","result":[false,{"beta":true,"dark":true},true,false],"calls":1}
const cfg = JSON.parse(await device.FilesystemMCP.read_file({ path: "/data/config.json" }));
const next = { ...cfg, features: { ...cfg.features, dark: true } };
return [cfg.features.dark, next.features, delete next.retries, "retries" in next];

//# property-descriptors {"intent":"defineProperty and descriptors","result":[["double"],2,["hidden","double"],false],"calls":0}
const o = {};
Object.defineProperty(o, "hidden", { value: 1, enumerable: false });
Object.defineProperty(o, "double", { get() { return this.hidden * 2; }, enumerable: true });
return [Object.keys(o), o.double, Object.getOwnPropertyNames(o), Object.getOwnPropertyDescriptor(o, "hidden").writable];

//# prototypes {"intent":"Object.create, getPrototypeOf, instanceof, null prototype","result":["Rex!",true,true,["constructor"],false],"calls":0}
const animal = { speak() { return this.name + "!"; } };
const dog = Object.create(animal, { name: { value: "Rex", enumerable: true } });
const bare = Object.create(null);
bare.constructor = 1;
return [dog.speak(), Object.getPrototypeOf(dog) === animal, animal.isPrototypeOf(dog), Object.keys(bare), bare instanceof Object];

//# spread-of-strings-and-nothing {"intent":"spread of null, false and lists in objects, of strings in lists","result":[{},["h","é"],[["0","a"],["1","b"]],{"0":1,"1":2}],"calls":0}
return [{ ...null, ...undefined, ...false }, [..."hé"], Object.entries("ab"), { ...[1, 2] }];

//# words-as-keys {"intent":"reserved words and builtin names as keys","result":66,"calls":0}
const o = { class: 1, default: 2, await: 3, async: 4, of: 5, get: 6, set: 7, static: 8, constructor: 9, eval: 10, arguments: 11 };
return o.class + o.default + o.await + o.async + o.of + o.get + o.set + o.static + o.constructor + o.eval + o.arguments;
