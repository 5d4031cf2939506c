package postgres

import (
	"strconv"
	"strings"

	"github.com/moneymovement/moneymovement-go/payments"
)

// A statement that is alone in its transaction begins with one of these. syncCommit makes the commit wait for the disk,
// whatever the settings are. asyncCommit does not wait: a loss does no harm there.
const (
	syncCommit = `SELECT set_config('synchronous_commit', 'on', true)
		WHERE current_setting('synchronous_commit') = 'off'`
	asyncCommit = `SELECT set_config('synchronous_commit', 'off', true)`
)

// statements are the statements of a store, with the name of its schema.
type statements struct {
	insert, load, readWork, list, listStates, listAccount, changes, counts, oldest string

	save, postpone, claimKey, extend, era string
	markTallied, lockTallies              string
	sumTallies, addTally                  string
	mark, unmark, lock, restore           string
	restoredFrom                          string
	claim, next                           map[payments.Work]string
}

// The columns of a row, in the order of scanRecord.
const columns = `p.key, p.due, p.data, p.change_era, p.change_tx::text, p.change`

// change is the position of a change. Numbers from a sequence alone have gaps that are filled later: a transaction that
// takes a number first may commit last. So the number of the transaction comes first.
const change = `(SELECT era FROM {schema}.payments_schema), pg_current_xact_id(), nextval({changes}::regclass)`

// leaseFree is the condition that no lease holds a row. The clock is the database's as of now. That of the
// transaction's start may be old: the statement may have waited.
const leaseFree = `(p.lease_until IS NULL OR p.lease_until <= clock_timestamp())`

// leaseHeld is the condition that a lease is the row's. It may have ended, if nobody else has claimed the row since.
const leaseHeld = `p.key = $1 AND p.lease_owner = $2 AND p.lease_epoch = $3`

// claimed are the changes of a claim.
const claimed = `lease_owner = $1, lease_epoch = p.lease_epoch + 1,
	lease_until = clock_timestamp() + $2 * interval '1 microsecond'`

// An account's new payment comes one turn after its last one, and not before the turn that is served now. Nothing is
// locked for this, so payments of an account that are being inserted at the same time may get the same turn. Nothing is
// inserted if the tables were restored and the record does not say so.
const insert = `
INSERT INTO {schema}.payments AS p (key, account, digest, state, work, due, data, needs, turn, lease_epoch,
	change_era, change_tx, change)
SELECT $1, $2, $3, $4, $5::smallint, $6, $7, $8::integer, greatest(
	(SELECT max(w.turn) + 1 FROM {schema}.payments w WHERE w.account = $2),
	(SELECT last_value FROM {schema}.turns)), 0, ` + change + `
WHERE (SELECT restored_from FROM {schema}.payments_schema) IS NOT DISTINCT FROM $9::timestamptz
ON CONFLICT (key) DO NOTHING`

const save = `
UPDATE {schema}.payments p SET state = $4, work = $5, due = $6, data = $7, needs = $9,
	lease_owner = CASE WHEN $8 THEN NULL ELSE p.lease_owner END,
	lease_until = CASE WHEN $8 THEN NULL ELSE p.lease_until END,
	(change_era, change_tx, change) = (SELECT ` + change + `)
WHERE ` + leaseHeld + ` RETURNING p.change_era, p.change_tx::text, p.change`

// The earliest copy counts. A role may lock a table that it may update, so that no insert misses the mark.
const (
	lock = `LOCK TABLE {schema}.payments IN SHARE ROW EXCLUSIVE MODE`
	mark = `UPDATE {schema}.payments_schema SET restored_from = least(restored_from, $1), version = greatest(version, $2)`

	unmark = `UPDATE {schema}.payments_schema SET restored_from = NULL,
	version = CASE WHEN version = $2 THEN $1 ELSE version END`
)

// A row that is restored loses its lease.
const restore = `
UPDATE {schema}.payments p SET state = $2, work = $3, due = $4, data = $5, needs = $6,
	lease_owner = NULL, lease_until = NULL, lease_epoch = p.lease_epoch + 1,
	(change_era, change_tx, change) = (SELECT ` + change + `)
WHERE p.key = $1`

const postpone = `UPDATE {schema}.payments p SET due = $4, lease_owner = NULL, lease_until = NULL WHERE ` + leaseHeld

const claimKey = `UPDATE {schema}.payments p SET ` + claimed + `
WHERE p.key = $3 AND ` + leaseFree + ` RETURNING ` + columns + `, p.lease_owner, p.lease_epoch, p.turn, p.arrival`

// The number of the class is in the text, so that the database sees which index has the rows.
const claim = `
WITH due AS MATERIALIZED (
	SELECT p.key FROM {schema}.payments p WHERE p.work = {work} AND p.due <= $3 AND p.needs <= {known}
		AND ` + leaseFree + `
	ORDER BY {order} LIMIT $4 FOR UPDATE SKIP LOCKED),
taken AS (
	UPDATE {schema}.payments p SET ` + claimed + `
	FROM due WHERE p.key = due.key RETURNING ` + columns + `, p.lease_owner, p.lease_epoch, p.turn, p.arrival),
served AS (
	SELECT setval({turns}::regclass, last.turn) FROM (SELECT max(turn) AS turn FROM taken) last, {schema}.turns t
	WHERE {work} = 1 AND t.last_value < last.turn)
SELECT taken.* FROM taken CROSS JOIN (SELECT count(*) FROM served) s`

