-- Version 2 of the claims' table: payload fingerprints, parked claims, retention.
--
-- No statement rewrites the table: for rows that are there, the default of expires_at is evaluated once. It stays, so that
-- instances of the earlier version, which do not know the column, go on claiming while they are replaced one by one.
ALTER TABLE exactly_once_claim
    ADD COLUMN IF NOT EXISTS fingerprint bytea,
    ADD COLUMN IF NOT EXISTS parked_at   timestamptz,
    ADD COLUMN IF NOT EXISTS cleared     boolean NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS expires_at  timestamptz NOT NULL DEFAULT now() + interval '14 days';
UPDATE exactly_once_claim SET parked_at = now() WHERE status = 'PARKED' AND parked_at IS NULL;

-- Neither index costs a heap-only update: renewal, completion and release change neither of the two columns. Only a
-- takeover sets a new expires_at, and only parking a parked_at; both are rare.
--
-- parked_at is set while the status is PARKED, and only then; cleared tells, of a released key, that a person has decided on
-- its doubt. Parked claims never expire: outside of the index, they do not stand in the way of those that do.
--
-- CREATE INDEX keeps claims waiting for as long as it takes. For a table with millions of rows, create both indexes
-- beforehand with CREATE INDEX CONCURRENTLY: docs/operations.md shows the steps.
CREATE INDEX IF NOT EXISTS exactly_once_claim_expires_at ON exactly_once_claim (expires_at) WHERE parked_at IS NULL;
CREATE INDEX IF NOT EXISTS exactly_once_claim_parked_at ON exactly_once_claim (parked_at) WHERE parked_at IS NOT NULL;
