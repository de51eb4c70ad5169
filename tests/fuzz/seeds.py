"""What fuzzing begins from: small inputs of every reader, sound and damaged, and the words of its format."""

GOLDEN = {"h5": [".h5"], "causal_fg": ["fig2.causal_fg", "loop13.causal_fg"], "evidence": [".ev", "weblech.ev10"]}

CLAUSE = "R1: NOT e(1), NOT e(2), p(1, 2)\nR2 + R3: NOT p(1, 2), q\nR1: q, alarm(\"#\")\nR4: NOT q, alarm(\"#\")\n# a comment\n\nInput: e(1)\n"
SARIF = """{"version": "2.1.0", "runs": [{"artifacts": [{"location": {"uri": "b.c"}}], "results": [{"ruleId": "r", "message": {"text": "m"},
"locations": [{"physicalLocation": {"artifactLocation": {"uri": "file:///a%20b.c"}, "region": {"startLine": 3, "startColumn": 1}}}]}]}]}"""
DATALOG = ".type Node <: symbol\n.decl E(x: Node, y: Node) // edges\n.input E(IO=file, filename=\"e.tsv\", delimiter=\",\")\n.decl P(x: Node, y: Node) output\nP(x, y) :- E(x, y), !E(y, _).\n/* further */ P(x, z) :- P(x, y), E(y, z), x != z.\nP(\"a\", \"b\").\n"
SESSION = "# session of hornbill rank\n"
ROUND = '{"confidence":0.5,"inversions":-1,"iterations":7,"name":"%s","seconds":0.001,"unconverged":0.0}\n'
CFN = '{ "problem": { "name": "p", "mustbe": "<10.5" },\n"variables": { "x": 2, "y": ["a", "b", "c"] },\n"functions": { "f": {"scope": ["x"], "costs": [0.5, inf]},\n"g": {"scope": ["x", "y"], "defaultcost": 0, "costs": [0, "b", 2.5e-05, 1, 2, -1.25]}, "h": {"scope": ["y"], "costs": [1, 2, 12345678901234567.5]} } }\n'
BIF = "network n { property author me; }\nvariable a { type discrete [2] { yes, no }; property p q; }\nvariable \"b c\" { type discrete [3] { (0_2], low, \"high\" }; }\n"

OBJECTS = "9\n6\n5\n0,0,0\n1,3,0\n2,2,0\n3,1,0\n4,2,1\n5,1,0\n6,1,0\n"

