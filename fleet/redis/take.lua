-- Reserves slots of a rate window, step by step as SharedWindow of internal/ratewindow does. Times are microseconds by
-- the server's clock. KEYS[1] holds the whole state, packed. ARGV: process, calls, held, ahead, the four classes that
-- wait, pressed, overdue, the name of the window that the process knows, how many unused marks, the marks, the ages of
-- past calls.
local process, calls, held, ahead = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local mine = {tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])}
local isPressed, overdue, knows = ARGV[9] == '1', ARGV[10] == '1', ARGV[11]
local USUAL, POLLS, PASSED_OVER, LEFT_FOR = 3, 4, 9, 2
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- The state: a value that another program left under the key is refused.
local state = {format = 1, name = '', slots = {}, heard = 0, settled = 0, over = {0, 0, 0, 0}, waiting = {}, left = 0}
if redis.call('EXISTS', KEYS[1]) == 1 then
  if redis.call('TYPE', KEYS[1]).ok ~= 'string' then
    return redis.error_reply('FOREIGN')
  end
  local whole, found = pcall(cmsgpack.unpack, redis.call('GET', KEYS[1]))
  if not whole or type(found) ~= 'table' or found.format ~= 1 or type(found.slots) ~= 'table' or
    type(found.over) ~= 'table' or type(found.waiting) ~= 'table' then
    return redis.error_reply('FOREIGN')
  end
  state = found
end
local slots, over, waiting = state.slots, state.over, state.waiting

local function save()
  redis.call('SET', KEYS[1], cmsgpack.pack(state), 'PX', string.format('%.0f', (held + 4 * ahead) / 1000 + 1))
end

if state.name == '' then
  state.name = ARGV[12]
  if knows ~= '' then
    state.settled = now + math.floor(held / 30)
  end
end
if #ARGV > 13 + tonumber(ARGV[13]) and now - state.heard > math.floor(held / 30) then
  state.settled = now + math.floor(held / 30)
end
state.heard = now
if knows ~= '' and knows ~= state.name then
  save()
  return {state.name, 0, {}, {}, {0, 0, 0, 0}}
end

local function free(k)
  local i = k + #slots - calls
  if i > 0 then
    return slots[i]
  end
  return now
end

local function top(wanted)
  for r = 1, 4 do
    if wanted[r] > 0 then
      return r
    end
  end
  return 5
end

local function onlyPolls(wanted)
  return wanted[1] + wanted[2] + wanted[3] == 0
end

