//# code-after-the-closing-fence {"intent":"code after the closing fence","end":"refused"}
```js
return 1;
```
device.AdminSkill.delete_user({ id: 1 });

//# typescript-namespace-body {"intent":"TypeScript namespace body","end":"refused"}
namespace N { export const x = device.AdminSkill.delete_user({ id: 1 }); }
return 1;

//# arrow-generic-ambiguity-comparison-chain-in-js-type-args {"intent":"arrow generic ambiguity: comparison chain in JS, type args in TS","end":"completed"}
const a = 1, b = 2, c = 3; return a<b>(c);

//# cast-of-device-and-computed-name {"intent":"casts around device and its members","end":"refused"}
const skill = (<any>device)["Admin" + "Skill" as string] as any;
return await skill!.delete_user!({ id: 1 });

//# declare-device {"intent":"device is declared as a type that has more","end":"refused"}
declare const device: { AdminSkill: { delete_user(a: { id: number }): Promise<void> } };
return await device.AdminSkill.delete_user({ id: 1 });

//# decorators {"intent":"a decorator with a call","end":"refused"}
@log(device.AdminSkill.delete_user({ id: 1 })) class A { @bound m() {} }
return new A();

//# enum-with-a-call {"intent":"the value of an enum member is a call","end":"refused"}
enum Level { Low = 1, High = device.AdminSkill.delete_user({ id: 1 }) as any }
return Level.High;

//# fence-that-closes-in-a-comment {"intent":"a fence inside of a block comment ends the block early","end":"refused"}
```js
/* 
```
*/ device.AdminSkill.delete_user({ id: 1 });

//# forbidden-call-in-a-sentence {"intent":"a sentence that is code as well","end":"refused"}
Please note that device.AdminSkill.delete_user({ id: 1 })

const x = (1;

//# forbidden-call-inside-of-tags {"intent":"tags hide nothing","end":"refused"}
<tool_code>
await device.AdminSkill.delete_user({ id: 1 })
</tool_code>

//# forbidden-call-outside-of-tags {"intent":"code before the tags is never run","end":"completed"}
await device.AdminSkill.delete_user({ id: 1 })
<code>
return 1;
</code>

//# import-equals {"intent":"import = require, export =, import() as a type","end":"refused"}
import fs = require("fs");
export = fs;

//# many-open-tags {"intent":"thousands of tags","end":"refused","generate":"'<code>'.repeat(30000) + 'device.AdminSkill.delete_user({ id: 1 })'"}

//# many-sentences {"intent":"thousands of sentences before a forbidden call","end":"refused","generate":"'This is a sentence of words.\\n'.repeat(8000) + 'device.AdminSkill.delete_user({ id: 1 })'"}

//# other-language-in-front {"intent":"a JSON block that holds a call, a JS block without","end":"completed"}
```json
{"tool": "AdminSkill.delete_user", "arguments": {"id": 1}}
```
```js
return 1;
```

//# parameter-property-with-a-call {"intent":"a denied call as default of a parameter property","end":"refused"}
class A { constructor(private x = device.AdminSkill.delete_user({ id: 1 })) {} }
return new A();

//# tag-with-attributes {"intent":"attributes of a tag are not read","end":"refused"}
<script src="https://example.org/x.js" onload="device.AdminSkill.delete_user({ id: 1 })">
device.SecretsSkill.get_token({ name: "a" })
</script>

//# thought-that-ends-in-a-string {"intent":"the end of a thought stands in a string of the code","end":"refused"}
<think>quiet</think>
await device.AdminSkill.delete_user({ id: "</think>" })
await device.MathSkill.add({ a: 1, b: 2 })

//# thought-that-never-ends {"intent":"a thought without an end","end":"refused","generate":"'<think>' + '<'.repeat(200000)"}

//# two-programs {"intent":"two fences, the second with a denied call","end":"refused"}
```js
return 1;
```
```js
return await device.AdminSkill.delete_user({ id: 1 });
```

//# type-arguments-or-comparison {"intent":"type arguments of a denied-looking chain","end":"THROWN"}
const a: any = 1, b = 2, c = 3;
return [a < b, c > (b), a<b, b>c];

//# type-import-with-value {"intent":"a value beside type imports","end":"refused"}
import { type A, readFileSync } from "fs";
return readFileSync("/etc/passwd");

//# type-that-hides-a-call {"intent":"a type over a line break, then a bracket that could be a call","end":"completed"}
type A = number
(device.MathSkill.add)({ a: 1, b: 2 })
return 1;

//# types-that-run-into-regular-expressions {"intent":"a type before a slash, a cast before a bracket","end":"refused"}
let x: number = 4 as any
/2/g
const y = [1] as any
[0]
return [x, y];
