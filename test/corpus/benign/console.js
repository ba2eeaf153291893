//# logging-while-working {"intent":"logging while working","result":3,"calls":1,"tools":["MathSkill.add"]}
console.log("starting");
const v = await device.MathSkill.add({ a: 1, b: 2 });
console.log("value", v, { nested: [1, 2] });
return v;

//# as-a-callback {"intent":"console.log as a callback","result":3,"calls":1}
[1, 2].forEach(console.log);
["a"].map((x) => print(x));
return await device.MathSkill.add({ a: 1, b: 2 }).then((v) => { console.log(v); return v; });

//# as-the-last-expression {"intent":"printing is the last expression","result":null,"calls":1}
const v = await device.MathSkill.add({ a: 1, b: 2 });
console.log("The sum is", v);

//# every-method {"intent":"all methods of the console","result":"ok","calls":0}
console.log("%s is %d", "x", 5);
console.info("info"); console.warn("warn"); console.error(new Error("shown")); console.debug({ deep: { er: [1] } });
console.table([{ a: 1, b: 2 }, { a: 3, b: 4 }]);
console.group("g"); console.log(null, undefined, true, Symbol("s"), 10n); console.groupEnd();
console.time("t"); console.timeEnd("t"); console.count(); console.count("c"); console.assert(1 === 2, "assert"); console.dir([1, [2]]);
console.log(new Map([[1, { a: 2 }]]), new Set([1]), [undefined, , null], () => 1, class A {}, new Date(0), /x/g);
return "ok";

//# formats-and-circular-values {"intent":"format marks, circular values, long lists, errors with causes","result":2,"calls":0}
const o = { name: "o" };
o.self = o;
console.log("%s %i %f %j %o %O %% %c", "s", 4.5, 1.5, { a: 1 }, [1], { b: { c: { d: { e: 1 } } } }, "css");
console.log(o, Array.from({ length: 200 }, (_, i) => i), new Error("outer", { cause: new Error("inner") }));
console.error("failed:", null); console.trace("here"); console.groupCollapsed; console.timeLog?.("none");
return Object.keys(o).length;
