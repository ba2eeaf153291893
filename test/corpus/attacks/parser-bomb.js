//# 100k-nested-parentheses {"intent":"100k nested parentheses","end":"refused","generate":"'return ' + '('.repeat(100000) + '1' + ')'.repeat(100000)"}

//# 100k-ternaries {"intent":"100k ternaries","end":"refused","generate":"'return ' + '1?'.repeat(100000) + '1' + ':1'.repeat(100000)"}

//# 300k-binary-additions-left-deep-ast-recursion-in-the {"intent":"300k binary additions (left-deep AST, recursion in the walker)","end":"refused","generate":"'return 1' + '+1'.repeat(300000)"}

//# 60k-lets-captured-in-a-closure {"intent":"60k lets captured in a closure","end":"refused","generate":"'(()=>{' + Array.from({length:60000},(_, i)=>'let v'+i+'='+i+';').join('') + 'return ()=>v0})()'"}

//# 20-mb-template-literal {"intent":"20 MB template literal","end":"refused","generate":"'return `' + 'a'.repeat(20000000) + '`.length'"}

//# exponential-arrow-look-ahead {"intent":"exponential arrow look-ahead","end":"RESULT_INVALID","generate":"'return (' + '(a='.repeat(24) + '1' + ')=>1'.repeat(24) + ')'"}

//# arrays {"intent":"a hundred thousand nested lists","end":"refused","generate":"'return ' + '['.repeat(100000) + ']'.repeat(100000)"}

//# arrow-chain {"intent":"fifty thousand arrows","end":"refused","generate":"'return ' + 'a=>'.repeat(50000) + '1'"}

//# arrow-or-type-parameters {"intent":"brackets that could be parameters, types or generics","end":"refused","generate":"'const f: any = ' + '(<T,>(a: '.repeat(3000) + '1' + ') => 1)'.repeat(3000)"}

//# async-callbacks-in-callbacks {"intent":"async callbacks inside each other","end":"completed","generate":"'[1].map(async () => '.repeat(60) + 'device.MathSkill.add(1, 2).x' + ')'.repeat(60) + '[0].x'"}

//# async-functions-in-a-row {"intent":"a chain of async functions that use each other","end":"refused","generate":"Array.from({ length: 1500 }, (_, i) => `async function f${i}() { return f${i - 1 < 0 ? 0 : i - 1}().x + device.MathSkill.add(1, 2) }`).join('\\n')"}

//# awaits {"intent":"thirty thousand awaits","end":"refused","generate":"'return ' + 'await '.repeat(30000) + '1'"}

//# backtick-fences {"intent":"forty thousand fences","end":"refused","generate":"'```js\\nreturn 1;\\n```\\n'.repeat(12000)"}

//# backticks-only {"intent":"a quarter of a million backticks","end":"completed","generate":"'`'.repeat(250001)"}

//# blocks {"intent":"a hundred thousand blocks","end":"refused","generate":"'{'.repeat(100000) + '}'.repeat(100000)"}

//# calls-in-calls {"intent":"blocking calls as arguments of blocking calls","end":"completed","generate":"'return ' + 'device.MathSkill.add(1, '.repeat(150) + '1' + ')'.repeat(150) + ' + 1'"}

//# casts {"intent":"twenty thousand casts","end":"refused","generate":"'return 1' + ' as any'.repeat(20000)"}

//# classes {"intent":"classes that extend classes in place","end":"refused","generate":"'return ' + 'class extends '.repeat(20000) + 'Object' + '{}'.repeat(20000)"}

//# else-if {"intent":"ten thousand else ifs","end":"refused","generate":"'const x = 5; ' + Array.from({ length: 10000 }, (_, i) => 'if (x === ' + i + ') { return ' + i + '; } else ').join('') + '{}'"}

//# fences-that-never-close {"intent":"lines that look like fences and never close","end":"refused","generate":"'x\\n' + ('```js x\\n').repeat(30000)"}

//# forbidden-characters {"intent":"a hundred thousand invisible characters","end":"refused","generate":"'return 1; //' + '\\u202e\\u2066'.repeat(40000)"}

//# functions-in-functions {"intent":"ten thousand functions in each other","end":"refused","generate":"'return ' + '()=>{return '.repeat(10000) + '1' + '}'.repeat(10000)"}

//# helpers-in-a-row {"intent":"two thousand helpers that call each other with the values of calls","end":"refused","generate":"'const f0 = (x) => device.MathSkill.add({ a: x, b: 1 });' + Array.from({ length: 2000 }, (_, i) => 'const f' + (i + 1) + ' = (x) => f' + i + '(x);').join('\\n') + 'return f2000(1) + 1'"}

//# json-that-is-no-call {"intent":"deep and long JSON in place of code","end":"refused","generate":"'{\"tool\":\"x\",\"arguments\":' + '{\"a\":'.repeat(20000) + '1' + '}'.repeat(20000) + '}'"}

//# keyword-arguments {"intent":"keyword arguments in keyword arguments","end":"refused","generate":"'return ' + 'device.TestSkill.echo(value='.repeat(3000) + '1' + ')'.repeat(3000)"}

//# labels-and-switches {"intent":"labels, cases and catch clauses in large numbers","end":"refused","generate":"Array.from({ length: 3000 }, (_, i) => 'l' + i + ': ').join('') + '{}\\nswitch (1) {' + Array.from({ length: 10000 }, (_, i) => 'case ' + i + ':').join('') + '}\\nreturn 1'"}

