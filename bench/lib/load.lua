-- Makes wrk send the requests of one turn (see load.ts). Arguments: a folder with the text of each
-- request and the values to insert, and the number of requests. If the turn waits for responses in
-- flight, the turn's duration in seconds and the number of connections follow.

local ffi = require 'ffi'
ffi.cdef 'int getpid(void); int kill(int process, int signal);'
local interrupt = 2

local requests, values = {}, {}
local sent, used = 0, 0
local inspected, finished = false, false

function init(args)
  local folder, count = args[1], tonumber(args[2])
  for number = 1, count do
    local file = assert(io.open(folder .. '/' .. number, 'rb'))
    -- The byte 1 marks the place of an id or token.
    local before, after = file:read('*a'):match('^([^\1]*)\1?(.*)$')
    requests[number] = { before = before, after = after }
    file:close()
  end
  for value in io.lines(folder .. '/values') do table.insert(values, value) end
  if args[3] then drain(tonumber(args[3]), tonumber(args[4])) end
end

function request()
  local one = requests[sent % #requests + 1]
  -- The first call sends nothing, because wrk only inspects the request.
  if not inspected then
    inspected = true
    return one.before .. (values[1] or '') .. one.after
  end
  sent = sent + 1
  if one.after == '' then return one.before end
  if used < #values then used = used + 1 else finish() end
  return one.before .. values[used] .. one.after
end

-- Ends the turn only when no response is in flight, so that slow responses are counted.
function drain(seconds, connections)
  local deadline, resting = nil, 0
  function delay()
    deadline = deadline or os.time() + seconds
    if os.time() <= deadline then return 0 end
    resting = resting + 1
    if resting == connections then finish() end
    return 1e9 -- milliseconds
  end
end

-- Ends the turn before wrk's own time limit, as Ctrl-C would.
function finish()
  if finished then return end
  finished = true
  wrk.thread:stop()
  -- Another process must not send the signal: if this thread received it, wrk would sleep on.
  ffi.C.kill(ffi.C.getpid(), interrupt)
end

function done(summary)
  local errors = summary.errors
  print(string.format(
    '{"answers":%d,"seconds":%.6f,"refused":%d,"broken":%d}',
    summary.requests,
    summary.duration / 1e6,
    errors.status,
    errors.connect + errors.read + errors.write + errors.timeout
  ))
end
