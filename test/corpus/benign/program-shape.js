//# arrow-program {"intent":"an arrow function is the whole program","result":{"n":3},"calls":1}
async () => {
  const n = await device.MathSkill.add({ a: 1, b: 2 });
  return { n };
}

//# async-main-is-called {"intent":"an async main, called at the end","result":6,"calls":1}
async function main() {
  const a = await device.MathSkill.add({ a: 1, b: 2 });
  return a * 2;
}
main();

//# await-main {"intent":"await main() at the end","result":3,"calls":1}
const main = async () => {
  const users = await device.DatabaseMCP.query({ sql: "select * from users" });
  return users.length;
};
await main();

//# called-on-the-spot-old-style {"intent":"a function that is called inside of its parentheses, with catch","result":"failed","calls":1}
(async function run() {
  try {
    return await device.MathSkill.divide({ a: 1, b: 0 });
  } catch (e) {
    return "failed";
  }
}());

//# called-on-the-spot {"intent":"an async function, called on the spot, with await","result":7,"calls":1}
await (async () => {
  return await device.MathSkill.add({ a: 3, b: 4 });
})();

//# export-default-arrow {"intent":"export default with an arrow function","result":"Ada","calls":1}
export default async () => {
  const [u] = await device.DatabaseMCP.query({ sql: "select * from users" });
  return u.name;
};

//# export-default-function {"intent":"export default async function","result":3,"calls":1}
export default async function main() {
  return await device.MathSkill.add({ a: 1, b: 2 });
}

//# export-default-value {"intent":"export default with a value","result":30,"calls":1}
const a = await device.MathSkill.add({ a: 1, b: 2 });
export default a * 10;

//# export-of-a-named-function {"intent":"export async function main","result":4,"calls":1}
export async function main() {
  return await device.MathSkill.add({ a: 2, b: 2 });
}

//# helpers-below {"intent":"the last expression stands before the functions it uses","result":"Ada/Linus/Grace","calls":3}
await report([1, 2, 3]);

async function report(ids) {
  const users = await Promise.all(ids.map(load));
  return users.map((u) => u.name).join("/");
}

function load(id) {
  return device.UserSkill.get({ id });
}

//# import-type-only {"intent":"import type is no import","result":"Ada","calls":1}
import type { User } from "./types";
import { type Order } from "./orders";
const u: User = await device.UserSkill.get({ id: 1 });
return u.name;

//# main-that-prints {"intent":"main prints, errors are printed too","result":null,"calls":1}
async function main() {
  const n = await device.MathSkill.add({ a: 1, b: 2 });
  console.log(n);
}
main().catch(console.error);

//# main-then-print {"intent":"the value of main goes to console.log","result":null,"calls":1}
const main = async () => (await device.MathSkill.add({ a: 1, b: 2 })) + 1;
main().then(console.log).catch((e) => console.error(e.message));

//# main-without-a-call {"intent":"a function named main is the whole program","result":42,"calls":1}
async function main() {
  const n = await device.MathSkill.add({ a: 20, b: 1 });
  return n * 2;
}

//# parenthesised-function {"intent":"a function in parentheses is the whole program","result":"ABC","calls":1}
(async function () {
  return await device.TextSkill.uppercase({ text: "abc" });
})

//# return-await-main {"intent":"return await main()","result":"Grace","calls":1}
async function main() {
  return (await device.UserSkill.get({ id: 3 })).name;
}
return await main();

//# returns-in-blocks {"intent":"return inside of blocks, loops and conditions","result":"youngest: Linus","calls":1}
const users = await device.DatabaseMCP.query({ sql: "select * from users" });
for (const u of users) {
  if (u.age < 30) {
    return `youngest: ${u.name}`;
  }
}
return "nobody";

//# returns-in-try-and-switch {"intent":"return inside of try, switch and a bare block","result":"two","calls":1}
try {
  switch ((await device.MathSkill.add({ a: 1, b: 1 }))) {
    case 2: {
      { return "two"; }
    }
  }
} finally {
  print("done");
}

//# short-arrow-program {"intent":"an arrow with an expression is the whole program","result":3,"calls":1}
() => device.MathSkill.add(1, 2)
