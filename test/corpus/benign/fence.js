//# markdown-fence-js {"intent":"markdown fence js","result":4,"calls":1,"tools":["MathSkill.add"]}
```js
const r = await device.MathSkill.add({ a: 2, b: 2 });
return r;
```

//# template-literal-that-contains-three-backticks {"intent":"template literal that contains three backticks","result":14,"calls":0}
const md = "```js\ncode\n```";
return md.length;

//# code-in-one-line {"intent":"the whole program between single backticks","result":8,"calls":1}
`device.MathSkill.add({ a: 7, b: 1 })`

//# crlf-fence {"intent":"a fence with Windows line ends","result":2,"calls":1,"generate":"'```js\\r\\nconst a = await device.MathSkill.add({ a: 1, b: 1 });\\r\\nreturn a;\\r\\n```\\r\\n'"}

//# fence-inside-a-string {"intent":"a fence inside of a string, in a fence","result":2,"calls":0}
```js
const readme = "# Title\n```js\ncode\n```\n";
const blocks = readme.split("```").length - 1;
return blocks;
```

//# four-backticks {"intent":"a longer fence with a fence inside of a template","result":3,"calls":0}
````js
const md = `
\`\`\`
code
\`\`\`
`;
return md.trim().split("\n").length;
````

//# indented {"intent":"an indented fence, as in a list","result":2,"calls":0}
   ```js
   const a = 1;
   return a + 1;
   ```

//# no-tag {"intent":"a fence without a language","result":"linus@example.com","calls":1}
```
device.UserSkill.get({ id: 2 }).email
```

//# not-closed {"intent":"the text ends before the fence is closed","result":3,"calls":1}
```js
const users = await device.DatabaseMCP.query({ sql: "select * from users" });
return users.length;

//# prose-around {"intent":"prose before and after one fence","result":5,"calls":1}
Sure! Here is the code that adds the numbers:

```javascript
const r = await device.MathSkill.add({ a: 2, b: 3 });
return r;
```

This calls `device.MathSkill.add` and returns the sum.

//# several-fences {"intent":"an explanation in JSON, one program","result":"Ada","calls":1}
The answer looks like this:
```json
{ "name": "Ada" }
```
So the program is:
```js
const { name } = await device.UserSkill.get({ id: 1 });
return name;
```

//# shell-and-code {"intent":"a shell command and a program","result":20,"calls":1}
First install nothing:
```bash
npm install
```
Then:
```javascript
return (await device.MathSkill.add({ a: 9, b: 1 })) * 2;
```

//# tag-without-fence {"intent":"a language tag alone in the first line","result":7,"calls":1}
javascript
const v = await device.MathSkill.add({ a: 6, b: 1 });
return v;

//# tildes {"intent":"a fence of tildes","result":8,"calls":1}
~~~js
return await device.MathSkill.add({ a: 4, b: 4 });
~~~

//# tool-code {"intent":"a fence marked tool_code with Python habits","result":null,"calls":1}
```tool_code
print(default_api.TextSkill.uppercase(text="hello"))
```

//# ts-and-attributes {"intent":"a fence marked ts with a title","result":8,"calls":1}
```ts title="snippet.ts"
device.MathSkill.add({ a: 2, b: 6 })
```

//# typescript-tag {"intent":"a fence marked typescript","result":7,"calls":1}
```typescript
const n: number = await device.MathSkill.add({ a: 2, b: 5 });
return n as number;
```
