//# no-semicolons {"intent":"no semicolons","result":7,"calls":2,"tools":["MathSkill.add"]}
const a = await device.MathSkill.add({ a: 1, b: 2 })
const b = await device.MathSkill.add({ a: a, b: 4 })
return b

//# brackets-at-the-start-of-lines {"intent":"no semicolons before lines that begin with brackets","result":["x4",3],"calls":3}
let total = 0
[1, 2].forEach(async (n) => { total += await device.MathSkill.add(n, 0) })
const f = (x) => "x" + x
(async () => { await device.MathSkill.add(1, 2) })()
let [a, b] = [total, f(4)]
[a, b] = [b, a]
[a, b]

//# last-call-without-semicolon {"intent":"the last expression has no semicolon, and a blank line follows","result":10,"calls":2}
const x = await device.MathSkill.add({ a: 2, b: 3 })
device.MathSkill.multiply({ a: x, b: 2 })

//# lines-that-could-go-on {"intent":"semicolons left out where lines could go on","result":{"a":10,"b":1,"c":[1,2],"d":"2"},"calls":0}
let a = 1
let b = a
++b
const c = [a, b]
;[a, b] = [b, a]
const d = `${a}`
;(() => { a = 10 })()
return { a, b, c, d }

//# multi-line-expressions {"intent":"operators and dots at the starts of lines","result":["ADA",true,3],"calls":1}
const r = (await device.UserSkill.get({ id: 1 }))
  .name
  .toUpperCase()
const ok = r === "ADA"
  && r.length > 2
  || false
const n = 1
  + 2
return [r, ok, n]

//# statements-without-semicolons {"intent":"break, continue, do-while and return without semicolons","result":[3,[1,3],true],"calls":0}
let i = 0, out = []
do i++; while (i < 3)
for (const x of [1, 2, 3, 4]) {
  if (x === 2) continue
  if (x === 4) break
  out.push(x)
}
const f = () => {
  return
}
return [i, out, f() === undefined]
