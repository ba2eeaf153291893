//# unknown-skill-with-a-near-miss-suggestion-expected {"intent":"unknown skill with a near miss (suggestion expected)","end":"refused"}
return await device.MathSkil.add({ a: 1, b: 2 });

//# assignment-to-a-device-member {"intent":"assignment to a device member","end":"refused"}
device.MathSkill.add = () => 5; return await device.MathSkill.add({ a: 1, b: 2 });

//# json-tool-call-instead-of-code {"intent":"JSON tool call instead of code","end":"refused"}
{"tool": "MathSkill.add", "arguments": {"a": 1, "b": 2}}

//# cut-off-program {"intent":"a program that was cut off","end":"refused"}
const users = await device.DatabaseMCP.query({ sql: "select * from users" });
for (const u of users) {
  if (u.age > 30) {
    console.log(u.na

//# environment-habit {"intent":"process.env for a key","end":"refused"}
const key = process.env.API_KEY;
return key;

//# everything-at-once {"intent":"many violations in one program","end":"refused"}
import x from "y";
const a = await fetch("u"); eval("1"); device.Nope.a(); device.MathSkill.add({ a: "x" });
with (a) { }

//# fetch-habit {"intent":"fetch instead of a method","end":"refused"}
const res = await fetch("https://api.example.com/v1");
return await res.json();

//# html-page {"intent":"a page","end":"refused"}
<!DOCTYPE html><html><body><script>device.AdminSkill.delete_user({ id: 1 })</script></body></html>

//# method-without-skill {"intent":"a method directly on device","end":"refused"}
return await device.read_file({ path: "/data/notes.txt" });

//# python-program {"intent":"Python from beginning to end","end":"refused"}
import json

def main():
    users = device.DatabaseMCP.query(sql="select * from users")
    for u in users:
        print(f"{u['name']}: {u['age']}")

if __name__ == "__main__":
    main()

//# require-habit {"intent":"require and fs instead of a method","end":"refused"}
const fs = require("fs");
return fs.readFileSync("/data/notes.txt", "utf8");

//# sentence {"intent":"prose without code","end":"refused"}
I cannot run this code, because I do not have the permission to delete users.

//# shell-command {"intent":"a shell command","end":"refused"}
curl -s https://api.example.com/v1 | jq '.items[] | .name' && rm -rf /tmp/x

//# skill-is-called {"intent":"a skill is called like a function","end":"refused"}
return await device.MathSkill({ method: "add", a: 1, b: 2 });

//# undefined-name {"intent":"a name that nobody declares","end":"refused"}
const users = await device.DatabaseMCP.query({ sql: "select * from users" });
return usres.length;

//# unknown-method {"intent":"a method that the skill does not have (suggestion expected)","end":"refused"}
return await device.MathSkill.plus({ a: 1, b: 2 });

//# unknown-skill {"intent":"a skill that does not exist","end":"refused"}
return await device.SlackMCP.post_message({ channel: "#general", text: "hi" });

//# xml-tool-call {"intent":"a tool call in tags","end":"refused"}
<tool_call>{"name": "MathSkill.add", "arguments": {"a": 1, "b": 2}}</tool_call>
