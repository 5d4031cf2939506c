-- Takes slots of a rate window, step by step as SharedWindow of internal/ratewindow does. Times are microseconds of the
-- database's clock, which is read after the row is locked.
CREATE OR REPLACE FUNCTION {schema}.fleet_take_1(
  p_key text, p_process text, p_calls integer, p_held bigint, p_ahead bigint, p_mine integer[], p_pressed boolean,
  p_overdue boolean, p_knows text, p_name text, p_unused bigint[], p_past bigint[],
  OUT o_log text, OUT o_next bigint, OUT o_given bigint[], OUT o_room bigint[], OUT o_others integer[]
) LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $take$
DECLARE
  usual CONSTANT integer := 3;
  polls CONSTANT integer := 4;
  passed_over CONSTANT integer := 9;
  left_for CONSTANT integer := 2;
  w {schema}.fleet_window;
  v_now bigint;
  v_slots bigint[];
  n integer;                      -- of slots
  mine integer[] := p_mine;
  v_processes text[] := '{}';       -- the others
  v_since bigint[] := '{}';
  v_comes bigint[] := '{}';
  tops integer[] := '{}';
  v_pressed boolean[] := '{}';
  v_waiting integer[] := '{}';
  firsts boolean[] := '{}';       -- has waited longer than this process
  count_of integer := 0;          -- of the others
  my_since bigint;
  my_top integer;
  total integer[] := p_mine;
  hurry boolean := p_pressed;
  v_passed integer[];
  class integer[] := '{0,0,0,0}';
  got integer[] := '{0,0,0,0}';
  still integer[] := '{0,0,0,0}';
  remaining integer[];
  ats bigint[] := '{}';
  granted integer := 0;
  claimed integer := 0;
  alone integer := 0;
  spare integer := p_calls / (passed_over + 1);
  lapsed boolean;
  place integer;
  i integer; j integer; k integer; r integer; q integer;
  number integer; active integer; earlier integer; v_least integer; rounds integer; come integer;
  t bigint;
  mark bigint := 0;
