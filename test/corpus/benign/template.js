//# multi-line-template {"intent":"multi-line template","result":"Name: Linus\nAge: 28\nAdult: yes","calls":1,"tools":["UserSkill.get"]}
const u = await device.UserSkill.get({ id: 2 });
return `Name: ${u.name}
Age: ${u.age}
Adult: ${u.age >= 18 ? "yes" : "no"}`;

//# awaits-inside {"intent":"await inside of a template","result":"HI, Grace: 3","calls":3}
return `${await device.TextSkill.uppercase({ text: "hi" })}, ${(await device.UserSkill.get({ id: 3 })).name}: ${1 + (await device.MathSkill.add({ a: 1, b: 1 }))}`;

//# braces-and-escapes {"intent":"braces, dollars, backticks and line breaks","result":"${x} $1 {{\"a\":{\"b\":1}}} `tick` $ {} \nend","calls":0}
const o = { a: { b: 1 } };
return `\${x} $${o.a.b} {${JSON.stringify(o)}} \`tick\` $ {} 
end`;

//# nested-templates {"intent":"templates inside of templates","result":"Users:\n- Ada\n- Linus\n- Grace (45)","calls":1}
const users = await device.DatabaseMCP.query({ sql: "select * from users" });
return `Users:${users.map((u) => `\n- ${u.name}${u.age > 40 ? ` (${u.age})` : ""}`).join("")}`;

//# tagged {"intent":"a tag function and String.raw","result":["a[1]\\n[x]b","C:\\new\\${1}"],"calls":0}
const tag = (parts, ...values) => parts.raw.map((p, i) => p + (i < values.length ? `[${values[i]}]` : "")).join("");
return [tag`a${1}\n${"x"}b`, String.raw`C:\new\${1}`];
