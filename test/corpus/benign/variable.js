//# const-then-return {"intent":"const then return","result":3,"calls":1,"tools":["MathSkill.add"]}
const sum = await device.MathSkill.add({ a: 1, b: 2 });
return sum;

//# pass-an-args-object-variable {"intent":"pass an args object variable","result":[22,23,24],"calls":1,"tools":["WeatherSkill.get_forecast"]}
const args = { city: "Tokyo", days: 3 };
const forecast = await device.WeatherSkill.get_forecast(args);
return forecast.days.map(d => d.temp);

//# let-and-reassign {"intent":"let, reassigned in steps","result":40,"calls":1}
let value = 2;
value = await device.MathSkill.multiply({ a: value, b: 21 });
value -= 2;
return value;

//# several-declarators {"intent":"several variables in one declaration","result":{"x":1,"y":2,"z":3},"calls":1}
const x = 1, y = await device.MathSkill.add({ a: x, b: 1 }), z = x + y;
return { x, y, z };

//# shorthand-arguments {"intent":"shorthand properties as arguments","result":5,"calls":1}
const a = 8, b = 3;
const diff = await device.MathSkill.subtract({ a, b });
return diff;

//# spread-arguments-object {"intent":"arguments merged from defaults","result":["https://example.com/cats%20%26%20dogs/1","https://example.com/cats%20%26%20dogs/2"],"calls":1}
const defaults = { count: 2 };
const { results } = await device.BraveSearchMCP.search({ ...defaults, query: "cats & dogs" });
return results.map((r) => r.url);

//# var-in-blocks {"intent":"var reaches out of its block, before its declaration too","result":["undefined",2],"calls":1}
var seen = typeof later;
if (true) { var later = await device.MathSkill.add({ a: 1, b: 1 }); }
return [seen, later];
