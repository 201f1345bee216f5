-- Makes wrk send the request in the file that is the first argument. Prints the result as JSON.

local message

function init(args)
  local file = assert(io.open(args[1], 'rb'))
  message = file:read('*a')
  file:close()
end

function request() return message end

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
