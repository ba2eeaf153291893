//# assignment {"intent":"an assignment is the last expression","result":3,"calls":1}
let result;
result = await device.MathSkill.add({ a: 1, b: 2 });

//# block-and-label {"intent":"the last expression of a block","result":4,"calls":1}
{
  const hidden = await device.MathSkill.add({ a: 1, b: 2 });
  hidden + 1;
}

//# call-in-else {"intent":"a call is the last expression of else","result":4,"calls":1}
if (1 > 2) {
  device.MathSkill.add({ a: 1, b: 1 })
} else if (2 > 1) {
  device.MathSkill.add({ a: 2, b: 2 })
}

//# empty-statements-and-comments {"intent":"semicolons and comments follow the last expression","result":3,"calls":1}
await device.MathSkill.add({ a: 1, b: 2 });; // sum
;
/* the end */

//# if-and-else {"intent":"the last expressions of if and else","result":"big","calls":1}
const n = await device.MathSkill.add({ a: 1, b: 2 });
if (n > 2) {
  "big";
} else {
  "small";
}

//# loop {"intent":"the last expression of the last round","result":6,"calls":0}
let total = 0;
for (const n of [1, 2, 3]) {
  total += n;
}

//# object-that-looks-like-a-block {"intent":"an object in parentheses over several lines","result":{"name":"Ada","adult":true},"calls":1}
const user = await device.UserSkill.get({ id: 1 });
({
  name: user.name,
  adult: user.age >= 18,
})

//# object-with-calls-at-the-end {"intent":"an object at the end that JavaScript takes for a block","result":{"sum":3,"user":"Ada"},"calls":2}
const [sum, user] = await Promise.all([
  device.MathSkill.add(1, 2),
  device.UserSkill.get(1),
]);
{ sum, user: user.name }

//# regular-expression-result {"intent":"match is the last expression","result":["123","456"],"calls":0}
const text = "order #123 and #456";
text.match(/#(\d+)/g).map((s) => s.slice(1))

//# sequence-and-ternary {"intent":"a sequence and a ternary","result":42,"calls":1}
let a = 1;
a++, a > 1 ? device.MathSkill.add({ a, b: 40 }) : null

//# statement-after-it-is-a-function {"intent":"a function declaration follows the last expression","result":42,"calls":0}
const r = helper(20);
r + 2;
function helper(n) { return n * 2; }

//# switch {"intent":"the last expression of a case","result":"WEEKEND","calls":1}
const day = "sun";
switch (day) {
  case "sat":
  case "sun":
    device.TextSkill.uppercase({ text: "weekend" });
    break;
  default:
    "workday";
}

//# try-and-catch {"intent":"the last expressions of try and catch","result":"division failed","calls":1}
try {
  const r = await device.MathSkill.divide({ a: 1, b: 0 });
  `result ${r}`
} catch (e) {
  "division failed"
}

//# try-with-finally {"intent":"finally does not change the value of try","result":4,"calls":1}
try {
  await device.MathSkill.divide({ a: 8, b: 2 })
} finally {
  console.log("ended");
}
