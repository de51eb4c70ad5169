-- What Lua's own interpreter and libraries do, a little of each.
local function each(...) for i = 1, select("#", ...) do local value = select(i, ...); print(i, value) end end

-- tables, metamethods, closures, goto
local point = setmetatable({}, {__call = function(class, x, y) return setmetatable({x = x, y = y}, class) end})
point.__index = point
point.__add = function(a, b) return point(a.x + b.x, a.y + b.y) end
point.__eq = function(a, b) return a.x == b.x and a.y == b.y end
point.__lt = function(a, b) return a.x < b.x end
point.__le = function(a, b) return a.x <= b.x end
point.__len = function() return 2 end
point.__concat = function(a, b) return tostring(a) .. tostring(b) end
point.__tostring = function(a) return "(" .. a.x .. "," .. a.y .. ")" end
point.__close = function() print("closed") end
point.__gc = function() end
point.__unm = function(a) return point(-a.x, -a.y) end
point.__newindex = function(a, key, value) rawset(a, key, value) end
local sum = point(1, 2) + point(3, 4)
each(tostring(sum), sum == point(4, 6), #sum, sum .. sum, sum < point(5, 0), sum <= sum, tostring(-sum))
sum.z = 1
do local closing <close> = point(0, 0) end
local list = {}
for i = 1, 500 do list[i] = (i * 7919) % 1009 end
table.sort(list, function(a, b) return a > b end)
table.insert(list, 1, 5); table.remove(list); table.move(list, 1, 10, 20)
each(list[1], #list, table.concat(list, ",", 1, 5), table.unpack(list, 1, 3), next({}), table.pack(1, nil, 3).n)
for i = 10, 1, -3 do if i == 4 then goto done end end
::done::
local function counter() local n = 0; return function() n = n + 1; return n end end
local count = counter(); each(count(), count(), 7 // 2, 7 % -3, 2 ^ 10, 7 / 2, 5 & 3, 5 | 3, 5 ~ 3, ~5, 1 << 4, 256 >> 4, "10" + 5, 1e300 * 1e10)

-- strings
each(("hello world"):gsub("o", {o = "0"}), ("key = value"):match("^(%w+)%s*=%s*(%w+)$"), ("abc"):rep(3, "-"), ("x"):byte(), string.char(72, 105))
for word in ("one two three"):gmatch("%a+") do io.write(word, ";") end
print(("%5.2f|%-5d|%05d|%s|%q|%x|%g"):format(3.14159, 42, 42, "s", "a\nb", 255, 1e20), ("abc"):find("b", 1, true), ("abc"):upper():lower():reverse():len())
each(string.pack("<i4z", 7, "text"), string.unpack("<i4z", string.pack("<i4z", 7, "text")), string.packsize("i4i8"))
each(utf8.char(955, 8364), utf8.len("λ€"), utf8.codepoint("λ", 1), #utf8.charpattern)
for position, code in utf8.codes("λ€") do print(position, code) end

-- errors, coroutines, loading
each(pcall(error, {code = 1}), pcall(error, "message", 2), xpcall(function() local x = nil; return x.y end, debug.traceback))
each(select(2, load("return +")), load("local a, b = ... return a * b")(6, 7), assert(load(string.dump(function(x) return x + 1 end)))(1))
local generator = coroutine.wrap(function(a) for i = 1, 3 do a = coroutine.yield(a + i) end return "end" end)
each(generator(1), generator(2), generator(3), generator(4))
local thread = coroutine.create(function() error("inside") end)
each(coroutine.resume(thread), coroutine.status(thread), coroutine.isyieldable(), coroutine.running())
local closing = coroutine.create(function() local c <close> = point(1, 1); coroutine.yield() end)
coroutine.resume(closing); coroutine.close(closing)
print(pcall(string.rep)); print(pcall(setmetatable, 1, {})); print(pcall(function() local a; a() end))

-- input, output, the system, collection
local name = os.tmpname()
local file = assert(io.open(name, "w+"))
file:setvbuf("full", 64); file:write("line one\n", 2, "\nline three\n3.5 0x10\n"); file:seek("set", 0)
for line in file:lines() do print(line) end
file:seek("set", 0); each(file:read("l", "n", "L", "a")); file:close()
each(io.type(file), pcall(io.lines, name .. ".missing"), os.getenv("HOME") ~= nil, os.rename(name, name .. "2"), os.remove(name .. "2"), os.time{year = 2020, month = 1, day = 1} ~= nil)
each(os.date("!%Y-%m-%d", 0), os.clock() >= 0, os.difftime(2, 1), os.date("*t", 0).year ~= nil)
local pipe = io.popen("echo piped"); each(pipe:read("a")); pipe:close()
collectgarbage("incremental", 100, 200); for i = 1, 2000 do local t = {i, tostring(i), function() return i end} end
collectgarbage("generational"); for i = 1, 2000 do local t = {{}, i .. ""} end
collectgarbage(); collectgarbage("step"); collectgarbage("count")
local weak = setmetatable({}, {__mode = "kv"}); weak[{}] = {}; weak[1] = point(1, 1); collectgarbage(); each(next(weak))

-- debugging, modules, numbers
debug.sethook(function(event, line) end, "crl", 10); local _ = #list; debug.sethook()
local info = debug.getinfo(1, "nSltufrL"); each(info.short_src ~= nil, info.currentline, debug.getlocal(1, 1), debug.getupvalue(count, 1))
debug.setupvalue(count, 1, 10); each(count(), debug.getmetatable("").__index == string, debug.upvalueid(count, 1) ~= nil)
package.preload.mine = function(name) return {name = name} end
each(require("mine").name, package.loaded.mine ~= nil, pcall(require, "missing.module"), package.searchpath("x", "?.lua") == nil)
math.randomseed(42); each(math.random(10) <= 10, math.floor(3.7), math.tointeger(3.0), math.type(1), math.ult(1, -1), math.fmod(7, 3), math.max(1, 5, 3), math.pi)
each(tonumber("0x1p4"), tonumber("zz", 36), tostring(1e15), 9007199254740993, math.mininteger, -0.0, 0x7fffffffffffffff + 1, "1e2" * 1)
