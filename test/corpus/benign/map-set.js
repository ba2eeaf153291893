//# map-counting-words {"intent":"Map counting words","result":["the",3],"calls":0}
const text = "the cat the dog the end";
const m = new Map();
for (const w of text.split(" ")) m.set(w, (m.get(w) ?? 0) + 1);
return [...m.entries()].sort((a, b) => b[1] - a[1])[0];

//# group-into-map {"intent":"group rows into a Map of lists","result":[{"user":1,"ids":[10,12]},{"user":2,"ids":[11]}],"calls":1}
const orders = await device.DatabaseMCP.query({ sql: "select * from orders" });
const byUser = new Map();
for (const o of orders) (byUser.get(o.user_id) ?? byUser.set(o.user_id, []).get(o.user_id)).push(o.id);
return [...byUser].map(([user, ids]) => ({ user, ids }));

//# object-keys-and-weak {"intent":"objects as keys, WeakMap and WeakSet","result":["B",1,false,true,1,true],"calls":0}
const a = {}, b = {};
const m = new Map([[a, "A"], [b, "B"]]);
const w = new WeakMap([[a, 1]]);
const seen = new WeakSet();
seen.add(b);
return [m.get(b), w.get(a), w.has(b), seen.has(b), new Map([[NaN, 1]]).get(NaN), m.get({}) === undefined];

//# operations {"intent":"Map and Set from end to end","result":[[["b",2],["c",3]],2,false,[1,2,3,"b2","c3"],[2,3],{"b":2,"c":3},"b,c"],"calls":0}
const m = new Map([["a", 1], ["b", 2]]);
m.set("c", 3).delete("a");
const s = new Set([1, 2, 3, 2]);
const both = [...s].filter((x) => new Set([2, 3, 4]).has(x));
m.forEach((v, k) => s.add(k + v));
return [[...m], m.size, m.has("a"), [...s], both, Object.fromEntries(m), [...m.keys()].join()];

//# set-methods {"intent":"union, intersection, difference of sets","result":[[1,2,3,4],[3],[1,2],false,[1,2,4]],"calls":0}
const a = new Set([1, 2, 3]), b = new Set([3, 4]);
return [[...a.union(b)], [...a.intersection(b)], [...a.difference(b)], a.isSubsetOf(b), [...a.symmetricDifference(b)]];
