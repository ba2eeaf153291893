//# await-print {"intent":"await in front of print","result":"end","calls":1}
await print(await device.MathSkill.add(1, 2));
await console.log("done");
"end"

//# bare-lower-case-skill {"intent":"the skill in lower case, without device","result":3,"calls":1}
return mathskill.add({ a: 1, b: 2 });

//# camel-case-methods {"intent":"camel case for methods in snake case","result":[3,3],"calls":3}
const text = await device.FilesystemMCP.readFile({ path: "/data/notes.txt" });
const n = await device.TextSkill.wordCount(text);
const events = await device.CalendarMCP.listEvents("2026-03-01");
return [n, events.length];

//# carriage-returns {"intent":"Windows line ends","result":[3,3],"calls":1,"generate":"'const a = await device.MathSkill.add({ a: 1, b: 2 });\\r\\nconst t = `x\\r\\ny`;\\r\\nreturn [a, t.length];\\r\\n'"}

//# comments-and-empty-lines-around {"intent":"an explanation in comments, a call, an empty line at each end","result":3,"calls":1}


// Step 1: read the file
// Step 2: count its words
const { length } = (await device.FilesystemMCP.read_file({ path: "/data/notes.txt" })).trim().split("\n");

length;

//# default-api-with-await {"intent":"default_api with objects, await and variables","result":38,"calls":2}
const u = await default_api.UserSkill.get({ id: 1 });
const n = default_api.MathSkill.add({ a: u.age, b: 1 });
return n + 1;

//# default-api {"intent":"default_api instead of device","result":null,"calls":1}
print(default_api.MathSkill.add(a=1, b=2))

//# execute-python-tags {"intent":"tags and keyword arguments of Python","result":3,"calls":1}
<execute_python>
return default_api.MathSkill.add(a=1, b=2)
</execute_python>

//# functions-and-api {"intent":"other names that models give to device","result":[3,-1],"calls":2}
return [await functions.MathSkill.add({ a: 1, b: 2 }), await api.MathSkill.subtract({ a: 1, b: 2 })];

//# identifiers-in-other-languages {"intent":"variables with letters of other languages","result":[3,"xy",1],"calls":1}
const größe = await device.MathSkill.add({ a: 1, b: 2 });
const имя = "x", 名前 = "y", $_ = 1;
return [größe, имя + 名前, $_];

//# list-at-the-end-without-semicolons {"intent":"Python habits: a list at the end, and no semicolon before it","result":[3,true,null],"calls":1}
result = device.MathSkill.add(a=1, b=2)
[result, True, None]

//# lower-case-skill-name {"intent":"the skill in lower case","result":3,"calls":1}
await device.mathskill.add({ a: 1, b: 2 })

//# main-with-then-and-catch {"intent":"main().then(console.log).catch(console.error)","result":3,"calls":1}
async function main() {
  return await device.MathSkill.add({ a: 1, b: 2 });
}
return main().catch(console.error);

//# no-break-spaces {"intent":"no-break spaces between words and a byte order mark at the start","result":2,"calls":0,"generate":"'\\uFEFFconst\\u00A0a = 1;\\n\\u00A0\\u00A0return\\u00A0a + 1;'"}

//# no-prefix {"intent":"the skill without device before it","result":"ABC11","calls":2}
const sum = await MathSkill.add({ a: 5, b: 6 });
const up = TextSkill.uppercase("abc");
return up + sum;

//# print-and-value {"intent":"print, then a value","result":17,"calls":1}
print("Reading…");
const text = device.FilesystemMCP.read_file("/data/notes.txt");
print("Lines:", text.split("\n").length - 1);
text.length

//# right-to-left-text {"intent":"Arabic and Hebrew text in strings","result":[2,5],"calls":1}
return [await device.TextSkill.word_count({ text: "שלום עולם" }), "مرحبا".length];

//# sentence-before-the-code {"intent":"a sentence, then the code, without fences","result":3,"calls":1}
Here is the code that adds the numbers:

const sum = await device.MathSkill.add({ a: 1, b: 2 });
sum

//# sentences-around-the-code {"intent":"sentences before and after the code","result":3,"calls":1}
Sure! I'll compute that for you.

await device.MathSkill.add({ a: 1, b: 2 })

This returns the sum of both numbers.

//# snake-case-skills {"intent":"skills in snake case and with a small first letter","result":[3,7],"calls":2}
return [await device.math_skill.add(1, 2), await device.mathSkill.add(3, 4)];

//# steps-before-the-code {"intent":"a numbered plan, then the code","result":"ADA","calls":1}
Plan:
1. Take the name.
2. Write it in capitals.

const name = "Ada";
await device.TextSkill.uppercase({ text: name })

//# thinking-before-the-code {"intent":"thoughts in tags, then the code","result":3,"calls":1}
<think>
The user wants a sum; 1 < 2, so {a, b} will do.
</think>

await device.MathSkill.add({ a: 1, b: 2 })

//# tool-code-tags {"intent":"code between the tags of another system","result":3,"calls":1}
<tool_code>
await device.MathSkill.add({ a: 1, b: 2 })
</tool_code>

//# tools-instead-of-device {"intent":"tools instead of device","result":3,"calls":1}
const r = await tools.MathSkill.add({ a: 1, b: 2 });
return r;

//# undeclared-in-a-loop {"intent":"undeclared loop variables and accumulators","result":7,"calls":0}
total = 0;
for (n of [1, 2, 3]) {
  total += n;
}
for (i = 0; i < 2; i++) total += i;
total

//# undeclared-variable {"intent":"a variable without const, as in Python","result":3,"calls":1}
result = device.MathSkill.add(1, 2)
print(result)
result
