//# block-and-line-comments-everywhere {"intent":"block and line comments everywhere","result":3,"calls":1,"tools":["MathSkill.add"]}
/* first we add */
const a = await device.MathSkill.add({ /* lhs */ a: 1, // one
  b: 2 });
// done
return a; // trailing

//# comment-before-and-after {"intent":"comments around a single expression","result":3,"calls":1}
// Add the two numbers
device.MathSkill.add({ a: 1, b: 2 }) // 3
/* that is all */

//# commented-out-code {"intent":"code in comments does not count","result":2,"calls":1}
// const fs = require("fs");
// await device.AdminSkill.delete_user({ id: 1 });
/* import os from "os";
   eval("x") */
const a = await device.MathSkill.add({ a: 1, b: 1 });
// return "old";
return a;

//# jsdoc-and-directives {"intent":"JSDoc, region marks, comments at odd places","result":3,"calls":1}
/**
 * Adds.
 * @param {number} a - the first
 * @returns {Promise<number>} the sum
 */
const add = (a, /* second */ b = 2 /* default */) => // arrow
  device.MathSkill.add({ a, b });
//#region work
/* eslint-disable */ const r = await /* wait */ add(/**/ 1);
//#endregion
return /* not undefined */ r; /* end */

//# urls-and-slashes-in-strings {"intent":"// and /* inside of strings","result":["OK https://api.example.com/v1/*","/**/*.js","// 1 /* */"],"calls":1}
const url = "https://api.example.com/v1/*"; // real comment
const glob = '/**/*.js', t = `// ${1} /* */`;
return [(await device.HttpSkill.get({ url })).body, glob, t];
