-- Makes wrk send the requests of one turn (see turns.ts). Arguments: folder with the request texts,
-- number of these texts, and duration in seconds. The number of connections is a fourth argument
-- if the turn waits for responses in flight.

local ffi = require 'ffi'
ffi.cdef [[
  typedef struct { long seconds; long nanoseconds; } time_value;
  int clock_gettime(int clock, time_value *time);
  int getpid(void);
  int kill(int process, int signal);
]]
local monotonic, interrupt = 1, 2

local threads = {}
local requests, values = {}, nil
local limit, started
local sent, used = 0, 0
local inspected = false

-- `elapsed` is global because `done` reads it from another Lua state.
elapsed = 0

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  local folder, count = args[1], tonumber(args[2])
  limit = tonumber(args[3])
  if args[4] then drain(tonumber(args[4])) end
  for number = 1, count do requests[number] = cut(contentOf(folder .. '/' .. number)) end
  local file = io.open(folder .. '/values')
  if file then
    values = {}
    for text in file:lines() do table.insert(values, text) end
    file:close()
  end
end

function request()
  -- The first call sends nothing, because wrk only inspects the request.
  if not inspected then
    inspected = true
    local first = requests[1]
    return first.after == '' and first.before or first.before .. values[1] .. first.after
  end
  local now = clock()
  started = started or now
  local isOver = now - started >= limit
  local one = requests[sent % #requests + 1]
  sent = sent + 1
  if one.after == '' then
    if isOver and not delay then finish(now) end
    return one.before
  end
  used = used + 1
  if isOver or used > #values then
    finish(now)
    used = math.min(used, #values)
  end
  return one.before .. values[used] .. one.after
end

-- Makes the turn end only when no response is in flight, because slow responses must count.
function drain(connections)
  local resting = 0
  function delay()
    local now = clock()
    if not started or now - started < limit then return 0 end
    resting = resting + 1
    if resting == connections then finish(now) end
    return 1e9 -- milliseconds
  end
end

-- Ends the turn early, because the duration given to wrk includes time for slow responses.
function finish(now)
  if elapsed > 0 then return end
  elapsed = now - started
  wrk.thread:stop()
  ffi.C.kill(ffi.C.getpid(), interrupt)
end

function done(summary)
  local errors = summary.errors
  print(string.format(
    '{"answers":%d,"seconds":%.6f,"refused":%d,"broken":%d}',
    summary.requests,
    threads[1]:get('elapsed'),
    errors.status,
    errors.connect + errors.read + errors.write + errors.timeout
  ))
end

-- Splits a request at the byte 1, which marks the place of an id or token.
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
