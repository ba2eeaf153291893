//# output-of-one-feeds-another {"intent":"output of one feeds another","result":3,"calls":2,"tools":["FilesystemMCP.read_file","TextSkill.word_count"]}
const text = await device.FilesystemMCP.read_file({ path: "/data/notes.txt" });
return await device.TextSkill.word_count({ text });

//# then-chains {"intent":"a chain of then","result":["Ada","Grace"],"calls":1}
return await device.FilesystemMCP.read_file({ path: "/data/users.json" })
  .then(JSON.parse)
  .then((users) => users.filter((u) => u.age > 30))
  .then((users) => users.map((u) => u.name));

//# three-steps {"intent":"read, count, compute","result":30,"calls":3}
const text = await device.FilesystemMCP.read_file({ path: "/data/notes.txt" });
const words = await device.TextSkill.word_count({ text });
return await device.MathSkill.multiply({ a: words, b: 10 });
