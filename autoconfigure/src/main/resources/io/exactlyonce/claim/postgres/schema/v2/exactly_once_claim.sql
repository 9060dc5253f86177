-- Version 2 of the claims' table: payload fingerprints, parked claims, retention.
--
-- No statement rewrites the table: the default of expires_at is evaluated once, and dropped again.
ALTER TABLE exactly_once_claim
    ADD COLUMN IF NOT EXISTS fingerprint bytea,
    ADD COLUMN IF NOT EXISTS parked_at   timestamptz,
    ADD COLUMN IF NOT EXISTS expires_at  timestamptz NOT NULL DEFAULT now() + interval '14 days';
ALTER TABLE exactly_once_claim ALTER COLUMN expires_at DROP DEFAULT;
UPDATE exactly_once_claim SET parked_at = now() WHERE status = 'PARKED' AND parked_at IS NULL;

-- Neither index costs a heap-only update: renewal, completion and release change neither of the two columns. Only a
-- takeover sets a new expires_at, and only parking a parked_at; both are rare.
CREATE INDEX IF NOT EXISTS exactly_once_claim_expires_at ON exactly_once_claim (expires_at);
CREATE INDEX IF NOT EXISTS exactly_once_claim_parked_at ON exactly_once_claim (parked_at) WHERE parked_at IS NOT NULL;
