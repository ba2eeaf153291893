//# split-trim-pad-case {"intent":"split trim pad case","result":["eu...","us...","eu...","apac."],"calls":1,"tools":["FilesystemMCP.read_file"]}
const csv = await device.FilesystemMCP.read_file({ path: "/data/sales.csv" });
return csv.trim().split("\n").slice(1).map(l => l.split(",")[1].padEnd(5, ".").toLowerCase());

//# localecompare-sort {"intent":"localeCompare sort","result":["a","b","C"],"calls":0}
return ["b", "a", "C"].sort((x, y) => x.toLowerCase() < y.toLowerCase() ? -1 : 1);

//# build-a-table {"intent":"a Markdown table","result":"| name | age |\n|---|---:|\n| Ada |  36 |\n| Linus |  28 |\n| Grace |  45 |","calls":1}
const users = await device.DatabaseMCP.query({ sql: "SELECT name, age FROM users" });
const lines = ["| name | age |", "|---|---:|", ...users.map((u) => `| ${u.name} | ${String(u.age).padStart(3)} |`)];
return lines.join("\n");

//# code-points {"intent":"emoji, code points, normal forms","result":[10,7,2,128640,"🚀","SS",2,"%C3%A9%26%E6%9D%B1","🚀"],"calls":0}
const s = "👨‍👩‍👧é東";
return [s.length, [...s].length, "é".normalize("NFD").length, "🚀".codePointAt(0), String.fromCodePoint(128640), "ß".toUpperCase(), "İ".toLowerCase().length, encodeURIComponent("é&東"), decodeURIComponent("%F0%9F%9A%80")];

//# compare-and-search {"intent":"localeCompare, search, match, compare operators","result":[-1,1,0,3,["1","22"],true,true,false],"calls":0}
return ["a".localeCompare("b"), "b".localeCompare("a"), "a".localeCompare("a"), "x1y22".search(/\d\d/), "x1y22".match(/\d+/g), "Z" < "a", "10" < "9", "10" < 9];

//# escapes {"intent":"escapes of every kind","result":["tab\tquote\"back\\slash","single's","ABC","line1line2",7,1,3],"calls":0}
return ["tab\tquote\"back\\slash", 'single\'s', "\x41\u0042\u{43}", "line1\
line2", "nul\0end".length, "\u2028".length, "\b\f\v".length];

//# iterate-and-count {"intent":"counting letters, palindromes, caesar","result":[4,false,"abc","Amap"],"calls":0}
const s = "A man a plan";
const letters = [...s.toLowerCase()].filter((c) => /[a-z]/.test(c));
const count = letters.reduce((m, c) => ((m[c] = (m[c] || 0) + 1), m), {});
const caesar = (t, k) => t.replace(/[a-z]/g, (c) => String.fromCharCode(((c.charCodeAt(0) - 97 + k) % 26) + 97));
return [count.a, letters.join("") === [...letters].reverse().join(""), caesar("xyz", 3), s.split(" ").map((w) => w[0]).join("")];

//# methods {"intent":"the everyday methods","result":["Hello, World",14,"c",98,"a+b+c","xxx","007","ab","de",true,-1,["a","b"],"abcd",true,true],"calls":0}
const s = "  Hello, World  ";
return [s.trim(), s.trimStart().length, "abc".at(-1), "abc".charCodeAt(1), "a-b-c".replaceAll("-", "+"), "x".repeat(3), "7".padStart(3, "0"), "abc".substring(2, 0), "abcdef".slice(-3, -1), "abc".includes("bc"), "abc".indexOf("z"), "a,b".split(","), "ab".concat("cd"), "Abc".startsWith("A"), "abc".endsWith("c")];

//# text-that-looks-like-code {"intent":"strings that mention what code may not do","result":[13,42,true],"calls":1}
const warning = "Never write eval('1'), require('fs'), import x from 'y' or device.AdminSkill.delete_user({ id: 1 })";
const html = "<!-- comment --> <script>alert(1)</script>";
const sql = `DROP TABLE users; -- process.env`;
return [await device.TextSkill.word_count({ text: warning }), html.length, sql.includes("process")];

//# title-case {"intent":"title case, camel case, slugs","result":["The Quick Fox","readFileNow","creme-brulee-a-la-carte"],"calls":0}
const title = (s) => s.replace(/\b\w/g, (c) => c.toUpperCase());
const camel = (s) => s.replace(/[-_](\w)/g, (_, c) => c.toUpperCase());
const slug = (s) => s.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
return [title("the quick fox"), camel("read_file-now"), slug("Crème Brûlée à la carte!")];
