-- Claims on idempotency keys, one row for each key of each scope.
--
-- No index but the primary key, and pages that are filled to 45 % only: renewal, completion and release touch no indexed
-- column and find room on the row's own page, so that they stay heap-only (HOT) updates. Rows that were claimed together
-- are often completed together, and then their page holds each of them twice. An index on status, lease_until or
-- completed_at would turn each of these updates into index writes.
--
-- Collation "C": keys are bytes, never sorted for people, and an upgrade of the system's collations cannot break the index.
CREATE TABLE IF NOT EXISTS exactly_once_claim (
    scope            varchar(512) COLLATE "C" NOT NULL,
    key              varchar(512) COLLATE "C" NOT NULL,
    status           text        NOT NULL,
    claim_id         uuid        NOT NULL,
    owner            text        NOT NULL,
    attempt          integer     NOT NULL,
    fencing_token    bigint      NOT NULL,
    ambiguous        boolean     NOT NULL,
    lease_until      timestamptz NOT NULL,
    result           text,
    error            text,
    first_claimed_at timestamptz NOT NULL,
    claimed_at       timestamptz NOT NULL,
    completed_at     timestamptz,
    CONSTRAINT exactly_once_claim_pkey PRIMARY KEY (scope, key),
    CONSTRAINT exactly_once_claim_status_check CHECK (status IN ('HELD', 'COMPLETED', 'RELEASED', 'PARKED'))
) WITH (fillfactor = 45);
