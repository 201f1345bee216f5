-- Makes wrk send the requests of one turn, and ends it when its time is over or when there are no
-- more lines (ids or tokens, each used once). Arguments: folder of the turn, number of requests to
-- rotate through, seconds, and the number of connections if the responses in flight at the end are
-- to be waited for.

local ffi = require 'ffi'
ffi.cdef [[
  typedef struct { long seconds; long nanoseconds; } time_value;
  int clock_gettime(int clock, time_value *time);
  int getpid(void);
  int kill(int process, int signal);
]]
local monotonic, interrupt = 1, 2

local threads = {}
local requests, lines = {}, nil
local limit, started
local turn, line = 0, 0
local verified = false

-- Read by done, which runs in another Lua state.
elapsed = 0
ranOut = false

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  local folder, count = args[1], tonumber(args[2])
  limit = tonumber(args[3])
  if args[4] then drain(tonumber(args[4])) end
  for number = 1, count do requests[number] = cut(contentOf(folder .. '/' .. number)) end
  local file = io.open(folder .. '/lines')
  if file then
    lines = {}
    for text in file:lines() do table.insert(lines, text) end
    file:close()
  end
end

function request()
  -- wrk calls this once just to inspect the request.
  if not verified then
    verified = true
    local first = requests[1]
    return first.after == '' and first.before or first.before .. lines[1] .. first.after
  end
  local now = clock()
  started = started or now
  turn = turn % #requests + 1
  local one = requests[turn]
  if one.after == '' then
    if now - started >= limit and not delay then finish(now, false) end
    return one.before
  end
  line = line + 1
  if now - started >= limit or line > #lines then
    finish(now, line > #lines)
    line = math.min(line, #lines)
  end
  return one.before .. lines[line] .. one.after
end

-- At the end, idles each connection once its last response has arrived, and finishes with the last
-- of them. Where responses take long, those in flight make up much of the work done.
function drain(connections)
  local resting = 0
  function delay()
    local now = clock()
    if not started or now - started < limit then return 0 end
    resting = resting + 1
    if resting == connections then finish(now, false) end
    return 1e9 -- milliseconds
  end
end

-- wrk itself would end only after the duration given to it.
function finish(now, noMoreLines)
  if elapsed > 0 then return end
  elapsed = now - started
  ranOut = noMoreLines
  wrk.thread:stop()
  ffi.C.kill(ffi.C.getpid(), interrupt)
end

function done(summary)
  local errors = summary.errors
  print(string.format(
    '{"answers":%d,"seconds":%.6f,"ranOut":%s,"refused":%d,"broken":%d}',
    summary.requests,
    threads[1]:get('elapsed'),
    tostring(threads[1]:get('ranOut')),
    errors.status,
    errors.connect + errors.read + errors.write + errors.timeout
  ))
end

-- A request has at most one place for a line, marked by a byte that occurs in no request.
function cut(text)
  local at = text:find('\1', 1, true)
  if not at then return { before = text, after = '' } end
  return { before = text:sub(1, at - 1), after = text:sub(at + 1) }
end

function contentOf(path)
  local file = assert(io.open(path, 'rb'))
  local text = file:read('*a')
  file:close()
  return text
end

function clock()
  local time = ffi.new('time_value')
  ffi.C.clock_gettime(monotonic, time)
  return tonumber(time.seconds) + tonumber(time.nanoseconds) / 1e9
end