-- Bring the window up to date.
local kept = {}
for _, until_ in ipairs(slots) do
  if until_ > now then
    kept[#kept + 1] = math.min(until_, now + held + ahead)
  end
end
slots = kept
state.slots = slots
local unused = tonumber(ARGV[13])
for i = 14, 13 + unused do
  local mark = tonumber(ARGV[i])
  for j = 1, #slots do
    if slots[j] == mark then
      table.remove(slots, j)
      if mark - held > now then
        slots[#slots + 1] = mark - held
      end
      break
    end
  end
end
for i = 14 + unused, #ARGV do
  local age = tonumber(ARGV[i])
  if age < held then
    slots[#slots + 1] = now + held - math.max(age, 0)
  end
end
table.sort(slots)
state.settled = math.min(state.settled, now + math.floor(held / 30))
for name, d in pairs(waiting) do
  if d.comes + LEFT_FOR * ahead <= now or d.comes > now + held + ahead then
    waiting[name] = nil
  end
end
local me = waiting[process] or {since = now}
waiting[process] = nil
me.calls, me.pressed = mine, isPressed

-- A call that has waited for too long gets a slot even if the window is full.
local reserved = {}
if overdue then
  local r = top(mine)
  if r < 5 then
    mine[r] = mine[r] - 1
    slots[#slots + 1] = now + held
    table.sort(slots)
    reserved[1], reserved[2] = now + held, 0
  end
end

local function before(d, name)
  return d.since < me.since or d.since == me.since and name < process
end

-- How many slots of a class this process gets. The processes take turns; the one that has waited longest is first.
local function part(r, number)
  local got, left, first = 0, {}, {}
  for name, d in pairs(waiting) do
    if d.calls[r] > 0 and d.comes <= now + ahead then
      left[#left + 1] = d.calls[r]
      first[#first + 1] = before(d, name)
    end
  end
  while number > 0 and mine[r] > got do
    local active, earlier, least = 1, 0, mine[r] - got
    for i = 1, #left do
      if left[i] > 0 then
        active = active + 1
        least = math.min(least, left[i])
        if first[i] then
          earlier = earlier + 1
        end
      end
    end
    if number < active then
      if earlier < number then
        got = got + 1
      end
      break
    end
    local rounds = math.min(least, math.floor(number / active))
    number = number - rounds * active
    got = got + rounds
    for i = 1, #left do
      left[i] = math.max(left[i] - rounds, 0)
    end
  end
  return got
end

local function passed(counts, still, went, number)
  for r = USUAL, POLLS do
    if r == went then
      counts[r] = math.max(counts[r] - number * PASSED_OVER, 0)
    elseif still[r] > 0 then
      counts[r] = counts[r] + number
    end
  end
end

local function pick(total, counts, hurry)
  for r = USUAL, POLLS do
    if total[r] > 0 and counts[r] >= PASSED_OVER and not hurry then
      return r
    end
  end
  return top(total)
end

-- Divide the slots that can be granted now between the classes, and within a class between the processes.
local others, total, hurry = {0, 0, 0, 0}, {mine[1], mine[2], mine[3], mine[4]}, isPressed
for _, d in pairs(waiting) do
  hurry = hurry or d.pressed
  for r = 1, 4 do
    others[r] = others[r] + d.calls[r]
    if d.comes <= now + ahead then
      total[r] = total[r] + d.calls[r]
    end
  end
end
local spare = math.floor(calls / (PASSED_OVER + 1))
local got, granted, claimed, alone = {0, 0, 0, 0}, 0, 0, 0
if now >= state.settled then
  local counts, class, k = {over[1], over[2], over[3], over[4]}, {0, 0, 0, 0}, 1
  while top(total) < 5 do
    local place = k
    if onlyPolls(total) then
      place = place + spare
    end
    if place > calls or free(place) > now + ahead then
      break
    end
    alone = alone + math.min(place - k, 1)
    local r = pick(total, counts, hurry)
    class[r] = class[r] + 1
    total[r] = total[r] - 1
    passed(counts, total, r, 1)
    k = k + 1
  end
  local lapsed = state.left ~= 0 and now - state.left >= LEFT_FOR * ahead
  for r = 1, 4 do
    got[r] = part(r, class[r])
    if lapsed then
      got[r] = math.min(mine[r], class[r])
    end
    granted = granted + got[r]
    claimed = claimed + class[r] - got[r]
  end
end
if claimed == 0 then
  state.left = 0
elseif state.left == 0 then
  state.left = now
end

-- Take the slots. Those that become free first are taken first.
if granted > 0 then
  local at = {}
  for k = 1, granted do
    local place = k
    if k > granted - math.min(got[POLLS], alone) then
      place = place + spare
    end
    at[k] = free(place)
  end
  local first = math.max(#slots - calls, 0)
  for _ = 1, math.max(granted + #slots - calls - first, 0) do
    table.remove(slots, first + 1)
  end
  local mark = 0
  for _, t in ipairs(at) do
    mark = math.max(t + held, mark + 1) -- a slot that comes back twice must not take another one along
    slots[#slots + 1] = mark
    reserved[#reserved + 1] = mark
    reserved[#reserved + 1] = t - now
  end
  table.sort(slots)
end

-- Count them for the classes that wait.
local still = {}
for r = 1, 4 do
  still[r] = mine[r] + others[r]
  if still[r] == 0 then
    over[r] = 0
  end
end
for r = 1, 4 do
  if got[r] > 0 then
    passed(over, still, r, got[r])
  end
end

-- When to ask again: shortly before the first slot that no other process will claim.
local rest, next_ = 0, 0
for r = 1, 4 do
  mine[r] = mine[r] - got[r]
  rest = rest + mine[r]
end
if rest > 0 then
  if granted > 0 then
    me.since = now
  end
  local place = claimed + 1
  if onlyPolls(mine) and onlyPolls(others) then
    place = place + spare
  end
  while true do
    next_ = free((place - 1) % calls + 1) + math.floor((place - 1) / calls) * held - ahead
    local come = 0
    for _, d in pairs(waiting) do
      if d.comes <= next_ and top(d.calls) <= top(mine) then
        come = come + 1
      end
    end
    if come < place then
      break
    end
    place = place + 1
  end
  next_ = next_ - now
  if now < state.settled then
    next_ = math.min(next_, state.settled - now)
  end
  if claimed > 0 then
    next_ = math.min(next_, math.max(state.left + LEFT_FOR * ahead - now, 0))
  end
  next_ = math.min(math.max(next_, math.floor(ahead / 4)), math.floor(held / 2))
  me.comes = now + next_
  waiting[process] = me
end

local room, k = {}, 1
while k <= calls do
  room[#room + 1] = free(k) - now
  k = k * 2
end
save()
return {state.name, next_, reserved, room, others}
