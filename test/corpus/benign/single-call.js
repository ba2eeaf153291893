//# one-call-as-the-whole-snippet {"intent":"one call as the whole snippet","result":{"query":"quickjs sandbox","results":[{"title":"Result 1 for quickjs sandbox","url":"https://example.com/quickjs%20sandbox/1","score":100},{"title":"Result 2 for quickjs sandbox","url":"https://example.com/quickjs%20sandbox/2","score":93},{"title":"Result 3 for quickjs sandbox","url":"https://example.com/quickjs%20sandbox/3","score":86}]},"calls":1,"tools":["BraveSearchMCP.search"]}
device.BraveSearchMCP.search({ query: "quickjs sandbox" })

//# double-quoted-keys {"intent":"double-quoted keys","result":{"city":"Paris","unit":"C","days":[{"day":1,"temp":18,"rain":false},{"day":2,"temp":19,"rain":true}]},"calls":1,"tools":["WeatherSkill.get_forecast"]}
device.WeatherSkill.get_forecast({ "city": "Paris", "days": 2 })

//# list-argument {"intent":"an array as argument","result":2.5,"calls":1}
return await device.MathSkill.sum({ numbers: [1, 2, 3.5, -4] });

//# no-arguments-at-all {"intent":"a method without parameters, called with nothing","result":"2026-03-01T12:00:00.000Z","calls":1}
await device.TimeSkill.now();

//# no-arguments-object {"intent":"a method without parameters, called with {} and awaited","result":"2026-03-01T12:00:00.000Z","calls":1}
await device.TimeSkill.now({})

//# null-answer {"intent":"the answer is null","result":null,"calls":1}
return await device.UserSkill.get({ id: 404 });

//# trailing-commas {"intent":"trailing commas in the call and the object","result":3,"calls":1}
return await device.MathSkill.add(
  {
    a: 1,
    b: 2,
  },
);

//# unicode-text {"intent":"text outside of ASCII goes there and back","result":"[日本語] naïve café — 東京 🚀","calls":1}
return await device.TextSkill.translate({ text: "naïve café — 東京 🚀", to: "日本語" });