SEEDS = {
    "fg": ["1\n\n2\n0 1\n2 2\n3\n0 0.5\n1 1e-400\n3 1\n", "2\n\n1\n2\n3\n3\n0 0.25\n1 0.5\n2 0.25\n\n3\n0 2 9\n2 3 2\n1\n11 7\n", "0\n",
           "1\n\n3\n4 0 2\n2 2 2\n8\n0 1\n1 1\n2 1\n3 0.5\n4 0\n5 0\n6 0\n7 0.5\n", "# comment\n1\n1\n5\n1048576\n1\n1048575 1\n"],
    "causal_fg": ["3\n\n0\nI\n0.9\n\n1\n*0.8;0.1\n2\n0 2\n\n3\n+0.5;0.25\n1\n1\n", "2\n\n7\n*\n1\n900\n\n900\nI 1e-400\n", "1\n0\n+\n0\n"],
    "uai": ["MARKOV\n3\n2 2 3\n2\n2 0 1\n2 1 2\n\n4\n1 0.5 0.25 0\n\n6\n1 2 3 4 5 1e-400\n", "BAYES\n2\n2 2\n2\n1 0\n2 0 1\n2\n0.5 0.5\n4\n0.1 0.9 0.3 0.7\n",
            "MARKOV\n1\n2\n2\n0\n1 0\n1\n0.5\n2\n1 2\n", "MARKOV\n0\n0\n"],
    "evid": ["2 0 1 7 3\n", "1\n2 0 1 3 0\n", "2\n1 0 1\n1 7 3\n", "0\n"],
    "mar": ["MAR\n2 2 0.5 0.5 3 0.1 0.2 0.7\n", "MAR\n1\n1 2 0.5 0.5\n-BEGIN-\n1\n1 2 0.25 0.75\n", "PR\n-12.5\n", "MPE\n3 0 1 2\n", "PR\n1\nnan\n", "MAR\n2000000000 2 0.5\n"],
    "bif": [BIF + "probability ( a ) { table 0.3, 0.7; }\nprobability ( \"b c\" | a ) {\n  (yes) 0.1, 0.2, 0.7;\n  (no) 0.3 0.3 0.4;\n}\n",
            BIF + "probability ( a ) { table 0.3 0.7; }\nprobability ( \"b c\", a ) { default 0.25, 0.25, 0.5; (no) 1, 0, 0, ; }\n", BIF + "// c\n/* d */ probability ( a \"b c\" ) { table 1e-400 1 1 0 0 0; }\n"],
    "wcsp": ["example 3 3 4 100\n2 3 3\n1 0 5 1\n1 2\n2 0 1 0 2\n0 0 7\n1 2 100\n-2 1 2 3 0\n2 2 1 1 -1\n0 3 0\n", "p 2 2 1 100\n2 2\n2 0 1 0 -9223372036854775808\n", "p 2 2 1 100\n2 2\n-9223372036854775808 0 1 0 1\n", "p 2 2 1 9223372036854775807\n2 2\n2 0 1 -1 salldiff var 1\n"],
    "cfn": [CFN, CFN.replace('"<10.5"', "<1e400"), CFN.replace("<", ">"), '{problem: {name: p, mustbe: "<5"}, variables: {x: -3}, functions: {g: {scope: [x], defaultcost: 1, costs: {}}, h: {scope: [0], costs: g}}}'],
    "clauses": [CLAUSE, "R1:NOT e(1), q\n", "R + R + S: \"a, b\", NOT <A: void f(int)>, edge(a, b)\n", "R: NOT a, NOT b\n", "\"a:NOT b\": NOT e, q\n", ": a\nR:\nR: \n"],
    "rules": ["R1: 0.95\nR2: 1\nR3 : 0\n\n# comment\n\"R 4\": 1e-400\n", "R: 2\n", "R: nan\n", "R1: 0.5\nR1: 0.6\n", ""],
    "alarms": ["q\nalarm(\"#\")\n", "p(1, 2)\n# a comment\n\"alarm(\\\"#\\\")\"\n", "7\nunknown\n", "NOT q\n"],
    "reports": [SARIF, SARIF.replace("%20", "%zz"), SARIF.replace('"uri"', '"index": 0, "url"'), "a.c:12: m\n# c\nb/c.h:3:4: warning: x [y]\n", '{"runs": [{"results": [{}]}]}', '{"runs": []}'],
    "datalog": [DATALOG, ".symbol_type S\n.decl A(x: S)\nA(\"a, b\"). A(x) :- A(x); A(_).\n", ".decl N(n: number)\nN(-0x1f). N(n) :- N(m), n = m, n != 3, (n < 2; m >= 1).\n", ".decl S()\nS().\n"],
    "session": [SESSION, SESSION + '"a" true # ' + ROUND % "a" + '"7" false # ' + ROUND % "7", SESSION + '"Reach(lambda #1)" true # ' + ROUND % "Reach(lambda #1)" + '# contradicts "Reach(lambda #1)"\n',
                SESSION + '# unknown "a" ' + ROUND % "a" + "many 0.1 0.2 0.3 0.4\n", SESSION + "3 true # " + ROUND % "variable 3" + "# unknown 5 " + ROUND % "variable 5" + "# contradicts 3\n4 fal"],
    "order": ["a 7 #rooms\n", "\"a\" \"7\" \"#rooms\" \"Reach(lambda #1)\" \"a,b\"\n<A: void f(int)>\ntrue many one\n", "0 1 2 3 4 5 6 7 8 9 10 11\n", "0\n1\n2\n# c\n3 4 5 6 7 8\n9 10 11\n"],
    "evidence": ["a 1\n7 false\n\"#rooms\" true  # a comment\n\"Reach(lambda #1)\" yes\nmany \"F#\"\n", "many 0.1 0 1e300 1e-400\none 0\n8 1\n", "0 1\n1 0\n2 0.5 0.25\n11 TRUE\n", "many True\nmany f#\n", "a inf nan\n"],
    "list": ["a\n7\n\"#rooms\"\nReach(lambda #1)\n", "0\n11\n# c\n", "\"7\"\n<A: void f(int)>\n"],
    "names": ["a\0b", "#rooms\0Reach(lambda #1)\0\"\\\n\t\r\0 7\0\xe9\0a,b", "7\0 \0\"\0#"],
    "constraints": [OBJECTS + "\0# counts\n1,1,1,1,1\n0,4,7,0,0\n1,7,8,1,0\n2,7,8,2,0\n3,8,7,3,0\n4,7,8,4,1\n", OBJECTS + "\0009\n2\n0,4,7,0,0\n1,7,7,5,0\n\0007\tp\n8\t\"#\"\n\0001\tmain.c:3:1\n\0008\n7\tmain.c:4\n", "3\n-1\n-1\n\0000,0,0,0,0,0\n", "3\n0\n-1\n0,1,0\n\0003\n1\n0,0,1,0,0\n\0000\t\"\"\n"],
    "samples": ["0,1.5\n2,-3\n?,\n", "a,b\n0,1\n", " 0 , 1 \r\n\n1,0", "7\n", ",\n?,?\n", "0,nan\n"],
    "serve": ["O 3 true\nOS 4 0.5 0.25\nBP 1e-6 500 1000 100\nQ 2\nFQ 0 1\nUC 3\nNL\nexit\n", "Q\n 5\nBP 1 2 3 4 Q x\nOS 1 0 0\nBYE", "O 0 maybe Q 99999999999 FQ -1 1 BP nan 1 2 3\n"],
}

