-- Claims on idempotency keys, one row for each key of each scope.
--
-- Renewal, completion and release touch no indexed column, and pages are filled to 45 % only: these updates find room on the
-- row's own page, so that they stay heap-only (HOT) updates. Rows that were claimed together are often completed together, and
-- then their page holds each of them twice. An index on status, lease_until or completed_at would turn each of these updates
-- into index writes.
--
-- The schema pg_catalog stands before names that a search path could lead elsewhere.
--
-- Collation "C": keys are bytes, never sorted for people, and an upgrade of the system's collations cannot break the index.
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

-- Only a takeover sets a new expires_at, and only parking a parked_at; both are rare.
--
-- parked_at is set while the status is PARKED, and only then; cleared tells, of a released key, that a person has decided on
-- its doubt. Parked claims never expire: outside of the index, they do not stand in the way of those that do.
CREATE INDEX IF NOT EXISTS exactly_once_claim_expires_at ON exactly_once_claim (expires_at) WHERE parked_at IS NULL;
CREATE INDEX IF NOT EXISTS exactly_once_claim_parked_at ON exactly_once_claim (parked_at) WHERE parked_at IS NOT NULL;