//# less-than-signs {"intent":"comparisons that could all be type arguments","end":"refused","generate":"'const a = 1; return ' + 'a<'.repeat(60000) + 'a>(1)'"}

//# long-comment {"intent":"comments of two hundred thousand characters","end":"completed","generate":"'/*' + '*'.repeat(100000) + '*/\\n//' + '/'.repeat(100000) + '\\nreturn 1'"}

//# long-names-and-numbers {"intent":"a name and a number of a hundred thousand characters","end":"completed","generate":"'const ' + 'a'.repeat(100000) + ' = ' + '9'.repeat(100000) + 'n; return 1'"}

//# many-calls {"intent":"five thousand calls of methods, each with a mistake","end":"refused","generate":"Array.from({ length: 4000 }, (_, i) => 'await device.MathSkill.ad' + i + '({ a: \"x\" });').join('\\n')"}

//# many-correct-calls {"intent":"four thousand calls that are used as values through variables","end":"refused","generate":"'let x = 0;' + Array.from({ length: 3000 }, (_, i) => 'const u' + i + ' = device.UserSkill.get({ id: ' + i + ' }); x += u' + i + '?.age;').join('\\n') + 'return x'"}

//# many-variables {"intent":"twenty thousand variables, each read by the next","end":"refused","generate":"'let v0 = 1;' + Array.from({ length: 10000 }, (_, i) => 'let v' + (i + 1) + '=v' + i + ';').join('') + 'return v10000'"}

//# megabytes-of-blanks {"intent":"ten million blanks","end":"refused","generate":"' '.repeat(10000000) + 'return 1'"}

//# member-and-call-chain {"intent":"a chain of forty thousand calls","end":"refused","generate":"'return device.MathSkill.add' + '()'.repeat(40000) + '.x'.repeat(20000)"}

//# members-of-one-name {"intent":"thousands of async members and calls of one name","end":"refused","generate":"'const o = {' + 'run: async () => o.run().x,'.repeat(1500) + '};\\n' + 'o.run().x;'.repeat(1500)"}

//# names-that-are-almost-right {"intent":"long names that are compared with every method","end":"refused","generate":"Array.from({ length: 300 }, (_, i) => 'device.' + 'MathSkil'.repeat(60) + i + '.' + 'ad'.repeat(200) + '({})').join(';\\n')"}

//# news {"intent":"thirty thousand news","end":"refused","generate":"'return ' + 'new '.repeat(30000) + 'Object'"}

//# objects {"intent":"fifty thousand nested objects","end":"refused","generate":"'return ' + '{a:'.repeat(50000) + '1' + '}'.repeat(50000)"}

//# one-variable-used-everywhere {"intent":"a variable of a call that is used ten thousand times","end":"refused","generate":"'const u = device.UserSkill.get({ id: 1 }); let n = 0;' + 'n += u.age;'.repeat(10000) + 'return n'"}

//# open-brackets-only {"intent":"a quarter of a million brackets that nobody closes","end":"refused","generate":"'('.repeat(250000)"}

//# optional-chain {"intent":"a chain of eighty thousand optional members","end":"refused","generate":"'const a = {}; return a' + '?.b'.repeat(80000)"}

//# patterns {"intent":"patterns in patterns","end":"refused","generate":"'const ' + '{a:'.repeat(20000) + 'x' + '}'.repeat(20000) + ' = {}; return x'"}

//# regular-expression-counts {"intent":"counts of counts in a literal regular expression","end":"completed","generate":"'return /' + '('.repeat(8) + 'a' + '){1,60000}'.repeat(8) + '/.test(\"a\")'"}

//# regular-expression {"intent":"a literal regular expression of deep groups","end":"refused","generate":"'return /' + '(?:a'.repeat(30000) + ')'.repeat(30000) + '/.test(\"a\")'"}

//# tags {"intent":"tags that open and never close","end":"refused","generate":"'<tool_call>'.repeat(20000)"}

//# templates {"intent":"twenty thousand templates in each other","end":"refused","generate":"'return ' + '`${'.repeat(20000) + '1' + '}`'.repeat(20000)"}

//# type-arguments {"intent":"type arguments without end","end":"refused","generate":"'const x: ' + 'A<'.repeat(50000) + 'B' + '>'.repeat(50000) + ' = 1; return x'"}

//# typeof-and-void {"intent":"words as unary operators","end":"refused","generate":"'return ' + 'typeof '.repeat(30000) + '1'"}

//# unary-operators {"intent":"a hundred thousand unary operators","end":"refused","generate":"'return ' + '!'.repeat(100000) + '1'"}

//# unions-and-tuples {"intent":"types of a quarter of a million characters","end":"refused","generate":"'type A = ' + '| [x: string, y?: number] '.repeat(8000) + ';\\nreturn 1'"}

//# unknown-names {"intent":"thirty thousand names that nobody declares","end":"refused","generate":"'return ' + Array.from({ length: 20000 }, (_, i) => 'fooBar' + i).join('+')"}

//# white-space {"intent":"a quarter of a million blanks and empty lines","end":"completed","generate":"' '.repeat(120000) + '\\n'.repeat(120000) + 'return 1'"}