const next = `SELECT p.due FROM {schema}.payments p WHERE p.work = {work} AND p.needs <= {known}
	AND ` + leaseFree + ` ORDER BY p.due LIMIT 1`

const extend = `
UPDATE {schema}.payments p SET lease_until = clock_timestamp() + $4 * interval '1 microsecond'
FROM unnest($1::text[], $2::text[], $3::bigint[]) AS l (key, owner, epoch)
WHERE p.key = l.key AND p.lease_owner = l.owner AND p.lease_epoch = l.epoch RETURNING p.key`

// All transactions before the oldest one that is still open have ended, so nothing is left out before them. Those of an
// earlier era have all ended.
const changes = `
SELECT ` + columns + ` FROM {schema}.payments p
WHERE (p.change_era, p.change_tx, p.change) > ($1::integer, $2::text::xid8, $3::bigint)
	AND (p.change_tx < pg_snapshot_xmin(pg_current_snapshot())
		OR p.change_era < (SELECT era FROM {schema}.payments_schema))
ORDER BY p.change_era, p.change_tx, p.change LIMIT $4`

// Each state is read on its own, in the order of keys, so that a rare state is found without reading all others.
const listStates = `
SELECT ` + columns + ` FROM unnest($3::text[]) AS s (state) CROSS JOIN LATERAL (
	SELECT * FROM {schema}.payments q WHERE q.state = s.state AND q.key > $1 ORDER BY q.key LIMIT $2) p
ORDER BY p.key LIMIT $2`

// If no states are named, these are all that occur, also those of a later version.
const listAccount = `
WITH RECURSIVE occurring (state) AS (
	SELECT min(state) FROM {schema}.payments
	UNION ALL
	SELECT (SELECT min(p.state) FROM {schema}.payments p WHERE p.state > o.state) FROM occurring o
	WHERE o.state IS NOT NULL)
SELECT ` + columns + ` FROM (
	SELECT state FROM occurring WHERE state IS NOT NULL AND (cardinality($3::text[]) = 0 OR state = ANY ($3::text[]))) s
CROSS JOIN LATERAL (
	SELECT * FROM {schema}.payments q WHERE q.account = $4 AND q.state = s.state AND q.key > $1
	ORDER BY q.key LIMIT $2) p
ORDER BY p.key LIMIT $2`

const oldest = `
SELECT min(d.due) FROM (VALUES (1), (2), (3)) w (work) CROSS JOIN LATERAL (
	SELECT p.due FROM {schema}.payments p WHERE p.work = w.work AND p.work > 0 ORDER BY p.due LIMIT 1) d`

// A row that a transaction of the future has changed was changed on another server.
const era = `
UPDATE {schema}.payments_schema s SET era = s.era + 1
FROM (SELECT p.change_era, p.change_tx FROM {schema}.payments p
	ORDER BY p.change_era DESC, p.change_tx DESC, p.change DESC LIMIT 1) last
WHERE last.change_era = s.era AND last.change_tx >= pg_snapshot_xmax(pg_current_snapshot())`

func newStatements(named names) statements {
	s := statements{
		insert:      named.sql(insert),
		load:        named.sql(`SELECT ` + columns + ` FROM {schema}.payments p WHERE p.key = $1`),
		save:        named.sql(save),
		postpone:    named.sql(postpone),
		claimKey:    named.sql(claimKey),
		extend:      named.sql(extend),
		changes:     named.sql(changes),
		counts:      named.sql(`SELECT state, count(*) FROM {schema}.payments GROUP BY state`),
		oldest:      named.sql(oldest),
		era:         named.sql(era),
		markTallied: named.sql(markTallied),
		lockTallies: named.sql(lockTallies),
		sumTallies:  named.sql(sumTallies),
		addTally:    named.sql(addTally),
		mark:        named.sql(mark),
		unmark:      named.sql(unmark),
		lock:        named.sql(lock),
		restore:     named.sql(restore),

		restoredFrom: named.sql(`SELECT restored_from FROM {schema}.payments_schema`),
		readWork:     named.sql(`SELECT work, due FROM {schema}.payments WHERE key = $1`),

		list: named.sql(
			`SELECT ` + columns + ` FROM {schema}.payments p WHERE p.key > $1 ORDER BY p.key LIMIT $2`),
		listStates:  named.sql(listStates),
		listAccount: named.sql(listAccount),
		claim:       map[payments.Work]string{},
		next:        map[payments.Work]string{},
	}
	for work, number := range map[payments.Work]string{
		payments.WorkBegin: "1", payments.WorkAgain: "2", payments.WorkFollow: "3",
	} {
		order := "p.due, p.key"
		if work == payments.WorkBegin {
			order = "p.turn, p.arrival"
		}
		of := strings.NewReplacer("{work}", number, "{order}", order, "{known}", strconv.Itoa(payments.RecordVersion))
		s.claim[work], s.next[work] = named.sql(of.Replace(claim)), named.sql(of.Replace(next))
	}
	return s
}
