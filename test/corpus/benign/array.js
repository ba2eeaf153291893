//# filter-map-reduce {"intent":"filter map reduce","result":81,"calls":1,"tools":["DatabaseMCP.query"]}
const users = await device.DatabaseMCP.query({ sql: "SELECT * FROM users" });
return users.filter(u => u.age > 30).map(u => u.age).reduce((s, x) => s + x, 0);

//# array-from-with-length {"intent":"Array.from with length","result":[0,1,4,9,16],"calls":0}
return Array.from({ length: 5 }, (_, i) => i * i);

//# computed-index-access-in-a-loop {"intent":"computed index access in a loop","result":"ALG","calls":1,"tools":["DatabaseMCP.query"]}
const rows = await device.DatabaseMCP.query({ sql: "select * from users" });
let out = "";
for (let i = 0; i < rows.length; i++) out += rows[i]["name"][0];
return out;

//# find-and-search {"intent":"find, findLast, indexOf, includes, at","result":[12,44,2,2,4,false,130],"calls":0}
const a = [5, 12, 8, 130, 44];
return [a.find((x) => x > 10), a.findLast((x) => x > 10), a.findIndex((x) => x === 8), a.findLastIndex((x) => x < 10), a.indexOf(44), a.includes(7), a.at(-2)];

//# flat-and-unique {"intent":"flat, flatMap, Set, chunks","result":[[1,2,3,4],[1,10,2,20],[1,2],[[1,2],[3,4],[5]]],"calls":0}
const chunk = (l, n) => l.length ? [l.slice(0, n), ...chunk(l.slice(n), n)] : [];
return [[1, [2, [3, [4]]]].flat(Infinity), [1, 2].flatMap((x) => [x, x * 10]), [...new Set([1, 1, 2])], chunk([1, 2, 3, 4, 5], 2)];

//# group-and-sum {"intent":"group by hand with reduce","result":{"EU":150,"US":250,"APAC":300},"calls":1}
const csv = await device.FilesystemMCP.read_file({ path: "/data/sales.csv" });
const [, ...rows] = csv.trim().split("\n").map((l) => l.split(","));
return rows.reduce((acc, [, region, amount]) => ({ ...acc, [region]: (acc[region] ?? 0) + Number(amount) }), {});

//# group-by-builtin {"intent":"Object.groupBy and Map.groupBy","result":[["Ada","Grace"],1,["apple","avocado"]],"calls":1}
const users = await device.DatabaseMCP.query({ sql: "select * from users" });
const groups = Object.groupBy(users, (u) => (u.age >= 36 ? "old" : "young"));
const byLetter = Map.groupBy(["apple", "avocado", "beet"], (w) => w[0]);
return [groups.old.map((u) => u.name), groups.young.length, byLetter.get("a")];

//# holes-and-lengths {"intent":"holes, length, delete","result":[5,false,[3],["2"],2],"calls":0}
const a = [1, , 3];
a.length = 5;
delete a[0];
return [a.length, 1 in a, a.filter(() => true), Object.keys(a), [, 1].map((x) => 2).length];

//# iterators {"intent":"keys, values, entries and spread","result":[[0,1],["x","y"],[[0,"x"],[1,"y"]],["h","é","l","l","o"],[7,8]],"calls":0}
const a = ["x", "y"];
return [[...a.keys()], [...a.values()], [...a.entries()], Array.from("héllo"), Array.of(7, 8)];

//# join-tables {"intent":"join two tables by a key","result":[{"name":"Ada","spent":35.5},{"name":"Linus","spent":100},{"name":"Grace","spent":0}],"calls":2}
const [users, orders] = await Promise.all([
  device.DatabaseMCP.query({ sql: "SELECT * FROM users" }),
  device.DatabaseMCP.query({ sql: "SELECT * FROM orders" }),
]);
return users.map((u) => ({ name: u.name, spent: orders.filter((o) => o.user_id === u.id).reduce((s, o) => s + o.total, 0) }));

//# numeric-and-text-sort {"intent":"comparators and the default order","result":[[1,10,9],[1,9,10],["C","a","b"],["a","c","b"]],"calls":0}
return [[10, 9, 1].sort(), [10, 9, 1].sort((a, b) => a - b), ["b", "a", "C"].sort(), [{ n: 2, k: "a" }, { n: 1, k: "b" }, { n: 2, k: "c" }].sort((x, y) => y.n - x.n).map((o) => o.k)];

//# reduce-right-and-join {"intent":"reduceRight, join, toString, some, every","result":["cba","1,2,3","--1",true,false],"calls":0}
return [["a", "b", "c"].reduceRight((s, x) => s + x), [1, [2, 3]].toString(), [null, undefined, 1].join("-"), [].every((x) => false), [].some((x) => true)];

//# sort-copies {"intent":"toSorted, toReversed, with, toSpliced leave the original","result":[[1,2,3],[2,1,3],[3,9,2],[1,2],[3,1,2]],"calls":0}
const a = [3, 1, 2];
return [a.toSorted(), a.toReversed(), a.with(1, 9), a.toSpliced(0, 1), a];

//# splice-slice-fill {"intent":"splice, slice, fill, copyWithin, reverse","result":[[2,3],[1,"x","y","z",4,5],[4,5],[0,0,0],[3,4,3,4],[2,1]],"calls":0}
const a = [1, 2, 3, 4, 5];
const cut = a.splice(1, 2, "x", "y", "z");
return [cut, a, a.slice(-2), new Array(3).fill(0), [1, 2, 3, 4].copyWithin(0, 2), [1, 2].reverse()];

//# twenty-thousand-elements {"intent":"sorting and summing many elements","result":[0,10006,20010,200112368],"calls":0}
const a = Array.from({ length: 20000 }, (_, i) => (i * 7919) % 20011);
a.sort((x, y) => x - y);
return [a[0], a[10000], a.at(-1), a.reduce((s, x) => s + x, 0)];
