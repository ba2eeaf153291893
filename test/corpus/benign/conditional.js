//# ternary-and-switch {"intent":"ternary and switch","result":"mild even","calls":1,"tools":["WeatherSkill.get_forecast"]}
const f = await device.WeatherSkill.get_forecast({ city: "Paris" });
const t = f.days[0].temp;
let label;
switch (true) {
  case t < 10: label = "cold"; break;
  case t < 20: label = "mild"; break;
  default: label = "warm";
}
return label + (t % 2 === 0 ? " even" : " odd");

//# branch-on-calls {"intent":"which call is made depends on the first","result":{"words":3,"label":"LONG"},"calls":2}
const words = await device.TextSkill.word_count({ text: "one two three" });
const label = words > 2
  ? await device.TextSkill.uppercase({ text: "long" })
  : await device.TextSkill.uppercase({ text: "short" });
return { words, label };

//# else-if-ladder {"intent":"else if, nested ternaries, ??, && and ||","result":[["A","B","C"],["small","medium","large"],"or",0,"and",false],"calls":0}
const grade = (n) => { if (n >= 90) return "A"; else if (n >= 80) return "B"; else return "C"; };
const size = (n) => n < 10 ? "small" : n < 100 ? "medium" : "large";
return [[95, 85, 5].map(grade), [5, 50, 500].map(size), 0 || "or", 0 ?? "nullish", 1 && "and", !!"" ];

//# logical-assignment {"intent":"||=, &&= and ??=","result":{"a":5,"b":2,"c":2,"d":"new"},"calls":1}
const o = { a: 0, b: null, c: 1 };
o.a ||= 5; o.b ??= await device.MathSkill.add({ a: 1, b: 1 }); o.c &&= o.c + 1; o.d ??= "new";
return o;

//# switch-fall-through {"intent":"fall through, default in the middle, blocks in cases","result":[["one","two"],["two"],["other","three"],["three"]],"calls":0}
const f = (x) => {
  const out = [];
  switch (x) {
    case 1: out.push("one");
    case 2: { const y = "two"; out.push(y); break; }
    default: out.push("other");
    case 3: out.push("three");
  }
  return out;
};
return [f(1), f(2), f(9), f(3)];
