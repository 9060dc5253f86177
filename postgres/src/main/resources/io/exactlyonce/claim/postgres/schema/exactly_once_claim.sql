-- Claims on idempotency keys, one row for each key of each scope.
--
-- Renewal, completion and release change no indexed column, and inserts fill only 45 % of a page. Such an update therefore finds
-- room on the row's own page, and is a heap-only (HOT) update. Rows that were claimed together are often completed together:
-- their page then contains each row twice. With an index on status, lease_until or completed_at, each of these updates would also
-- write the index.
--
-- Types have the schema pg_catalog, because a search path could lead to other types of the same name.
--
-- Collation "C" compares bytes, because no person reads sorted keys, and an upgrade of the system's collations cannot break the index.
CREATE TABLE IF NOT EXISTS exactly_once_claim (
    scope            varchar(512) COLLATE pg_catalog."C" NOT NULL,
    key              varchar(512) COLLATE pg_catalog."C" NOT NULL,
    status           pg_catalog.text          NOT NULL,
    claim_id         pg_catalog.uuid          NOT NULL,
    owner            pg_catalog.text          NOT NULL,
    attempt          integer                  NOT NULL,
    fencing_token    bigint                   NOT NULL,
    in_doubt         boolean                  NOT NULL,
    lease_until      timestamp with time zone NOT NULL,
    result           pg_catalog.text,
    error            pg_catalog.text,
    first_claimed_at timestamp with time zone NOT NULL,
    claimed_at       timestamp with time zone NOT NULL,
    completed_at     timestamp with time zone,
    fingerprint      pg_catalog.bytea,
    parked_at        timestamp with time zone,
    cleared          boolean                  NOT NULL DEFAULT false,
    expires_at       timestamp with time zone NOT NULL,
    failures         integer                  NOT NULL DEFAULT 0,
    CONSTRAINT exactly_once_claim_pkey PRIMARY KEY (scope, key),
    CONSTRAINT exactly_once_claim_status_check
        CHECK (status OPERATOR(pg_catalog.=) ANY (ARRAY['HELD', 'COMPLETED', 'RELEASED', 'PARKED']))
) WITH (fillfactor = 45);

-- Only a takeover changes expires_at, and only parking and its decision change parked_at. All of them are rare.
--
-- parked_at is set exactly while the status is PARKED. cleared is true if an operator released the key after it was parked.
-- Parked claims never expire, so the index on expires_at leaves them out.
CREATE INDEX IF NOT EXISTS exactly_once_claim_expires_at ON exactly_once_claim (expires_at) WHERE parked_at IS NULL;
CREATE INDEX IF NOT EXISTS exactly_once_claim_parked_at ON exactly_once_claim (parked_at) WHERE parked_at IS NOT NULL;
