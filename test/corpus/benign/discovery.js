//# hidden-looks-like-unknown {"intent":"describe says the same of a hidden method and of one that does not exist","result":true,"calls":0}
const texts = [];
for (const path of ["SecretsSkill.get_token", "SecretzSkill.get_tokem"]) {
  texts.push(String(await device.describe(path).catch((e) => e.message)).replaceAll(path, "X").replace(/Secret\w+/g, "X"));
}
return texts[0] === texts[1];

//# hidden-skills-are-not-found {"intent":"search does not show what this caller may not see","result":[false,false],"calls":0}
const found = await device.search_skills("get token secret");
const page = await device.describe("SecretsSkill.get_token").catch((e) => e.message);
return [String(found).includes("SecretsSkill."), /name: string/.test(String(page))];

//# search-finds-methods {"intent":"search and describe inside of a snippet","result":[true,true,"object"],"calls":0}
const found = await device.search_skills("word count", 3);
const page = await device.describe("MathSkill.add");
return [found.includes("TextSkill.word_count"), page.includes("MathSkill.add"), typeof found];

//# found-method-is-called {"intent":"search and call in one program","result":5,"calls":1}
const [add] = await device.search_skills("add numbers");
return await add.call({ a: 2, b: 3 });

//# found-method-without-await {"intent":"search and call in one program, without any await","result":5,"calls":1}
const found = device.search_skills("add numbers");
return found[0].call(2, 3);

//# described-method-is-called {"intent":"describe and call in one program","result":[5,"MathSkill.add"],"calls":1}
const add = await device.describe("MathSkill.add");
return [await add.call({ a: 2, b: 3 }), add.path];

//# several-questions {"intent":"several searches and descriptions at once","result":[2,2,"MathSkill.add"],"calls":0}
const found = await device.search_skills(["add numbers", "word count"]);
const [add, count] = await device.describe(["MathSkill.add", "TextSkill.word_count"]);
return [found.length, [add, count].filter(({ path }) => path).length, add.path];