NUMBERS = ["0", "1", "-1", "2147483647", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e-400", "1e400", "inf", "nan", "-0", "0.1", "1e300", "0x10", "+1"]
WORDS = {
    "uai": ["MARKOV", "BAYES"], "mar": ["MAR", "PR", "MPE", "-BEGIN-"], "causal_fg": ["I", "*", "+", ";"],
    "bif": ["network", "variable", "probability", "property", "type", "discrete", "table", "default", "{", "}", "(", ")", "|", ";", ",", "[", "]", "//", "/*", "*/", '\\"'],
    "cfn": ["problem", "name", "mustbe", "variables", "functions", "scope", "costs", "defaultcost", "{", "}", "[", "]", "<", ">", '\\"', "//", ":"],
    "clauses": ["NOT ", ":NOT ", ", ", ": ", " + ", "# ", '\\"', "\\\\"], "rules": [": ", "# ", '\\"'], "alarms": ["NOT ", "alarm", '\\"', "\\\\"],
    "reports": ["runs", "results", "locations", "physicalLocation", "artifactLocation", "artifacts", "uri", "index", "region", "startLine", "startColumn", "ruleId", "message", "text", "file://", "%20", '\\"', ":"],
    "datalog": [".decl ", ".input ", ".output ", ".type ", "symbol", "number", " :- ", "!", "_", '\\"', "<:", "!=", "(", ")", ";", ".", "/*", "*/", "//"],
    "session": ["# session of hornbill rank\\x0A", "# unknown ", "# contradicts ", " true # ", " false # ", "name", "confidence", "inversions", "unconverged", "seconds", "iterations", '\\"', "variable "],
    "order": ['\\"', "#"], "evidence": ["true", "FALSE", "yes", "many", '\\"', "#", "F#"], "list": ['\\"', "#"], "names": ['\\"', "#", "\\\\", "\\x00"],
    "serve": ["O ", "OS ", "BP ", "Q ", "FQ ", "UC ", "NL", "exit", "BYE", "true", "False"], "constraints": [",", "\\x00", "\\x09", "#", '\\"'],
    "samples": [",", "?", "nan"], "evid": [], "fg": [], "wcsp": ["salldiff"],
}
