//# any-value-by-place {"intent":"a parameter of any type by place","result":["text",[1,2],{"a":1},{"value":1},0,null],"calls":6}
return [
  await device.TestSkill.echo("text"),
  await device.TestSkill.echo([1, 2]),
  await device.TestSkill.echo({ a: 1 }),
  await device.TestSkill.echo({ value: { value: 1 } }),
  await device.TestSkill.echo(0),
  await device.TestSkill.echo(null),
];

//# keyword-named-like-a-variable {"intent":"a keyword that is also the name of a constant that is passed","result":17,"calls":1}
const path = "/data/notes.txt";
const text = await device.FilesystemMCP.read_file(path=path);
return text.length;

//# keywords-after-positional {"intent":"a value by place, then a keyword argument","result":[22,23],"calls":1}
const f = await device.WeatherSkill.get_forecast("Tokyo", days=2);
return f.days.map(d => d.temp);

//# keywords-from-variables {"intent":"keyword arguments whose values are expressions","result":10,"calls":1}
const x = 4;
let r = await device.MathSkill.add(a=x * 2, b=Math.max(1, 2));
return r;

//# keywords {"intent":"keyword arguments as in Python","result":{"query":"weather in Paris","results":[{"title":"Result 1 for weather in Paris","url":"https://example.com/weather%20in%20Paris/1","score":100}]},"calls":1}
device.BraveSearchMCP.search(query="weather in Paris", count=1)

//# nested-without-await {"intent":"calls by place as arguments of calls by place","result":12,"calls":3}
device.MathSkill.add(device.MathSkill.multiply(2, 3), device.MathSkill.subtract(10, 4))

//# object-as-second-value {"intent":"an object by place after a text","result":{"name":"Ada","tags":["x"]},"calls":2}
await device.KVSkill.set("user", { name: "Ada", tags: ["x"] });
return await device.KVSkill.get("user");

//# positional-from-variables {"intent":"values by place that are only known at run time","result":[18,7,25],"calls":3}
const cities = ["Paris", "Oslo"];
const out = [];
for (const city of cities) out.push((await device.WeatherSkill.get_forecast(city)).days[0].temp);
return out.concat(await device.MathSkill.add(out[0], out[1]));

//# positional-list {"intent":"an array by place","result":6,"calls":1}
return device.MathSkill.sum([1, 2, 3]);

//# positional-spread {"intent":"values by place from a spread array","result":42,"calls":1}
const pair = [20, 22];
return await device.MathSkill.add(...pair);

//# positional-then-object {"intent":"the optional parameter follows by name","result":["Result 1 for weather","Result 2 for weather"],"calls":1}
const { results } = await device.BraveSearchMCP.search("weather", { count: 2 });
return results.map(r => r.title);

//# positional-then-optional {"intent":"the optional parameter follows by place","result":3,"calls":1}
const f = await device.WeatherSkill.get_forecast("Tokyo", 3);
return f.days.length;

//# positional {"intent":"required parameters by place","result":[3,"","[fr] hi"],"calls":3}
return [await device.MathSkill.add(1, 2), await device.FilesystemMCP.read_file("/data/empty.txt"), await device.TextSkill.translate("hi", "fr")];

//# python-words {"intent":"True, False and None","result":[true,false,[null,1],true],"calls":3}
const on = await device.TestSkill.echo(value=True);
const off = await device.TestSkill.echo({ value: False });
const none = await device.TestSkill.echo({ value: [None, 1] });
return [on, off, none, on ? True : None];

//# undefined-is-left-out {"intent":"undefined leaves an optional parameter out","result":[3,1],"calls":2}
const count = undefined;
const { results } = await device.BraveSearchMCP.search({ query: "x", count });
const f = await device.WeatherSkill.get_forecast("Oslo", undefined);
return [results.length, f.days.length];

//# values-that-json-changes {"intent":"dates, maps and nested undefined as arguments","result":["1970-01-01T00:00:00.000Z",{"b":[1,null]},[["k",1]]],"calls":3}
const at = new Date(0);
return [
  await device.TestSkill.echo({ value: at.toISOString() }),
  await device.TestSkill.echo({ value: { a: undefined, b: [1, undefined] } }),
  await device.TestSkill.echo({ value: [...new Map([["k", 1]])] }),
];
