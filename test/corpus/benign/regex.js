//# match-groups {"intent":"match groups","result":["disk full","timeout"],"calls":1,"tools":["FilesystemMCP.read_file"]}
const log = await device.FilesystemMCP.read_file({ path: "/data/log.txt" });
const re = /^(\S+)\s+(INFO|WARN|ERROR)\s+(.*)$/gm;
const out = [];
for (const m of log.matchAll(re)) if (m[2] === "ERROR") out.push(m[3]);
return out;

//# regexp-constructor-with-escaped-input {"intent":"RegExp constructor with escaped input","result":2,"calls":0}
const term = "a.b";
const re = new RegExp(term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "g");
return "a.b axb a.b".match(re).length;

//# division-or-regex {"intent":"slashes that are divisions and slashes that are not","result":[10,[0.5],true,10,"0.25"],"calls":0}
const a = 100, b = 5, g = 2;
const x = a / b / g;
const y = [1, 2].map((n) => n / 2).filter((n) => /5/.test(n));
return [x, y, /[/]/.test("/"), a /b/ g, `${1 / 4}`];

//# lookbehind-and-lookahead {"intent":"lookbehind, lookahead and their negations","result":["12","a1bXc","3","1,234,567.89"],"calls":0}
return ["$12 €34 56".match(/(?<=\$)\d+/)[0], "a1b2c".replace(/\d(?=c)/, "X"), "12px 3em".match(/\d+(?!px|\d)/)[0], "1234567.89".replace(/\B(?=(\d{3})+(?!\d)(?<!\.\d*))/g, ",")];

//# match-all-and-indices {"intent":"matchAll with groups and positions","result":[{"at":0,"done":false,"what":"buy milk"},{"at":15,"done":true,"what":"call mom"},{"at":30,"done":false,"what":"pay rent"}],"calls":1}
const text = await device.FilesystemMCP.read_file({ path: "/data/todo.md" });
const items = [...text.matchAll(/^- \[(?<done>[ x])\] (?<what>.+)$/gm)].map((m) => ({ at: m.index, done: m.groups.done === "x", what: m.groups.what }));
return items;

//# named-groups {"intent":"named groups","result":"03/2026","calls":1}
const { year, month } = /(?<year>\d{4})-(?<month>\d\d)/.exec(await device.TimeSkill.now()).groups;
return `${month}/${year}`;

//# parse-lines {"intent":"lines of a log into objects","result":{"INFO":1,"ERROR":2,"WARN":1},"calls":1}
const log = await device.FilesystemMCP.read_file({ path: "/data/log.txt" });
const counts = {};
for (const line of log.trim().split("\n")) {
  const [, level] = line.match(/Z (\w+) /) ?? [];
  counts[level] = (counts[level] ?? 0) + 1;
}
return counts;

//# replace-with-functions {"intent":"replace with functions, $1 and $<name>","result":["01.03.2026","smith, john","a<2@1>b<4@3>","$&x"],"calls":0}
return ["2026-03-01".replace(/(\d+)-(\d+)-(\d+)/, "$3.$2.$1"), "john smith".replace(/(?<f>\w+) (?<l>\w+)/, "$<l>, $<f>"), "a1b2".replace(/\d/g, (d, at) => `<${d * 2}@${at}>`), "x".replace("x", "$$&$&")];

//# split-and-back-references {"intent":"split with groups, back references, alternation","result":[["a","1","b","22","c"],"ll","\"it's\"",["one","two","three"],true],"calls":0}
return ["a1b22c".split(/(\d+)/), /(\w)\1/.exec("hello")[0], /(?<q>['"]).*?\k<q>/.exec(`say "it's" now`)[0], "one, two;three".split(/[,;]\s*/), /^(?:a|b)+$/i.test("AbBA")];

//# sticky-and-last-index {"intent":"sticky flag and lastIndex","result":["bar",7,null,"g"],"calls":0}
const re = /\w+/y;
re.lastIndex = 4;
const first = re.exec("foo bar");
return [first[0], re.lastIndex, re.exec("foo bar"), /a/g.flags];

//# unicode-properties {"intent":"\\p{…} with the u flag, dotAll, code point classes","result":[["Ärger","über","東京"],true,false,true,2,true],"calls":0}
return ["Ärger über 東京".match(/\p{L}+/gu), /^.$/u.test("🚀"), /^.$/.test("🚀"), /a.b/s.test("a\nb"), "a1١".match(/\p{Nd}/gu).length, /\p{Script=Han}/u.test("京")];

//# v-flag-and-escapes {"intent":"set notation, lookahead in replaceAll, case folding","result":[true,"aBBc",true,["a","b"],true],"calls":0}
return [/^[\w--\d]+$/v.test("abc"), "aBc".replace(/b/i, (m) => m + m), /[\u{1F600}-\u{1F64F}]/u.test("😀"), "a.b".split("."), /\bfoo\b/.test("a foo b")];