BEGIN
  o_others := '{0,0,0,0}';
  o_given := '{}';
  o_room := '{}';
  o_next := 0;
  INSERT INTO {schema}.fleet_window (key) VALUES (p_key) ON CONFLICT DO NOTHING;
  SELECT * INTO STRICT w FROM {schema}.fleet_window f WHERE f.key = p_key FOR UPDATE;
  v_now := floor(extract(epoch FROM clock_timestamp()) * 1000000);

  IF w.log = '' THEN
    w.log := p_name;
    w.settled := CASE WHEN p_knows <> '' THEN v_now + p_held / 30 ELSE 0 END;
  END IF;
  IF cardinality(p_past) > 0 AND v_now - w.heard > p_held / 30 THEN
    w.settled := v_now + p_held / 30;
  END IF;
  w.heard := v_now;
  w.ends := to_timestamp((v_now + p_held + 4 * p_ahead) / 1000000.0);
  o_log := w.log;
  IF p_knows <> '' AND p_knows <> w.log THEN
    UPDATE {schema}.fleet_window f SET log = w.log, settled = w.settled, heard = w.heard,
      ends = w.ends WHERE f.key = p_key;
    RETURN;
  END IF;

  -- Bring the log up to date.
  v_slots := ARRAY(SELECT least(u, v_now + p_held + p_ahead) FROM unnest(w.slots) u WHERE u > v_now);
  FOREACH t IN ARRAY p_unused LOOP
    i := array_position(v_slots, t);
    IF i IS NOT NULL THEN
      v_slots := v_slots[:i - 1] || v_slots[i + 1:];
      IF t - p_held > v_now THEN
        v_slots := v_slots || (t - p_held);
      END IF;
    END IF;
  END LOOP;
  v_slots := ARRAY(SELECT u FROM (
    SELECT unnest(v_slots) u UNION ALL SELECT v_now + p_held - greatest(a, 0) FROM unnest(p_past) a WHERE a < p_held
  ) s ORDER BY u);
  w.settled := least(w.settled, v_now + p_held / 30);
  my_since := v_now;
  FOR i IN 1 .. cardinality(w.processes) LOOP
    IF w.comes[i] + left_for * p_ahead <= v_now OR w.comes[i] > v_now + p_held + p_ahead THEN
      CONTINUE;
    END IF;
    IF w.processes[i] = p_process THEN
      my_since := w.since[i];
      CONTINUE;
    END IF;
    count_of := count_of + 1;
    v_processes := v_processes || w.processes[i];
    v_since := v_since || w.since[i];
    v_comes := v_comes || w.comes[i];
    v_pressed := v_pressed || w.pressed[i];
    v_waiting := v_waiting || w.waiting[4 * i - 3 : 4 * i];
    r := 1;
    WHILE r < 5 AND w.waiting[4 * i - 4 + r] = 0 LOOP
      r := r + 1;
    END LOOP;
    tops := tops || r;
  END LOOP;

  -- A call that has waited for too long goes, with or without room.
  IF p_overdue THEN
    FOR r IN 1 .. 4 LOOP
      IF mine[r] > 0 THEN
        mine[r] := mine[r] - 1;
        v_slots := ARRAY(SELECT u FROM unnest(v_slots || (v_now + p_held)) u ORDER BY u);
        o_given := ARRAY[v_now + p_held, 0];
        EXIT;
      END IF;
    END LOOP;
  END IF;
  n := cardinality(v_slots);

  -- Divide the slots that can be given out now between the classes, and within a class between the processes.
  total := mine;
  FOR i IN 1 .. count_of LOOP
    hurry := hurry OR v_pressed[i];
    firsts := firsts || (v_since[i] < my_since OR v_since[i] = my_since AND
      v_processes[i] COLLATE "C" < p_process COLLATE "C");
    FOR r IN 1 .. 4 LOOP
      o_others[r] := o_others[r] + v_waiting[4 * i - 4 + r];
      IF v_comes[i] <= v_now + p_ahead THEN
        total[r] := total[r] + v_waiting[4 * i - 4 + r];
      END IF;
    END LOOP;
  END LOOP;
  IF v_now >= w.settled THEN
    v_passed := w.passed;
    k := 1;
    WHILE total[1] + total[2] + total[3] + total[4] > 0 LOOP
      place := k;
      IF total[1] + total[2] + total[3] = 0 THEN
        place := place + spare;
      END IF;
      EXIT WHEN place > p_calls;
      EXIT WHEN place + n > p_calls AND v_slots[place + n - p_calls] > v_now + p_ahead;
      alone := alone + least(place - k, 1);
      r := CASE
        WHEN NOT hurry AND total[3] > 0 AND v_passed[3] >= passed_over THEN 3
        WHEN NOT hurry AND total[4] > 0 AND v_passed[4] >= passed_over THEN 4
        WHEN total[1] > 0 THEN 1 WHEN total[2] > 0 THEN 2 WHEN total[3] > 0 THEN 3 ELSE 4 END;
      class[r] := class[r] + 1;
      total[r] := total[r] - 1;
      FOR q IN usual .. polls LOOP
        IF q = r THEN
          v_passed[q] := greatest(v_passed[q] - passed_over, 0);
        ELSIF total[q] > 0 THEN
          v_passed[q] := v_passed[q] + 1;
        END IF;
      END LOOP;
      k := k + 1;
    END LOOP;
    lapsed := w.left_from <> 0 AND v_now - w.left_from >= left_for * p_ahead;
    FOR r IN 1 .. 4 LOOP
      IF lapsed THEN
        got[r] := least(mine[r], class[r]);
      ELSE -- they go round, to the one first that has waited longest
        number := class[r];
        remaining := '{}';
        FOR i IN 1 .. count_of LOOP
          remaining := remaining || CASE WHEN v_comes[i] <= v_now + p_ahead THEN v_waiting[4 * i - 4 + r] ELSE 0 END;
        END LOOP;
        WHILE number > 0 AND mine[r] > got[r] LOOP
          active := 1;
          earlier := 0;
          v_least := mine[r] - got[r];
          FOR i IN 1 .. count_of LOOP
            IF remaining[i] > 0 THEN
              active := active + 1;
              v_least := least(v_least, remaining[i]);
              IF firsts[i] THEN
                earlier := earlier + 1;
              END IF;
            END IF;
          END LOOP;
          IF number < active THEN
            IF earlier < number THEN
              got[r] := got[r] + 1;
            END IF;
            EXIT;
          END IF;
          rounds := least(v_least, number / active);
          number := number - rounds * active;
          got[r] := got[r] + rounds;
          FOR i IN 1 .. count_of LOOP
            remaining[i] := greatest(remaining[i] - rounds, 0);
          END LOOP;
        END LOOP;
      END IF;
      granted := granted + got[r];
      claimed := claimed + class[r] - got[r];
    END LOOP;
  END IF;
  IF claimed = 0 THEN
    w.left_from := 0;
  ELSIF w.left_from = 0 THEN
    w.left_from := v_now;
  END IF;

  -- Take them out of the log: the calls that count longest ago give up theirs.
  IF granted > 0 THEN
    FOR k IN 1 .. granted LOOP
      place := k;
      IF k > granted - least(got[polls], alone) THEN
        place := place + spare;
      END IF;
      t := CASE WHEN place + n > p_calls THEN v_slots[place + n - p_calls] ELSE v_now END;
      mark := greatest(t + p_held, mark + 1); -- a slot that comes back twice must not take another one along
      ats := ats || mark;
      o_given := o_given || ARRAY[mark, t - v_now];
    END LOOP;
    i := greatest(n - p_calls, 0);
    j := greatest(granted + n - p_calls - i, 0);
    v_slots := ARRAY(SELECT u FROM unnest(v_slots[:i] || v_slots[i + j + 1:] || ats) u ORDER BY u);
    n := cardinality(v_slots);
  END IF;

  -- Count them for the classes that wait.
  FOR r IN 1 .. 4 LOOP
    still[r] := mine[r] + o_others[r];
    IF still[r] = 0 THEN
      w.passed[r] := 0;
    END IF;
  END LOOP;
  FOR r IN 1 .. 4 LOOP
    CONTINUE WHEN got[r] = 0;
    FOR q IN usual .. polls LOOP
      IF q = r THEN
        w.passed[q] := greatest(w.passed[q] - got[r] * passed_over, 0);
      ELSIF still[q] > 0 THEN
        w.passed[q] := w.passed[q] + got[r];
      END IF;
    END LOOP;
  END LOOP;

  -- When to come again: shortly before the first slot for which no other process comes.
  FOR r IN 1 .. 4 LOOP
    mine[r] := mine[r] - got[r];
  END LOOP;
  IF mine[1] + mine[2] + mine[3] + mine[4] > 0 THEN
    IF granted > 0 THEN
      my_since := v_now;
    END IF;
    my_top := CASE WHEN mine[1] > 0 THEN 1 WHEN mine[2] > 0 THEN 2 WHEN mine[3] > 0 THEN 3 ELSE 4 END;
    place := claimed + 1;
    IF my_top = polls AND o_others[1] + o_others[2] + o_others[3] = 0 THEN
      place := place + spare;
    END IF;
    LOOP
      i := (place - 1) % p_calls + 1 + n - p_calls;
      o_next := CASE WHEN i > 0 THEN v_slots[i] ELSE v_now END + (place - 1) / p_calls * p_held - p_ahead;
      come := 0;
      FOR i IN 1 .. count_of LOOP
        IF v_comes[i] <= o_next AND tops[i] <= my_top THEN
          come := come + 1;
        END IF;
      END LOOP;
      EXIT WHEN come < place;
      place := place + 1;
    END LOOP;
    o_next := o_next - v_now;
    IF v_now < w.settled THEN
      o_next := least(o_next, w.settled - v_now);
    END IF;
    IF claimed > 0 THEN
      o_next := least(o_next, greatest(w.left_from + left_for * p_ahead - v_now, 0));
    END IF;
    o_next := least(greatest(o_next, p_ahead / 4), p_held / 2);
    v_processes := v_processes || p_process;
    v_since := v_since || my_since;
    v_comes := v_comes || (v_now + o_next);
    v_pressed := v_pressed || p_pressed;
    v_waiting := v_waiting || mine;
  END IF;
  k := 1;
  WHILE k <= p_calls LOOP
    o_room := o_room || (CASE WHEN k + n > p_calls THEN v_slots[k + n - p_calls] ELSE v_now END - v_now);
    k := k * 2;
  END LOOP;
  UPDATE {schema}.fleet_window f SET log = w.log, slots = v_slots, settled = w.settled, heard = w.heard,
    passed = w.passed,
    left_from = w.left_from, processes = v_processes, since = v_since,
    comes = v_comes, pressed = v_pressed, waiting = v_waiting, ends = w.ends
    WHERE f.key = p_key;

  -- Now and then, delete windows that count nothing any more: each login has one of its own.
  IF random() < 0.01 THEN
    DELETE FROM {schema}.fleet_window WHERE key IN (
      SELECT f.key FROM {schema}.fleet_window f WHERE f.ends < clock_timestamp() LIMIT 100 FOR UPDATE SKIP LOCKED);
  END IF;
END
$take$;
